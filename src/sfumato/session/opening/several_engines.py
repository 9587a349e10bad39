"""The tables of one policy in several engines, each of which answers about its own: rows never travel between them."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack
from typing import TypeAlias

from sfumato.engines.base import Engine, Found, Preparing, Streaming, in_batches
from sfumato.errors import NotPrivateError, PolicyError
from sfumato.privacy.secret import Secret
from sfumato.query.model.relations import tables_of
from sfumato.query.model.schema import Table, UnitPath
from sfumato.query.model.statement import Statement
from sfumato.query.policy.policy import Policy

Places: TypeAlias = Mapping[str, str]
"""The name of the engine of each table."""


class SeveralEngines:
    """Engines by name, as one that has the tables of all of them.

    Args:
        engines: They.
        places: Which of them has each table.
    """

    def __init__(self, engines: Mapping[str, Engine], places: Places) -> None:
        self._engines, self._places = dict(engines), dict(places)
        self.name = " and ".join(self._engines)

    def run(self, statement: Statement, *, salt: str) -> Secret[Found]:
        """See `Engine.run`."""
        return self.one_for(tables_of(statement.rows)).run(statement, salt=salt)

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[Found], None, None]:
        """See `Streaming.batches`."""
        return batches_of(self.one_for(tables_of(statement.rows)), statement, salt=salt, size=size)

    def sql(self, statement: Statement, /) -> str:
        """See `Engine.sql`."""
        return self.one_for(tables_of(statement.rows)).sql(statement)

    def prepare(self, table: Table) -> None:
        """See `Preparing.prepare`."""
        engine = self.one_for([table])
        if isinstance(engine, Preparing):
            engine.prepare(table)

    def close(self) -> None:
        """Close all of them, also if one cannot be."""
        with ExitStack() as closing:
            for engine in self._engines.values():
                closing.callback(engine.close)

    def one_for(self, tables: Iterable[Table]) -> Engine:
        """The engine that has all of some tables.

        Raises:
            NotPrivateError: They are in several, so that rows would have to leave one of them.
        """
        places = {table.name: self._places[table.name] for table in tables}
        names = set(places.values())
        if len(names) > 1:
            shown = " with ".join(f"{table} ({engine})" for table, engine in places.items())
            raise NotPrivateError(
                shown, "the rows of these tables are in different engines, and no row leaves the one that it is in",
                "Put the tables into one engine, or ask about each by itself.",
            )  # fmt: skip
        return self._engines[names.pop()]


def batches_of(
    engine: Engine, statement: Statement, *, salt: str, size: int
) -> Generator[Secret[Found], None, None]:  # fmt: skip
    """What an engine finds, batch by batch; of one that does not stream as it is found, cut."""
    if isinstance(engine, Streaming):
        return engine.batches(statement, salt=salt, size=size)
    whole = engine.run(statement, salt=salt).open_for_noise()
    return (Secret(one) for one in in_batches(whole, size=size))


def check_owners(policy: Policy, places: Places) -> None:
    """Refuse tables whose rows' owners stand in a table of another engine.

    Raises:
        PolicyError: There is such a table.
    """
    for name, table in policy.tables.items():
        if isinstance(table.unit, UnitPath) and places[name] != places[table.unit.table.name]:
            raise PolicyError(
                f"tables.{name}.unit",
                f"leads to {table.unit.table.name}, which is in {places[table.unit.table.name]} and not in"
                f" {places[name]}; no row leaves its engine, so put both tables into one",
            )
