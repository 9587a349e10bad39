"""Gradient leakage: an adversary rebuilds an example from the update that it gave a public network.

Whoever trains with others shares gradients instead of examples. Of a network that everybody knows, the gradient of one
example nearly is the example: it is read off the first layer, or found by making an image have the same gradient.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, Final, TypeAlias

import torch
from torch import nn

from sfumato.attacks.core.outcome import Outcome, largest_success
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind, one_of, real, result, whole
from sfumato.numeric.rationals import Number

Loss: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

METHODS: Final = ("first layer", "distance", "cosine")
"""Reading the input off the first layer; making the gradients equal; making them point the same way."""

_STEPS: Final = {"distance": 100, "cosine": 300}
_STEP: Final = 0.1  # of the bounds' width, and a tenth of it after 3/8, 5/8 and 7/8 of the steps
_SMOOTHNESS: Final = 1e-3
_FAIR: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeakedInput:
    """What an adversary takes an example for.

    Attributes:
        input: The input, of the shape that was stated.
        label: The class.
        method: How the input was found.
        mismatch: 0 where the guess has the update as its gradient: the squared distance over that from 0, or one less
            the cosine. Where the input was read off, the latter.
    """

    input: torch.Tensor
    label: int
    method: str
    mismatch: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradientLeakage:
    """What updates gave away of the examples that they were computed from.

    Attributes:
        found: What the adversary took each example for.
        distances: How far that is from the example: the root of the mean square over its numbers.
        guess_distances: How far the best guess is that needs no update.
        right_labels: How many classes were found.
        outcome: How often the guess was nearer to the example than to another one, of two that were as likely.
    """

    found: tuple[LeakedInput, ...]
    distances: tuple[float, ...]
    guess_distances: tuple[float, ...]
    right_labels: int
    outcome: Outcome

    @property
    def nearer(self) -> float:
        """The share of examples for which the update led nearer than the guess without it."""
        pairs = zip(self.distances, self.guess_distances, strict=True)
        return sum(one < other for one, other in pairs) / len(self.distances)

    def __str__(self) -> str:
        mean, without = (sum(each) / len(each) for each in (self.distances, self.guess_distances))
        lines = (
            str(self.outcome),
            f"  mean distance to the example {mean:.3f}; of the best guess without the update {without:.3f}",
            f"  nearer than that guess for {self.nearer:.0%}; labels found {self.right_labels} of {len(self.found)}",
        )
        return "\n".join(lines)


def leaked_input(
    update: torch.Tensor,
    *,
    model: nn.Module,
    loss: Loss,
    shape: Sequence[int],
    method: str | None = None,
    label: int | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    steps: int | None = None,
    start: torch.Tensor | None = None,
) -> LeakedInput:
    """Rebuild the one example from whose gradient an update was made.

    "first layer": the gradient of a linear layer with bias is δ·xᵀ and δ. So x is the weighted mean of rows over
    biases, whatever the update was multiplied with: clipping alone hides nothing. "distance" minimizes the squared
    distance between the gradient of a guess and the update, by L-BFGS [ZLH19]; it needs the update as it was.
    "cosine" turns the one towards the other by signed steps, and prefers smooth images [GBDM20]; it bears scaling,
    and networks with ReLU. The label is the output whose bias has the most negative gradient [ZMB20].

    Args:
        update: The gradient of all parameters that are trained, in their order, flattened to one row.
        model: The network as it was when the gradient was computed.
        loss: The loss, of outputs and labels of a batch, such as `nn.CrossEntropyLoss()`.
        shape: The shape of an input, such as (1, 28, 28).
        method: One of `METHODS`; None reads it off the first layer where that is linear with a bias, and else takes
            "cosine".
        label: The class, if the adversary knows it.
        bounds: The least and the largest number of an input, which are public.
        steps: How many steps to take; None takes 100 of L-BFGS, or 300 signed ones.
        start: The input to start from, of that shape; None takes the same grains every time.

    Raises:
        ParameterError: The update is not of as many numbers as the network is trained in, or a parameter is wrong.

    Example:
        >>> _ = torch.manual_seed(1)
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(9, 4), nn.ReLU(), nn.Linear(4, 3))
        >>> example, loss = torch.linspace(0, 1, 9).reshape(1, 3, 3), nn.CrossEntropyLoss()
        >>> update = gradient_of(model, loss, example, 2)
        >>> found = leaked_input(update / 10, model=model, loss=loss, shape=(1, 3, 3))
        >>> found.label, found.method, bool(torch.allclose(found.input, example, atol=1e-4))
        (2, 'first layer', True)

    References:
        [ZLH19], [ZMB20], [GBDM20].
    """
    seen, wanted = _seen(update, model), _shape(shape)
    low, high = (real(bound, "bounds", is_finite=True) for bound in _pair(bounds))
    if not low < high:
        raise ParameterError("bounds", bounds, "must be the least and the largest number of an input")
    guessed = _label(seen, model) if label is None else whole(label, "label")
    layer = _first_layer(model, wanted)
    chosen = ("cosine" if layer is None else "first layer") if method is None else one_of(method, "method", METHODS)
    search = _Search(model, called(loss, "loss", "a function of outputs and labels"), seen, guessed, (low, high))
    if chosen == "first layer":
        if layer is None:
            raise ParameterError("method", chosen, "needs a first layer that is linear with a bias, of the whole input")
        place = sum(part.numel() for part in _before(model, layer))
        found = _read_off(seen[place : place + layer.weight.numel()], seen[place + layer.weight.numel() :], layer)
        guess = found.reshape(wanted).clamp(low, high)
        return LeakedInput(input=guess, label=guessed, method=chosen, mismatch=float(search.angle(guess).detach()))
    count = _STEPS[chosen] if steps is None else whole(steps, "steps", least=1)
    grains = low + (high - low) * torch.rand(wanted, generator=torch.Generator().manual_seed(0))
    first = grains if start is None else of_kind(start, "start", torch.Tensor, "a tensor of the shape of an input")
    if first.shape != wanted:
        raise ParameterError("start", tuple(first.shape), f"must have the shape of an input, {wanted}")
    walk = search.by_distance if chosen == "distance" else search.by_angle
    guess, mismatch = walk(first.to(seen), count)
    return LeakedInput(input=guess, label=guessed, method=chosen, mismatch=mismatch)


def gradient_leakage(
    update: Callable[[torch.Tensor, int], torch.Tensor],
    *,
    model: nn.Module,
    loss: Loss,
    inputs: torch.Tensor,
    labels: torch.Tensor,
    guess: torch.Tensor | None = None,
    epsilon: Number | None = None,
    delta: Number = 0,
    **options: Any,
) -> GradientLeakage:
    """Rebuild each of several examples from its update, and say how near that comes.

    The count is fair whatever the adversary does: examples are paired, and a guess counts where it is nearer to the
    example that gave the update than to the other one of its pair. A guess that does not look at the update is right
    in one half. Against a guarantee of (ε, δ) for an example that replaces another, no adversary passes `allowed`.

    Args:
        update: A function from an input and its label to the update that is shared: `gradient_of` for the raw one.
        model: The network that everybody knows.
        loss: The loss, of outputs and labels of a batch.
        inputs: The examples, an even number of them, examples × shape.
        labels: The class of each, whole numbers.
        guess: The best guess without any update, such as the mean of public inputs; None takes the middle of the
            bounds.
        epsilon: The claimed ε of one update where one example replaces another; None claims nothing.
        delta: The claimed δ of the same.
        options: More arguments of `leaked_input`, such as `method`.

    Raises:
        ParameterError: There is not an even number of examples, or a parameter is wrong.

    Example:
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(9, 4), nn.Sigmoid(), nn.Linear(4, 3))
        >>> inputs, loss = torch.linspace(0, 1, 18).reshape(2, 1, 3, 3), nn.CrossEntropyLoss()
        >>> raw = lambda example, label: gradient_of(model, loss, example, label)
        >>> told = gradient_leakage(raw, model=model, loss=loss, inputs=inputs, labels=torch.tensor([0, 2]))
        >>> told.nearer, told.right_labels, max(told.distances) < 1e-3
        (1.0, 2, True)

    References:
        [ZLH19], [GBDM20].
    """
    of_kind(inputs, "inputs", torch.Tensor, "a tensor of examples")
    classes = of_kind(labels, "labels", torch.Tensor, "a tensor of whole numbers").tolist()
    if len(inputs) == 0 or len(inputs) % 2 or len(classes) != len(inputs):
        raise ParameterError("inputs", len(inputs), "must be an even number of examples, with a label each")
    called(update, "update", "a function from an input and its label to an update")
    found = tuple(
        leaked_input(result(update, "update", row, name), model=model, loss=loss, shape=row.shape, **options)
        for row, name in zip(inputs, classes, strict=True)
    )
    low, high = options.get("bounds", (0.0, 1.0))
    without = torch.full_like(inputs[0], (low + high) / 2) if guess is None else guess
    distances = tuple(_distance(one.input, row) for one, row in zip(found, inputs, strict=True))
    others = tuple(_distance(one.input, inputs[place ^ 1]) for place, one in enumerate(found))
    return GradientLeakage(
        found=found,
        distances=distances,
        guess_distances=tuple(_distance(without, row) for row in inputs),
        right_labels=sum(one.label == name for one, name in zip(found, classes, strict=True)),
        outcome=Outcome(
            attack="gradient leakage",
            successes=sum(one < other for one, other in zip(distances, others, strict=True)),
            trials=len(found),
            baseline=_FAIR,
            allowed=None if epsilon is None else largest_success(epsilon=epsilon, delta=delta),
        ),
    )


def gradient_of(model: nn.Module, loss: Loss, example: torch.Tensor, label: int) -> torch.Tensor:
    """The gradient of one example, of all parameters that are trained, flattened to one row: a raw update.

    Args:
        model: The network.
        loss: The loss, of outputs and labels of a batch.
        example: One input.
        label: Its class.

    Raises:
        ParameterError: The network or the loss cannot take the example.

    Example:
        >>> gradient_of(nn.Linear(2, 3), nn.CrossEntropyLoss(), torch.ones(2), 1).shape
        torch.Size([9])
    """
    of_kind(model, "model", nn.Module, "a network of PyTorch")
    called(loss, "loss", "a function of outputs and labels, such as nn.CrossEntropyLoss()")
    of_kind(example, "example", torch.Tensor, "a tensor: one input")
    return _gradient(model, loss, example, whole(label, "label"), is_differentiable=False).detach()


@dataclass(frozen=True, slots=True)
class _Search:
    """Inputs whose gradient is like what was seen."""

    model: nn.Module
    loss: Loss
    seen: torch.Tensor
    label: int
    bounds: tuple[float, float]

    def distance(self, guess: torch.Tensor) -> torch.Tensor:
        """The squared distance over that from 0."""
        gradient = _gradient(self.model, self.loss, guess, self.label, is_differentiable=True)
        return (gradient - self.seen).square().sum() / self.seen.square().sum().clamp_min(1e-30)

    def angle(self, guess: torch.Tensor) -> torch.Tensor:
        """One less the cosine between both."""
        gradient = _gradient(self.model, self.loss, guess, self.label, is_differentiable=True)
        return 1 - nn.functional.cosine_similarity(gradient, self.seen, dim=0, eps=1e-12)

    def by_distance(self, start: torch.Tensor, steps: int) -> tuple[torch.Tensor, float]:
        """L-BFGS from a start [ZLH19]."""
        guess = start.clone().requires_grad_(True)
        optimizer = torch.optim.LBFGS(
            [guess], max_iter=steps, tolerance_grad=0, tolerance_change=0, line_search_fn="strong_wolfe"
        )

        def compared() -> torch.Tensor:
            mismatch = self.distance(guess)
            (guess.grad,) = torch.autograd.grad(mismatch, guess)
            return mismatch.detach()

        optimizer.step(compared)
        best = guess.detach().nan_to_num().clamp(*self.bounds)
        return best, float(self.distance(best).detach())

    def by_angle(self, start: torch.Tensor, steps: int) -> tuple[torch.Tensor, float]:
        """Signed steps of Adam, ever smaller, within the bounds [GBDM20]."""
        guess = start.clone().requires_grad_(True)
        optimizer = torch.optim.Adam([guess], lr=_STEP * (self.bounds[1] - self.bounds[0]))
        milestones = [steps * part // 8 for part in (3, 5, 7)]
        scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones)
        for _ in range(steps):
            rough = sum(guess.diff(dim=at).abs().mean() for at in range(1, guess.dim()))
            (slope,) = torch.autograd.grad(self.angle(guess) + _SMOOTHNESS * rough, guess)
            guess.grad = slope.sign()
            optimizer.step()
            scheduler.step()
            with torch.no_grad():
                guess.clamp_(*self.bounds)
        best = guess.detach()
        return best, float(self.angle(best).detach())


def _gradient(
    model: nn.Module, loss: Loss, example: torch.Tensor, label: int, *, is_differentiable: bool
) -> torch.Tensor:  # fmt: skip
    """As the interface of training has it: trained parameters in their order."""
    parts = [part for part in model.parameters() if part.requires_grad]
    try:
        output = loss(model(example[None]), torch.tensor([label], device=example.device))
        found = torch.autograd.grad(
            output, parts, create_graph=is_differentiable, allow_unused=True, materialize_grads=True
        )
    except Exception as error:
        requirement = f"must be an input that the model and the loss take: {error}"
        raise ParameterError("example", tuple(example.shape), requirement) from error
    return torch.cat([part.reshape(-1) for part in found])


def _seen(update: torch.Tensor, model: nn.Module) -> torch.Tensor:
    """The update as one row of floats."""
    of_kind(model, "model", nn.Module, "a network of PyTorch")
    row = of_kind(update, "update", torch.Tensor, "a tensor, flattened to one row").detach().reshape(-1)
    width = sum(part.numel() for part in model.parameters() if part.requires_grad)
    if len(row) != width or width == 0:
        raise ParameterError("update", len(row), f"must hold {width} numbers, one for each that is trained")
    return row.to(next(model.parameters()))


def _pair(bounds: Any) -> tuple[Any, Any]:
    if not isinstance(bounds, tuple) or len(bounds) != 2:  # noqa: PLR2004 # lower and upper
        raise ParameterError("bounds", bounds, "must be a pair, such as (0, 1)")
    return bounds


def _shape(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, Sequence) or isinstance(shape, str | bytes) or not shape:
        raise ParameterError("shape", shape, "must be the shape of an input, such as (1, 28, 28)")
    return tuple(whole(size, "shape", least=1) for size in shape)


def _label(seen: torch.Tensor, model: nn.Module) -> int:
    """The output whose part of the last layer has the most negative gradient [ZMB20]."""
    *_, last = [part for part in model.parameters() if part.requires_grad]
    return int(seen[-last.numel() :].reshape(len(last), -1).sum(dim=1).argmin())


def _first_layer(model: nn.Module, shape: tuple[int, ...]) -> nn.Linear | None:
    """The first trained layer, if it is linear with a bias and sees the whole input as it is."""
    trained = [each for each in model.modules() if any(part.requires_grad for part in each.parameters(recurse=False))]
    if not trained or not isinstance(trained[0], nn.Linear) or trained[0].bias is None:
        return None
    layer, went_in = trained[0], []
    hook = layer.register_forward_pre_hook(lambda _, inputs: went_in.append(inputs[0].detach()))
    probe = torch.arange(prod(shape)).to(layer.weight).reshape(1, *shape)
    try:
        with torch.no_grad():
            model(probe)
    finally:
        hook.remove()
    same = len(went_in) == 1 and went_in[0].numel() == probe.numel()
    return layer if same and torch.equal(went_in[0].reshape(-1), probe.reshape(-1)) else None


def _before(model: nn.Module, layer: nn.Linear) -> list[torch.Tensor]:
    """The trained parameters that come before those of a layer."""
    parts = [part for part in model.parameters() if part.requires_grad]
    place = next(at for at, part in enumerate(parts) if part is layer.weight)
    return parts[:place]


def _read_off(weights: torch.Tensor, biases: torch.Tensor, layer: nn.Linear) -> torch.Tensor:
    """The input of a linear layer, by least squares over its outputs: Σ δ_i·G_i / Σ δ_i²."""
    slopes = biases[: layer.out_features].double()
    rows = weights.reshape(layer.weight.shape).double()
    found: torch.Tensor = (slopes @ rows / slopes.square().sum().clamp_min(1e-300)).nan_to_num().to(weights)
    return found


def _distance(one: torch.Tensor, other: torch.Tensor) -> float:
    return sqrt(float((one - other).square().mean()))
