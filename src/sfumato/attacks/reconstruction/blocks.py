"""A census block from its tables: the only people who fit all published counts, found by integer programming [GAM19].

Each table hides everybody in sums. All of them together are equations about whole numbers, and of a small block they
have few solutions, or one. Noise makes them contradict each other, and what fits best is then anybody.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack

from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed, of_kind, real, result, whole
from sfumato.numeric.rationals import flag

Floats: TypeAlias = NDArray[np.float64]
Cell: TypeAlias = Hashable
"""Everything that the tables tell apart of a person, such as (sex, race, age)."""

_HALF: Final = 0.5
_SECONDS: Final = 60.0
_TOLERANCE: Final = 1e-6
_MOST: Final = 10**15
"""People or cells that may be counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A number of a table: a sum over the people of a block, exact or within limits.

    Args:
        weigh: What a person of a cell adds to the sum; 1 or 0 for a count.
        low: The least that the sum can be.
        high: The most.

    Raises:
        ParameterError: The lower limit is above the upper one, or one is no finite number, or nothing weighs.
    """

    weigh: Callable[[Any], float]
    low: float
    high: float

    def __post_init__(self) -> None:
        called(self.weigh, "weigh", "a function from a cell to a number")
        if not -np.inf < real(self.low, "low") <= real(self.high, "high") < np.inf:
            raise ParameterError("low", (self.low, self.high), "must be finite, and at most the upper limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconstructedBlock:
    """People who fit what was published.

    Attributes:
        people: The number of people in each non-empty cell.
        is_unique: Whether no other people fit as well; None if that was not checked.
        misfit: The sum of the errors of all published numbers.
    """

    people: Mapping[Cell, int]
    is_unique: bool | None
    misfit: float


def count_of(matches: Callable[[Any], bool], count: float) -> Published:
    """How many people are so.

    Example:
        >>> women = count_of(lambda cell: cell[0] == "F", 3)
        >>> women.weigh(("F", 40)), women.high
        (1.0, 3)
    """
    return Published(weigh=lambda cell: _number(matches, "matches", cell), low=count, high=count)


def mean_of(
    number: Callable[[Any], float], matches: Callable[[Any], bool], *, mean: float, count: int, step: float
) -> Published:
    """The mean of a number over people whose count is known, rounded to multiples of a step.

    Example:
        >>> ages = mean_of(lambda cell: cell[1], lambda cell: True, mean=38.0, count=7, step=0.1)
        >>> round(ages.low, 2), round(ages.high, 2)
        (265.65, 266.35)
    """
    people = real(count, "count")
    total, slack = real(mean, "mean") * people, _HALF * real(step, "step") * people
    return Published(
        weigh=lambda cell: _number(number, "number", cell) if result(matches, "matches", cell) else 0.0,
        low=total - slack,
        high=total + slack,
    )


def median_of(
    number: Callable[[Any], float], matches: Callable[[Any], bool], *, median: float, count: int
) -> tuple[Published, Published]:
    """The median of a number over people whose count is known: half of them or more lie at or beyond it on either side.

    Of an even count, whose median is a mean of two, this says a little less than it could.

    Example:
        >>> below, above = median_of(lambda cell: cell[1], lambda cell: True, median=30, count=7)
        >>> below.low, below.weigh(("F", 30)), above.weigh(("F", 30)), above.high
        (4, 1.0, 1.0, 7)
    """
    half, middle = (whole(count, "count", most=_MOST) + 1) // 2, real(median, "median")

    def is_so(cell: Cell) -> bool:
        return bool(result(matches, "matches", cell))

    return (
        Published(
            weigh=lambda cell: float(is_so(cell) and _number(number, "number", cell) <= middle),
            low=half,
            high=count,
        ),
        Published(
            weigh=lambda cell: float(is_so(cell) and _number(number, "number", cell) >= middle),
            low=half,
            high=count,
        ),
    )


def reconstruct_block(
    published: Iterable[Published], *, cells: Sequence[Cell], check_unique: bool = True
) -> ReconstructedBlock:
    """The people who fit best: whole numbers of each cell with the least sum of misses.

    Whether others fit as well is a second program: of all that miss by as much at most, the one that has fewest people
    in common with the first. It is asked of blocks whose number of people was published.

    Args:
        published: The published numbers, exact or noisy.
        cells: All possible cells.
        check_unique: Whether to check that no other people fit as well.

    Raises:
        ParameterError: Nothing was published or there are no cells, something is not what it should be, or the program
            was not solved in a minute.

    Example:
        >>> cells = [(sex, age) for sex in "FM" for age in range(20, 23)]
        >>> sex, age = ({cell: cell[place] for cell in cells}.get for place in (0, 1))
        >>> given = [count_of(lambda cell: True, 3), count_of(lambda cell: sex(cell) == "F", 1)]
        >>> given += [mean_of(age, lambda cell: sex(cell) == "M", mean=22, count=2, step=0.1)]
        >>> reconstruct_block(given, cells=cells).is_unique
        False
        >>> given += [mean_of(age, lambda cell: True, mean=21.3, count=3, step=0.1)]
        >>> found = reconstruct_block(given, cells=cells)
        >>> found.is_unique, dict(found.people)
        (True, {('F', 20): 1, ('M', 22): 2})

    References:
        [GAM19]; [Abo23] for the census of 2010.
    """
    flag(check_unique, "check_unique")
    numbers, options = listed(published, "published", of="Published"), _hashable(cells, "cells")
    for one in numbers:
        of_kind(one, "published", Published, "a list of Published, as of count_of")
    if not numbers or not options:
        raise ParameterError("published", (len(numbers), len(options)), "must have at least one number and one cell")
    weights = csr_array([[_number(one.weigh, "weigh", cell) for cell in options] for one in numbers])
    low, high = (np.array([getattr(one, end) for one in numbers], dtype=np.float64) for end in ("low", "high"))
    found, misfit = _best(weights, low, high)
    is_unique = _is_unique(weights, low, high, found, misfit) if check_unique else None
    people = {cell: int(count) for cell, count in zip(options, found, strict=True) if count}
    return ReconstructedBlock(people=people, is_unique=is_unique, misfit=misfit)


def block_outcome(found: ReconstructedBlock, people: Sequence[Cell], *, cells: int) -> Outcome:
    """How many people of a block were reconstructed whole.

    The baseline is at least what somebody reaches who knows how many there are and draws that many cells at random.

    Args:
        found: The reconstruction.
        people: The truth, a cell for each person; used only to count.
        cells: The number of possible cells.

    Raises:
        ParameterError: There is nobody, or something is not what it should be.

    Example:
        >>> found = ReconstructedBlock(people={("F", 20): 1, ("M", 22): 2}, is_unique=True, misfit=0.0)
        >>> block_outcome(found, [("F", 20), ("M", 22), ("M", 21)], cells=100).successes
        2
    """
    of_kind(found, "found", ReconstructedBlock, "a block, as of reconstruct_block")
    persons = _hashable(people, "people")
    truth = Counter(persons)
    return Outcome(
        attack="reconstruction of a block",
        successes=sum(min(found.people.get(cell, 0), count) for cell, count in truth.items()),
        trials=len(persons),
        baseline=min(1.0, len(persons) / whole(cells, "cells", least=1, most=_MOST)),
    )


def _hashable(cells: Iterable[Cell], name: str) -> tuple[Cell, ...]:
    """Several cells; the error shows none of them, which may be people."""
    found = listed(cells, name, of="cells")
    if not all(isinstance(cell, Hashable) for cell in found):
        raise ParameterError(name, type(cells), "must be a list of cells that can be hashed, such as tuples")
    return found


def _number(function: Callable[[Any], float], name: str, cell: Cell) -> float:
    """What a function says of a cell; True is 1. The error shows it only by its type, as it may be of people."""
    said = result(function, name, cell)
    try:
        found = float(said)
    except (TypeError, ValueError, OverflowError):
        found = np.nan
    if not np.isfinite(found):
        raise ParameterError(f"{name}(cell)", type(said), "must be a finite number")
    return found


def _best(weights: Any, low: Floats, high: Floats) -> tuple[NDArray[np.int64], float]:
    """Numbers x ≥ 0 and misses s ≥ 0 with low − s ≤ Wx ≤ high + s and the least Σs."""
    rows, cells = weights.shape
    slack = eye_array(rows)
    solved = _solve(
        np.concatenate([np.zeros(cells), np.ones(rows)]),
        [
            LinearConstraint(hstack([weights, slack], format="csr"), lb=low),
            LinearConstraint(hstack([weights, -slack], format="csr"), ub=high),
        ],
        whole=np.repeat([1, 0], [cells, rows]),
        bounds=Bounds(lb=0, ub=np.inf),
    )
    found = np.rint(solved[:cells]).astype(np.int64)
    reached = weights @ found
    return found, float(np.maximum(np.maximum(low - reached, reached - high), 0).sum())


def _is_unique(weights: Any, low: Floats, high: Floats, found: NDArray[np.int64], misfit: float) -> bool:
    """Whether no other numbers miss by so little: of those that do, as many cells as can be have fewer than found.

    Where the total is published any others have fewer somewhere. b of a cell is 1 only if x ≤ found − 1.
    """
    rows, cells = weights.shape
    there = np.flatnonzero(found)
    most = float(found.sum() + high.max() + misfit + 1)
    slack, picked = (
        eye_array(rows),
        csr_array((np.ones(len(there)), (np.arange(len(there)), there)), (len(there), cells)),
    )
    nothing = csr_array((rows, len(there)))
    fewer = hstack([picked, csr_array((len(there), rows)), most * eye_array(len(there))], format="csr")
    missed = np.concatenate([np.zeros(cells), np.ones(rows), np.zeros(len(there))])
    solved = _solve(
        np.concatenate([np.zeros(cells + rows), -np.ones(len(there))]),
        [
            LinearConstraint(hstack([weights, slack, nothing], format="csr"), lb=low),
            LinearConstraint(hstack([weights, -slack, nothing], format="csr"), ub=high),
            LinearConstraint(fewer, ub=found[there] - 1 + most),
            LinearConstraint(missed[None], ub=misfit + _TOLERANCE),
        ],
        whole=np.repeat([1, 0, 1], [cells, rows, len(there)]),
        bounds=Bounds(lb=0, ub=np.concatenate([np.full(cells + rows, np.inf), np.ones(len(there))])),
    )
    return bool(np.rint(solved[cells + rows :]).sum() == 0)


def _solve(cost: Floats, constraints: list[LinearConstraint], *, whole: NDArray[np.int64], bounds: Bounds) -> Floats:
    solved = milp(cost, constraints=constraints, integrality=whole, bounds=bounds, options={"time_limit": _SECONDS})
    if solved.x is None or solved.status != 0:
        raise ParameterError("published", solved.message, "was not solved within a minute; use fewer cells or numbers")
    return np.asarray(solved.x, dtype=np.float64)
