"""Sfumato: a curator you can trust with a database of people.

Ask in SQL or Python, get exact-noise answers with error bars and a receipt, and no budget is ever overspent.

    >>> import sfumato as sf
    >>> table = sf.datasets.medical_table()
    >>> people = sf.open(table, name="people", columns={"diabetes": sf.integer(0, 1)}, budget=sf.PureDP(1))
    >>> people.sql("SELECT SUM(diabetes) AS ill FROM people", epsilon="0.5").receipt.guarantee
    PureDP(epsilon=Fraction(1, 2))

Public names are loaded when they are first used, so that importing this package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato import accounting, attacks, audit, datasets, errors, mechanisms, plots, privacy
    from sfumato.ledger.locations import ExistingLedger
    from sfumato.ledger.windows import CalendarWindow, RollingWindow
    from sfumato.privacy.budgets import ZCDP, RenyiDP
    from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
    from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, NeighboringRelation, UnitColumn
    from sfumato.query.columns import boolean, date, integer, real, text, timestamp
    from sfumato.query.csv_format import CsvFormat
    from sfumato.query.handles import coalesce, constant, greatest, least, when
    from sfumato.query.policy import Place, Policy, SourceFacts, csv
    from sfumato.query.schema import PUBLIC, Limits, Table, UnitPath
    from sfumato.query.statistics import (
        correlation,
        count,
        count_distinct,
        count_units,
        covariance,
        histogram,
        mean,
        median,
        mode,
        quantile,
        stddev,
        top_k,
        variance,
        vector_sum,
    )
    from sfumato.query.statistics import (
        max as max,  # noqa: A004 # the field's words, used as sf.max, sf.min, sf.sum
    )
    from sfumato.query.statistics import (
        min as min,  # noqa: A004 # the same
    )
    from sfumato.query.statistics import (
        sum as sum,  # noqa: A004 # the same
    )
    from sfumato.session.question import Question
    from sfumato.session.release import Release
    from sfumato.session.saved import SavedRelease
    from sfumato.session.session import Session, open_session
    from sfumato.session.snapshots import prepare

    open = open_session  # noqa: A001 # the first word of every script

_HOMES = {
    "ADD_OR_REMOVE_ONE": "privacy.neighbors",
    "ApproxDP": "privacy.guarantees",
    "CalendarWindow": "ledger.windows",
    "CsvFormat": "query.csv_format",
    "EACH_ROW": "privacy.neighbors",
    "ExistingLedger": "ledger.locations",
    "Limits": "query.schema",
    "NO_GUARANTEE": "privacy.guarantees",
    "NeighboringRelation": "privacy.neighbors",
    "PUBLIC": "query.schema",
    "Place": "query.policy",
    "Policy": "query.policy",
    "PureDP": "privacy.guarantees",
    "Question": "session.question",
    "REPLACE_ONE": "privacy.neighbors",
    "Release": "session.release",
    "RenyiDP": "privacy.budgets",
    "RollingWindow": "ledger.windows",
    "SavedRelease": "session.saved",
    "Session": "session.session",
    "SourceFacts": "query.policy",
    "Table": "query.schema",
    "UnitColumn": "privacy.neighbors",
    "UnitPath": "query.schema",
    "ZCDP": "privacy.budgets",
    "boolean": "query.columns",
    "coalesce": "query.handles",
    "constant": "query.handles",
    "correlation": "query.statistics",
    "count": "query.statistics",
    "count_distinct": "query.statistics",
    "count_units": "query.statistics",
    "covariance": "query.statistics",
    "csv": "query.policy",
    "date": "query.columns",
    "greatest": "query.handles",
    "histogram": "query.statistics",
    "integer": "query.columns",
    "least": "query.handles",
    "max": "query.statistics",
    "mean": "query.statistics",
    "median": "query.statistics",
    "min": "query.statistics",
    "mode": "query.statistics",
    "open": "session.session",
    "prepare": "session.snapshots",
    "quantile": "query.statistics",
    "real": "query.columns",
    "stddev": "query.statistics",
    "sum": "query.statistics",
    "text": "query.columns",
    "timestamp": "query.columns",
    "top_k": "query.statistics",
    "variance": "query.statistics",
    "vector_sum": "query.statistics",
    "when": "query.handles",
}
_PACKAGES = frozenset({"accounting", "attacks", "audit", "datasets", "errors", "mechanisms", "plots", "privacy"})
_OTHER_NAMES = {"open": "open_session"}

# Names of builtins (`sf.open`, `sf.max`, `sf.min`, `sf.sum`) are not listed: a star takes no builtin away.

__all__ = [
    "ADD_OR_REMOVE_ONE",
    "EACH_ROW",
    "NO_GUARANTEE",
    "PUBLIC",
    "REPLACE_ONE",
    "ZCDP",
    "ApproxDP",
    "CalendarWindow",
    "CsvFormat",
    "ExistingLedger",
    "Limits",
    "NeighboringRelation",
    "Place",
    "Policy",
    "PureDP",
    "Question",
    "Release",
    "RenyiDP",
    "RollingWindow",
    "SavedRelease",
    "Session",
    "SourceFacts",
    "Table",
    "UnitColumn",
    "UnitPath",
    "__version__",
    "accounting",
    "attacks",
    "audit",
    "boolean",
    "coalesce",
    "constant",
    "correlation",
    "count",
    "count_distinct",
    "count_units",
    "covariance",
    "csv",
    "datasets",
    "date",
    "errors",
    "greatest",
    "histogram",
    "integer",
    "least",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "plots",
    "prepare",
    "privacy",
    "quantile",
    "real",
    "stddev",
    "text",
    "timestamp",
    "top_k",
    "variance",
    "vector_sum",
    "when",
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use (PEP 562)."""
    if name in _PACKAGES:
        return import_module(f"sfumato.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"sfumato.{_HOMES[name]}"), _OTHER_NAMES.get(name, name))
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({"__version__", *_HOMES, *_PACKAGES})
