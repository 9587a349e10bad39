"""Federated learning without a trusted server: each owner adds its share of the noise, and only noisy sums are seen.

Proof: proofs/learn/torch/federated/shared.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from typing import Any, Final

import torch
from torch import nn

from sfumato.accounting.calibration import smallest_noise
from sfumato.accounting.gaussian.shares import shares_rho_up
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.federated.owners import STEPS, LocalTraining, Loss, Owner, Steps, as_clip
from sfumato.learn.torch.federated.plan import FederatedModel, Federation
from sfumato.learn.torch.federated.public_model import PublicModel
from sfumato.learn.torch.training.checkpoints import digest_of
from sfumato.mechanisms.distributed.gaussian import DistributedGaussian
from sfumato.numeric.arguments import whole
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.numeric.rounding import dyadic_up
from sfumato.privacy.events import Event, PureEvent, SelfComposedEvent, ZCDPEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

_BITS: Final = 40  # of an owner's own ρ


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedFederatedPlan(Federation):
    """All that a federation without a trusted server does, settled before any owner is asked; see `shared_federation`.

    In each round every owner computes its `contribution` at its place, and hands it to a protocol that adds a share of
    `noise` to it and shows the sum alone. `local.PartySum` with `local.SecureSum` is one; its numbers lie between
    −`STEPS` and `STEPS`. Whoever coordinates calls `move` with the sum.

    **Guarantee**: the noisy sums of all rounds together are `charge`-differentially private, with an owner as the unit,
    whose samples are anything else, or none. It holds against the coordinator and `noise.max_dropouts` owners that
    are missing or collude, if nothing but sums of at least parties − max_dropouts honest shares is seen. It is no
    secret who takes part, so that drawing owners would save nothing. Proof: proofs/learn/torch/federated/shared.md.

    Attributes:
        public: The model and its optimizer.
        loss: The mean loss of several samples.
        local: What an owner does.
        clip: The largest norm of an update.
        rounds: How many there are.
        noise: The noise of a round in shares, in lattice steps.
        charge: What every owner is promised.
        neighboring_relation: Whether an owner's samples are there or not, or are replaced.
    """

    public: PublicModel = field(repr=False)
    loss: Loss = field(repr=False)
    local: LocalTraining
    clip: Fraction
    rounds: int
    noise: DistributedGaussian
    charge: ApproxDP
    neighboring_relation: NeighboringRelation

    @property
    def event(self) -> Event:
        """What all rounds together reveal of an owner, for accountants."""
        return SelfComposedEvent(self.noise.event, self.rounds)

    def steps_of(self, owner: Owner) -> int:
        """The norm to which an owner clips in lattice steps: the largest for which its own ε is kept."""
        if owner.epsilon is None or owner.epsilon >= self.charge.epsilon:
            return STEPS
        rho = rho_of(ApproxDP(owner.epsilon, self.charge.delta), self.rounds, self.neighboring_relation)
        per_step = Fraction(moved(1, self.neighboring_relation) ** 2) / (2 * self._honest * self.noise.share_stddev**2)
        most = min(isqrt(floor(rho / per_step)), STEPS)
        while most and self._rho(most) > rho:  # by what shares differ from one discrete Gaussian
            most -= 1
        return most

    def event_of(self, owner: Owner) -> Event:
        """What all rounds together reveal of this owner, for accountants."""
        most = self.steps_of(owner)
        if most == STEPS:
            return self.event
        return SelfComposedEvent(ZCDPEvent(self._rho(most)) if most else PureEvent(Fraction(0)), self.rounds)

    def contribution(self, owner: Owner) -> Secret[Steps]:
        """What an owner adds to the next round, before its share of the noise; 0 where its training fails.

        It is computed where the owner is, from the public weights of now, and goes into the protocol of the sum alone.
        """
        return self.local.clipped(
            self.public.model, self.loss, owner, clip=self.clip, most=self.steps_of(owner)
        )  # fmt: skip

    def move(self, total: Any, *, shares: int) -> None:
        """Move the public model by the noisy sum of a round; who coordinates does so, and each owner may.

        Args:
            total: The sum of contributions, with the noise of all shares, in lattice steps.
            shares: How many owners are in it, which is public.

        Raises:
            ParameterError: They are too few for the guarantee or too many, the sum has another length, or all rounds
                are over.
        """
        count = whole(shares, "shares", least=self._honest, most=self.noise.parties)
        if len(total) != self.public.width:
            raise ParameterError("total", f"{len(total)} numbers", f"must be {self.public.width}, one for each weight")
        if self.public.rounds >= self.rounds:
            raise ParameterError("plan", f"{self.rounds} rounds", "are over: further ones were not charged")
        self.public.move(total, clip=self.clip, owners=Fraction(count))

    def document(self) -> dict[str, str]:
        """All that owners have to agree on, in words: two plans with equal documents train alike.

        Weights and optimizer stand in it as they are now, so compare it before the first round. A loss that is a
        function is known by its name alone.
        """
        groups = [
            sorted((name, repr(value)) for name, value in group.items() if name != "params")
            for group in self.public.optimizer.param_groups
        ]
        is_module = isinstance(self.loss, nn.Module)
        loss = f"{self.loss!r} {digest_of(self.loss)}" if is_module else getattr(self.loss, "__qualname__", "")
        said = {
            "charge": self.charge, "relation": self.neighboring_relation, "noise": self.noise, "local": self.local,
            "clip": self.clip, "rounds": self.rounds, "weights": digest_of(self.public.model), "loss": loss,
            "trained": ", ".join(name for name, own in self.public.model.named_parameters() if own.requires_grad),
            "optimizer": f"{type(self.public.optimizer).__name__} {groups}",
        }  # fmt: skip
        return {name: str(value) for name, value in said.items()}

    def result(self) -> FederatedModel:
        """What the rounds until now released."""
        rounds = self.public.rounds
        event: Event = SelfComposedEvent(self.noise.event, rounds) if rounds else PureEvent(Fraction(0))
        return FederatedModel(model=self.public.model, rounds=rounds, event=event, guarantee=self.charge)

    @property
    def _honest(self) -> int:
        return self.noise.parties - self.noise.max_dropouts

    def _rho(self, most: int) -> Fraction:
        """The ρ of one round for an owner whose norm is at most so many steps."""
        found = shares_rho_up(
            stddev=self.noise.share_stddev, shares=self._honest, l0_sensitivity=self.public.width,
            l2_sensitivity=moved(most, self.neighboring_relation),
        )  # fmt: skip
        return self.noise.rho if found is None else dyadic_up(found, bits=_BITS)


def shared_federation(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    *,
    example: Any,
    epsilon: Number,
    delta: Number,
    owners: int,
    rounds: int,
    clip: Number,
    max_dropouts: int = 0,
    local: LocalTraining | None = None,
    neighboring_relation: str = NeighboringRelation.ADD_OR_REMOVE_ONE,
) -> SharedFederatedPlan:
    """A plan to train a network on the samples of owners who trust no server with them.

    All owners take part in all rounds, each with its share of discrete Gaussian noise. Any owners − max_dropouts
    honest shares make the noise that is promised, and those of more make more.

    **Guarantee**: (ε, δ)-differential privacy with an owner as the unit, for all noisy sums together, under the
    assumptions of `SharedFederatedPlan`. Proof: proofs/learn/torch/federated/shared.md.

    ==================================  ==================================================
    Edge case                           Behavior
    ==================================  ==================================================
    training fails, a NaN in an update  the owner adds 0, with its share of the noise
    an owner that sends nothing         one of `max_dropouts`
    too few shares                      no sum is published; the round may be tried again
    an owner with an ε of its own       it clips to a smaller norm
    ==================================  ==================================================

    Args:
        model: The network, with public weights.
        optimizer: Of the server, over all trainable weights. SGD of rate 1 takes the mean of the owners' weights.
        loss: The mean loss of several samples, of outputs and targets.
        example: Made-up inputs and targets of a few samples, on which training is tried out.
        epsilon: The ε of every owner.
        delta: The δ of every owner, above 0.
        owners: How many there are; who they are is public.
        rounds: How many noisy updates there are.
        clip: The largest L2 norm of an update.
        max_dropouts: How many owners may send nothing, or tell others what they know, in a round.
        local: What an owner does in a round. Default: federated averaging with one step of rate 0.1.
        neighboring_relation: "add_or_remove_one": an owner has its samples or none; "replace_one": it has others.

    Raises:
        ParameterError: An argument cannot be used; nothing was read.

    Example:
        >>> model = nn.Linear(1, 1)
        >>> plan = shared_federation(
        ...     model, torch.optim.SGD(model.parameters(), lr=1), nn.MSELoss(), clip=1,
        ...     example=(torch.zeros(2, 1), torch.zeros(2, 1)), epsilon=8, delta="1e-5",
        ...     owners=20, max_dropouts=5, rounds=1,
        ... )
        >>> made_up = [Owner(f"owner {i}", torch.ones(4, 1), torch.ones(4, 1)) for i in range(16)]  # four dropped out
        >>> shares = [plan.noise.share(plan.contribution(owner)) for owner in made_up]  # seen by a secure sum alone
        >>> plan.move(plan.noise.combine(shares), shares=16)
        >>> plan.result().rounds
        1

    References:
        [KLS21] for discrete Gaussian noise in shares; [MRTZ18] for federated averaging that is private.
    """
    charge, relation = ApproxDP(epsilon, delta), as_relation(neighboring_relation)
    public, training = PublicModel(model, optimizer), LocalTraining() if local is None else local
    public.try_out(training, loss, example)
    times = positive_integer(rounds, "rounds")
    noise = DistributedGaussian(
        parties=owners, l2_sensitivity=moved(STEPS, relation), rho=rho_of(charge, times, relation),
        l0_sensitivity=public.width, max_dropouts=max_dropouts,
    )  # fmt: skip
    return SharedFederatedPlan(
        public=public, loss=loss, local=training, clip=as_clip(clip), rounds=times, noise=noise, charge=charge,
        neighboring_relation=relation,
    )  # fmt: skip


def moved(norm: int, relation: NeighboringRelation) -> int:
    """How far one owner moves a sum: by its update, or by the difference of two updates."""
    return norm * (2 if relation is NeighboringRelation.REPLACE_ONE else 1)


@lru_cache(maxsize=256)
def rho_of(charge: ApproxDP, rounds: int, relation: NeighboringRelation) -> Fraction:
    """The largest ρ of a round of which so many cost at most this."""
    accountant = PLDAccountant(neighboring_relation=relation)
    noise = smallest_noise(
        lambda noise: ZCDPEvent(1 / (2 * noise**2)), target=charge, accountant=accountant, count=rounds
    )
    return 1 / (2 * noise**2)
