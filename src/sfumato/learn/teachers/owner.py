"""What votes that agree would have cost: a number for the owner alone, because it follows from rows itself.

Proof: proofs/learn/teachers/owner.md.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.accounting.renyi.conversion import rdp_epsilon_up
from sfumato.errors import ParameterError
from sfumato.learn.teachers.labels import VOTES_MOVED, LabelFit
from sfumato.learn.teachers.votes import Whole
from sfumato.privacy.secret import Secret

Floats = npt.NDArray[np.float64]

_ORDERS: Final = 1 + np.geomspace(0.05, 4096, 160)


def owners_epsilon(fit: LabelFit, votes: Secret[Whole]) -> Secret[float]:
    """An ε of one data set: what a neighbor of it could learn from labels, at the δ of the charge.

    It is at most about what is charged, and far less where most teachers agree. **It follows from rows, so it is as
    secret as they are**: publishing it, or choosing anything by it, is not covered by any guarantee. It lowers no
    charge. It is computed in floats, which no guarantee rests on.

    Args:
        fit: What would be released.
        votes: What `fit.teachers.votes` counted.

    References:
        [PSMRTE18] Theorem 6.
    """
    exact = votes.open_for_noise()
    reach = fit.moved_teachers**2 * VOTES_MOVED / (2 * float(fit.count.stddev) ** 2)  # of one label
    each = np.stack([label_divergences(row, stddev=float(fit.count.stddev), reach=reach, orders=_ORDERS)
                     for row in exact])  # fmt: skip
    labels = np.sort(each, axis=0)[-fit.answers :].sum(axis=0)  # whichever rows pass their checks
    checks = _ORDERS * fit.moved_teachers**2 * len(exact) / (2 * float(fit.check.stddev) ** 2)
    total = zip(_ORDERS, labels + checks, strict=True)
    return Secret(rdp_epsilon_up({float(order): float(value) for order, value in total}, delta=fit.charge.delta))


def label_divergences(votes: Whole, *, stddev: float, reach: float, orders: Floats) -> Floats:
    """Bounds of the Rényi divergences of a noisy majority from that of any neighbor, in nats.

    Args:
        votes: How many teachers vote for each class.
        stddev: The σ of the noise on each count.
        reach: The divergence of order 1 + x of any two neighbors is at most (1 + x)·reach.
        orders: The orders, above 1.

    Raises:
        ParameterError: An order is not above 1.

    Example:
        >>> sure, split = np.array([40, 0, 0]), np.array([14, 13, 13])
        >>> [round(float(label_divergences(one, stddev=4, reach=1 / 16, orders=np.array([2.0]))[0]), 4)
        ...  for one in (sure, split)]
        [0.0, 0.125]
    """
    if (orders <= 1).any():
        raise ParameterError("orders", "an order", "must be above 1")
    general = orders * reach
    best = int(np.argmax(votes))
    gaps = votes[best] - np.delete(votes, best)
    miss = float(np.logaddexp.reduce(-(gaps.astype(np.float64) ** 2) / (4 * stddev**2)))
    if miss >= 0:
        return general
    second = np.sqrt(-miss / reach)
    first = second + 1
    if second <= 1 or second * reach >= -miss:
        return general
    if miss > (second - 1) * second * reach - second * (_log_ratio(first) + _log_ratio(second)):
        return general
    kept = np.log1p(-np.exp(miss))
    lost = (miss + second * reach) * (1 - 1 / second)
    likely = (orders - 1) * (kept - np.log1p(-np.exp(lost)))
    unlikely = (orders - 1) * (first * reach - miss / (first - 1))
    bound = np.logaddexp(kept + likely, miss + unlikely) / (orders - 1)
    return np.where(orders <= first, np.minimum(general, bound), general)


def _log_ratio(order: float) -> float:
    return float(np.log(order / (order - 1)))
