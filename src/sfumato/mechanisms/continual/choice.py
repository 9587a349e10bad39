"""The counter with the least error for a horizon and a memory; and totals that never fall, out of noisy ones."""

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.banded import MOST_BANDS, BandedToeplitz
from sfumato.mechanisms.continual.base import ContinualMechanism
from sfumato.mechanisms.continual.binary_tree import BinaryTree, one_budget
from sfumato.mechanisms.continual.buffer_table import LARGEST_POWER, MOST_BUFFERS
from sfumato.mechanisms.continual.buffered import BufferedToeplitz
from sfumato.mechanisms.continual.contribution import COUNT, Contribution
from sfumato.mechanisms.continual.hybrid_tree import HybridTree
from sfumato.mechanisms.continual.participation import ONCE, Participation
from sfumato.mechanisms.continual.square_root import LARGEST, SquareRoot
from sfumato.mechanisms.continual.sums import RUNNING_TOTAL, DecayingSum, RunningTotal, Sums
from sfumato.numeric.arguments import floats, real
from sfumato.numeric.rationals import Number, flag, positive_integer

_FEW: Final = 1 << 12  # ticks up to which a square root is small enough to be looked at without being asked for


def best_counter(
    *,
    horizon: int | None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    memory: int | None = None,
    contribution: Contribution = COUNT,
    participation: Participation = ONCE,
    sums: Sums = RUNNING_TOTAL,
) -> ContinualMechanism:
    """The counter with the smallest largest standard deviation, from public facts alone; nothing is spent.

    For an ε these are trees; for a ρ also the square root and up to six buffers, as far as their memory allows,
    and bands where a unit has several events that are some ticks apart. Without a horizon it is a `HybridTree`.

    Args:
        horizon: The last tick, or None where none is known.
        epsilon: ε of all releases together; or
        rho: ρ of all releases together.
        memory: The most numbers to keep for each number that is released; None for as many as 2^12.
        contribution: What one event may add at its tick.
        participation: How often the privacy unit has an event.
        sums: What is released.

    Returns:
        The counter; its `stddev`, `half_width` and `memory` are known before it starts.

    Raises:
        ParameterError: A parameter is out of range, or no counter has so little memory or such sums.

    Example:
        >>> best = best_counter(horizon=1 << 16, rho="0.5", memory=10)
        >>> type(best).__name__, best.buffers, round(best.largest_stddev, 2)
        ('BufferedToeplitz', 6, 4.61)
    """
    pure, concentrated = one_budget(epsilon, rho)
    most = _FEW if memory is None else positive_integer(memory, "memory")
    facts: dict[str, Any] = {"contribution": contribution, "participation": participation}
    if horizon is None:
        if not isinstance(sums, RunningTotal):
            raise ParameterError("sums", sums, "must be a RunningTotal where no horizon is known")
        return HybridTree(epsilon=pure, rho=concentrated, online=True, **facts)
    positive_integer(horizon, "horizon")
    found: list[ContinualMechanism] = []
    if not isinstance(sums, DecayingSum):
        trees = [BinaryTree(horizon=horizon, epsilon=pure, rho=concentrated, online=online, sums=sums, **facts)
                 for online in (False, True)]  # fmt: skip
        found += trees
    if concentrated is not None:
        found += _toeplitz(horizon, concentrated, most, sums, facts)
    fitting = [counter for counter in found if counter.memory <= most]
    if not fitting:
        raise ParameterError("memory", memory, "must be larger; decaying sums need a rho, and windows their width")
    return min(fitting, key=lambda counter: counter.largest_stddev)


def _toeplitz(horizon: int, rho: Fraction, most: int, sums: Sums, facts: dict[str, Any]) -> list[ContinualMechanism]:
    found: list[ContinualMechanism] = []
    if horizon <= min(LARGEST, most):
        found.append(SquareRoot(horizon=horizon, rho=rho, sums=sums, **facts))
    if horizon <= 1 << LARGEST_POWER:
        found += [
            BufferedToeplitz(horizon=horizon, rho=rho, buffers=buffers, sums=sums, **facts)
            for buffers in range(1, MOST_BUFFERS + 1)
        ]
    participation = facts["participation"]
    if horizon <= LARGEST and participation.separation > 1 < participation.within(horizon):
        bands = min(participation.separation, most, MOST_BANDS)
        found.append(BandedToeplitz(horizon=horizon, rho=rho, bands=bands, sums=sums, **facts))
    return found


def nondecreasing(releases: Any, *, lower: float | None = 0, online: bool = False) -> NDArray[np.float64]:
    """Totals that never fall, nearest to noisy ones in least squares; of counts, whose exact totals never fall.

    Post-processing, which costs nothing. It is isotonic regression: neighbors that fall are replaced by their mean, and
    the sum of squared errors against any totals that do not fall becomes smaller. With `online` earlier totals are
    never revised, so each is the largest of those so far.

    Args:
        releases: Noisy totals, in time; ticks, or ticks × numbers.
        lower: The least that a total can be; None where there is no such bound.
        online: Whether each total depends on those before it alone.

    Raises:
        ParameterError: They are no numbers.

    Example:
        >>> nondecreasing([3, 1, 2, 7, 6]).tolist(), nondecreasing([-1, 1, 0, 7, 6], online=True).tolist()
        ([2.0, 2.0, 2.0, 6.5, 6.5], [0.0, 1.0, 1.0, 7.0, 7.0])

    References:
        [BBBB72] for isotonic regression.
    """
    values = floats(releases, "releases")
    flag(online, "online")
    if values.ndim not in {1, 2}:
        raise ParameterError("releases", f"{values.ndim} dimensions", "must be ticks, or ticks × numbers")
    least = -np.inf if lower is None else real(lower, "lower")
    if not values.size:
        return values
    columns = values.reshape(len(values), -1)
    if online:
        found = np.maximum.accumulate(columns, axis=0)
    else:
        found = np.stack([_isotonic(column) for column in columns.T], axis=1)
    return np.maximum(found, least).reshape(values.shape)


def _isotonic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pool adjacent violators: means of blocks, each merged with the one before while that is larger."""
    means, sizes = list[float](), list[int]()
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] >= mean:
            before, many = means.pop(), sizes.pop()
            mean, size = (before * many + mean * size) / (many + size), many + size
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)
