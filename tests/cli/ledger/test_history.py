import builtins
import csv
import json
import sys

import pytest
from tests.cli.commands import refusal, run
from tests.cli.ledger.telling import told
from tests.ledger.stories import HandClock, account, gaussian, release, time

from sfumato.cli.ledger import history as history_command
from sfumato.errors import ParameterError
from sfumato.ledger.core import windows
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.core.store import Chain
from sfumato.ledger.core.windows import DAY, CalendarWindow
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.reading.history import time_text
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GaussianEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP


def test_the_last_rows_are_a_table_in_order(ledger):
    shown = told("history", ledger)
    assert shown.index("aaaaaaaaaaaa") < shown.index("bbbbbbbbbbbb") < shown.index("cccccccccccc")
    assert "ρ 0.005" in shown
    assert "a" * 13 not in shown


def test_twenty_rows_are_shown_unless_more_are_asked_for(ledger):
    with open_ledger(ledger) as opened:
        for _ in range(30):
            opened.reserve("hospital/ann", question="d" * 64, **release("0.01"))
    assert told("history", ledger).count("reserved") == 2 * 20
    assert told("history", ledger, "--limit", "25").count("reserved") == 2 * 25
    assert len(told("history", ledger, "--csv").splitlines()) == 1 + 7 + 30


def test_questions_are_told_in_words_and_costs_in_the_measure_of_the_account(ledger):
    with open_ledger(ledger) as opened:
        asked = opened.reserve("hospital/ann", question="d" * 64, **release("0.01"))
        text = "SELECT ward,\n  COUNT(*) AS n FROM hospital WHERE age > 60 GROUP BY ward"
        opened.commit(asked, key="d", answer={"receipt": {"question": text}})
    shown = told("history", ledger)
    assert "SELECT ward, COUNT(*) AS n FROM hospital WHERE age > 60 GRO…" in shown
    assert "dddddddddddd" not in shown
    *_, last = csv.DictReader(told("history", ledger, "--csv").splitlines())
    assert last["asked"] == text.replace("\n", "\\n")
    (bob,) = csv.DictReader(told("history", ledger, "--csv", "--account", "hospital/bob", "--limit", "1").splitlines())
    assert (bob["epsilon"], bob["delta"], bob["cost"]) == ("3/5", "1/1000000", "ρ 0.005")


def test_where_time_stood_still_is_named(ledger, monkeypatch):
    late = windows._wall() + windows.DAY
    with monkeypatch.context() as patched:
        patched.setattr(windows, "_wall", lambda: late)
        with open_ledger(ledger) as opened:
            opened.abandon(opened.reserve("hospital/ann", question="d" * 64, **release("0.01")), reason="r")
    (line,) = [line for line in told("history", ledger).splitlines() if "did not advance" in line]
    stopped = f"the ledger's time did not advance at {time_text(late)} for 1 answer"
    assert line == f"clock: {stopped}: a clock was ahead, or was set back"
    assert line in told("verify", ledger)


def test_one_account_is_told_alone(ledger):
    rows = list(csv.DictReader(told("history", ledger, "--account", "hospital/bob", "--csv").splitlines()))
    assert {row["account"] for row in rows} == {"hospital/bob"}


def test_json_has_the_same_rows(ledger):
    rows = json.loads(told("history", ledger, "--json", "--limit", "1"))
    assert [(row["account"], row["epsilon"], row["state"]) for row in rows] == [("hospital/ann", "1/5", "reserved")]


def test_it_is_told_what_each_spent_itself_and_how_many_more_questions_there_are(ledger):
    shown = told("history", ledger).splitlines()
    assert "hospital: 0 charges of its own, ε 0 in total; queries left: about 10" in shown
    assert "hospital/ann: 2 charges of its own, ε 0.3 in total; queries left: about 3" in shown


def test_an_account_that_is_not_open_is_refused(ledger):
    for form in ([], ["--csv"], ["--plot", "x.png"]):
        assert "'nobody': is not open" in refusal("ledger", "history", ledger, "--account", "nobody", *form)


def test_a_picture_is_drawn(ledger, tmp_path):
    told("history", ledger, "--plot", tmp_path / "pictures" / "left.png")
    assert (tmp_path / "pictures" / "left.png").read_bytes()[:4] == b"\x89PNG"


