"""Owners of samples, and what each of them computes of the public model: one update, clipped and in whole numbers.

Proof: proofs/learn/torch/federated/owners.md.
"""

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.numeric.arguments import of_kind, one_of
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields
from sfumato.privacy.secret import Secret

Loss: TypeAlias = Callable[[Any, Any], Any]
"""The mean loss of several samples, of their outputs and their targets, as `nn.CrossEntropyLoss()` is."""

Method: TypeAlias = Literal["average", "gradient"]
"""What an owner sends: how far training at its place moves the weights, or one gradient."""

Steps: TypeAlias = npt.NDArray[np.int64]

STEPS: Final = 1 << 20
"""The norm to which updates are clipped, in lattice steps."""

_PIECE: Final = 1 << 20  # of a vector whose squares are added up in 64 bits
_EXTREME: Final = Fraction(10**30)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Owner:
    """One owner of samples, such as a hospital or a phone: all its samples together are the privacy unit.

    Args:
        name: What it is called. Names are public, and two owners have different ones.
        inputs: One input a sample, along the first dimension.
        targets: One target a sample.
        epsilon: Its own ε, if it wants to give away less than the plan lets every owner. It is no secret.

    Raises:
        ParameterError: Inputs and targets are no tensors of one length, or ε is not above 0.

    Example:
        >>> Owner("north", torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1]))
        Owner(name='north', samples=Secret(…), epsilon=None)
    """

    name: str
    samples: Secret[tuple[torch.Tensor, torch.Tensor]]
    epsilon: Fraction | None

    def __init__(
        self, name: str, inputs: torch.Tensor, targets: torch.Tensor, *, epsilon: Number | None = None
    ) -> None:  # fmt: skip
        pair = (inputs, targets)
        if not all(isinstance(one, torch.Tensor) and one.ndim for one in pair) or len(inputs) != len(targets):
            requirement = "must be a tensor, as the inputs are, with one entry for each of them"
            raise ParameterError("targets", type(targets).__name__, requirement)
        set_fields(
            self,
            name=of_kind(name, "name", str, "a text"),
            samples=Secret(pair),
            epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
        )


@dataclass(frozen=True, slots=True, init=False)
class LocalTraining:
    """What an owner does with the public model: one gradient, or training at its place.

    * "gradient": the gradient of the mean loss of all its samples, as in federated SGD.
    * "average": `epochs` passes over its samples with SGD, in batches in their order. The update is the weights
      before less the weights after, so that it points where a gradient does, as in federated averaging.

    Args:
        method: "average" or "gradient".
        epochs: How many passes there are.
        batch_size: How many samples a batch has; None for all at once.
        rate: The learning rate of the owner.

    Raises:
        ParameterError: An argument is out of range.

    References:
        [MMRHA17].
    """

    method: Method
    epochs: int
    batch_size: int | None
    rate: Fraction

    def __init__(
        self, method: Method = "average", *, epochs: int = 1, batch_size: int | None = None, rate: Number = "0.1"
    ) -> None:  # fmt: skip
        set_fields(
            self,
            method=one_of(method, "method", ("average", "gradient")),
            epochs=positive_integer(epochs, "local_epochs"),
            batch_size=None if batch_size is None else positive_integer(batch_size, "local_batch_size"),
            rate=positive(rate, "local_rate"),
        )

    def update(self, model: nn.Module, loss: Loss, inputs: torch.Tensor, targets: torch.Tensor) -> npt.NDArray[Any]:
        """The update of one owner: a number for each trainable weight; whatever it raises, the owner's samples cause.

        Model and loss are copied, so that nothing that training writes into them is seen elsewhere.
        """
        own, measure = copy.deepcopy(model).train(), copy.deepcopy(loss)
        weights = trainable(own)
        before = [weight.detach().clone() for weight in weights]
        size = (self.batch_size or len(inputs)) if self.method == "average" else len(inputs)
        for _ in range(self.epochs):
            for start in range(0, len(inputs), size):
                batch = slice(start, start + size)
                outputs = own(inputs[batch].clone())  # a layer may write into what it is given
                slopes = torch.autograd.grad(measure(outputs, targets[batch]), weights)
                if self.method == "gradient":
                    return _flat(slopes)
                with torch.no_grad():
                    for weight, slope in zip(weights, slopes, strict=True):
                        weight.sub_(slope, alpha=float(self.rate))
        return _flat([old - new for old, new in zip(before, weights, strict=True)])

    def clipped(
        self, model: nn.Module, loss: Loss, owner: Owner, *, clip: Fraction, most: int = STEPS
    ) -> Secret[Steps]:  # fmt: skip
        """What an owner adds to a round: a vector of whole numbers, of an L2 norm of at most `most`.

        **Guarantee**: it is a function of the owner's samples, of the public model and of fresh randomness that no
        other owner has. Where training fails, or gives a number that is none, the vector is 0. Proof:
        proofs/learn/torch/federated/owners.md.

        Args:
            model: The public model.
            loss: The mean loss.
            owner: Whose samples are used.
            clip: The L2 norm that stands for `STEPS` lattice steps.
            most: The largest norm in lattice steps.
        """
        width = sum(weight.numel() for weight in trainable(model))
        inputs, targets = owner.samples.open_for_noise()
        devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
        with warnings.catch_warnings(), torch.random.fork_rng(devices):
            warnings.simplefilter("ignore")
            seed = int.from_bytes(entropy.random_bytes(8)) >> 1  # of layers that drop at random
            torch.default_generator.manual_seed(seed)
            if devices:
                torch.cuda.manual_seed_all(seed)
            try:
                update = self.update(model, loss, inputs, targets)
            except Exception:  # noqa: BLE001 # what fails on somebody's samples may not be told
                update = np.zeros(width)
        return Secret(whole_steps(update, clip=clip, most=most))


