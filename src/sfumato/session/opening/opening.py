"""From what an owner declares to what a session works with: sources, an engine, public keys."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final

from sfumato.engines.base import Engine
from sfumato.engines.registry import (
    ENGINES,
    Places,
    SeveralEngines,
    check_engine,
    check_owners,
    engine_at,
    engine_of,
    open_engine,
    opened_for,
    text_columns_of,
)
from sfumato.engines.sources.sources import Opened, keeps_rows
from sfumato.errors import ParameterError, PolicyError
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Column, Key, Table
from sfumato.query.model.statement import KeyColumn, RowCount, Statement
from sfumato.query.policy.policy import Place, Policy, SourceFacts
from sfumato.session.opening.snapshots import require_snapshot

_NO_SALT: Final = "0" * 32  # nothing of a public table is sampled


def places_of(policy: Policy, *, engine: str) -> Places:
    """The engine of each table: that which the address of its source names, else the one of the session.

    Raises:
        ParameterError: There is no such engine, or none is known by the scheme of an address.
        PolicyError: The owners of a table's rows are in another engine.
    """
    check_engine(engine)
    places = {
        name: (engine_at(facts.source) if facts.snapshot is None else None) or engine
        for name, facts in policy.sources.items()
    }  # fmt: skip
    check_owners(policy, places)
    return places


def open_sources(policy: Policy, places: Places) -> Mapping[str, Opened]:
    """The source behind each table; of files only names and types are read.

    Raises:
        ParameterError: There is no such source, or it cannot be read as declared.
    """
    return {
        name: opened_for(places[name], _read_from(facts, policy), policy.tables[name])
        for name, facts in policy.sources.items()
    }


def open_engines(
    sources: Mapping[str, Opened], *, engine: str, places: Places, options: Mapping[str, Any]
) -> Engine:  # fmt: skip
    """The engines of some tables, as one.

    Args:
        sources: The sources behind the tables.
        engine: The engine of the session.
        places: The engine of each table.
        options: Those of the session's engine, and by the names of other engines theirs.

    Raises:
        ParameterError: There is no such engine, it has no such option, or its packages are missing; or an option is
            stated for the engine of the session, which has no table.
    """
    _check_options(options)
    named = sorted({places[table] for table in sources})
    own = {name: value for name, value in options.items() if name not in ENGINES}
    if own and engine not in places.values():
        requirement = f"are for {engine}, which has no table; give them under the name of another engine"
        raise ParameterError("engine_options", ", ".join(map(str, own)), requirement)
    with ExitStack() as opened:
        engines = {}
        for name in named:
            tables = {table: source for table, source in sources.items() if places[table] == name}
            stated = (own if name == engine else {}) | dict(options.get(name, {}))
            engines[name] = open_engine(name, tables, options=stated)
            opened.callback(engines[name].close)
        opened.pop_all()  # nothing failed: all stay open
    return next(iter(engines.values())) if len(engines) == 1 else SeveralEngines(engines, places)


def as_stored(policy: Policy, sources: Mapping[str, Opened], engine: Engine) -> Policy:
    """The policy with what the sources say of themselves: whether every record is a row, and which ids are text."""
    texts = [
        Place(name, column)
        for name, table in policy.tables.items()
        for column in text_columns_of(sources[name], table, engine_of(table, engine))
    ]
    kept = policy.with_tables(lambda table: {"keeps_rows": keeps_rows(sources[table.name])})
    return kept.with_text_ids(texts)


def with_public_keys(policy: Policy, engine: Engine) -> Policy:
    """The policy with the keys that it takes from public tables; no private row is read.

    Raises:
        PolicyError: The public table has no values there.
    """
    keys = {origin: _keys(policy, origin, engine) for origin in set(policy.values_from.values())}

    def with_keys(table: Table) -> Mapping[str, Any]:
        origins = {place.column: origin for place, origin in policy.values_from.items() if place.table == table.name}
        return {"columns": dict(table.columns) | dict(_with_keys(table, origins, keys))}

    return policy.with_tables(with_keys) if keys else policy


def _with_keys(
    table: Table, origins: Mapping[str, Place], keys: Mapping[Place, tuple[Key, ...]]
) -> Mapping[str, Column]:
    columns = {}
    for name, origin in origins.items():
        try:
            columns[name] = replace(table.columns[name], values=keys[origin])
        except ParameterError as error:
            raise PolicyError(
                f"tables.{table.name}.columns.{name}.values_from", f"{origin}: {error.requirement}"
            ) from None
    return columns


def _keys(policy: Policy, origin: Place, engine: Engine) -> tuple[Key, ...]:
    """The groups of a public table, as the engine that will ask for them finds them."""
    by_column = (KeyColumn(name=origin.column, values=None),)
    rows = Source(policy.tables[origin.table])
    found = engine.run(Statement(rows=rows, keys=by_column, measures=(RowCount(),)), salt=_NO_SALT)
    keys: Sequence[Any] = found.open_for_noise().keys[0]  # of one kind, and so in order
    return tuple(sorted(keys))


def _check_options(options: object) -> None:
    """Options are a mapping, and so are those of an engine by its name."""
    if not isinstance(options, Mapping):
        raise ParameterError("engine_options", options, 'must be a mapping, such as {"memory_limit": "4GB"}')
    for name in ENGINES:
        if not isinstance(options.get(name, {}), Mapping):
            raise ParameterError(f"engine_options[{name!r}]", options[name], "must be a mapping of its options")


def _read_from(facts: SourceFacts, policy: Policy) -> SourceFacts:
    """The snapshot of a source, if it has one."""
    if facts.snapshot is None:
        return facts
    return SourceFacts(source=require_snapshot(facts, data_version=policy.data_version))
