"""Made-up rows follow from the policy: within bounds and limits, with ids that lead from table to table."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import date

import pytest
from tests.attacks_on_questions.clinic import CLINIC, DRUGS, PATIENTS, VISITS, WARDS
from tests.session.opened import shop

import sfumato as sf
from sfumato.engines.reference.relations import source_rows
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, boolean, integer, real, text, timestamp
from sfumato.query.model.schema import date as day
from sfumato.query.policy.policy import Place, Policy, SourceFacts
from sfumato.session.opening.made_up import MOST_ROWS, ROWS, UNITS, MadeUpTables

EVERY_KIND = {
    "number": integer(), "bounded": integer(-3, 4), "listed": integer(values=[7, 9]), "real": real(),
    "between": real(-1, 1, resolution="0.3"), "never": real(5, 6, nullable=False), "words": text(),
    "short": text(max_length=2), "sex": text(values=["f", "m"]), "truth": boolean(), "day": day(),
    "days": day("2026-01-30", "2026-02-01"), "own": day(values=[date(2020, 2, 29)]), "time": timestamp(),
    "times": timestamp("2026-01-01 00:00:00", "2026-01-01 00:00:01"),
}  # fmt: skip


def policy_of(*tables, **more):
    facts = {
        "dataset": "d", "version": "1", "data_version": "1", "unit_name": "person",
        "tables": {table.name: table for table in tables},
        "sources": {table.name: SourceFacts(source="nowhere.csv") for table in tables},
    }  # fmt: skip
    return Policy(**facts | more)


def made(*tables, **more):
    """The rows of each table of a policy by name."""
    policy = policy_of(*tables, **more)
    rows = MadeUpTables(policy)
    return {name: rows.rows(table) for name, table in policy.tables.items()}


def column(rows, name):
    return [row[name] for row in rows]


def test_cells_are_of_their_kinds_within_bounds_and_among_public_keys():
    (rows,) = made(Table(name="t", columns=EVERY_KIND)).values()
    found = {name: [cell for cell in column(rows, name) if cell is not None] for name in EVERY_KIND}
    types = {name: {type(cell).__name__ for cell in cells} for name, cells in found.items()}
    assert {name: kinds.pop() for name, kinds in types.items() if len(kinds) == 1} == {
        "number": "int", "bounded": "int", "listed": "int", "real": "float", "between": "float", "never": "float",
        "words": "str", "short": "str", "sex": "str", "truth": "bool", "day": "date", "days": "date", "own": "date",
        "time": "datetime", "times": "datetime",
    }  # fmt: skip
    assert (set(found["bounded"]), set(found["listed"])) == (set(range(-3, 5)), {7, 9})
    assert (set(found["sex"]), set(found["truth"]), len(set(found["days"]))) == ({"f", "m"}, {False, True}, 3)
    assert all(5 <= cell <= 6 for cell in found["never"])
    assert all(-1.05 < cell < 1.05 for cell in found["between"])  # a step of 0.3 is clamped when it is summed
    assert all(len(cell) <= 2 for cell in found["short"])
    assert {cell.isoformat()[:17] for cell in found["times"]} == {"2026-01-01T00:00:"}


def test_texts_repeat_so_that_there_are_groups():
    (rows,) = made(Table(name="t", columns={"town": text()})).values()
    assert 5 < len(set(column(rows, "town"))) < 20


def test_some_cells_are_null_where_they_may_be():
    (rows,) = made(Table(name="t", columns=EVERY_KIND)).values()
    missing = {name: column(rows, name).count(None) for name in EVERY_KIND}
    assert missing.pop("never") == 0
    assert all(1 <= count <= 40 for count in missing.values())
    (rows,) = made(Table(name="t", columns=EVERY_KIND, unit=PUBLIC)).values()
    assert not any(None in row.values() for row in rows)


def test_there_are_about_two_hundred_rows_of_a_table():
    sizes = {name: len(rows) for name, rows in made(*CLINIC).items()}
    assert (sizes["patients"], sizes["wards"]) == (UNITS, ROWS)
    assert all(150 <= sizes[name] <= 250 for name in ("visits", "drugs"))


@pytest.mark.parametrize(
    "limits", [Limits(max_rows_per_unit=1), Limits(max_rows_per_unit=2), Limits(max_rows_per_unit=9),
               Limits(max_rows_per_group_per_unit=2, max_groups_per_unit=5)],
)  # fmt: skip
def test_a_unit_has_several_rows_within_its_limits(limits):
    (rows,) = made(Table(name="t", columns={"u": text()}, unit=UnitColumn("u"), limits=limits)).values()
    most = min(limits.max_rows_per_unit or limits.max_rows_per_group_per_unit, MOST_ROWS)
    counts = Counter(column(rows, "u"))
    assert len(counts) == UNITS
    assert set(counts.values()) == set(range(1, most + 1))


def test_units_are_the_same_in_all_tables_and_paths_lead_to_them():
    rows = MadeUpTables(policy_of(*CLINIC))
    everybody = {unit for unit, _ in source_rows(PATIENTS, rows.rows)}
    for table in (PATIENTS, VISITS, DRUGS):
        found = source_rows(table, rows.rows)
        assert len(found) == len(rows.rows(table))  # nothing is left out: rows have owners, and match few others
        assert {unit for unit, _ in found} == everybody
    assert max(Counter(unit for unit, _ in source_rows(DRUGS, rows.rows)).values()) == 2


def test_a_path_of_paths_leads_to_its_units():
    lines = Table(
        name="lines", columns={"drug": text(), "id": text()}, unit=UnitPath("drug", DRUGS, "drug"),
        limits=Limits(max_rows_per_unit=3),
    )  # fmt: skip
    policy = policy_of(PATIENTS, VISITS, DRUGS, lines)
    rows = MadeUpTables(policy)
    found = source_rows(policy.tables["lines"], rows.rows)
    assert {unit for unit, _ in found} == {row["patient"] for row in rows.rows(policy.tables["patients"])}
    assert len(found) == len(rows.rows(policy.tables["lines"]))


def test_ids_that_a_file_holds_as_text_lead_there_too():
    policy = policy_of(PATIENTS, VISITS, DRUGS).with_text_ids([Place("drugs", "visit")])
    assert policy.tables["drugs"].column("visit").is_whole
    rows = MadeUpTables(policy)
    assert len(source_rows(policy.tables["drugs"], rows.rows)) == len(rows.rows(policy.tables["drugs"]))


def test_keys_that_come_from_a_public_table_are_there():
    with shop() as session:
        rows = MadeUpTables(session.policy)
        codes = set(column(rows.rows(session.policy.tables["nations"]), "code"))
    assert codes == {"x", "y"} >= set(column(rows.rows(session.policy.tables["lines"]), "nation")) - {None}


def test_what_matches_one_row_tells_rows_apart():
    rows = made(WARDS, VISITS)
    assert len(set(column(rows["visits"], "id"))) == len(rows["visits"])
    assert len(set(column(rows["wards"], "code"))) == ROWS


PRINTED = """
from tests.attacks_on_questions.clinic import CLINIC
from tests.session.opening.test_made_up import made
print(made(*CLINIC))
"""


def test_they_are_the_same_in_every_process():
    done = subprocess.run([sys.executable, "-c", PRINTED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr(made(*CLINIC))


def test_they_follow_from_the_policy_alone():
    (rows,) = made(Table(name="t", columns={"age": integer(0, 99), "town": text()})).values()
    assert rows[:3] == [{"age": None, "town": "town 0"}, {"age": 62, "town": "town 0"}, {"age": 74, "town": "town 3"}]
    other = policy_of(Table(name="t", columns={"age": integer(0, 99), "town": text()}))
    other = replace(other, sources={"t": SourceFacts(source=sf.datasets.votes())}, data_version="2")
    assert MadeUpTables(other).rows(other.tables["t"]) == rows
