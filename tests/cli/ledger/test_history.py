import builtins
import csv
import json
import sys

import pytest
from tests.cli.commands import refusal, run
from tests.cli.ledger.telling import told
from tests.ledger.stories import release

from sfumato.ledger.core import clock
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.reading.history import time_text


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
    late = clock._wall() + clock.DAY
    with monkeypatch.context() as patched:
        patched.setattr(clock, "_wall", lambda: late)
        with open_ledger(ledger) as opened:
            opened.abandon(opened.reserve("hospital/ann", question="d" * 64, **release("0.01")), reason="r")
    (line,) = [line for line in told("history", ledger).splitlines() if "stood still" in line]
    assert line == f"clock: time stood still at {time_text(late)} for 1 answer: a clock had been ahead, or was put back"
    assert line in told("verify", ledger)


def test_one_account_is_told_alone(ledger):
    rows = list(csv.DictReader(told("history", ledger, "--account", "hospital/bob", "--csv").splitlines()))
    assert {row["account"] for row in rows} == {"hospital/bob"}


def test_json_has_the_same_rows(ledger):
    rows = json.loads(told("history", ledger, "--json", "--limit", "1"))
    assert [(row["account"], row["epsilon"], row["state"]) for row in rows] == [("hospital/ann", "1/5", "reserved")]


def test_it_is_told_what_each_spent_itself_and_how_many_more_questions_there_are(ledger):
    shown = told("history", ledger).splitlines()
    assert "hospital: spent ε 0 itself, in 0 charges; about 10 more questions like the last one" in shown
    assert "hospital/ann: spent ε 0.3 itself, in 2 charges; about 3 more questions like the last one" in shown


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
