"""One set of people under several names, paths, views and analysts: one budget, however it is divided."""

import shutil
from contextlib import suppress

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.attacks_on_ledgers.census import CENSUS, COUNT, Clock, asked, believed, census, ledger_of, people

import sfumato as sf
from sfumato.errors import BudgetExceededError, LedgerError, ParameterError
from sfumato.ledger.core.windows import CalendarWindow
from sfumato.privacy.neighbors import REPLACE_ONE

ONE = sf.PureDP(1)


@pytest.fixture
def file(tmp_path):
    """The census as a file."""
    pq.write_table(CENSUS, tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def link(path):
    other = path.with_name("link.parquet")
    other.symlink_to(path)
    return other


def copy(path):
    return shutil.copy(path, path.with_name("copy.parquet"))


def hard_link(path):
    other = path.with_name("hard.parquet")
    other.hardlink_to(path)
    return other


def lazy(path):
    return pl.scan_parquet(path).filter(pl.col("age") >= 0)


AGAIN = {"as text": str, "by a link": link, "by a hard link": hard_link, "a copy": copy}


@pytest.mark.parametrize("found", AGAIN)
def test_39_the_same_file_under_another_dataset_and_path_has_no_budget_of_its_own(tmp_path, file, found):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(file, **where) as first, census(AGAIN[found](file), dataset="again", **where) as second:
        assert ledger_of(second).path("again") == ("again", "census")
        asked(second, 10, epsilon="0.6")
        assert (first.spent, second.spent) == (sf.PureDP("0.6"), sf.PureDP("0.6"))
        asked(first, 20, epsilon="0.4")
        with pytest.raises(BudgetExceededError, match="census"):
            asked(second, 30)


FRAMES = {
    "itself": lambda frame: frame,
    "in pandas": lambda frame: frame.to_pandas(),
    "in Polars": pl.from_arrow,
    "in another order": lambda frame: frame.take(list(reversed(range(len(frame))))),
    "in pieces": lambda frame: pa.concat_tables([frame.slice(0, 7), frame.slice(7)]),
}


@pytest.mark.parametrize("shape", FRAMES)
def test_39_the_same_frame_has_no_budget_of_its_own_in_any_shape(tmp_path, shape):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(**where) as first, census(FRAMES[shape](CENSUS), dataset="again", **where) as second:
        asked(second, epsilon="0.6")
        assert first.spent == second.spent == sf.PureDP("0.6")


def test_39_a_lazy_frame_over_a_file_has_no_budget_of_its_own(tmp_path, file):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(file, **where) as first, census(lazy(file), dataset="view", **where) as second:
        asked(second, epsilon="0.6")
        assert first.spent == sf.PureDP("0.6")


def test_39_a_view_of_a_policy_is_no_dataset_of_its_own(tmp_path):
    views = {"everybody": "SELECT age, sex FROM people"}
    with census(views=views, ledger=tmp_path / "ledger.db") as session:
        session.sql("SELECT COUNT(*) AS n FROM everybody WHERE age >= 10", epsilon="0.6")
        with pytest.raises(BudgetExceededError):
            asked(session, 20, epsilon="0.5")


def test_39_nor_has_data_that_is_first_found_under_a_window(tmp_path, monkeypatch):
    believed(Clock(), monkeypatch)
    where = {"ledger": tmp_path / "ledger.db"}
    with (
        census(window=CalendarWindow("month"), lifetime=sf.PureDP(10), **where) as first,
        census(dataset="again", budget=sf.PureDP(5), **where) as second,
    ):
        asked(first, 10, epsilon="0.6")
        asked(second, 20, epsilon="0.4")
        with pytest.raises(BudgetExceededError):
            asked(second, 30)
        assert first.remaining == sf.PureDP(0)


def test_39_an_account_in_another_measure_pays_in_the_first_ones_too(tmp_path):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(**where) as first, census(dataset="again", budget=sf.ApproxDP(9, "1e-6"), **where) as second:
        asked(second, epsilon="0.6")
        with pytest.raises(BudgetExceededError):
            asked(second, 10, epsilon="0.6")
        assert first.spent == sf.PureDP("0.6")


def test_39_the_same_people_are_not_opened_under_another_promise(tmp_path):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(**where):
        for change in ({"unit_name": "household"}, {"neighboring_relation": REPLACE_ONE}):
            with pytest.raises(ParameterError, match="parents"):
                census(dataset="again", **change, **where)


def test_39_a_dataset_that_later_reads_the_data_of_another_is_refused(tmp_path):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(people(7), dataset="small", **where), census(**where) as first:
        with pytest.raises(LedgerError, match="not its parent"):
            census(dataset="small", **where)
        assert first.spent == sf.PureDP(0)


def test_39_a_closed_dataset_is_not_opened_again_under_another_name(tmp_path):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(**where) as first:
        first.close_account(reason="the study is over")
        with census(dataset="again", **where) as second, pytest.raises(LedgerError, match="closed"):
            asked(second)


def test_39_raising_the_version_of_the_data_or_of_the_policy_refills_nothing(tmp_path):
    where = {"ledger": tmp_path / "ledger.db"}
    for number, changes in enumerate([{}, {"data_version": "2"}, {"version": "2"}]):
        data = people(40 + number)
        with census(data, **changes, **where) as session:
            assert session.spent.epsilon * 10 == 3 * number
            asked(session, epsilon="0.3")
            assert session.open_account("ann", budget=ONE).remaining == ONE
    with census(people(99), data_version="3", **where) as session:
        assert session.remaining == sf.PureDP("0.1")


def test_39_what_is_public_may_be_read_by_all(tmp_path):
    where = {"ledger": tmp_path / "ledger.db"}
    with census(people(7), dataset="north", **where) as north, census(people(8), dataset="south", **where) as south:
        asked(south)
        assert north.spent == sf.PureDP(0)


# 40: collusion.


@pytest.mark.parametrize(("sharing", "together"), [(False, 1), (True, 8)])
def test_40_analysts_together_never_pass_the_dataset_however_large_their_own_budgets_are(sharing, together):
    """Where answers are shared, all eight pay for each that was drawn, and the dataset once."""
    with census(shares_answers=sharing) as session:
        views = [session.open_account(f"analyst {number}", budget=sf.PureDP(2)) for number in range(8)]
        found = set()
        for age in range(25):
            for view in views:
                with suppress(BudgetExceededError):
                    found.add((age, asked(view, age, epsilon="0.05")["n"][0].value))
        assert session.spent == ONE
        assert sum(view.spent.epsilon for view in views) == together
        assert len(found) <= 20


def test_40_a_tree_of_teams_is_bounded_at_every_node():
    caps = {"census": 1, "north": "0.7", "south": "0.7"}
    with census() as session:
        teams = {name: session.open_account(name, budget=sf.PureDP(caps[name])) for name in ("north", "south")}
        analysts = [
            team.open_account(name, budget=sf.PureDP("0.5")) for team in teams.values() for name in ("ann", "bob")
        ]
        for age in range(40):
            try:
                asked(analysts[age % 4], age, epsilon="0.05")
            except BudgetExceededError:
                continue
        spent = {view.account_name: view.spent.epsilon for view in (session, *teams.values(), *analysts)}
        assert spent["census"] == 1
        for team in ("census/north", "census/south"):
            assert spent[team] == spent[f"{team}/ann"] + spent[f"{team}/bob"] <= 0.7
        with pytest.raises(BudgetExceededError):
            analysts[0].sql(COUNT, epsilon="0.05")


def test_40_accounts_of_accounts_of_accounts_have_nothing_more():
    with census(budget=sf.PureDP("0.3")) as session:
        view = session
        for depth in range(5):
            view = view.open_account(f"level {depth}", budget=sf.PureDP(100))
            asked(view, depth, epsilon="0.05")
        with pytest.raises(BudgetExceededError, match="'census'"):
            asked(view, 99)
