"""Federated learning with a trusted server: it draws who takes part, adds up clipped updates, and adds the noise.

Proof: proofs/learn/torch/federated/plan.md.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import nn

from sfumato.accounting.calibration import largest_sampling_probability, smallest_noise
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.federated.owners import STEPS, LocalTraining, Loss, Owner, Steps, as_clip
from sfumato.learn.torch.federated.public_model import PublicModel
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.arguments import listed, of_kind
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.privacy.events import DiscreteGaussianEvent, Event, GroupEvent, PoissonSampledEvent, SelfComposedEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation, as_relation

_SMALLEST_STDDEV: Final = Fraction(STEPS, 64)
"""Less noise than 1/64 of the clip protects nobody and is slow to account for; from 32 steps on bounds of discrete
noise hold however later updates depend on earlier rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FederatedModel:
    """What a federation released.

    Attributes:
        model: The network, with its weights after the last round.
        rounds: How many noisy updates moved it.
        event: What was released, for accountants.
        guarantee: What every owner is promised.
    """

    model: nn.Module = field(repr=False)
    rounds: int
    event: Event
    guarantee: ApproxDP


class Federation(ABC):
    """What every plan of a federation promises its owners."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields of every plan

        @property
        def charge(self) -> ApproxDP:
            """What every owner is promised."""

        @property
        def neighboring_relation(self) -> NeighboringRelation:
            """What may change of an owner."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """What all rounds together reveal of an owner, for accountants."""

    def guarantee_of(self, owner: Owner) -> ApproxDP:
        """What this owner is promised: its own ε, if it is below that of the plan."""
        own = self.charge.epsilon if owner.epsilon is None else min(owner.epsilon, self.charge.epsilon)
        return ApproxDP(own, self.charge.delta)

    def epsilon_of_group(self, size: int) -> float:
        """The ε of so many owners that are one, as hospitals of one trust, at the δ of the plan, rounded up."""
        accountant = PLDAccountant(neighboring_relation=self.neighboring_relation)
        return float(accountant.compose(GroupEvent(self.event, size)).epsilon(self.charge.delta))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FederatedPlan(Federation):
    """All that a federation with a trusted server does, settled before any owner is asked; see `private_federation`.

    A round draws each owner by a coin of its own probability. Whoever is drawn trains on the public model. Its update
    is clipped to `clip` and written in whole steps of clip/2²⁰. The sum of all gets discrete Gaussian noise, is divided
    by the public `owners_per_round`, and moves the model.

    **Guarantee**: the weights after every round together are `charge`-differentially private, with an owner as the
    unit: all of its samples, whatever they are, enter, leave or are replaced. Proof:
    proofs/learn/torch/federated/plan.md.

    Attributes:
        public: The model and its optimizer.
        loss: The mean loss of several samples.
        local: What an owner does.
        clip: The largest norm of an update.
        rounds: How many there are.
        owners_per_round: The expected number of owners of a round, by which sums are divided.
        sampling_probability: With which an owner is drawn that states no ε of its own.
        noise: The noise of a round, in lattice steps.
        charge: What every owner is promised.
        neighboring_relation: Whether owners enter and leave, or are replaced.
    """

    public: PublicModel = field(repr=False)
    loss: Loss = field(repr=False)
    local: LocalTraining
    clip: Fraction
    rounds: int
    owners_per_round: int
    sampling_probability: Fraction
    noise: GaussianNoise
    charge: ApproxDP
    neighboring_relation: NeighboringRelation

    @property
    def event(self) -> Event:
        """What all rounds together reveal of an owner, for accountants."""
        return sampled_rounds(self.sampling_probability, self.noise.event, self.rounds)

    def probability_of(self, owner: Owner) -> Fraction:
        """With which probability an owner is drawn in each round: the largest for which its own ε is kept."""
        if owner.epsilon is None or owner.epsilon >= self.charge.epsilon:
            return self.sampling_probability
        own = ApproxDP(owner.epsilon, self.charge.delta)
        largest = _largest_probability(self.noise.event, own, self.rounds, self.neighboring_relation)
        return min(largest, self.sampling_probability)

    def event_of(self, owner: Owner) -> Event:
        """What all rounds together reveal of this owner, for accountants."""
        return sampled_rounds(self.probability_of(owner), self.noise.event, self.rounds)

    def train(self, owners: Iterable[Owner]) -> FederatedModel:
        """All rounds, once.

        Whose training fails, or gives NaN, adds 0, as does whoever is not drawn. A round in which nobody is drawn adds
        noise like all others.

        Args:
            owners: All of them. How many there are is not looked at, as that is no public number.

        Raises:
            ParameterError: Two have one name, or the plan was run before; nothing was read.
        """
        everybody = checked_owners(owners)
        if self.public.rounds:
            raise ParameterError("plan", "one that ran", "may run once, as every run is charged: make another one")
        for _ in range(self.rounds):
            total = self.exact_sum(self._drawn(everybody))
            self.public.move(self.noise.release(total), clip=self.clip, owners=Fraction(self.owners_per_round))
        return FederatedModel(
            model=self.public.model, rounds=self.public.rounds, event=self.event, guarantee=self.charge
        )  # fmt: skip

    def exact_sum(self, drawn: Iterable[Owner]) -> Steps:
        """The sum of the updates of some owners in whole steps; for noise alone."""
        total = np.zeros(self.public.width, dtype=np.int64)
        for owner in drawn:
            update = self.local.clipped(self.public.model, self.loss, owner, clip=self.clip)
            total += update.open_for_noise()
        return total

    def _drawn(self, owners: tuple[Owner, ...]) -> list[Owner]:
        """Those whose coin says so: a fresh one for each owner, of its own probability."""
        places: dict[Fraction, list[int]] = {}
        for place, owner in enumerate(owners):
            places.setdefault(self.probability_of(owner), []).append(place)
        coins = np.zeros(len(owners), dtype=np.bool_)
        for probability, alike in places.items():
            coins[alike] = bernoulli(probability, len(alike))
        return [owners[place] for place in np.flatnonzero(coins)]


def private_federation(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    *,
    example: Any,
    epsilon: Number,
    delta: Number,
    owners: int,
    owners_per_round: int,
    rounds: int,
    clip: Number,
    local: LocalTraining | None = None,
    neighboring_relation: str = NeighboringRelation.ADD_OR_REMOVE_ONE,
) -> FederatedPlan:
    """A plan to train a network on the samples of many owners with a server that all of them trust.

    The server sees each update and who takes part, and publishes the weights after each round. As nobody else sees who
    is drawn, drawing makes noise smaller. Without such a server use `shared_federation`.

    **Guarantee**: (ε, δ)-differential privacy with an owner as the unit, for all published weights together. Proof:
    proofs/learn/torch/federated/plan.md.

    ==================================  ==================================================
    Edge case                           Behavior
    ==================================  ==================================================
    training fails on an owner          it adds 0
    a NaN in an update                  it adds 0
    nobody is drawn                     noise moves the model
    an owner with an ε too small        it is never drawn
    a layer that keeps statistics       ParameterError: use GroupNorm
    a trainable weight without a use    ParameterError: freeze it
    ==================================  ==================================================

    Args:
        model: The network, with public weights.
        optimizer: Of the server, over all trainable weights. SGD of rate 1 takes the mean of the owners' weights.
        loss: The mean loss of several samples, of outputs and targets.
        example: Made-up inputs and targets of a few samples, on which training is tried out.
        epsilon: The ε of every owner.
        delta: The δ of every owner, above 0.
        owners: How many there are; a public number that may be wrong: it sets how often each is drawn.
        owners_per_round: How many of them take part in a round, on average.
        rounds: How many noisy updates there are.
        clip: The largest L2 norm of an update.
        local: What an owner does in a round. Default: federated averaging with one step of rate 0.1.
        neighboring_relation: "add_or_remove_one" or "replace_one", of owners. What an owner states of its own ε is
            no secret under either.

    Raises:
        ParameterError: An argument cannot be used; nothing was read.

    Example:
        >>> model = nn.Linear(1, 1)
        >>> plan = private_federation(
        ...     model, torch.optim.SGD(model.parameters(), lr=1), nn.MSELoss(), clip=1,
        ...     example=(torch.zeros(2, 1), torch.zeros(2, 1)), epsilon=2, delta="1e-6",
        ...     owners=100, owners_per_round=20, rounds=3,
        ... )
        >>> made_up = [Owner(f"owner {i}", torch.ones(4, 1), torch.ones(4, 1)) for i in range(100)]
        >>> plan.train(made_up).guarantee
        ApproxDP(epsilon=Fraction(2, 1), delta=Fraction(1, 1000000))

    References:
        [MRTZ18] for federated averaging that is private; [JYC15] for an ε of one's own by sampling.
    """
    charge, relation = ApproxDP(epsilon, delta), as_relation(neighboring_relation)
    many, some = positive_integer(owners, "owners"), positive_integer(owners_per_round, "owners_per_round")
    if some > many:
        raise ParameterError("owners_per_round", some, f"must be at most owners, {many}")
    probability, times = Fraction(some, many), positive_integer(rounds, "rounds")
    public, training = PublicModel(model, optimizer), LocalTraining() if local is None else local
    public.try_out(training, loss, example)
    multiplier = smallest_noise(
        lambda noise: PoissonSampledEvent(  # less noise than the smallest is refused below: it need not be told apart
            probability,
            DiscreteGaussianEvent(max(noise * STEPS, _SMALLEST_STDDEV), Fraction(STEPS), public.width),
        ),
        target=charge, accountant=PLDAccountant(neighboring_relation=relation), count=times,
    )  # fmt: skip
    if multiplier * STEPS < _SMALLEST_STDDEV:
        raise ParameterError("epsilon", epsilon, "must be smaller: so little noise protects nobody")
    noise = GaussianNoise(l2_sensitivity=STEPS, stddev=multiplier * STEPS, l0_sensitivity=public.width)
    return FederatedPlan(
        public=public, loss=loss, local=training, clip=as_clip(clip), rounds=times, owners_per_round=some,
        sampling_probability=probability, noise=noise, charge=charge, neighboring_relation=relation,
    )  # fmt: skip


def checked_owners(owners: Iterable[Owner]) -> tuple[Owner, ...]:
    """Owners with different names.

    Raises:
        ParameterError: Two have one name, or something is no owner.
    """
    everybody = tuple(of_kind(one, "owners", Owner, "Owner(…)") for one in listed(owners, "owners"))
    if len({owner.name for owner in everybody}) < len(everybody):
        raise ParameterError("owners", "some owners", "must have different names: one owner is one unit")
    return everybody


def sampled_rounds(probability: Fraction, event: Event, rounds: int) -> Event:
    """Rounds in each of which an owner is drawn by a coin of this probability."""
    return SelfComposedEvent(PoissonSampledEvent(probability, event), rounds)


@lru_cache(maxsize=256)
def _largest_probability(
    event: DiscreteGaussianEvent, own: ApproxDP, rounds: int, relation: NeighboringRelation
) -> Fraction:  # fmt: skip
    """The largest probability of being drawn for which so many rounds cost an owner at most its own guarantee."""
    accountant = PLDAccountant(neighboring_relation=relation)
    return largest_sampling_probability(event, target=own, accountant=accountant, count=rounds)
