"""One gradient for each row of a block, which depends on that row alone.

Rows are computed together, in blocks of a fixed number of places. Whether neighbors change a row is checked before
training, on made-up rows, bit for bit.

Proof: proofs/learn/torch/gradients/per_example.md.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

import numpy as np
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from sfumato.errors import ParameterError
from sfumato.noise.entropy import random_bytes, random_words
from sfumato.numeric.rationals import set_fields

Loss: TypeAlias = Callable[[Any, torch.Tensor], torch.Tensor]
"""The outputs and targets of a batch in, one number out; such as `nn.CrossEntropyLoss()`."""

Way: TypeAlias = Literal["together", "apart", "one by one"]
"""How a block is computed, fastest first: see `PerExampleGradients`."""

_Named: TypeAlias = dict[str, torch.Tensor]

_AUTOCAST: Final = (None, torch.bfloat16, torch.float16)
_WORDS: Final = slice(24, 24 + 8 * 624)
"""Where the 624 words of the Mersenne twister are in the state of torch's generator."""

_MADE_UP: Final = 20_261_128
"""The seed of made-up rows, which release nothing."""


@dataclass(frozen=True, slots=True)
class PerExampleGradients:
    """The gradient of the loss of each row, by all trainable parameters of a model.

    Row i is the gradient of `loss(model(inputs[i:i+1]), targets[i:i+1])`, flattened in the order of
    `model.named_parameters()`. Frozen parameters and buffers are constants. A parameter with several names (tied
    weights) is one parameter, whose gradient sums all its uses. The model runs in the mode it is in: dropout in
    training mode draws a mask for each row, from a generator with a new and secret state.

    Nothing is kept of rows. All operations are deterministic, which on CUDA needs `CUBLAS_WORKSPACE_CONFIG=:4096:8` in
    the environment. Warnings are hidden. There are three ways:

    - *together*: layers see the whole block. The fastest, but some matrix kernels round a row by its place.
    - *apart*: each row has a copy of the parameters, so that matrices are multiplied row by row in one batch. As fast
      for linear layers, and up to 1.9 times slower for convolutions.
    - *one by one*: a loop over rows, 2 to 8 times slower.

    `gradients_for` takes the fastest in which a row does not depend on its place.

    Args:
        model: The network. Its first dimension is the batch.
        loss: The loss of a batch.
        autocast: The type of the forward and backward pass: `torch.bfloat16`, `torch.float16`, or None for float32.
            Parameters, loss and gradients stay float32.
        way: How a block is computed.

    Attributes:
        names: The trainable parameters.
        shapes: Their shapes.

    Raises:
        ParameterError: The model has no trainable parameter, `autocast` is another type, or `way` is none of the three.

    Example:
        >>> import torch
        >>> model = torch.nn.Linear(2, 1, bias=False)
        >>> gradients = PerExampleGradients(model, loss=lambda outputs, targets: (outputs * targets).sum())
        >>> gradients.rows(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0], [-1.0]])).tolist()
        [[1.0, 2.0], [-3.0, -4.0]]
    """

    model: nn.Module
    loss: Loss
    autocast: torch.dtype | None = None
    way: Way = "together"
    names: tuple[str, ...] = field(init=False)
    shapes: tuple[tuple[int, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        check_autocast(self.autocast)
        if self.way not in get_args(Way):
            raise ParameterError("way", self.way, f"must be one of {', '.join(get_args(Way))}")
        trainable = trainable_parameters(self.model)
        if not trainable:
            raise ParameterError("model", type(self.model).__name__, "has only frozen parameters; unfreeze some")
        set_fields(self, names=tuple(trainable), shapes=tuple(tuple(value.shape) for value in trainable.values()))

    @property
    def width(self) -> int:
        """How many numbers a gradient has."""
        return sum(torch.Size(shape).numel() for shape in self.shapes)

    def rows(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """One gradient a row.

        Args:
            inputs: block × …, one row each.
            targets: block × …, what each row should give.

        Returns:
            block × width numbers of float32. An invalid row, such as one with NaN, may give NaN or infinity.

        Raises:
            ParameterError: Other parameters are trainable than when this object was made.

        Example:
            >>> import torch
            >>> gradients = PerExampleGradients(torch.nn.Linear(3, 2), torch.nn.CrossEntropyLoss())
            >>> gradients.rows(torch.randn(5, 3), torch.zeros(5, dtype=torch.int64)).shape == (5, gradients.width)
            True
        """
        return torch.cat(self.parts(inputs, targets), dim=1)

    def parts(self, inputs: torch.Tensor, targets: torch.Tensor) -> list[torch.Tensor]:
        """As `rows`, but the numbers of each parameter on their own: tensors that share no memory, block × its size."""
        parameters = {name: value.detach() for name, value in trainable_parameters(self.model).items()}
        if tuple(parameters) != self.names:
            raise ParameterError("model", type(self.model).__name__, "has other trainable parameters than at the start")
        precision = self._precision(inputs.device)
        quiet = warnings.catch_warnings(action="ignore")
        with deterministic(), fresh_randomness(inputs.device), precision, quiet:
            found = self._by_name(parameters, inputs.detach(), targets.detach())
        parts = [found[name].reshape(len(inputs), -1).to(torch.float32).contiguous() for name in self.names]
        memory = {part.untyped_storage().data_ptr() for part in parts}
        if len(memory) < len(parts):  # autograd may give one tensor for several parameters
            parts = [part.clone() for part in parts]
        return parts

    def _by_name(self, parameters: _Named, inputs: torch.Tensor, targets: torch.Tensor) -> _Named:
        """The gradients of each parameter, block × its shape."""
        of_row = grad(self._row_loss)
        if self.way == "one by one":  # each row is copied, because kernels may depend on where in memory it starts
            pairs = zip(inputs, targets, strict=True)
            rows = [of_row(parameters, {}, row.clone(), target.clone()) for row, target in pairs]
            return {name: torch.stack([row[name] for row in rows]) for name in self.names}
        if self.way == "together":
            of_rows = vmap(of_row, in_dims=(None, None, 0, 0), randomness="different")
            return dict(of_rows(parameters, {}, inputs, targets))
        constants = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
        copies = {name: value.detach().expand(len(inputs), *value.shape) for name, value in constants.items()}
        own = {name: copies.pop(name) for name in self.names}
        return dict(vmap(of_row, randomness="different")(own, copies, inputs, targets))

    def _row_loss(self, parameters: _Named, constants: _Named, row: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        outputs = functional_call(self.model, parameters | constants, (row.unsqueeze(0),))
        with torch.autocast(row.device.type, enabled=False):
            if self.autocast is not None and isinstance(outputs, torch.Tensor):
                outputs = outputs.float()
            return self.loss(outputs, target.unsqueeze(0))

    def _precision(self, device: torch.device) -> torch.autocast:
        """Forward and backward in the type of `autocast`; copies of weights are not kept from row to row."""
        is_mixed = self.autocast is not None
        return torch.autocast(device.type, dtype=self.autocast, enabled=is_mixed, cache_enabled=False)


def check_autocast(autocast: object) -> None:
    """Refuse a type that is none of those in which passes run, by a `ParameterError`."""
    if not any(autocast is known for known in _AUTOCAST):
        raise ParameterError("autocast", autocast, "must be torch.bfloat16, torch.float16, or None for float32")


def trainable_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that have gradients, by their first names.

    Args:
        model: The network.

    Example:
        >>> import torch
        >>> list(trainable_parameters(torch.nn.Linear(2, 1, bias=False)))
        ['weight']
    """
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def made_up_rows(like: torch.Tensor, count: int, *, start: int = 0) -> torch.Tensor:
    """Rows to try a model on, which hold nothing of anybody.

    Args:
        like: Made-up rows, n × …: their shape and type are taken, and of whole numbers the smallest and the largest.
        count: How many rows.
        start: Another number gives other rows.

    Returns:
        count × …: standard normal numbers, or whole numbers between the smallest and the largest of `like`.

    Raises:
        ParameterError: `like` has no rows.

    Example:
        >>> import torch
        >>> made_up_rows(torch.tensor([0, 9]), 1000).unique().tolist()
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    if like.dim() == 0 or like.numel() == 0:
        raise ParameterError("like", tuple(like.shape), "must hold made-up rows: at least one, with the shape of data")
    generator = torch.Generator().manual_seed(_MADE_UP + start)
    shape = (count, *like.shape[1:])
    if like.is_floating_point() or like.is_complex():
        return torch.randn(shape, generator=generator, dtype=like.dtype).to(like.device)
    lowest, highest = int(like.min()), int(like.max())
    return torch.randint(lowest, highest + 1, shape, generator=generator).to(like.dtype).to(like.device)


class OfRows(Protocol):
    """What a model gives for each row of a block."""

    @property
    def model(self) -> nn.Module:
        """The model."""

    def rows(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Numbers for each row."""


def same_in_every_place(gradients: OfRows, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    """Whether a row's gradient is bit for bit the same in several places, whatever lies beside it.

    Rows move around the block by 1, 2, 4, … places. Then every second row stays and the others become other rows,
    zeros, or not finite, and vice versa. The model is in evaluation mode meanwhile, because masks of dropout differ by
    place.

    Args:
        gradients: How gradients are computed.
        inputs: A block of made-up rows; all checks see blocks of this size.
        targets: Their targets.

    Example:
        >>> import torch
        >>> gradients = PerExampleGradients(torch.nn.Linear(3, 1), torch.nn.MSELoss())
        >>> same_in_every_place(gradients, torch.randn(8, 3), torch.randn(8, 1))
        True
    """
    block = len(inputs)
    with evaluated(gradients.model):
        expected = _bits(gradients.rows(inputs, targets))
        moves = [0, *(1 << power for power in range(block.bit_length()) if 1 << power < block)]
        for move in moves:
            moved = _bits(gradients.rows(inputs.roll(move, 0), targets.roll(move, 0)))
            if not torch.equal(moved, expected.roll(move, 0)):
                return False
        places = torch.arange(block, device=inputs.device) % 2
        for others, others_targets in _neighbors(inputs, targets):
            for stays in (places == 0, places == 1):
                mixed = torch.where(_along(stays, inputs), inputs, others)
                mixed_targets = torch.where(_along(stays, targets), targets, others_targets)
                if not torch.equal(_bits(gradients.rows(mixed, mixed_targets))[stays], expected[stays]):
                    return False
    return True


def gradients_for(  # what a plan knows
    model: nn.Module,
    loss: Loss,
    block: int,
    inputs_like: torch.Tensor,
    targets_like: torch.Tensor,
    autocast: torch.dtype | None = None,
) -> PerExampleGradients:
    """The fastest way to compute gradients in which a row's is the same in every place of a block.

    Args:
        model: The network.
        loss: The loss of a batch.
        block: How many rows are computed at once; all later blocks must have this many places.
        inputs_like: Made-up rows, as for `made_up_rows`.
        targets_like: Made-up targets.
        autocast: As for `PerExampleGradients`.

    Raises:
        ParameterError: torch.func cannot compute gradients of rows, as with control flow that depends on rows; or a row
            alone does not have the same gradient twice.

    Example:
        >>> import torch
        >>> gradients_for(torch.nn.Linear(3, 1), torch.nn.MSELoss(), 16, torch.zeros(1, 3), torch.zeros(1, 1)).way
        'together'
    """
    if block < 1:
        raise ParameterError("block", block, "must be 1 or more")
    inputs, targets = made_up_rows(inputs_like, block), made_up_rows(targets_like, block, start=1)
    name = type(model).__name__
    problems: list[RuntimeError] = []
    for way in get_args(Way):
        gradients = PerExampleGradients(model, loss, autocast, way)
        try:
            if same_in_every_place(gradients, inputs, targets):
                return gradients
        except RuntimeError as error:  # torch.func has no rule for a module, or a kernel is not deterministic
            problems.append(error)
        if len(problems) == len(get_args(Way)) - 1:  # alone it may work, and take a time that depends on the row
            raise ParameterError("model", name, f"has no gradients of rows by torch.func: {problems[0]}")
    raise ParameterError("model", name, "gives a row another gradient each time; remove what is random in eval mode")


@contextmanager
def evaluated(model: nn.Module) -> Iterator[None]:
    """A model in evaluation mode; afterwards each module is in the mode it was in.

    Args:
        model: The network.

    Example:
        >>> import torch
        >>> model = torch.nn.Dropout()
        >>> with evaluated(model):
        ...     print(model.training)
        False
        >>> model.training
        True
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, is_training in modes:
            module.training = is_training


def _neighbors(inputs: torch.Tensor, targets: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    block = len(inputs)
    yield made_up_rows(inputs, block, start=2), made_up_rows(targets, block, start=3)
    if inputs.is_floating_point():
        yield torch.zeros_like(inputs), targets
        yield torch.full_like(inputs, torch.nan), targets
        yield torch.full_like(inputs, torch.inf), targets


def _along(chosen: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return chosen.reshape(-1, *[1] * (rows.dim() - 1))


def _bits(rows: torch.Tensor) -> torch.Tensor:
    """Numbers as whole numbers, so that NaN equals NaN."""
    return rows.view(torch.int32)


@contextmanager
def deterministic() -> Iterator[None]:
    """All kernels deterministic, as far as torch knows; what it had before is restored.

    Example:
        >>> with deterministic():
        ...     torch.are_deterministic_algorithms_enabled()
        True
    """
    before = torch.get_deterministic_debug_mode()
    is_filled = torch.utils.deterministic.fill_uninitialized_memory
    is_timed = torch.backends.cudnn.benchmark
    torch.set_deterministic_debug_mode("error")
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)
        torch.utils.deterministic.fill_uninitialized_memory = is_filled
        torch.backends.cudnn.benchmark = is_timed


@contextmanager
def fresh_randomness(device: torch.device) -> Iterator[None]:
    """A generator of unknown state for masks; the state that torch's generators had is restored.

    Masks belong to places, so rows that move up when one leaves get others. Whoever knew the masks would see that.

    Args:
        device: Where the model is.

    Example:
        >>> with fresh_randomness(torch.device("cpu")):
        ...     first = torch.rand(9)
        >>> with fresh_randomness(torch.device("cpu")):
        ...     torch.equal(first, torch.rand(9))
        False
    """
    cards = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=cards):
        state = torch.get_rng_state()
        words = np.frombuffer(random_bytes(4 * 624), dtype="<u4").astype(np.uint64)
        state[_WORDS] = torch.from_numpy(words.view(np.uint8))
        torch.set_rng_state(state)
        for card in cards:
            with torch.cuda.device(card):
                torch.cuda.manual_seed(int(random_words(1)[0] >> 1))
        yield
