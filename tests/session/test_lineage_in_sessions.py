"""Sessions on the same people in one ledger: declared by the owner, or recognized by their data."""

import pyarrow as pa
import pytest
from tests.attacks_on_ledgers.census import CENSUS, COUNT, asked, census, ledger_of, people

import sfumato as sf
from sfumato.errors import BudgetExceededError, LedgerError, ParameterError
from sfumato.ledger.core.entry import Protected
from sfumato.ledger.core.windows import CalendarWindow
from sfumato.privacy.neighbors import REPLACE_ONE

POLICY = """
dataset = "survey"
version = "2026-11"
derived_from = ["census"]

[unit]
name = "row"

[tables.people]
source = "people.csv"
unit = "row"

[tables.people.columns.age]
type = "integer"
bounds = [0, 100]
"""


@pytest.fixture
def where(tmp_path):
    """A ledger that lasts."""
    return {"ledger": tmp_path / "ledger.db"}


def test_a_dataset_that_is_derived_from_another_pays_with_it(where):
    with census(**where) as first, census(people(7), dataset="survey", derived_from=("census",), **where) as second:
        assert ledger_of(second).path("survey") == ("survey", "census")
        asked(second, epsilon="0.7")
        assert (first.spent, second.spent) == (sf.PureDP("0.7"), sf.PureDP("0.7"))
        asked(first, epsilon="0.2")
        assert second.remaining == sf.PureDP("0.3")
        with pytest.raises(BudgetExceededError, match="'census'"):
            asked(second, 10, epsilon="0.2")


def test_a_dataset_that_is_not_open_cannot_be_derived_from(where):
    with pytest.raises(ParameterError, match="must be open"):
        census(dataset="survey", derived_from=("census",), **where)


def test_who_is_derived_later_needs_a_new_name(where):
    with census(**where), census(people(7), dataset="survey", **where):
        pass
    with pytest.raises(LedgerError, match="not opened as a child of census"):
        census(people(7), dataset="survey", derived_from=("census",), **where)


def test_a_dataset_is_opened_again_as_it_was_declared(where):
    for spent in (0, "0.3"):
        with census(**where), census(people(7), dataset="survey", derived_from=("census",), **where) as second:
            assert second.spent == sf.PureDP(spent)
            asked(second, epsilon="0.3")


def test_who_was_derived_stays_derived(where):
    with census(**where) as first, census(people(7), dataset="survey", derived_from=("census",), **where):
        with census(people(7), dataset="survey", **where) as again:
            asked(again, epsilon="0.3")
        assert first.spent == sf.PureDP("0.3")


def test_a_policy_file_says_what_a_dataset_is_derived_from(tmp_path, where):
    (tmp_path / "people.csv").write_text("age\n30\n40\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    with census(**where) as first, sf.Session(tmp_path / "policy.toml", budget=sf.PureDP(2), **where) as second:
        second.sql(COUNT, epsilon="0.7")
        assert first.spent == sf.PureDP("0.7")


def test_analysts_below_a_derived_dataset_pay_for_all_above(where):
    with census(**where) as first, census(people(7), dataset="survey", derived_from=("census",), **where) as second:
        ann = second.open_account("ann", budget=sf.PureDP("0.5"))
        asked(ann, epsilon="0.4")
        assert [view.spent for view in (first, second, ann)] == [sf.PureDP("0.4")] * 3


def test_the_same_data_is_recognised_and_declared_at_once(where):
    with census(**where), census(dataset="survey", derived_from=("census",), **where) as second:
        assert ledger_of(second).opened("survey").parents == ("census",)


def test_data_is_recognised_once_and_by_a_seal(where):
    for _ in range(2):
        with census(**where) as session:
            found = [entry for entry in ledger_of(session).entries() if isinstance(entry, Protected)]
            assert [(entry.account, entry.table, entry.unit) for entry in found] == [("census", "people", "each row")]
            assert all(len(seal) == 64 for entry in found for seal in (*entry.fingerprints, *entry.sources))


def test_data_is_recognised_whatever_is_declared_of_it(where):
    columns = {"age": sf.integer(0, 100)}
    with census(**where) as first, sf.open(CENSUS, name="ages", columns=columns, budget=sf.PureDP(5), **where) as other:
        other.sql("SELECT COUNT(*) AS n FROM ages", epsilon="0.6")
        assert first.spent == other.spent == sf.PureDP("0.6")


def test_data_that_a_dataset_below_had_first_may_be_that_of_the_one_above(where):
    data = people(7)
    with census(**where), census(data, dataset="survey", derived_from=("census",), **where) as survey:
        asked(survey, 10, epsilon="0.3")
        with census(data, data_version="2", **where) as first:
            assert first.spent == sf.PureDP("0.3")
            asked(first, 20, epsilon="0.7")
        with pytest.raises(BudgetExceededError):
            asked(survey, 30)


def test_data_of_two_datasets_pays_with_both(where):
    data = {"north": people(9, town="Kiel"), "south": people(9, town="Ulm")}
    with census(data["north"], dataset="north", **where) as north, census(data["south"], dataset="south", **where):
        with census(data["south"], dataset="both", derived_from=("north",), **where) as both:
            assert set(ledger_of(both).opened("both").parents) == {"north", "south"}
            asked(both, epsilon="0.6")
        assert north.spent == sf.PureDP("0.6")


@pytest.mark.parametrize(("said", "spent"), [((), 0), (("census",), "0.6")])
def test_a_row_more_is_other_data_unless_the_owner_says_so(where, said, spent):
    more = pa.concat_tables([CENSUS, CENSUS.slice(0, 1)])
    with census(**where) as first, census(more, dataset="again", derived_from=said, **where) as second:
        asked(second, epsilon="0.6")
        assert first.spent == sf.PureDP(spent)


def test_a_ledger_that_is_forgotten_recognises_nothing():
    with census() as first, census(dataset="again") as second:
        asked(second)
        assert first.spent == sf.PureDP(0)
        found = [entry for entry in ledger_of(second).entries() if isinstance(entry, Protected)]
        assert not any(entry.fingerprints or entry.sources for entry in found)


def test_other_people_or_neighbours_cannot_be_derived(where):
    with census(**where):
        for change in ({"unit_name": "household"}, {"neighboring_relation": REPLACE_ONE}):
            with pytest.raises(ParameterError, match="must have the same"):
                census(people(7), dataset="survey", derived_from=("census",), **change, **where)


def test_a_derived_dataset_may_have_a_window_of_its_own(where):
    with (
        census(**where) as first,
        census(people(7), dataset="survey", derived_from=("census",), window=CalendarWindow("day"), **where) as second,
    ):
        asked(second, epsilon="0.9")
        assert (first.remaining, second.remaining) == (sf.PureDP("0.1"), sf.PureDP("0.1"))
