"""Is a claimed sensitivity true? Exact answers on all pairs of neighbors are compared, without noise.

Noise that is calibrated to a sensitivity protects nobody who changes the answer by more. Two exact answers are enough
to show that, without statistics.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Final, Literal, TypeAlias

from sfumato.audit.core.findings import SensitivityFinding
from sfumato.audit.core.outputs import plain
from sfumato.audit.core.roles import NeighborPair, each_pair
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind, one_of
from sfumato.numeric.rationals import Number, nonnegative

Norm: TypeAlias = Literal["l0", "l1", "l2", "linf"]
Changes: TypeAlias = "list[Fraction] | None"
"""The change of each coordinate; None where one is not a number."""

_BITS: Final = 1 << 128  # of the root of a sum of squares


def check_sensitivity(
    function: Callable[[Any], Any],
    pairs: Iterable[NeighborPair],
    *,
    claimed: Number,
    norm: Norm,
    name: str = "the function",
) -> SensitivityFinding:
    """Compare the differences of exact answers between neighbors with a claimed sensitivity.

    It takes the largest ‖f(x) − f(x′)‖ over the pairs; a float counts as exactly its value, and the l2 norm is compared
    by its square. A pass is evidence for these pairs alone: for all small databases if `small_pairs` enumerates them.

    Edge cases: numbers are vectors of one coordinate, a key that only one mapping has counts as 0 in the other, and so
    do coordinates that only one sequence has (its length must be public for that to be right). NaN, infinities and what
    is no number have no distance: where they differ it is infinite.

    Args:
        function: From a database to a number, a sequence or a mapping of numbers; it adds no noise.
        pairs: Neighbors to try, such as `small_pairs` or `Neighbors`.
        claimed: The claimed sensitivity.
        norm: The norm of the sensitivity.
        name: The function's name in the report.

    Raises:
        ParameterError: There are no pairs, the claim is negative, or there is no such norm.

    Example:
        >>> from sfumato.audit.neighbors import small_pairs
        >>> from sfumato.privacy.neighbors import REPLACE_ONE
        >>> pairs = small_pairs((0, 1, 5), largest=2, relation=REPLACE_ONE)
        >>> print(check_sensitivity(sum, pairs, claimed=1, norm="l1", name="an unclamped sum"))
        sensitivity bug (an unclamped sum): l1 sensitivity ≥ 5, claimed 1; neighbors (0,) and (5,) (the first unit ...

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
        changes = _changes(function(pair.database), function(pair.neighbor))
        size = math.inf if changes is None else size_of(changes)
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
    "l0": lambda changes: Fraction(sum(change != 0 for change in changes)),
    "l1": lambda changes: sum(map(abs, changes), Fraction(0)),
    "l2": lambda changes: sum((change * change for change in changes), Fraction(0)),  # its square, which is exact
    "linf": lambda changes: max(map(abs, changes), default=Fraction(0)),
}


def _changes(here: Any, there: Any) -> Changes:
    first, second = _entries(plain(here)), _entries(plain(there))
    changes = [_change(first.get(key, 0), second.get(key, 0)) for key in {**first, **second}]
    known = [change for change in changes if change is not None]
    return known if len(known) == len(changes) else None


def _change(here: Any, there: Any) -> Fraction | None:
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
    """The exact value of a number; None for anything else."""
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
