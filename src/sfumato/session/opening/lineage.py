"""Lineage: the same data under a new name, a view or another path is recognized, so that it has one account and unit.

What a source is (`engines/…identities`) says something of its rows, and is sealed with the ledger's key before it is
kept. Seals are compared, shown to nobody, and without the key nobody can try out whose data it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Final

from sfumato.engines.base import Engine
from sfumato.engines.registry import engine_of, identities_of
from sfumato.engines.sources.identities import Identities, Identity
from sfumato.engines.sources.sources import Opened
from sfumato.ledger.core.entry import Protected
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.query.policy.policy import Policy, SourceFacts, is_address


def identities(policy: Policy, sources: Mapping[str, Opened], *, engine: Engine) -> Mapping[str, Identities]:
    """What tells the data behind each table from others: two tables with an identity in common share data.

    Files of equal bytes, frames of equal rows, and what one relation of PostgreSQL or one file or table of Spark is
    read for share one, whatever they are called. It is a guard against mistakes and no part of the privacy guarantee:
    a copy with a row more has another one, which only the owner's declaration can tell.

    Edge cases: a table of which nothing is known (a query of Polars over a function, a view of Spark over rows in
    memory, a frame without rows) has none.

    Args:
        policy: What the owner declares.
        sources: The sources behind its tables, as the session opened them.
        engine: The engine of the sources, which was opened with them.

    Raises:
        ParameterError: A file cannot be read.
        EngineError: A database cannot be reached, or failed.
    """
    return {
        name: _with_place(
            identities_of(source, policy.sources[name].source, engine_of(policy.tables[name], engine)),
            policy.dataset,
            policy.sources[name],
        )
        for name, source in sources.items()
    }


def protected(policy: Policy, found: Mapping[str, Identities], key: LedgerKey) -> tuple[Protected, ...]:
    """Who is protected in each table, with seals of what is known of its data.

    What a public table reads is nobody's data: it has no fingerprints, and leaves none on a view that reads it too.

    Args:
        policy: What the owner declares.
        found: What is known of the data of its tables, as far as anything is.
        key: The ledger's key; with another one all seals are others.
    """
    public = frozenset[Identity]().union(*(found[name].read for name in found if policy.tables[name].is_public))
    entries = []
    for name, table in policy.tables.items():
        known = found.get(name, _NOTHING)
        lineage = _sealed("lineage", known.read if table.is_public else known.read - public, key)
        stored = _sealed("source", known.stored, key)
        entries.append(
            Protected(
                account=policy.dataset, table=name, unit=table.owner_text,
                sources=(*stored, *lineage) if table.is_public else stored,
                fingerprints=() if table.is_public else lineage,
            )
        )  # fmt: skip
    return tuple(entries)


def _with_place(known: Identities, account: str, facts: SourceFacts) -> Identities:
    """Also where the owner says that the data are; of one account, as another one may have used the place before."""
    places = (
        place if isinstance(place, str) and is_address(place) else str(Path(place).resolve())
        for place in (facts.source, facts.snapshot)
        if isinstance(place, str | PathLike)
    )
    return replace(known, stored=known.stored.union(("place", account, place) for place in places))


_NOTHING: Final = Identities.of_reading(frozenset())


def _sealed(purpose: str, known: Iterable[Identity], key: LedgerKey) -> tuple[str, ...]:
    return tuple(sorted(key.fingerprint(purpose, *identity) for identity in known))
