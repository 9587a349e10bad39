"""Checkpoints of a training: it goes on where it was stopped, and no update is ever drawn twice.

A checkpoint reserves the updates up to the next one before they are drawn. A training that is stopped in between goes
on with the first update that was not reserved: what it had drawn may have been seen, so it counts as spent.

Proof: proofs/learn/torch/training/checkpoints.md.
"""

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from sfumato.errors import StateError
from sfumato.learn.torch.training.loop import Run
from sfumato.privacy.codec import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingState:
    """What a training has released so far, and which updates are spent.

    Nothing in it is secret: weights and the optimizer's state follow from noisy updates.

    Attributes:
        plan: What tells the plan from others.
        reserved: How many updates are spent, drawn or not.
        drawn: How many of them went into the weights.
        clip: The norm that gradients are clipped to.
        states: What the model, the optimizer and the schedule save.
    """

    plan: str
    reserved: int
    drawn: int
    clip: float
    states: Mapping[str, Any]


def load(path: Path, *, plan: str) -> TrainingState | None:
    """The checkpoint in a file; None where there is no file.

    Raises:
        StateError: It is damaged, or of another plan.
    """
    if not path.exists():
        return None
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        checkpoint = TrainingState(**found)
    except Exception as error:  # a damaged file may raise anything
        raise StateError(str(path), "must be a checkpoint that a training wrote") from error
    if checkpoint.plan != plan:
        raise StateError(str(path), "must be of this very plan: the same model, data shapes, price and steps")
    return checkpoint


class TrainingFile:
    """The file of a training: read at its start, and written before updates are drawn.

    Args:
        path: The file; None where nothing is saved.
        every: How many updates are reserved at once.
        run: The training.
        plan: What tells its plan from others.
    """

    def __init__(self, path: Path | None, *, every: int, run: Run, plan: str) -> None:
        self._path, self._every, self._run, self._plan = path, every, run, plan
        self._reserved = 0

    def begin(self) -> int:
        """The first update that is not spent; the training has the weights, and all else, of its checkpoint.

        Raises:
            StateError: The file is damaged, or of another plan.
        """
        found = None if self._path is None else load(self._path, plan=self._plan)
        if found is not None:
            run, states = self._run, found.states
            run.model.load_state_dict(states["model"])
            run.optimizer.load_state_dict(states["optimizer"])
            if run.schedule is not None:
                run.schedule.load_state_dict(states["schedule"])
            run.clip, run.drawn, self._reserved = found.clip, found.drawn, found.reserved
        return self._reserved

    def before(self, step: int, steps: int) -> None:
        """Reserve the next updates before the first of them is drawn."""
        if self._path is not None and step >= self._reserved:
            self._write(min(step + self._every, steps))

    def end(self, steps: int) -> None:
        """Nothing is left to draw: whoever goes on from here gets the weights."""
        if self._path is not None:
            self._write(steps)

    def _write(self, reserved: int) -> None:
        """The file is the one before or the new one, whatever happens."""
        run, path = self._run, cast("Path", self._path)
        states = {
            "model": run.model.state_dict(), "optimizer": run.optimizer.state_dict(),
            "schedule": None if run.schedule is None else run.schedule.state_dict(),
        }  # fmt: skip
        document = {"plan": self._plan, "reserved": reserved, "drawn": run.drawn, "clip": run.clip, "states": states}
        beside = path.with_name(f"{path.name}.new")
        with beside.open("wb") as file:
            torch.save(document, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        self._reserved = reserved


def digest_of(model: nn.Module) -> str:
    """What tells the weights of a model, and its buffers, from others.

    Example:
        >>> layer = nn.Linear(2, 1)
        >>> digest_of(layer) == digest_of(layer)
        True
    """
    found = sha256()
    for name, own in model.state_dict().items():
        values = own.detach().cpu().contiguous()
        found.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode())
        found.update(values.reshape(-1).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


def written(model: nn.Module) -> dict[str, Json]:
    """The trainable parameters of a model, by name, in single precision.

    Example:
        >>> layer = nn.Linear(1, 1, bias=False)
        >>> _ = nn.init.ones_(layer.weight)
        >>> written(layer)
        {'weight': 'AACAPw=='}
    """
    return {
        name: base64.b64encode(own.detach().cpu().to(torch.float32).numpy().astype("<f4").tobytes()).decode("ascii")
        for name, own in model.named_parameters()
        if own.requires_grad
    }


def take(model: nn.Module, weights: Mapping[str, str]) -> None:
    """Give a model the parameters that were written."""
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, text in weights.items():
            own = parameters[name]
            values = np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(tuple(own.shape))
            own.copy_(torch.from_numpy(values.copy()))
