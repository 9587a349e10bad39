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
    from sfumato import (
        accounting,
        attacks,
        audit,
        datasets,
        errors,
        geo,
        learn,
        local,
        mechanisms,
        plots,
        privacy,
        streams,
        synth,
    )
    from sfumato.client.asynchronous import connect_async
    from sfumato.client.federations import join_federation, open_federation
    from sfumato.client.session import connect
    from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
    from sfumato.ledger.locations import ExistingLedger
    from sfumato.privacy.budgets import ZCDP, RenyiDP
    from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
    from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, NeighboringRelation, UnitColumn
    from sfumato.query.handles.columns import coalesce, constant, greatest, least, when
    from sfumato.query.model.columns import boolean, date, integer, real, text, timestamp
    from sfumato.query.model.csv_format import CsvFormat
    from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath
    from sfumato.query.policy.policy import Place, Policy, SourceFacts, csv
    from sfumato.query.statistics.counts import count, count_distinct, count_units
    from sfumato.query.statistics.deviations import avg_abs_dev
    from sfumato.query.statistics.histograms import histogram
    from sfumato.query.statistics.means import mean
    from sfumato.query.statistics.means import sum as sum  # noqa: A004 # the field's words: sf.max, sf.min, sf.sum
    from sfumato.query.statistics.quantiles import max as max  # noqa: A004 # the same
    from sfumato.query.statistics.quantiles import median, quantile
    from sfumato.query.statistics.quantiles import min as min  # noqa: A004 # the same
    from sfumato.query.statistics.top_values import mode, top_k
    from sfumato.query.statistics.variances import correlation, covariance, stddev, variance
    from sfumato.query.statistics.vectors import vector_sum
    from sfumato.session.asking.batch import Batch
    from sfumato.session.asking.question import Question
    from sfumato.session.asking.saving import SavedRelease
    from sfumato.session.opening.snapshots import prepare
    from sfumato.session.releases.release import Release
    from sfumato.session.session import Session, open_session

    open = open_session  # noqa: A001 # the first word of every script

_HOMES = {
    "ADD_OR_REMOVE_ONE": "privacy.neighbors",
    "ApproxDP": "privacy.guarantees",
    "Batch": "session.asking.batch",
    "CalendarWindow": "ledger.core.windows",
    "CsvFormat": "query.model.csv_format",
    "EACH_ROW": "privacy.neighbors",
    "ExistingLedger": "ledger.locations",
    "Limits": "query.model.schema",
    "NO_GUARANTEE": "privacy.guarantees",
    "NeighboringRelation": "privacy.neighbors",
    "PUBLIC": "query.model.schema",
    "Place": "query.policy.policy",
    "Policy": "query.policy.policy",
    "PureDP": "privacy.guarantees",
    "Question": "session.asking.question",
    "REPLACE_ONE": "privacy.neighbors",
    "Release": "session.releases.release",
    "RenyiDP": "privacy.budgets",
    "RollingWindow": "ledger.core.windows",
    "SavedRelease": "session.asking.saving",
    "Session": "session.session",
    "SourceFacts": "query.policy.policy",
    "Table": "query.model.schema",
    "UnitColumn": "privacy.neighbors",
    "UnitPath": "query.model.schema",
    "ZCDP": "privacy.budgets",
    "avg_abs_dev": "query.statistics.deviations",
    "boolean": "query.model.columns",
    "coalesce": "query.handles.columns",
    "connect": "client.session",
    "connect_async": "client.asynchronous",
    "constant": "query.handles.columns",
    "correlation": "query.statistics.variances",
    "count": "query.statistics.counts",
    "count_distinct": "query.statistics.counts",
    "count_units": "query.statistics.counts",
    "covariance": "query.statistics.variances",
    "csv": "query.policy.policy",
    "date": "query.model.columns",
    "greatest": "query.handles.columns",
    "histogram": "query.statistics.histograms",
    "integer": "query.model.columns",
    "join_federation": "client.federations",
    "least": "query.handles.columns",
    "max": "query.statistics.quantiles",
    "mean": "query.statistics.means",
    "median": "query.statistics.quantiles",
    "min": "query.statistics.quantiles",
    "mode": "query.statistics.top_values",
    "open": "session.session",
    "open_federation": "client.federations",
    "prepare": "session.opening.snapshots",
    "quantile": "query.statistics.quantiles",
    "real": "query.model.columns",
    "stddev": "query.statistics.variances",
    "sum": "query.statistics.means",
    "text": "query.model.columns",
    "timestamp": "query.model.columns",
    "top_k": "query.statistics.top_values",
    "variance": "query.statistics.variances",
    "vector_sum": "query.statistics.vectors",
    "when": "query.handles.columns",
}
_PACKAGES = frozenset(
    {
        "accounting",
        "attacks",
        "audit",
        "datasets",
        "errors",
        "geo",
        "learn",
        "local",
        "mechanisms",
        "plots",
        "privacy",
        "streams",
        "synth",
    }
)
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
    "Batch",
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
    "avg_abs_dev",
    "boolean",
    "coalesce",
    "connect",
    "connect_async",
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
    "geo",
    "greatest",
    "histogram",
    "integer",
    "join_federation",
    "learn",
    "least",
    "local",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "open_federation",
    "plots",
    "prepare",
    "privacy",
    "quantile",
    "real",
    "stddev",
    "streams",
    "synth",
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
