"""What is attacked: a clinic of patients with many visits and drugs, and a town where each row is a unit."""

from collections.abc import Mapping
from datetime import date, datetime
from functools import partial

import pyarrow as pa

import sfumato as sf
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, boolean, integer, real, text, timestamp
from sfumato.query.model.schema import date as day
from sfumato.query.policy.policy import Policy, SourceFacts

PATIENTS = Table(
    name="patients", columns={"patient": text(), "sex": text(values=["f", "m"]), "born": day(), "town": text()},
    unit=UnitColumn("patient"), limits=Limits(max_rows_per_unit=1), matches={("patient",): 1},
)  # fmt: skip
VISITS = Table(
    name="visits",
    columns={
        "patient": text(), "id": integer(), "ward": text(values=["A", "B", "C"]), "ill": text(),
        "cost": real(0, 100, resolution="0.01"), "beds": integer(-2, 9), "hours": real(1, 24, nullable=False),
        "day": day(), "seen": timestamp(), "urgent": boolean(), "note": text(),
    },
    unit=UnitColumn("patient"), limits=Limits(max_rows_per_unit=4, max_groups_per_unit=2), matches={("id",): 1},
)  # fmt: skip
DRUGS = Table(
    name="drugs", columns={"visit": integer(), "drug": text(), "dose": integer(0, 50)},
    unit=UnitPath("visit", VISITS, "id"),
    limits=Limits(max_groups_per_unit=3, max_rows_per_group_per_unit=2),
)  # fmt: skip
WARDS = Table(
    name="wards", columns={"code": text(), "floor": integer(0, 5), "kind": text(values=["open", "shut"])}, unit=PUBLIC,
    matches={("code",): 2},
)  # fmt: skip
PEOPLE = Table(
    name="people",
    columns={
        "name": text(), "sex": text(values=["f", "m"]), "age": integer(0, 100), "pay": real(-5, 10), "town": text(),
        "kids": integer(1, 9, nullable=False), "born": day(), "smokes": boolean(),
    },
)  # fmt: skip
CLINIC = (PATIENTS, VISITS, DRUGS, WARDS)
TOWN = (PEOPLE, WARDS)

NOON = datetime.fromisoformat("2026-01-31 12:00")
Row = dict[str, object]
Database = Mapping[str, list[Row]]

PUBLIC_WARDS: list[Row] = [
    {"code": code, "floor": floor, "kind": "open"} for code in ("A", "A", "A", "B") for floor in (0, 5)
] + [{"code": None, "floor": 1, "kind": "shut"}]
"""A public table that breaks what the policy claims of it: six rows of ward A, where two may match."""


def visit(patient: object, number: object = 1, **cells: object) -> Row:
    """A visit, ordinary but for what is said."""
    return {
        "patient": patient, "id": number, "ward": "A", "ill": "flu", "cost": 12.5, "beds": 1, "hours": 2.0,
        "day": date(2026, 1, 31), "seen": NOON, "urgent": True, "note": "",
    } | cells  # fmt: skip


def patient(name: object, **cells: object) -> Row:
    """A patient, ordinary but for what is said."""
    return {"patient": name, "sex": "f", "born": date(1980, 2, 29), "town": "Ulm"} | cells


def drug(number: object, name: object = "A1", dose: object = 5) -> Row:
    """A drug that was given in a visit."""
    return {"visit": number, "drug": name, "dose": dose}


def person(**cells: object) -> Row:
    """A person of the town, ordinary but for what is said."""
    return {
        "name": "x", "sex": "f", "age": 30, "pay": 2.5, "town": "Ulm", "kids": 2, "born": date(1996, 1, 31),
        "smokes": False,
    } | cells  # fmt: skip


def ordinary() -> Database:
    """Twelve patients, each with a visit or two, and a drug in each visit."""
    visits = [visit(f"p{i}", i, ward="ABC"[i % 3], cost=float(i), beds=i % 9) for i in range(12)]
    visits += [visit(f"p{i}", 100 + i, ward="B", ill="cold", cost=50.0) for i in range(6)]
    return {
        "patients": [patient(f"p{i}", sex="fm"[i % 2]) for i in range(12)],
        "visits": visits,
        "drugs": [drug(row["id"], dose=place % 51) for place, row in enumerate(visits)],
        "wards": PUBLIC_WARDS,
    }


def townsfolk() -> Database:
    """Twenty people."""
    people = [person(name=f"n{i}", sex="fm"[i % 2], age=5 * i, pay=i / 4, kids=1 + i % 9) for i in range(20)]
    return {"people": people, "wards": PUBLIC_WARDS}


STORED = {"integer": pa.int64(), "float": pa.float64(), "text": pa.string(), "boolean": pa.bool_(),
          "date": pa.date32(), "timestamp": pa.timestamp("us")}  # fmt: skip


def stored(table: Table, rows: list[Row], types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """Rows as Arrow holds them: in the types of their declarations, or in others by name."""
    kinds = {name: STORED[column.kind.value] for name, column in table.columns.items()} | dict(types or {})
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})


def opened(
    tables: tuple[Table, ...], rows: Mapping[str, object], *, engine: str, options=None, budget=sf.NO_GUARANTEE,
    types=None, ledger=None, **changes,
):  # fmt: skip
    """A session on some tables, of rows or of what holds them; without a limit on spending unless told otherwise."""
    chosen = types or {}
    held = {
        table.name: stored(table, rows[table.name], chosen.get(table.name))
        if isinstance(rows[table.name], list)
        else rows[table.name]
        for table in tables
    }
    facts = {
        "dataset": "attacked", "version": "1", "data_version": "1", "unit_name": "person",
        "tables": {table.name: table for table in tables},
        "sources": {name: SourceFacts(source=source) for name, source in held.items()},
    }  # fmt: skip
    return sf.Session(Policy(**(facts | changes)), budget=budget, engine=engine, engine_options=options, ledger=ledger)


clinic = partial(opened, CLINIC)
"""A session on the clinic: of its rows by table."""

town = partial(opened, TOWN)
"""A session on the town."""
