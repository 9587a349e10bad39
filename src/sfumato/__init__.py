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
    from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
    from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, NeighboringRelation, UnitColumn
    from sfumato.query.frame import count, mean, sum  # noqa: A004 # the field's word, used as sf.sum
    from sfumato.query.policy import Policy
    from sfumato.query.schema import Limits, boolean, integer, real, text
    from sfumato.session.question import Question
    from sfumato.session.release import Release
    from sfumato.session.session import Session
    from sfumato.session.session import open_session as open  # noqa: A004 # the first word of every script

_HOMES = {
    "ADD_OR_REMOVE_ONE": "privacy.neighbors",
    "ApproxDP": "privacy.guarantees",
    "EACH_ROW": "privacy.neighbors",
    "Limits": "query.schema",
    "NO_GUARANTEE": "privacy.guarantees",
    "NeighboringRelation": "privacy.neighbors",
    "Policy": "query.policy",
    "PureDP": "privacy.guarantees",
    "Question": "session.question",
    "REPLACE_ONE": "privacy.neighbors",
    "Release": "session.release",
    "Session": "session.session",
    "UnitColumn": "privacy.neighbors",
    "boolean": "query.schema",
    "count": "query.frame",
    "integer": "query.schema",
    "mean": "query.frame",
    "open": "session.session",
    "real": "query.schema",
    "sum": "query.frame",
    "text": "query.schema",
}
_PACKAGES = frozenset({"accounting", "attacks", "audit", "datasets", "errors", "mechanisms", "plots", "privacy"})
_OTHER_NAMES = {"open": "open_session"}

__all__ = [
    "ADD_OR_REMOVE_ONE",
    "EACH_ROW",
    "NO_GUARANTEE",
    "REPLACE_ONE",
    "ApproxDP",
    "Limits",
    "NeighboringRelation",
    "Policy",
    "PureDP",
    "Question",
    "Release",
    "Session",
    "UnitColumn",
    "__version__",
    "accounting",
    "attacks",
    "audit",
    "boolean",
    "count",
    "datasets",
    "errors",
    "integer",
    "mean",
    "mechanisms",
    "open",
    "plots",
    "privacy",
    "real",
    "sum",
    "text",
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
    return __all__
