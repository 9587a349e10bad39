"""Strategies as versioned JSON, for answers that are kept and for plans that other processes run.

A document lists the different components of all columns once, and for each measurement the places of its own. The words
in it are stored: they stay what they are, whatever Python calls the classes.

No sensitivity is written, so none is believed: it follows from the components that were read. What constructors refuse
is refused, such as a matrix that is said to be centered and is not. Proof:
proofs/mechanisms/workloads/workload_mechanism.md.
"""

from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.blocks import Blocks
from sfumato.mechanisms.workloads.components import Cells, Component, Dense, Direct, Residual, Total
from sfumato.mechanisms.workloads.optimal import MOST_CELLS
from sfumato.mechanisms.workloads.queries import KINDS, Kind, Subsets
from sfumato.mechanisms.workloads.sensitivity import Measurement
from sfumato.mechanisms.workloads.strategies import Strategy
from sfumato.numeric.arguments import whole
from sfumato.numeric.rationals import flag, positive_integer
from sfumato.privacy.codec import Json

VERSION: Final = 1
LARGEST_ENTRY: Final = 1 << 20
"""Of a matrix, so that sums of its entries lie within 64 bits."""

_RANK: Final = 2  # of a matrix
_MOST_VALUES: Final = 1 << 62  # of a column
_KINDS: Final = {str(kind): kind for kind in KINDS}
_MISTAKES: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def encode_strategy(strategy: Strategy) -> dict[str, Json]:
    """A strategy as JSON.

    Example:
        >>> measured = Measurement(multiplier=2, components=(Cells(3), Total(5)))
        >>> strategy = Strategy(name="cells", measurements=(measured,), sources=((0,),), is_orthogonal=True)
        >>> found = encode_strategy(strategy)
        >>> found["components"], found["measurements"]
        ([['cells', 3], ['total', 5]], [[2, [0, 1]]])
    """
    parts = dict.fromkeys(part for each in strategy.measurements for part in each.components)
    places = {part: place for place, part in enumerate(parts)}
    measured: list[Json] = [
        [each.multiplier, [places[part] for part in each.components]] for each in strategy.measurements
    ]
    return {
        "version": VERSION, "name": strategy.name, "components": list(map(_component, parts)),
        "measurements": measured, "sources": list(map(list, strategy.sources)), "orthogonal": strategy.is_orthogonal,
    }  # fmt: skip


def decode_strategy(document: Any) -> Strategy:
    """The strategy that `encode_strategy` wrote.

    Raises:
        ParameterError: The document has another version, is none, or is one of a strategy that cannot be.

    Example:
        >>> decode_strategy({"version": 2})
        Traceback (most recent call last):
        sfumato.errors.ParameterError: strategy = 'a document of another version': must have version 1
    """
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ParameterError("strategy", "a document of another version", f"must have version {VERSION}")
    try:
        strategy = _read(document)
        is_as_written = encode_strategy(strategy) == document
    except ParameterError:
        raise
    except _MISTAKES:
        is_as_written = False
    if not is_as_written:
        raise ParameterError("strategy", "a document", "must be a strategy written by this package")
    return strategy


def _read(document: Any) -> Strategy:
    parts = list(map(_read_component, document["components"]))
    return Strategy(
        name=str(document["name"]),
        measurements=tuple(
            Measurement(multiplier=multiplier, components=tuple(parts[whole(place, "places")] for place in places))
            for multiplier, places in document["measurements"]
        ),
        sources=tuple(tuple(whole(place, "sources") for place in own) for own in document["sources"]),
        is_orthogonal=flag(document["orthogonal"], "orthogonal"),
    )


def _component(part: Component) -> Json:
    match part:
        case Total(cells):
            return ["total", cells]
        case Cells(cells):
            return ["cells", cells]
        case Residual(cells):
            return ["residual", cells]
        case Direct(kind, cells):
            return ["direct", cells, list(map(list, kind.places)) if isinstance(kind, Subsets) else kind]
        case Dense():
            return ["dense", part.matrix.tolist(), part.is_centered]
        case Blocks():
            return ["blocks", part.cells, _component(part.upper), _component(part.lower), list(part.multipliers)]
        case _:
            raise ParameterError("component", type(part).__name__, "has no stored name; give its class one here")


def _read_component(document: Any) -> Component:
    match document:
        case ["total", cells]:
            return Total(_size(cells))
        case ["cells", cells]:
            return Cells(_size(cells))
        case ["residual", cells]:
            return Residual(_size(cells))
        case ["direct", cells, kind]:
            return Direct(_kind(kind, cells), _size(cells))
        case ["dense", rows, is_centered]:
            return _dense(rows, is_centered)
        case ["blocks", cells, ["dense", *upper], ["dense", *lower], [first, second]]:
            return Blocks(_size(cells), upper=_dense(*upper), lower=_dense(*lower), multipliers=(first, second))
        case _:
            raise ValueError("there is no such component")


def _kind(kind: Any, cells: int) -> Kind:
    """A kind by its name, or subsets of the values of a column that is not too long for them."""
    if isinstance(kind, str):
        return _KINDS[kind]
    subsets = Subsets(kind)
    if max(map(max, subsets.places)) >= cells or cells > MOST_CELLS:
        raise ParameterError("places", "of a column", f"must be of its values, which are at most {MOST_CELLS:,}")
    return subsets


def _size(cells: object) -> int:
    return positive_integer(cells, "cells", most=_MOST_VALUES)


def _dense(rows: Any, is_centered: object) -> Dense:
    """A matrix that is not too large to be inverted, or for sums in 64 bits."""
    matrix = np.array(rows)
    if matrix.dtype != np.int64 or matrix.ndim != _RANK or matrix.shape[1] > MOST_CELLS:
        raise ParameterError("matrix", matrix.shape, f"must have whole numbers in at most {MOST_CELLS:,} columns")
    if np.abs(matrix).max() > LARGEST_ENTRY:
        raise ParameterError("matrix", "an entry", f"must be at most {LARGEST_ENTRY:,}")
    return Dense(matrix, is_centered=flag(is_centered, "is_centered"))
