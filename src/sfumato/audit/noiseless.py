"""Is a claimed sensitivity true? An answer without noise, on all pairs of neighbours, in exact arithmetic.

Noise that is calibrated to a sensitivity protects nobody who moves the answer farther, and no statistics are needed to
see that: two exact answers are enough.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Final, Literal, TypeAlias

from sfumato.audit.core.findings import SensitivityFinding
from sfumato.audit.core.labels import plain
from sfumato.audit.core.roles import NeighborPair, each_pair
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind, one_of
from sfumato.numeric.rationals import Number, nonnegative

Norm: TypeAlias = Literal["l0", "l1", "l2", "linf"]
Moves: TypeAlias = "list[Fraction] | None"
"""By how much each coordinate moved; None where that is no number."""

_BITS: Final = 1 << 128  # of the root of a sum of squares


def check_sensitivity(
    function: Callable[[Any], Any],
    pairs: Iterable[NeighborPair],
    *,
    claimed: Number,
    norm: Norm,
    name: str = "the function",
) -> SensitivityFinding:
    """Compare what neighbours move an exact answer by with a claimed sensitivity.

    max over the pairs of ‖f(x) − f(x′)‖, where a float counts as exactly the number that it is, and the l2 norm is
    compared by its square. It is evidence for these pairs alone: all that exist, where `small_pairs` enumerates them.

    Edge cases: numbers are vectors of one coordinate, a key that only one mapping has counts as 0 in the other, and so
    do coordinates that only one sequence has (its length must be public for that to be right). NaN, infinities and what
    is no number have no distance: where they differ it is infinite.

    Args:
        function: From a database to a number, a sequence or a mapping of numbers; it adds no noise.
        pairs: Neighbours to try, such as `small_pairs` or `Neighbors`.
        claimed: The sensitivity.
        norm: In which it is claimed.
        name: For the report.

    Raises:
        ParameterError: There are no pairs, the claim is negative, or there is no such norm.

    Example:
        >>> from sfumato.audit.neighbors import small_pairs
        >>> from sfumato.privacy.neighbors import REPLACE_ONE
        >>> pairs = small_pairs((0, 1, 5), largest=2, relation=REPLACE_ONE)
        >>> print(check_sensitivity(sum, pairs, claimed=1, norm="l1", name="an unclamped sum"))
        sensitivity bug (an unclamped sum): (0,) and (5,) (the first unit is replaced by 5) moves it by 5 in l1, ...

    References:
        [DMNS06] for the sensitivity.
    """
    called(function, "function", "a function of one database")
    of_kind(name, "name", str, "text")
    limit, size_of = nonnegative(claimed, "claimed"), _SIZES[one_of(norm, "norm", _SIZES)]
    checks, where = 0, None
    worst: Fraction | float = Fraction(-1)
    for pair in each_pair(pairs):
        checks += 1
        moved = _moves(function(pair.database), function(pair.neighbor))
        size = math.inf if moved is None else size_of(moved)
        if size > worst:
            worst, where = size, pair
    if where is None:
        raise ParameterError("pairs", (), "must hold a pair of neighbors")
    return SensitivityFinding(
        function=name,
        norm=norm,
        claimed=limit,
        largest=_root(worst) if norm == "l2" else worst,
        pair=f"{where.database!r} and {where.neighbor!r} ({where.description})",
        is_exceeded=worst > (limit**2 if norm == "l2" else limit),
        checks=checks,
    )


_SIZES: Final[dict[str, Callable[[list[Fraction]], Fraction]]] = {
    "l0": lambda moved: Fraction(sum(move != 0 for move in moved)),
    "l1": lambda moved: sum(map(abs, moved), Fraction(0)),
    "l2": lambda moved: sum((move * move for move in moved), Fraction(0)),  # its square, which is exact
    "linf": lambda moved: max(map(abs, moved), default=Fraction(0)),
}


def _moves(here: Any, there: Any) -> Moves:
    first, second = _entries(plain(here)), _entries(plain(there))
    moves = [_move(first.get(key, 0), second.get(key, 0)) for key in {**first, **second}]
    known = [move for move in moves if move is not None]
    return known if len(known) == len(moves) else None


def _move(here: Any, there: Any) -> Fraction | None:
    first, second = _exact(here), _exact(there)
    if first is not None and second is not None:
        return first - second
    return Fraction(0) if type(here) is type(there) and repr(here) == repr(there) else None


def _entries(answer: Any) -> dict[Any, Any]:
    """Numbers by key or place, those of nested sequences and mappings by the keys on the way."""
    if isinstance(answer, Mapping):
        parts = answer.items()
    elif isinstance(answer, list | tuple):
        parts = dict(enumerate(answer)).items()
    else:
        return {(): answer}
    return {(key, *rest): value for key, part in parts for rest, value in _entries(part).items()}


def _exact(value: Any) -> Fraction | None:
    """A number as it is; None for what is none."""
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, float | Decimal) and math.isfinite(value):
        return Fraction(value)
    return None


def _root(square: Fraction | float) -> Fraction | float:
    """Rounded down, to about 128 bits."""
    if isinstance(square, float):
        return square
    scaled = square.numerator * _BITS**2 // square.denominator
    return Fraction(math.isqrt(scaled), _BITS)