def test_without_matplotlib_a_picture_is_refused_with_what_to_install(ledger, tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", missing)
    assert "run: pip install matplotlib" in refusal("ledger", "history", ledger, "--plot", tmp_path / "x.png")


@pytest.mark.parametrize("option", [["--limit", "0"], ["--days", "0"]])
def test_a_number_of_nothing_is_refused(ledger, option):
    assert run("ledger", "history", ledger, *option).exit_code == 2


def lines(ledger):
    return [json.loads(line) for line in told("export", ledger, "--json").splitlines()]


def test_what_happened_is_csv_with_exact_costs(ledger):
    rows = list(csv.DictReader(told("export", ledger).splitlines()))
    assert [row["kind"] for row in rows] == ["opened", "protected", "opened", "opened", *["reserved"] * 3]
    assert [(row["epsilon"], row["delta"], row["cost"], row["state"]) for row in rows[4:]] == [
        ("1/10", "0", "ε 0.1", "committed"), ("3/5", "1/1000000", "ρ 0.005", "committed"),
        ("1/5", "0", "ε 0.2", "reserved"),
    ]  # fmt: skip


def test_names_are_no_formulas_in_a_spreadsheet(ledger):
    with open_ledger(ledger) as opened:
        asked = Asked(principal='=HYPERLINK("http://x","y")', body="b")
        opened.reserve("hospital/ann", question="-q", asked=asked, **release("0.1"))
    *_, last = csv.DictReader(told("export", ledger).splitlines())
    assert (last["principal"][:6], last["question"]) == ("'=HYPE", "'-q")


def test_every_entry_is_a_line_that_links_to_the_one_before(ledger):
    found = lines(ledger)
    assert len(found) == 9
    assert [one["previous"] for one in found] == [Chain().head, *(one["hash"] for one in found[:-1])]
    assert found[5]["entry"]["answer"] == {"sections": [[7]]}


def test_fingerprints_of_data_stay_in_the_ledger(ledger):
    (protected,) = [one["entry"] for one in lines(ledger) if one["entry"]["type"] == "Protected"]
    assert (protected["fingerprints"], protected["sources"]) == (1, 1)
    for form in ([], ["--json"]):
        assert "mark" not in told("export", ledger, *form)


START = time("2024-11-01T00:00")


@pytest.fixture
def drawn(monkeypatch):
    """What is given to the picture, instead of a picture."""
    given = {}

    def keep(left, **options):
        given.update(left=left, **options)

    monkeypatch.setattr(history_command, "burn_down", keep)
    monkeypatch.setattr(history_command, "save", lambda _, path: path)
    return given


def draw(*accounts, asked=(), days=10):
    clock = HandClock(START)
    ledger = Ledger(MemoryStore(), clock=clock)
    for one in accounts:
        ledger.open_account(one)
    clock.at = START + DAY
    for what in asked:
        ledger.reserve(accounts[-1].account, question="q", **what)
    clock.at = START + days * DAY
    history_command.draw(ledger, ledger.accounts(), days=30, path="x.png")


def seconds(*days):
    return [START / 10**6 + day * 86_400 for day in days]


def test_budgets_in_epsilon_are_drawn_in_epsilon(drawn):
    draw(account("all", PureDP(2)), account(parents=("all",)), asked=[release("0.25")])
    assert drawn["left"]["people"] == (seconds(0, 1, 10), [1, 0.75, 0.75])
    assert drawn["left"]["all"] == (seconds(0, 1, 10), [2, 1.75, 1.75])
    assert (drawn["unit"], drawn["budget"]) == ("ε", 2)


def test_the_pace_goes_on_to_nothing(drawn):
    draw(account(), asked=[release("0.25")])
    assert drawn["projected_by_name"] == {"people": (seconds(10, 40), [0.75, 0])}


def test_the_pace_goes_on_to_where_the_budget_comes_back(drawn):
    draw(account(window=CalendarWindow("month")), asked=[release("0.25")], days=10)
    ((times, left),) = drawn["projected_by_name"].values()
    assert times == seconds(10, 30)
    assert left == pytest.approx([0.75, 0.25])


def test_what_is_never_used_up_goes_on_nowhere(drawn):
    draw(account())
    assert drawn["projected_by_name"] == {}


def test_a_budget_in_rho_is_drawn_in_rho(drawn):
    draw(account(budget=ZCDP("0.5")), asked=[gaussian(GaussianEvent(10))])
    assert (drawn["unit"], drawn["left"]["people"][1]) == ("ρ", [0.5, 0.495, 0.495])


@pytest.mark.parametrize("budget", [ApproxDP(2, "1e-6"), ZCDP(1, "1e-6")])
def test_two_numbers_are_drawn_as_the_share_of_the_scarcer(drawn, budget):
    draw(account(budget=budget), asked=[release("0.25", "5e-7")])
    assert (drawn["unit"], drawn["budget"], drawn["left"]["people"][1][1]) == (None, 1, 0.5)


def test_different_measures_are_drawn_as_shares(drawn):
    draw(account("all", ZCDP(1)), account(parents=("all",)), asked=[release("0.25")])
    assert drawn["unit"] is None
    assert drawn["left"]["people"][1][1] == 0.75


def test_what_nothing_limits_is_not_drawn(drawn):
    draw(account("all", NO_GUARANTEE), account(parents=("all",)))
    assert list(drawn["left"]) == ["people"]
    with pytest.raises(ParameterError, match="needs an account with a budget"):
        draw(account(budget=NO_GUARANTEE))
