"""Sessions that the tests open, on data with a canary in every cell, and an engine that records what it is asked."""

from dataclasses import replace

import pyarrow as pa

import sfumato as sf
from sfumato.errors import EngineError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, date, integer, text
from sfumato.query.policy.policy import Place, Policy, SourceFacts

CANARY = "canary-3141592653"
COLUMNS = {
    "name": sf.text(),
    "sex": sf.text(values=["f", "m"]),
    "age": sf.integer(0, 100),
    "pay": sf.real(0, 10),
    "free": sf.integer(),
}
DATA = pa.table(
    {
        "name": [CANARY, CANARY, None, "x"],
        "sex": ["f", "m", "m", CANARY],
        "age": [30, 50, 40, 31415926],
        "pay": [1.5, 2.5, None, 3.1415926],
        "free": [31415926] * 4,
    }
)
COUNT = "SELECT COUNT(*) AS n FROM people"


def opened(data=DATA, **changes):
    """A session on the table `people`, with a budget of 1 unless told otherwise."""
    return sf.open(data, **({"name": "people", "columns": COLUMNS, "budget": sf.PureDP(1)} | changes))


CUSTOMERS = Table(
    name="customers", columns={"customer": integer(), "nation": text()}, unit=UnitColumn("customer"),
    limits=Limits(max_rows_per_unit=1),
)  # fmt: skip
ORDERS = Table(
    name="orders", columns={"id": integer(), "customer": integer(), "day": date(), "note": text()},
    unit=UnitColumn("customer"), limits=Limits(max_rows_per_unit=3), matches={("id",): 1},
)  # fmt: skip
LINES = Table(
    name="lines", columns={"order": integer(), "nation": text(), "amount": integer(0, 9)},
    unit=UnitPath("order", ORDERS, "id"), limits=Limits(max_rows_per_unit=9),
)  # fmt: skip
NATIONS = Table(
    name="nations", columns={"code": text(), "region": text(values=["east", "west"])}, unit=PUBLIC,
    matches={("code",): 1},
)  # fmt: skip
SHOP = {
    "customers": pa.table({"customer": [1, 2, 3, None], "nation": ["x", "y", "x", CANARY]}),
    "orders": pa.table(
        {
            "id": [10, 11, 20, 30, 30],
            "customer": [1, 1, 2, 3, 3],
            "day": ["2026-01-31", "2026-02-01", None, "2026-01-31", "2026-03-01"],
            "note": [CANARY] * 5,
        }
    ),
    "lines": pa.table(
        {"order": [10, 10, 11, 20, 30, 99], "nation": ["x", "y", "x", "y", "y", "x"], "amount": [1, 2, 3, 4, 5, 9]}
    ),
    "nations": pa.table({"code": ["x", "y", "y"], "region": ["east", "west", "west"]}),
}
"""Three customers with four orders and five lines; an order twice, and a line of an order that nobody made."""


SURE = 3_000
"""So much ε that a shop's answers are exact but once in ten million times."""


def shop_policy(**changes):
    """Three tables of people, connected by paths, and a public one."""
    tables = {table.name: table for table in (LINES, ORDERS, CUSTOMERS, NATIONS)}
    facts = {
        "dataset": "shop", "version": "1", "data_version": "1", "unit_name": "customer", "tables": tables,
        "sources": {name: SourceFacts(source=SHOP[name]) for name in tables},
        "values_from": {Place("lines", "nation"): Place("nations", "code")},
    }  # fmt: skip
    return Policy(**(facts | changes))


def shop(*, budget=sf.NO_GUARANTEE, engine="duckdb", engine_options=None, **changes):
    """A session on the shop; without a limit on spending unless told otherwise."""
    return sf.Session(shop_policy(**changes), budget=budget, engine=engine, engine_options=engine_options)


class RecordingEngine:
    """Keeps what it is asked, then answers as the engine behind it, or fails."""

    name = "recording"
    sampling = "md5"

    def __init__(self, engine, *, fails=False):
        self._engine, self._fails = engine, fails
        self.statements, self.salts = [], []

    def run(self, statement, *, salt):
        self.statements.append(statement)
        self.salts.append(salt)
        if self._fails:
            raise EngineError(self.name, "was told to fail")
        return self._engine.run(statement, salt=salt)

    def sql(self, statement):
        return self._engine.sql(statement)

    def close(self):
        self._engine.close()


def recorded(session, *, fails=False):
    """The session with a recording engine, and that engine."""
    engine = RecordingEngine(session._desk.engine, fails=fails)
    session._desk = replace(session._desk, engine=engine)
    return session, engine
