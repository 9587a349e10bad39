"""What one event may add at its tick, as far as a guarantee depends on it, and how an event is made to keep to that."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt
from typing import Any, Final, Literal, TypeAlias, assert_never, get_args

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import integers
from sfumato.noise.uniform.integers import Integers, largest, narrow
from sfumato.numeric.arguments import one_of, whole
from sfumato.numeric.rationals import Number, positive, set_fields, sqrt_up
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation

Kind: TypeAlias = Literal["clamped", "one_of", "l1", "l2"]
_LARGEST: Final = 1 << 40  # of a bound
_SMALL: Final = 1 << 30  # a row whose numbers add up to less has a square that is a machine integer


@dataclass(frozen=True, slots=True)
class Contribution:
    """The bound of one event: made by `count`, `clamped`, `one_of` or `vector`.

    Neighboring streams differ in one event at one tick. Under ADD_OR_REMOVE_ONE it is changed to nothing, while the
    tick is still there; under REPLACE_ONE it is changed to any other event of the same tick. An event that moves to
    another tick is in two ticks: `Participation(most=2)`.

    ===================  ========================  ======================  ==================
    Contribution         An event adds             changed to nothing      changed to another
    ===================  ========================  ======================  ==================
    count()              1, or 0                   L1 = L2 = 1             1
    clamped(lo, hi)      an integer from lo to hi  the larger of -lo, hi   hi - lo
    one_of()             1 to one number of many   L1 = L2 = 1             L1 = 2, L2 = √2
    vector(l2=r)         integers with this norm   r                       2·r
    ===================  ========================  ======================  ==================

    A counter with `count` or `clamped` has a single number: with several, an event that is replaced may leave one
    number and enter another. That is what `one_of` and `vector` account for.

    Raises:
        ParameterError: A bound is out of range, or no event could add anything.

    Example:
        >>> Contribution.clamped(-5, 20).l2_sensitivity, Contribution.one_of("replace_one").l1_sensitivity
        (Fraction(20, 1), Fraction(2, 1))
        >>> Contribution.clamped(-5, 20).bounded([7, 50, -50]).tolist()
        [7, 20, -5]
        >>> Contribution.vector(l2=5).bounded([[3, 4], [30, 40]]).tolist()
        [[3, 4], [3, 4]]
    """

    kind: Kind
    lower: int
    upper: int
    norm: Fraction
    neighboring_relation: NeighboringRelation

    def __post_init__(self) -> None:
        low, high, norm = _bound(self.lower, "lower"), _bound(self.upper, "upper"), positive(self.norm, "norm")
        one_of(self.kind, "kind", get_args(Kind))
        set_fields(self, norm=norm, neighboring_relation=as_relation(self.neighboring_relation))
        if not 1 <= norm <= _LARGEST:
            raise ParameterError("norm", norm, "must lie between 1 and 2^40: what is shorter is no vector of integers")
        if low > high or self._moved(2 * norm) == 0:
            requirement = f"must be at least lower, {low}, and let an event add or change something"
            raise ParameterError("upper", high, requirement)

    @classmethod
    def count(cls, neighboring_relation: NeighboringRelation | str = ADD_OR_REMOVE_ONE) -> "Contribution":
        """An event adds 1 to the counter's single number, or nothing."""
        return cls.clamped(0, 1, neighboring_relation)

    @classmethod
    def clamped(
        cls, lower: int, upper: int, neighboring_relation: NeighboringRelation | str = ADD_OR_REMOVE_ONE
    ) -> "Contribution":
        """An event adds an integer of a range to the single number; others are moved to the nearer bound."""
        low, high = _bound(lower, "lower"), _bound(upper, "upper")
        return cls("clamped", low, high, Fraction(max(abs(low), abs(high), 1)), as_relation(neighboring_relation))

    @classmethod
    def one_of(cls, neighboring_relation: NeighboringRelation | str = ADD_OR_REMOVE_ONE) -> "Contribution":
        """An event adds 1 to one of many numbers: a histogram over time, or counts by key."""
        return cls("one_of", 0, 1, Fraction(1), as_relation(neighboring_relation))

    @classmethod
    def vector(
        cls,
        *,
        l1: Number | None = None,
        l2: Number | None = None,
        neighboring_relation: NeighboringRelation | str = ADD_OR_REMOVE_ONE,
    ) -> "Contribution":
        """An event adds a vector of integers, of at most this L1 or this L2 norm; longer ones are scaled."""
        if (l1 is None) == (l2 is None):
            raise ParameterError("l1", l1, "must be given, or l2, and not both")
        kind: Kind = "l2" if l1 is None else "l1"
        norm = positive(0 if l2 is None else l2, kind) if l1 is None else positive(l1, kind)
        return cls(kind, 0, 0, norm, as_relation(neighboring_relation))

    @property
    def l1_sensitivity(self) -> Fraction:
        """The most by which a neighbor's increments of the tick differ, in L1.

        Raises:
            ParameterError: It is a vector of which only the L2 norm is bounded, so that this grows with its length.
        """
        if self.kind == "l2":
            raise ParameterError("contribution", "a vector with an L2 norm", "must be bounded in L1 for Laplace noise")
        return self._moved(2 * self.norm)

    @property
    def l2_sensitivity(self) -> Fraction:
        """The most by which a neighbor's increments of the tick differ, in L2; of √2 a rational above."""
        return self._moved(sqrt_up(Fraction(2)) if self.kind == "one_of" else 2 * self.norm)

    @property
    def l0_sensitivity(self) -> int:
        """The most numbers of a tick that change: integers that change do so by at least 1."""
        if self.kind == "clamped":
            return 1
        moved = self._moved(2 * self.norm)
        return floor(moved**2 if self.kind == "l2" else moved)

    def bounded(self, events: Any) -> Integers:
        """What events add, made to keep to the bound: one integer an event, or of vectors one row an event.

        A vector that is longer than allowed is scaled, and rounded toward 0; missing numbers are 0.

        Args:
            events: Integers, one an event; for `vector` and `one_of` events × numbers.

        Raises:
            ParameterError: Something is no integer, or the shape is another.
        """
        flat = np.asarray(events) if isinstance(events, np.ndarray) else np.asarray(events, dtype=object)
        wanted = 1 if self.kind == "clamped" else 2
        if flat.ndim != wanted:
            raise ParameterError("events", f"an array of {flat.ndim} dimensions", f"must have {wanted}")
        values = integers(flat.reshape(-1)).reshape(flat.shape)
        match self.kind:
            case "clamped":
                return narrow(np.clip(values, self.lower, self.upper))
            case "one_of":
                return self._scaled(np.maximum(values, 0), power=1)
            case "l1":
                return self._scaled(values, power=1)
            case "l2":
                return self._scaled(values, power=2)
            case _:
                assert_never(self.kind)

    def _moved(self, apart: Fraction) -> Fraction:
        if self.kind != "clamped":
            return self.norm if self.neighboring_relation is ADD_OR_REMOVE_ONE else apart
        if self.neighboring_relation is ADD_OR_REMOVE_ONE:
            return Fraction(max(abs(self.lower), abs(self.upper)))
        return Fraction(self.upper - self.lower)

    def _scaled(self, values: Integers, power: int) -> Integers:
        """Rows that are too long times norm over their own."""
        if largest(values.ravel()) * values.shape[1] >= _SMALL:
            values = values.astype(object)
        sizes = (np.abs(values) ** power).sum(axis=1)
        found = values.copy()
        for row in np.flatnonzero(sizes > floor(self.norm**power)):
            found[row] = [_toward_zero(int(value), self.norm, int(sizes[row]), power) for value in values[row]]
        return narrow(found)


def _bound(value: object, name: str) -> int:
    return whole(value, name, least=-_LARGEST, most=_LARGEST)


def _toward_zero(value: int, norm: Fraction, size: int, power: int) -> int:
    """⌊|value|·norm/size^(1/power)⌋ with the sign of the value, for the power 1 or 2."""
    scaled = abs(value) * norm
    whole = floor(scaled / size) if power == 1 else isqrt(floor(scaled**2 / size))
    return whole if value >= 0 else -whole


COUNT: Final = Contribution.count()
