"""From what an owner declares to what a session works with: sources, an engine, relations by name."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from sfumato.engines.base import Engine
from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.reference import ReferenceEngine
from sfumato.engines.sources import DataSource, keeps_rows, open_source, readable
from sfumato.errors import ParameterError, PolicyError, SfumatoError
from sfumato.query.policy import Policy
from sfumato.query.relations import Relation, Source
from sfumato.query.sql.questions import parse_view

_ENGINES: Final[Mapping[str, Callable[..., Engine]]] = MappingProxyType(
    {"duckdb": DuckDBEngine, "reference": ReferenceEngine}
)


def open_sources(policy: Policy) -> Mapping[str, DataSource]:
    """The source behind each table; of files only names and types are read.

    Raises:
        ParameterError: There is no such source, or it cannot be read as declared.
    """
    return {
        name: readable(open_source(facts.source, names=facts.names), policy.tables[name])
        for name, facts in policy.sources.items()
    }


def with_kept_rows(policy: Policy, sources: Mapping[str, DataSource]) -> Policy:
    """The policy with what the sources say of themselves: whether every record is a row."""
    return policy.with_tables(lambda table: replace(table, keeps_rows=keeps_rows(sources[table.name])))


def open_engine(name: str, sources: Mapping[str, DataSource], *, options: Mapping[str, Any]) -> Engine:
    """The engine of a name, with its options.

    Raises:
        ParameterError: There is no such engine, or it has no such option.
    """
    if name not in _ENGINES:
        raise ParameterError("engine", name, f"must be one of: {', '.join(_ENGINES)}")
    _, *known = inspect.signature(_ENGINES[name]).parameters  # the first are the sources
    for option in options:
        if option not in known:
            raise ParameterError(
                "engine_options", option, f"is no option of {name}: {', '.join(known) or 'it has none'}"
            )
    return _ENGINES[name](sources, **options)


def relations_of(policy: Policy) -> Mapping[str, Relation]:
    """What each table and each view of a policy is called in questions.

    Raises:
        PolicyError: A view does not parse, or means nothing.
    """
    relations: dict[str, Relation] = {name: Source(table) for name, table in policy.tables.items()}
    for name, sql in policy.views.items():
        try:
            relations[name] = parse_view(sql, relations)
        except SfumatoError as error:
            raise PolicyError(f"views.{name}", str(error)) from None
    return relations
