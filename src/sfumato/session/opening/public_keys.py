"""Public keys that a policy takes from a public table: all its values, sorted, read when a session is opened."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sfumato.engines.base import Engine
from sfumato.errors import ParameterError, PolicyError
from sfumato.query.model.measures import RowCount
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Column, Key, Table
from sfumato.query.model.statement import KeyColumn, Statement
from sfumato.query.policy.policy import Place, Policy

_NO_SALT: Final = "0" * 32  # nothing of a public table is sampled


def with_public_keys(policy: Policy, engine: Engine) -> Policy:
    """The policy with the keys that it takes from public tables; no private row is read.

    Raises:
        PolicyError: The public table has no values there.
    """
    keys = {origin: _keys(policy, origin, engine) for origin in set(policy.values_from.values())}

    def with_keys(table: Table) -> Table:
        origins = {place.column: origin for place, origin in policy.values_from.items() if place.table == table.name}
        return replace(table, columns=dict(table.columns) | dict(_with_keys(table, origins, keys)))

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
