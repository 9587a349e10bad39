"""A training of a network as a plan, which binds who takes part, the clip, the noise and the price; and how it runs.

Proof: proofs/learn/torch/training/plan.md.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any, Final, cast

import torch
from torch import nn

from sfumato.errors import ParameterError
from sfumato.learn.attacks.report import ModelAudit
from sfumato.learn.torch.gradients.per_example import Loss
from sfumato.learn.torch.gradients.sums import ClippedSums
from sfumato.learn.torch.noise.steps import StepNoise
from sfumato.learn.torch.training.canaries import with_canaries
from sfumato.learn.torch.training.checkpoints import TrainingFile, digest_of, take, written
from sfumato.learn.torch.training.clipping import AdaptiveClip
from sfumato.learn.torch.training.examples import Examples, Rows, features_of, rows_of_query
from sfumato.learn.torch.training.loop import Run, bar
from sfumato.numeric.arguments import path_of
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.codec import Json, encode_event
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret
from sfumato.session.asking.training_set import TrainingSet
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.columns import TrainingColumn, TrainingRows

EVERY: Final = 100
"""How many updates lie between two checkpoints, if nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel:
    """A network that was trained, and what that cost.

    Attributes:
        model: The network with its weights, ready to predict.
        event: What was released, for accountants.
        guarantee: What it cost.
        updates: How many noisy updates went into the weights.
        receipt: The receipt of a training through a session, else None.
    """

    model: nn.Module = field(repr=False)
    event: Event = field(repr=False)
    guarantee: ApproxDP
    updates: int
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingPlan:
    """A training that is fixed before a row is read: who takes part, how gradients are clipped, the noise, the price.

    Made by `private`. It trains once, as each training costs.

    **Guarantee**: all noisy updates together, and so the weights after each of them, are `charge`-differentially
    private, for neighbors that differ in one unit. Proof: proofs/learn/torch/training/plan.md.

    Attributes:
        charge: The cost.
        steps: How many noisy updates there are.
        batch_size: How many units take part in an update, on average; by it a noisy sum is divided.
        clip: The norm that the gradient of a unit is clipped to, at first.
        noise: The noise of each update, and who takes part in it.
        sums: Who adds up clipped gradients.
        rule: Who changes the clip; None where it stays.
        event: What is released, for accountants.
    """

    charge: ApproxDP
    steps: int
    batch_size: int
    clip: Fraction
    noise: StepNoise
    sums: ClippedSums = field(repr=False)
    rule: AdaptiveClip | None
    event: Event = field(repr=False)
    model: nn.Module = field(repr=False)
    optimizer: torch.optim.Optimizer = field(repr=False)
    schedule: Any = field(repr=False)
    loss: Loss = field(repr=False)
    data: Examples | TrainingSet = field(repr=False)
    weights: str = field(repr=False)
    """A digest of the weights that it starts with."""
    _begun: list[bool] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return f"a network of {self.sums.width:,} parameters by noisy gradients"

    @property
    def is_exact(self) -> bool:
        """Whether the guarantee is proved for the numbers as they are computed."""
        return self.sums.is_exact

    @property
    def noise_multiplier(self) -> float:
        """The standard deviation of the noise on a number of an update over the clip."""
        return float(self.noise.stddev_steps / self.sums.steps)

    def __str__(self) -> str:
        """What is trained, how and at what price, line by line."""
        share = float(self.noise.participation.share)
        clipped = f"{float(self.clip):g}, then by the {float(self.rule.quantile):.0%} quantile" if self.rule else None
        lines = {
            "cost": str(self.charge), "updates": f"{self.steps:,}",
            "takes part": f"each unit with probability {share:.4g}, {self.batch_size:,} on average",
            "clip": clipped or f"{float(self.clip):g}",
            "noise": f"{self.noise_multiplier:.4g} times the clip, on each of {self.sums.width:,} numbers",
            "arithmetic": "exact" if self.is_exact else "not exact: the error of some layers is not bounded",
        }  # fmt: skip
        return "\n".join(f"{name:<11} {said}" for name, said in lines.items())

    def document(self) -> dict[str, Json]:
        """All parameters on which the weights depend."""
        groups: list[Json] = [
            {name: repr(value) for name, value in group.items() if name != "params"}
            for group in self.optimizer.param_groups
        ]
        return {
            "model": sha256(repr(self.model).encode()).hexdigest(), "weights": self.weights, "loss": self._loss,
            "optimizer": [type(self.optimizer).__name__, *groups], "schedule": self._schedule, **self._terms,
        }  # fmt: skip

    def train(
        self, *, checkpoint: str | Path | None = None, every: int = EVERY, progress: bool = True
    ) -> TrainedModel:  # fmt: skip
        """Charge the training where there is an account, and run it; the model of the plan gets its weights.

        Args:
            checkpoint: A file for what has been trained so far, from which a training that was stopped goes on; not
                through a session, which stores the weights at the end.
            every: How many updates lie between two checkpoints; a stop costs up to so many.
            progress: Whether a bar shows how many updates there were.

        Raises:
            ParameterError: The plan was trained before, its model has changed since, or a weight does not move.
            StateError: The checkpoint is damaged, or of another plan.
            BudgetExceededError: Too little budget remains; nothing was charged.
        """
        path = None if checkpoint is None else path_of(checkpoint, "checkpoint")
        apart = positive_integer(every, "every")
        if self._begun:
            raise ParameterError("plan", "a plan", "must not be trained before; make another one, as each costs")
        if digest_of(self.model) != self.weights:
            raise ParameterError("model", "a model", "must be as it was when the plan was made, with the same weights")
        if isinstance(self.data, TrainingSet):
            if path is not None:
                raise ParameterError("checkpoint", path, "must be left out with a session, which stores the weights")
            found = self.data.fit(self)
            self._begun.append(True)
            take(self.model, found.model["weights"])
            return self._trained(found.model, found.receipt)
        self._begun.append(True)
        rows = self.data.opened(self._device)
        return self._trained(self.run(rows, self.started(), path=path, every=apart, is_shown=progress), None)

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The trained weights as text; for sessions."""
        data = cast("TrainingSet", self.data)
        opened = rows.open_for_noise()
        target = cast("TrainingColumn", data.target)
        found = self.run(rows_of_query(opened, features_of(data.columns), target, self._device), self.started())
        return {**found, "weights": written(self.model)}

    @property
    def _terms(self) -> dict[str, Json]:
        """What is released, and what for."""
        return {
            "event": encode_event(self.event), "batch_size": self.batch_size, "steps": self.steps,
            "clip": str(self.clip), "rule": repr(self.rule), "noise": repr(self.noise), "block": self.sums.block,
            "sums": type(self.sums).__name__,
        }  # fmt: skip

    @property
    def _loss(self) -> list[Json]:
        """What tells the loss from others: a function by where it lies in memory, so that another one never passes."""
        return [repr(self.loss), digest_of(self.loss)] if isinstance(self.loss, nn.Module) else [repr(self.loss)]

    @property
    def _schedule(self) -> list[Json]:
        """What tells the schedule from others; one of functions by where it lies in memory."""
        if self.schedule is None:
            return []
        state: dict[str, Any] = self.schedule.state_dict()
        is_told = bool(state) and "lr_lambdas" not in state
        return [type(self.schedule).__name__, repr(sorted(state.items())) if is_told else repr(self.schedule)]

    @property
    def _digest(self) -> str:
        """What tells the plan from others for its checkpoint, which has the weights, and all else that changes."""
        return sha256(json.dumps(self._terms, sort_keys=True).encode()).hexdigest()

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def started(self) -> Run:
        """A training before its first update."""
        return Run(
            self.model, self.optimizer, schedule=self.schedule, sums=self.sums, batch_size=self.batch_size,
            clip=float(self.clip), rule=self.rule,
        )  # fmt: skip

    def run(
        self, rows: Rows, run: Run, *, path: Path | None = None, every: int = EVERY, is_shown: bool = False
    ) -> dict[str, Json]:  # fmt: skip
        """All updates that are left; nothing of it depends on rows but through noisy sums."""
        saved = TrainingFile(path, every=every, run=run, plan=self._digest)
        period = self.noise.participation.period
        turn = -(-saved.begin() // period) * period  # the last one may be cut short, and then this is behind the end
        first = min(turn, self.steps)
        batches = self.noise.participation.start(len(rows.places), step=turn)
        noise = self.noise.start(self.sums.width, step=turn)
        checked = min(first + ceil(1 / self.noise.participation.share), self.steps)
        before, still = [own.detach().clone() for _, own in run.parameters], []
        with bar("training", total=self.steps, done=first, shown=is_shown) as advance:
            for step in range(first, self.steps):
                saved.before(step, self.steps)
                run.update(rows, batches.draw(step), noise.draw())
                if step + 1 == checked and (still := run.still(before)):
                    break
                advance()
        saved.end(self.steps)
        return {"updates": run.drawn, "still": list(still)}

    def audited(
        self, *, canaries: int | None = None, significance: float = 0.05, progress: bool = False
    ) -> ModelAudit:  # fmt: skip
        """An attack on the code of this training, with canaries alone: it reads no rows and costs nothing.

        Args:
            canaries: How many there are, from 32 to as many as a gradient has numbers; None takes 1,000, or all.
            significance: The probability that a true claim is called false.
            progress: Whether a bar shows how many updates there were.

        Raises:
            ParameterError: There are too few or too many canaries, or gradients are clipped by ghost norms.
        """
        return with_canaries(self, canaries=canaries, significance=significance, is_shown=progress)

    def _trained(self, found: Mapping[str, Any], receipt: Receipt | None) -> TrainedModel:
        if found["still"]:
            requirement = "must move what it trains: these have not moved, though the updates were paid"
            raise ParameterError("optimizer", ", ".join(found["still"]), requirement)
        return TrainedModel(
            model=self.model.eval(), event=self.event, guarantee=self.charge, updates=found["updates"], receipt=receipt
        )  # fmt: skip