def whole_steps(update: npt.NDArray[Any], *, clip: Fraction, most: int = STEPS) -> Steps:
    """An update in lattice steps of clip/`STEPS`, scaled to a norm of at most `most` steps and cut towards 0.

    **Guarantee**: Σ z² ≤ most², checked in whole numbers. Proof: proofs/learn/torch/federated/owners.md.

    ====================  =========================================
    Edge case             Steps
    ====================  =========================================
    NaN, ±∞ anywhere      all 0
    no number, or all 0   all 0
    ====================  =========================================

    Example:
        >>> whole_steps(np.array([3.0, -4.0]), clip=Fraction(1)).tolist()
        [629145, -838860]
        >>> whole_steps(np.array([0.25, np.nan]), clip=Fraction(1)).tolist()
        [0, 0]
    """
    values = np.asarray(update, dtype=np.float64)
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0 or not np.isfinite(values).all():
        return np.zeros(len(values), dtype=np.int64)
    shape = values / largest  # within ±1, so that no square is too large
    reach = min(Fraction(largest) * STEPS / clip, Fraction(most) / Fraction(float(np.sqrt(shape @ shape))))
    steps = np.trunc(shape * float(reach)).astype(np.int64)
    while square_of(steps) > most**2:  # by the rounding of the norm: never by more than a few steps
        steps -= np.sign(steps)
    return steps


def square_of(steps: Steps) -> int:
    """The square of the L2 norm, exactly, of numbers of up to 21 bits."""
    pieces = (steps[start : start + _PIECE] for start in range(0, len(steps), _PIECE))
    return sum(int(piece @ piece) for piece in pieces)


def as_clip(clip: Number) -> Fraction:
    """The norm to which updates are clipped.

    Raises:
        ParameterError: It is not above 0, or far out of all ranges.
    """
    found = positive(clip, "clip")
    if not 1 / _EXTREME <= found <= _EXTREME:
        raise ParameterError("clip", clip, "must lie between 1e-30 and 1e30")
    return found


def trainable(model: nn.Module) -> list[torch.Tensor]:
    """The weights that are trained, in the order of the model."""
    return [weight for weight in model.parameters() if weight.requires_grad]


def _flat(parts: Sequence[torch.Tensor]) -> npt.NDArray[Any]:
    """All numbers one after the other, each as a double."""
    found: npt.NDArray[Any] = torch.cat([part.detach().reshape(-1).double().cpu() for part in parts]).numpy()
    return found
