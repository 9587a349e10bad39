"""The public file of synthetic data: the marginals of a model beside the noisy counts that it was made of.

All in it was released, or follows from what was. So anybody may read it, and nothing in it costs anything. Servers show
such a file; it has no rows, and nothing that its reader could not be told.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from os import PathLike
from typing import Any, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import path_of
from sfumato.privacy.codec import Json, decode_guarantee, encode_guarantee
from sfumato.privacy.guarantees import ApproxDP

Columns: TypeAlias = tuple[str, ...]
PublishedValue: TypeAlias = str | int | tuple[float, float] | None
"""A value of a column: itself, a date or a period as text, the ends of a bin, or None for the missing one."""

CONFIDENCE: Final = "0.95"
"""Of the intervals in a file."""

MOST_CELLS: Final = 200_000
"""How many counts of each kind a file has at most."""

_FORMAT: Final = "sfumato synthetic marginals"
_VERSION: Final = 1
_MOST_BYTES: Final = 1 << 24
_LARGEST: Final = 1e15
_MISTAKES: Final = (OSError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
FACTS: Final = (
    "question", "neighboring_relation", "privacy_unit", "library", "policy_version", "data_version",
)  # fmt: skip
"""What a file says of the receipt: nothing of accounts, which are for those who ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedColumn:
    """A column with its declared values, in their order.

    Attributes:
        name: Its name.
        values: What it can be; see `PublishedValue`.
    """

    name: str
    values: tuple[PublishedValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMarginal:
    """How many rows have each combination of values of some columns, by the model and as it was measured.

    Attributes:
        columns: Their names.
        places: For each column which of its values are counted together: each alone, but rare ones of a group.
        synthetic: How many rows the model has, of each combination, the last column fastest.
        measured: The noisy counts that were released, in the same order.
        stddev: Of the noise on each.
        half_width: How far each may lie from the exact count, at 95%.
        questions: The hash of each query that counts the same, with the columns in the order of its keys.
    """

    columns: Columns
    places: tuple[tuple[tuple[int, ...], ...], ...]
    synthetic: tuple[float, ...]
    measured: tuple[int, ...]
    stddev: float
    half_width: int
    questions: Mapping[str, Columns]

    def to_dict(self) -> dict[str, Json]:
        """The marginal as JSON values."""
        return {
            "columns": list(self.columns), "places": [[list(one) for one in own] for own in self.places],
            "synthetic": list(self.synthetic), "measured": list(self.measured), "stddev": self.stddev,
            "half_width": self.half_width, "questions": {key: list(own) for key, own in self.questions.items()},
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSynthetic:
    """What the public file of synthetic data says.

    Attributes:
        method: How marginals were chosen.
        reason: Why by this method.
        total: How many rows the table has, as the model says.
        guarantee: What all of it cost.
        facts: What was asked, whom the guarantee protects, and of which versions.
        columns: The columns, each with its values.
        marginals: Those of all columns, then those of the groups that were measured.
        left_out: Groups that were measured and have too many combinations for a file.
    """

    method: str
    reason: str
    total: float
    guarantee: ApproxDP
    facts: Mapping[str, str]
    columns: tuple[PublishedColumn, ...]
    marginals: tuple[PublishedMarginal, ...]
    left_out: tuple[Columns, ...]

    def to_dict(self) -> dict[str, Json]:
        """All of it as JSON values."""
        return {
            "format": _FORMAT, "version": _VERSION, "method": self.method, "reason": self.reason, "total": self.total,
            "guarantee": encode_guarantee(self.guarantee), "facts": dict(self.facts), "confidence": CONFIDENCE,
            "columns": [
                {"name": one.name, "values": [list(v) if isinstance(v, tuple) else v for v in one.values]}
                for one in self.columns
            ],
            "marginals": [one.to_dict() for one in self.marginals], "left_out": list(map(list, self.left_out)),
        }  # fmt: skip

    def values_of(self, marginal: PublishedMarginal) -> Iterator[tuple[tuple[PublishedValue, ...], ...]]:
        """For each combination of a marginal, and each of its columns, the values that are counted together."""
        own = {one.name: one.values for one in self.columns}
        axes = [
            [tuple(own[name][value] for value in place) for place in places]
            for name, places in zip(marginal.columns, marginal.places, strict=True)
        ]
        return product(*axes)


def read_synthetic(path: str | PathLike[str]) -> PublishedSynthetic:
    """Read the public file of synthetic data.

    Args:
        path: The file that `Synthetic.publish` wrote.

    Raises:
        ParameterError: It is no such file.

    Example:
        >>> read_synthetic("none.json")
        Traceback (most recent call last):
        sfumato.errors.ParameterError: path = 'none.json': must be a file that `Synthetic.publish` wrote
    """
    file = path_of(path, "path")
    found = None
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) <= _MOST_BYTES:
            document = json.loads(content)
            found = _decoded(document)
            _check(found)
            found = found if found.to_dict() == document else None
    except _MISTAKES:
        found = None
    if found is None:
        raise ParameterError("path", str(file), "must be a file that `Synthetic.publish` wrote")
    return found


def _decoded(document: Any) -> PublishedSynthetic:
    """What a document says, if it is one; whether it says no more is for whoever calls."""
    guarantee = decode_guarantee(document["guarantee"])
    if not isinstance(guarantee, ApproxDP):
        raise TypeError("synthetic data have an ε and a δ")
    return PublishedSynthetic(
        method=str(document["method"]), reason=str(document["reason"]), total=float(document["total"]),
        guarantee=guarantee, facts={name: str(document["facts"][name]) for name in FACTS},
        columns=tuple(
            PublishedColumn(name=str(one["name"]), values=tuple(map(_value, one["values"])))
            for one in document["columns"]
        ),
        marginals=tuple(map(_marginal, document["marginals"])),
        left_out=tuple(tuple(map(str, own)) for own in document["left_out"]),
    )  # fmt: skip


def _value(written: Any) -> PublishedValue:
    match written:
        case None | str() | int():
            return written
        case [int() | float() as low, int() | float() as high]:
            return float(low), float(high)
        case _:
            raise TypeError("a value is a text, a whole number, a truth, a bin or missing")


def _marginal(written: Any) -> PublishedMarginal:
    return PublishedMarginal(
        columns=tuple(map(str, written["columns"])),
        places=tuple(tuple(tuple(map(int, place)) for place in own) for own in written["places"]),
        synthetic=tuple(map(float, written["synthetic"])), measured=tuple(map(int, written["measured"])),
        stddev=float(written["stddev"]), half_width=int(written["half_width"]),
        questions={str(key): tuple(map(str, own)) for key, own in written["questions"].items()},
    )  # fmt: skip


def _check(found: PublishedSynthetic) -> None:
    """Refuse what does not fit together, or has numbers that nobody counts.

    Raises:
        ValueError: It is such.
    """
    sizes = {one.name: len(one.values) for one in found.columns}
    numbers = [found.total]
    fits = [len(sizes) == len(found.columns), bool(found.marginals)]
    for one in found.marginals:
        known = [list(range(sizes[name])) for name in one.columns]
        placed = [sorted(value for place in own for value in place) for own in one.places]
        cells = prod(map(len, one.places))
        fits += [known == placed, cells == len(one.synthetic) == len(one.measured)]
        fits += [sorted(own) == sorted(one.columns) for own in one.questions.values()]
        numbers += [*one.synthetic, *one.measured, one.stddev, one.half_width]
    if not all(fits) or not all(abs(number) <= _LARGEST for number in numbers):
        raise ValueError("no document that was published")
