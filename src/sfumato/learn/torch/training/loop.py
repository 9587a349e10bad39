"""The loop of a training: who takes part, the sum of clipped gradients, its noise, and a step of the optimizer.

Proof: proofs/learn/torch/training/plan.md.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import nn

from sfumato.learn.torch.gradients.places import shuffled
from sfumato.learn.torch.gradients.sums import ClippedSums
from sfumato.learn.torch.training.clipping import AdaptiveClip
from sfumato.learn.torch.training.examples import Rows, only


class Run:
    """A training that runs: what it changes is the model, the optimizer, and the two numbers below.

    Args:
        model: The model, whose trainable parameters are those of the sums, in the same order.
        optimizer: Takes a step along each noisy gradient.
        schedule: Changes the optimizer after each update; None where nothing does.
        sums: Who adds up clipped gradients.
        batch_size: By what a noisy sum is divided.
        clip: The clip of the first update.
        rule: Who changes the clip; None where it stays.

    Attributes:
        clip: The clip of the next update.
        drawn: How many updates there were.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        schedule: Any,
        sums: ClippedSums,
        batch_size: int,
        clip: float,
        rule: AdaptiveClip | None,
    ) -> None:
        self.model, self.optimizer, self.schedule, self.sums = model, optimizer, schedule, sums
        self.batch_size, self.rule = batch_size, rule
        self.clip = self._first_clip = clip
        self.drawn = 0

    @property
    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        """What is trained, by name."""
        return [(name, own) for name, own in self.model.named_parameters() if own.requires_grad]

    def update(self, rows: Rows, units: npt.NDArray[Any], noise: npt.NDArray[Any]) -> None:
        """One update by some units: nothing of the rows remains but a noisy sum.

        Args:
            rows: The rows of all units.
            units: The places of those that take part; none is an update by noise alone.
            noise: As many whole numbers as a gradient has.
        """
        total, below = self.exact(rows, units)
        noisy = np.asarray(total + noise, dtype=np.float64)
        self.step(noisy * (self.clip / self.sums.steps / self.batch_size))
        if self.rule is not None:
            seen = self.rule.noisy(below)
            self.clip = self.rule.following(
                self.clip, below=seen, batch_size=self.batch_size, first=self._first_clip
            )  # fmt: skip
        self.drawn += 1

    def exact(self, rows: Rows, units: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
        """The sum of clipped gradients of some units, and how many lie within the clip; for noise alone."""
        total, below = torch.zeros(self.sums.width, dtype=torch.int64), 0
        for inputs, targets, used in rows.blocks(shuffled(units), self.sums.block):
            part, within = self._added(inputs, targets, used)
            total += part.cpu()
            below += int(within.sum())
        return total.numpy(), below

    def _added(
        self, inputs: torch.Tensor, targets: torch.Tensor, used: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        """The sum of a block; a unit with a row that the model or the loss cannot take counts as if it were not there.

        Which units these are is found out one by one, so that none of them changes what the others add.
        """
        try:
            return self.sums.add(inputs, targets, used, self.clip)
        except (IndexError, RuntimeError, ValueError):
            valid, group = used.clone(), self.sums.rows_per_unit
            for start in range(0, len(used), group):
                alone = torch.zeros_like(used)
                alone[start : start + group] = used[start : start + group]
                try:
                    self.sums.add(only(inputs, alone), only(targets, alone), alone, self.clip)
                except (IndexError, RuntimeError, ValueError):
                    valid[start : start + group] = False
            return self.sums.add(only(inputs, valid), only(targets, valid), valid, self.clip)

    def step(self, gradient: npt.NDArray[np.float64]) -> None:
        """A step of the optimizer along a gradient that anybody may see."""
        self.optimizer.zero_grad(set_to_none=True)
        start = 0
        for _, own in self.parameters:
            piece = torch.from_numpy(gradient[start : start + own.numel()]).reshape(own.shape)
            own.grad = piece.to(device=own.device, dtype=own.dtype)
            start += own.numel()
        self.optimizer.step()
        if self.schedule is not None:
            self.schedule.step()

    def still(self, before: list[torch.Tensor]) -> list[str]:
        """The parameters that no update has moved: noise moves all that are trained."""
        return [name for (name, own), was in zip(self.parameters, before, strict=True) if torch.equal(own, was)]


@contextmanager
def bar(title: str, *, total: int, done: int, shown: bool) -> Iterator[Callable[[], None]]:
    """A bar that moves by one step at each call; it shows how many updates there were, and nothing else."""
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True, disable=not shown) as drawn:
        task = drawn.add_task(title, total=total, completed=done)
        yield lambda: drawn.advance(task)
