"""Estimates with error bars, and predictions of them: what every output of an answer is turned into."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

from sfumato.query.model.intervals import Interval

Row: TypeAlias = Sequence[Sequence[int]]
"""What was measured of one group: for each measurement its whole numbers."""

Measured: TypeAlias = Sequence[Sequence[Sequence[int]]]
"""What was measured of all groups: for each measurement, for each group, its whole numbers."""

Estimator: TypeAlias = Callable[[Measured], Sequence["AnswerValue"]]
"""One estimate a group."""

LARGEST_WHOLE: Final = 2**63 - 1
"""Whole numbers of an answer lie within 64 bits, so that the type of a column never depends on what is in it. What lies
beyond them is None: a value that is not shown, an end that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misrank:
    """How far a chosen value may be from the one that was asked for.

    Attributes:
        error: So many values may lie between the two, or so many rows fewer may have the value: no more, as often as
            the intervals of the answer hold. It follows from public facts alone.
        unit: Which of the two.
        size: How many values there are, if a noisy count of them was released, or somebody stated it.
        share: An error of this share of the size is no better than any value.
    """

    error: float
    unit: Literal["ranks", "rows"]
    size: int | None = None
    share: Fraction = Fraction(1)

    @property
    def is_noise(self) -> bool:
        """Whether, for all that is known, any value would be as right."""
        return self.size is not None and self.error >= self.share * self.size

    def __str__(self) -> str:
        return f"± {'∞' if math.isinf(self.error) else format(math.ceil(self.error), ',')} {self.unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerValue:
    """One value of an answer and the interval that holds the exact one with the stated confidence.

    The exact one is that of the bounded data: what clamping and sampling took away is not in the interval. None means
    that nothing was released, or that the type of the column does not hold it; or of an end that nothing bounds the
    error: as of a quotient by what may be 0. How far a chosen value is off depends on the data; what is known of it is
    how many ranks it may be off.
    """

    value: Any  # a number; of a choice perhaps another key; None where nothing was released
    low: Any  # of the kind of the value: a number or a date
    high: Any
    misrank: Misrank | None = None  # of a chosen value, and of what is computed from one

    @property
    def half_width(self) -> float:
        """The longer side of the interval."""
        match self.low, self.value, self.high:
            case (int() | float() as low, int() | float() as value, int() | float() as high):
                return max(high - value, value - low)
            case _:
                return math.inf

    @property
    def is_mostly_noise(self) -> bool:
        """Whether the error may be as large as the value itself; of a choice, whether any value would be as right."""
        if self.misrank is not None and self.misrank.is_noise:
            return True
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            return False
        if self.low is None or self.high is None:
            may_be_0 = (self.low is None or self.low <= 0) and (self.high is None or self.high >= 0)
            return self.misrank is None and may_be_0
        return self.half_width >= abs(self.value) and self.low != self.high

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing bounds the error of a number on one side, or on both."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return is_number and self.misrank is None and (self.low is None or self.high is None)


NOTHING: Final = AnswerValue(value=None, low=None, high=None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Forecast:
    """How far one column of an answer will be from the exact value, at a confidence.

    Attributes:
        column: The column of the answer.
        half_width: The error that is not passed with this confidence, in the column's own unit.
        assumption: What the figure presumes; empty where it holds for any data.
    """

    column: str
    half_width: float
    assumption: str = ""

    def __repr__(self) -> str:
        return f"{self.column} ± {self.half_width:.6g}" + (f" ({self.assumption})" if self.assumption else "")


def by_row(estimate: Callable[[Row], AnswerValue]) -> Estimator:
    """An estimator that looks at one group at a time."""
    return lambda measured: [estimate(row) for row in zip(*measured, strict=True)]


def within(values: Sequence[Any], lows: Sequence[Any], highs: Sequence[Any]) -> Sequence[AnswerValue]:
    """The estimates of all groups, from their values and both ends of their intervals."""
    return [AnswerValue(value=v, low=low, high=high) for v, low, high in zip(values, lows, highs, strict=True)]


def shared(confidence: Fraction, parts: int) -> Fraction:
    """The confidence that each of several intervals needs, so that all hold at once with this one."""
    return 1 - (1 - confidence) / parts


def estimated(
    value: Any, around: Interval, *, is_whole: bool = False, misrank: Misrank | None = None
) -> AnswerValue:  # fmt: skip
    """A value and what is known of the exact one; the value lies inside, however doubles are rounded."""
    outside = around.rounded() if is_whole else around
    low, high = (
        None if end is None else figure(*end.as_integer_ratio(), is_whole=is_whole)
        for end in (outside.lower, outside.upper)
    )
    if isinstance(value, int | float):
        low, high = (None if low is None else min(low, value)), (None if high is None else max(high, value))
    return AnswerValue(value=value, low=low, high=high, misrank=misrank)


def figures_of(numerators: Sequence[int], denominator: int, *, is_whole: bool) -> Sequence[int | float | None]:
    """`figure` of each numerator; of many it is faster."""
    fits = bool(numerators) and min(numerators) >= -LARGEST_WHOLE and max(numerators) <= LARGEST_WHOLE
    if fits and denominator == 1 and is_whole:
        return numerators
    if fits and not is_whole:
        return [numerator / denominator for numerator in numerators]  # of 64 bits, so that a double has room for it
    return [figure(numerator, denominator, is_whole=is_whole) for numerator in numerators]


def figure(numerator: int, denominator: int = 1, *, is_whole: bool = False) -> int | float | None:
    """A number as a whole one, or as the nearest double; None beyond 64 bits, or beyond all doubles.

    Example:
        >>> figure(7, is_whole=True), figure(7), figure(2**63, is_whole=True), figure(10**400, 3)
        (7, 7.0, None, None)
    """
    if is_whole:
        whole = numerator // denominator
        return whole if abs(whole) <= LARGEST_WHOLE else None
    try:
        return numerator / denominator
    except OverflowError:
        return None
