"""An audit of a training's own code: canaries whose gradients are known, and an adversary who sees every update.

Proof: proofs/learn/torch/training/canaries.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import torch

from sfumato.errors import ParameterError
from sfumato.learn.attacks.auditor import Played
from sfumato.learn.attacks.report import ModelAudit
from sfumato.learn.torch.gradients.sums import ExactSums
from sfumato.learn.torch.noise.sampling import TruncatedPoisson
from sfumato.learn.torch.training.clipping import FURTHEST
from sfumato.learn.torch.training.examples import Rows
from sfumato.learn.torch.training.loop import Run
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.arguments import share, whole

if TYPE_CHECKING:
    from sfumato.learn.torch.training.plan import TrainingPlan

CANARIES: Final = 1000
"""How many canaries there are, if nothing is said."""

_FEWEST: Final = 32
_LONG: Final = 10 * FURTHEST
"""The gradient of a canary over the first clip: whoever forgets to clip is found out, wherever a rule moves it."""


def with_canaries(plan: "TrainingPlan", *, canaries: int | None, significance: float, is_shown: bool) -> ModelAudit:
    """Train on canaries alone, each of which a fair coin chose, and guess the coins from all noisy updates.

    The gradient of a canary is far above the clip in one number of its own, and 0 elsewhere. So no canary is in the way
    of another, and an adversary who knows all rows but one could do no better. All else is the training as it is: who
    takes part, the clip, the lattice, the noise, the division. The model stays as it is, and no row is read.

    **Guarantee**: if the claim of the plan is true, it is refuted with a probability of at most `significance`.
    Proof: proofs/learn/torch/training/canaries.md.

    References:
        [SNJ23]; [NHSBTJCT23] for canaries in gradients.
    """
    width, batches = plan.sums.width, plan.noise.participation
    places = batches.units if isinstance(batches, TruncatedPoisson) else None  # of units; None: for canaries alone
    most = width if places is None else min(width, places)
    number = min(CANARIES, most) if canaries is None else whole(canaries, "canaries", least=_FEWEST)
    if number > most:
        raise ParameterError("canaries", number, f"must be at most {most:,}: the numbers of a gradient, and the units")
    if not isinstance(plan.sums, ExactSums):
        requirement = 'must be of mode "per example": ghost clipping never has the gradient of a canary'
        raise ParameterError("plan", "a plan", requirement)
    numbers = np.linspace(0, width - 1, number).astype(np.int64)
    fell = bernoulli(Fraction(1, 2), number)
    included = np.flatnonzero(fell)
    empty = np.full((len(included) if places is None else places, plan.sums.rows_per_unit), -1)
    empty[: len(included), 0] = included
    who = torch.arange(number)
    gradients = _Canaries(width, torch.from_numpy(numbers), plan.clip)
    watched = _Watched(
        plan.model, plan.optimizer, schedule=None, batch_size=plan.batch_size, rule=plan.rule, clip=float(plan.clip),
        sums=ExactSums(gradients, block=plan.sums.block, rows_per_unit=plan.sums.rows_per_unit),
    )  # fmt: skip
    watched.places = numbers
    plan.run(Rows(inputs=who, targets=who, places=empty), watched, is_shown=is_shown)
    level = share(significance, "significance")
    played = Played(
        attack="canaries", scores=watched.scores(plan)[None], fell=fell[None], promised=plan.charge,
        notes=(f"{number:,} canaries in one training of {plan.steps:,} updates",),
    )  # fmt: skip
    return ModelAudit(
        model=plan.name, claim=plan.charge, findings=(played.finding(plan.charge, level),), fits=1, significance=level
    )


@dataclass(frozen=True, slots=True)
class _Canaries:
    """Gradients of canaries, which are given by their numbers."""

    width: int
    places: torch.Tensor
    clip: Fraction

    def parts(self, inputs: torch.Tensor, _targets: torch.Tensor, /) -> list[torch.Tensor]:
        """Each is long in a number of its own."""
        found = torch.zeros(len(inputs), self.width)
        found[torch.arange(len(inputs)), self.places[inputs]] = _LONG * float(self.clip)
        return [found]


class _Watched(Run):
    """A training of which each update is seen, and no model moved."""

    places: npt.NDArray[np.int64]
    """The numbers of a gradient that are looked at."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.seen: list[npt.NDArray[np.float64]] = []

    def step(self, gradient: npt.NDArray[np.float64]) -> None:
        """See a noisy gradient."""
        self.seen.append(gradient[self.places] * (self.batch_size / self.clip))

    def still(self, _before: list[torch.Tensor]) -> list[str]:
        """Nothing is to move."""
        return []

    def scores(self, plan: "TrainingPlan") -> npt.NDArray[np.float64]:
        """For each canary the logarithm of how much likelier its numbers are if it was there [NP33].

        In an update it takes part with probability q: ln(1 − q + q·e^((x − ½)/σ²)), with x and σ in units of the clip.
        """
        q, sigma = float(plan.noise.participation.share), plan.noise_multiplier
        with np.errstate(divide="ignore"):
            absent, present = np.log1p(-q), np.log(q)
        ratios = [np.logaddexp(absent, present + (x - 0.5) / sigma**2) for x in self.seen]
        return np.asarray(np.sum(ratios, axis=0), dtype=np.float64)
