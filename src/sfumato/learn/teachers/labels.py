"""A fit whose model is labels of public rows: noisy majorities of teachers, where enough of them seem to agree.

And what votes that agree would have cost: a number for the owner alone, because it follows from rows itself.

Proof: proofs/learn/teachers/labels.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.accounting.renyi.conversion import rdp_epsilon_up
from sfumato.errors import ParameterError
from sfumato.learn.core.parts import Noise, Part, event_of, noises_of
from sfumato.learn.teachers.votes import Teachers, Whole
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingRows

Floats = npt.NDArray[np.float64]

VOTES_MOVED: Final = 2
"""How many counts of one public row a teacher changes that votes for another class."""

_ORDERS: Final = 1 + np.geomspace(0.05, 4096, 160)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFit:
    """Confident GNMax: a noisy check of the largest count of votes, then the class with the largest noisy count.

        checked = {i : max_k n_ik + N(0, σ₁²) ≥ threshold},   label_i = argmax_k (n_ik + N(0, σ₂²))

    for the first `answers` of the checked rows; n_ik teachers vote for class k on public row i. N is discrete Gaussian
    noise. All checks are paid for, and `answers` labels, however many are released.

    **Guarantee**: what `event` says, for any two sets of rows for which `moved_teachers` teachers vote differently at
    most. Proof: proofs/learn/teachers/labels.md.

    Attributes:
        teachers: Who votes, and on which public rows.
        moved_teachers: How many teachers vote differently for a neighbor, at most.
        threshold: How many votes the largest count must seem to have.
        answers: How many labels are released, at most.
        check_share: The share of the budget for checks.
        charge: What both cost.
        check: The noise of each check.
        count: The noise of each count.
        event: All that is released.
    """

    teachers: Teachers
    moved_teachers: int
    threshold: int
    answers: int
    check_share: Fraction
    charge: PureDP | ApproxDP
    check: Noise = field(init=False, repr=False)
    count: Noise = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.charge.delta == 0:
            raise ParameterError("delta", 0, "must be above 0 for votes, which have Gaussian noise, such as delta=1e-6")
        parts = self.parts
        noises = noises_of(parts, self.charge)
        set_fields(self, check=noises[0], count=noises[1], event=event_of(parts, noises))

    @property
    def parts(self) -> tuple[Part, Part]:
        """What is released: the largest count of each public row, and all counts of those that are answered."""
        moved, rows = self.moved_teachers, len(self.teachers.public)
        return (
            Part(
                l1_sensitivity=moved * rows, l2_sensitivity=sqrt_up(Fraction(moved**2 * rows)), l0_sensitivity=rows,
                share=self.check_share,
            ),
            Part(
                l1_sensitivity=moved * VOTES_MOVED * self.answers,
                l2_sensitivity=sqrt_up(Fraction(moved**2 * VOTES_MOVED * self.answers)),
                l0_sensitivity=min(moved * VOTES_MOVED, self.teachers.classes) * self.answers,
                share=1 - self.check_share,
            ),
        )  # fmt: skip

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "labels by votes of teachers"

    def document(self) -> dict[str, Json]:
        """All parameters on which the labels depend."""
        return {
            "teachers": self.teachers.document(), "moved_teachers": self.moved_teachers, "threshold": self.threshold,
            "answers": self.answers, "check_share": str(self.check_share), "epsilon": str(self.charge.epsilon),
            "delta": str(self.charge.delta),
        }  # fmt: skip

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The places of the public rows that have labels, and their labels."""
        return self.labels(Secret(self.teachers.votes(rows.open_for_noise())))

    def labels(self, votes: Secret[Whole]) -> dict[str, Json]:
        """The same for votes that are counted already."""
        exact = votes.open_for_noise()
        largest = np.asarray(self.check.release(exact.max(axis=1)))
        places = np.flatnonzero(largest >= self.threshold)[: self.answers]
        noisy = np.asarray(self.count.release(exact[places].reshape(-1))).reshape(len(places), exact.shape[1])
        return {"places": places.tolist(), "labels": noisy.argmax(axis=1).tolist()}


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
