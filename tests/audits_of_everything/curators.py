"""Real sessions as mechanisms: a table of worlds is opened, asked, and closed; what the account spent is the claim."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
from tests.audits_of_everything.judging import RUNS

import sfumato as sf
from sfumato.audit import DatabaseCopies
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table
from sfumato.query.policy.policy import Policy, Risk, SourceFacts

AT_ONCE = min(RUNS // 4, 25_000)
"""So many worlds are in one question."""

TYPES = {
    "person": pa.string(), "world": pa.int64(), "x": pa.int64(), "y": pa.int64(), "kind": pa.string(),
    "ill": pa.string(), "big": pa.int64(), "code": pa.string(), "floor": pa.int64(),
}  # fmt: skip
PURE, WITH_DELTA = sf.PureDP(100), sf.ApproxDP(100, "0.5")
LIMITS = Limits(max_rows_per_unit=2, max_groups_per_unit=1)
WARDS = Table(
    name="wards", columns={"code": sf.text(), "floor": sf.integer(0, 5)}, unit=PUBLIC, matches={("code",): 2}
)  # fmt: skip
PUBLIC_WARDS = [{"code": code, "floor": floor} for code, floor in (("a", 1), ("a", 2), ("a", 5), ("b", 3))]
"""Three rows of ward a, where two may match."""


def visit(person: str = "heavy", **cells: Any) -> dict[str, Any]:
    """A row of the table of visits, ordinary but for what is said."""
    return {"table": "visits", "person": person, "x": 1, "y": 1, "kind": "a", "ill": "flu", "big": 1} | cells


def patient(person: str = "heavy", **cells: Any) -> dict[str, Any]:
    """A row of the table of people."""
    return {"table": "people", "person": person, "kind": "a"} | cells


def tables(worlds: int, *, limits: Limits = LIMITS) -> dict[str, Table]:
    """What is declared of a database of so many worlds."""
    world = sf.integer(values=range(worlds))
    kind = sf.text(values=["a", "b", "c"])
    columns = {"person": sf.text(), "world": world, "kind": kind}
    numbers = {"x": sf.integer(-9, 1), "y": sf.integer(0, 4), "ill": sf.text(), "big": sf.integer()}
    unit = UnitColumn("person")
    return {
        "visits": Table(name="visits", columns=columns | numbers, unit=unit, limits=limits),
        "people": Table(
            name="people", columns=columns, unit=unit, limits=Limits(max_rows_per_unit=1), matches={("person",): 1}
        ),
        "wards": WARDS,
    }  # fmt: skip


def stored(table: Table, rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Rows of a table as they are stored."""
    own = list(rows)
    return pa.table({name: pa.array([row.get(name) for row in own], TYPES[name]) for name in table.columns})


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How sessions are opened."""

    engine: str = "duckdb"
    options: Any = None
    limits: Limits = LIMITS
    budget: Any = PURE
    facts: dict[str, Any] = field(default_factory=dict)
    put: Callable[[Table, pa.Table], Any] = lambda _, rows: rows
    accepted_risks: tuple[Risk, ...] = ()

    def __call__(self, rows: list[dict[str, Any]], *, worlds: int, ledger: Any = None, **changes: Any) -> sf.Session:
        """A session on these rows and a public table."""
        declared = tables(worlds, limits=self.limits)
        held = {name: [row for row in rows if row["table"] == name] for name in ("visits", "people")}
        sources = {
            name: SourceFacts(
                source=self.put(table, stored(table, held.get(name, PUBLIC_WARDS))), accepted_risks=self.accepted_risks
            )
            for name, table in declared.items()
        }
        said = {"dataset": "clinic", "version": "1", "data_version": "1", "unit_name": "person"}
        policy = Policy(**(said | {"tables": declared, "sources": sources} | self.facts | changes))
        return sf.Session(
            policy, budget=self.budget, engine=self.engine, engine_options=self.options, ledger=ledger
        )  # fmt: skip


class Curator:
    """A mechanism: worlds in sessions that are new for each call.

    Args:
        ask: Gets the rows of all worlds, how many worlds there are, and how to open a session; gives records, and what
            was spent.
        opening: How to open one.
        at_once: So many worlds at once, at most; 0 for none: each run is a session of its own, on one database.
    """

    def __init__(self, ask, opening: Opening, *, at_once: int = AT_ONCE) -> None:
        self.charges: list[ApproxDP] = []
        self._asks, self._opening, self._at_once = ask, opening, at_once

    @property
    def charged(self) -> ApproxDP:
        """What all its questions cost: the same each time."""
        (charge,) = set(self.charges)
        return charge

    def __call__(self, database, count):
        if not self._at_once:
            return [self._flat(self._ask([{**row, "world": 0} for row in database])) for _ in range(count)]
        at_once = min(self._at_once, count)
        worlds = DatabaseCopies(ask=partial(self._ask, worlds=at_once), copy="world", unit="person", at_once=at_once)
        return [tuple(value for row in output for value in row) for output in worlds(database, count)]

    def _ask(self, rows, *, worlds=1):
        records, spent = self._asks(rows, worlds, self._opening)
        self.charges.append(ApproxDP(spent.epsilon, getattr(spent, "delta", 0)))
        return records

    @staticmethod
    def _flat(records):
        return tuple(value for record in records for value in record.values())


def told(release) -> list[dict[str, Any]]:
    """The rows of an answer without the ends of intervals, which follow from the rest but in a case of their own."""
    return [
        dict(zip(release.keys, group, strict=True))
        | {name: one.value for name, one in zip(release.statistics, row, strict=True)}
        for group, row in zip(release.groups, release.estimates, strict=True)
    ]


def one_answer(question, rows, worlds, opening, **price):
    """One question to one session; its receipt says what it cost."""
    with opening(rows, worlds=worlds) as session:
        release = question(session).release(**price)
        return told(release), release.receipt.guarantee


def sql(text: str, opening: Opening | None = None, *, at_once: int = AT_ONCE, **price):
    """Makes the mechanism of a question in SQL."""
    return frame(lambda session: session.query(text), opening, at_once=at_once, **price)


def frame(question, opening: Opening | None = None, *, at_once: int = AT_ONCE, **price):
    """Makes the mechanism of a question in Python."""
    stated = {"epsilon": 2} | price
    chosen = opening or Opening(budget=WITH_DELTA if stated.get("delta") else PURE)
    return partial(Curator, partial(one_answer, question, **stated), chosen, at_once=at_once)
