"""The public model of a federation: everybody sees its weights, which only noisy sums of updates ever move.

Proof: proofs/learn/torch/federated/plan.md.
"""

import copy
from fractions import Fraction
from typing import Any, Final

import numpy as np
import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase

from sfumato.errors import ParameterError
from sfumato.learn.torch.federated.owners import STEPS, LocalTraining, Loss, trainable
from sfumato.numeric.arguments import of_kind


class PublicModel:
    """A network and the optimizer that moves its weights, one noisy update a round.

    Args:
        model: The network. Its weights of now are where training starts, and are public too.
        optimizer: Of the server; it has all trainable weights of the model, and no others.

    Raises:
        ParameterError: The optimizer has other weights, or a layer keeps statistics of what it sees.

    Example:
        >>> model = nn.Linear(2, 1)
        >>> PublicModel(model, torch.optim.SGD(model.parameters(), lr=1)).width
        3
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.model: Final = of_kind(model, "model", nn.Module, "a torch.nn.Module")
        self.optimizer: Final = of_kind(optimizer, "optimizer", torch.optim.Optimizer, "a torch optimizer")
        self.rounds = 0
        """How many noisy updates moved it."""
        for name, layer in model.named_modules():
            if isinstance(layer, _NormBase) and layer.track_running_stats:
                kind = type(layer).__name__
                requirement = f"keeps statistics of samples, which no noise hides; use GroupNorm in place of {kind}"
                raise ParameterError("model", name or kind, requirement)
        for name, weight in model.named_parameters():
            if isinstance(weight, nn.parameter.UninitializedParameter):
                raise ParameterError("model", name, "must have its shape; call the model once on made-up samples")
            if weight.requires_grad and not weight.is_floating_point():
                raise ParameterError("model", name, f"must be real numbers, not {weight.dtype}")
        weights, moved = trainable(model), [one for group in optimizer.param_groups for one in group["params"]]
        if not weights or {id(one) for one in weights} != {id(one) for one in moved}:
            requirement = "must have all trainable weights of the model and no others: they are what is made private"
            raise ParameterError("optimizer", type(optimizer).__name__, requirement)
        if isinstance(optimizer, torch.optim.LBFGS):
            raise ParameterError("optimizer", "LBFGS", "must move the weights once a round, without asking for losses")

    @property
    def width(self) -> int:
        """How many numbers an update has."""
        return sum(weight.numel() for weight in trainable(self.model))

    def try_out(self, local: LocalTraining, loss: Loss, example: Any) -> None:
        """Train on made-up samples as an owner would, so that what fails for everybody fails here.

        Args:
            local: What owners do.
            loss: The mean loss.
            example: Made-up inputs and targets, of the shapes of an owner's.

        Raises:
            ParameterError: It fails, the loss is no single number, or a trainable weight plays no part in it.
        """
        if not isinstance(example, tuple | list) or len(example) != 2:  # noqa: PLR2004 # inputs and targets
            raise ParameterError("example", type(example).__name__, "must be made-up inputs and targets")
        inputs, targets = example
        try:
            own = copy.deepcopy(self.model).train()
            with torch.random.fork_rng():
                slopes = torch.autograd.grad(loss(own(inputs), targets), trainable(own), allow_unused=True)
                names = (name for name, weight in own.named_parameters() if weight.requires_grad)
                unused = [name for name, slope in zip(names, slopes, strict=True) if slope is None]
                update = None if unused else local.update(self.model, loss, inputs, targets)
        except Exception as error:
            requirement = f"must be samples on which an owner can train, but training fails: {error}"
            raise ParameterError("example", "made-up samples", requirement) from error
        if update is None:
            requirement = "plays no part in the loss, so that it would get noise alone; set requires_grad to False"
            raise ParameterError("model", unused[0], requirement)
        if not np.isfinite(update).all():
            raise ParameterError("example", "made-up samples", "must have a finite update: lower the owners' rate")

    def move(self, total: Any, *, clip: Fraction, owners: Fraction) -> None:
        """One round of the server: the noisy sum as a mean update, which the optimizer takes for the gradient.

        Args:
            total: The noisy sum, in lattice steps.
            clip: What `STEPS` steps stand for.
            owners: By how many it is divided: a public number, whoever took part.
        """
        mean = np.asarray(total, dtype=np.float64) * float(clip / (STEPS * owners))
        start = 0
        for weight in trainable(self.model):
            part = torch.from_numpy(mean[start : start + weight.numel()].reshape(tuple(weight.shape)))
            weight.grad = part.to(dtype=weight.dtype, device=weight.device)
            start += weight.numel()
        self.rounds += 1
        self.optimizer.step()
        self.optimizer.zero_grad()
