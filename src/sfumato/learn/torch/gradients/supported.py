"""Which models can be trained with one gradient a row, and what to change in the others.

Everything is tried on made-up rows, before data is read. An error names the module or parameter by its path.

Proof: proofs/learn/torch/gradients/supported.md.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients.per_example import (
    Loss,
    PerExampleGradients,
    evaluated,
    made_up_rows,
    trainable_parameters,
)

_BATCH_NORMS: Final = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_INSTANCE_NORMS: Final = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
_ROWS: Final = 4
_TOLERANCE: Final = 1e-3
"""How far two ways to compute one thing may be apart, relative to the largest number: float32, with room."""


def check_model(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    inputs_like: torch.Tensor,
    targets_like: torch.Tensor,
) -> None:
    """Refuse a model, optimizer or loss that cannot be trained with one gradient a row.

    Refused are modules that mix rows (BatchNorm) or keep something of them (running statistics, any buffer that a
    forward pass writes), lazy modules, trainable parameters that are not float32 or that the loss does not use,
    optimizers that do not hold exactly the trainable parameters or need a closure, and models of which torch.func gives
    no gradients, or other ones than autograd. Frozen parameters and buffers, tied weights and low-rank adapters work.

    The model is tried in the mode it is in, so put it into the mode of training before. It is left as it was. What a
    model keeps elsewhere than in buffers, such as a Python list, is not found.

    Args:
        model: The network. Its first dimension is the batch.
        optimizer: What moves its trainable parameters.
        loss: The loss of a batch: the outputs and targets in, one number out.
        inputs_like: Made-up rows, n × …: their shape, type, and of whole numbers the smallest and the largest.
        targets_like: Made-up targets, likewise.

    Raises:
        ParameterError: With the path of the module or parameter and the fix.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> rows, classes = torch.zeros(1, 4), torch.tensor([0, 1])
        >>> check_model(model, optimizer, nn.CrossEntropyLoss(), rows, classes)
        Traceback (most recent call last):
        ...
        sfumato.errors.ParameterError: model.1 = 'BatchNorm1d': mixes rows of a batch; use nn.GroupNorm(4, 8)
    """
    _check_modules(model)
    _check_parameters(model, loss)
    _check_optimizer(model, optimizer)
    inputs, targets = made_up_rows(inputs_like, _ROWS), made_up_rows(targets_like, _ROWS, start=1)
    _check_memory(model, inputs)
    _check_neighbors(model, inputs)
    _check_used(model, loss, inputs, targets)
    _check_gradients(model, loss, inputs, targets)


def _refuse(path: str, value: object, requirement: str) -> NoReturn:
    raise ParameterError(f"model.{path}" if path else "model", value, requirement)


def _check_modules(model: nn.Module) -> None:
    for path, module in model.named_modules():
        problem = _problem_of(module)
        if problem is not None:
            _refuse(path, type(module).__name__, problem)


def _problem_of(module: nn.Module) -> str | None:
    """Why a module cannot be trained so, with the fix."""
    if isinstance(module, _BATCH_NORMS):
        groups = next(count for count in (8, 4, 2, 1) if module.num_features % (2 * count) == 0 or count == 1)
        return f"mixes rows of a batch; use nn.GroupNorm({groups}, {module.num_features})"
    if isinstance(module, _INSTANCE_NORMS) and module.track_running_stats:
        return "keeps statistics of rows; use track_running_stats=False"
    if isinstance(module, nn.Embedding | nn.EmbeddingBag):
        if module.max_norm is not None:
            return "rescales the weights of words in a row, without noise; use max_norm=None"
        if module.sparse:
            return "has sparse gradients, but noise is dense; use sparse=False"
    if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
        return "splits batches; give the network inside, which is its attribute module"
    return None


def _check_parameters(model: nn.Module, loss: Loss) -> None:
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if is_lazy(tensor):
            _refuse(name, type(tensor).__name__, "has no shape yet; run the model once on made-up rows before")
    trainable = trainable_parameters(model)
    for name, parameter in trainable.items():
        if parameter.dtype != torch.float32:
            fix = "must be float32: call model.float(); for mixed precision give autocast"
            _refuse(name, str(parameter.dtype), fix)
    devices = sorted({str(parameter.device) for parameter in trainable.values()})
    if len(devices) != 1:
        fix = "must have trainable parameters on one device; unfreeze some" if not devices else "must be on one device"
        _refuse("", ", ".join(devices) or type(model).__name__, fix)
    if isinstance(loss, nn.Module):
        for name in trainable_parameters(loss):
            raise ParameterError(f"loss.{name}", "a parameter", "would not be trained; make it a part of the model")


def _check_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    kind = type(optimizer).__name__
    step = inspect.signature(optimizer.step).parameters.get("closure")
    if step is not None and step.default is inspect.Parameter.empty:
        raise ParameterError("optimizer", kind, "computes the loss again in each step; use SGD or Adam")
    held = {id(parameter): parameter for group in optimizer.param_groups for parameter in group["params"]}
    trainable = trainable_parameters(model)
    for name, parameter in trainable.items():
        if id(parameter) not in held:
            _refuse(name, tuple(parameter.shape), "is trainable, but the optimizer would not move it; add or freeze it")
    frozen = {id(parameter): name for name, parameter in model.named_parameters() if name not in trainable}
    for identity, parameter in held.items():
        if identity in frozen:
            fix = "is frozen, but the optimizer has it; give it (p for p in model.parameters() if p.requires_grad)"
            _refuse(frozen[identity], tuple(parameter.shape), fix)
    strangers = [parameter for identity, parameter in held.items() if identity not in {*map(id, trainable.values())}]
    if strangers:
        fix = (
            f"has {len(strangers)} tensors that are not in the model, the first of shape {tuple(strangers[0].shape)}; "
            "make it after the model is complete, with its adapters"
        )
        raise ParameterError("optimizer", kind, fix)


def _check_memory(model: nn.Module, inputs: torch.Tensor) -> None:
    """No forward pass writes a buffer or a parameter; what one wrote is undone."""
    before = [(name, tensor, tensor.detach().clone()) for name, tensor in _state(model).items()]
    _ = _outputs(model, inputs)
    after = _state(model)
    written = []
    for name, tensor, values in before:
        if after.get(name) is not tensor or not torch.equal(tensor, values):
            written.append(name)
            path, _, last = name.rpartition(".")
            with torch.no_grad():
                tensor.copy_(values)
            setattr(model.get_submodule(path), last, tensor)
    if written:
        path, _, last = written[0].rpartition(".")
        kind = type(model.get_submodule(path)).__name__
        _refuse(path, kind, f"writes {last} in forward, which would keep something of rows; remove or freeze it")


def _state(model: nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _check_neighbors(model: nn.Module, inputs: torch.Tensor) -> None:
    """What a model gives for a row is the same beside other rows, and alone."""
    others = made_up_rows(inputs, len(inputs), start=2)
    for place in (0, len(inputs) - 1):
        mixed = others.clone()
        mixed[place] = inputs[place]
        expected, beside = _outputs(model, inputs), _outputs(model, mixed)
        if not _alike(expected[-1][1], beside[-1][1], place, place):
            pairs = zip(expected, beside, strict=True)
            path = next(first[0] for first, second in pairs if not _alike(first[1], second[1], place, place))
            kind = type(model.get_submodule(path)).__name__
            _refuse(path, kind, "gives a row something of other rows; layers of series need batch_first=True")
    with evaluated(model):
        expected, alone = _outputs(model, inputs), _outputs(model, inputs[:1])
    if not _alike(expected[-1][1], alone[-1][1], 0, 0):
        _refuse("", type(model).__name__, "gives a row alone something else than in a batch")


def _outputs(model: nn.Module, inputs: torch.Tensor) -> list[tuple[str, list[torch.Tensor]]]:
    """What each module gave, inner ones first, the model last; masks are the same each time."""
    seen: list[tuple[str, list[torch.Tensor]]] = []
    cards = [inputs.device] if inputs.device.type == "cuda" else []

    def hook(path: str) -> Callable[[nn.Module, object, object], None]:
        return lambda _module, _inputs, outputs: seen.append((path, _tensors(outputs)))

    handles = [module.register_forward_hook(hook(path)) for path, module in model.named_modules()]
    try:
        with torch.random.fork_rng(devices=cards), torch.no_grad():
            torch.manual_seed(0)
            model(inputs)
    except Exception as error:
        requirement = f"cannot take made-up rows of shape {tuple(inputs.shape)}: {type(error).__name__}: {error}"
        raise ParameterError("model", type(model).__name__, requirement) from error
    finally:
        for handle in handles:
            handle.remove()
    if not seen[-1][1] or any(len(tensor) != len(inputs) for tensor in seen[-1][1] if tensor.dim()):
        _refuse(
            "", type(model).__name__, "must give tensors whose first dimension is the batch, one row for each input"
        )
    return seen


def _tensors(outputs: object) -> list[torch.Tensor]:
    if isinstance(outputs, torch.Tensor):
        return [outputs.detach()]
    if isinstance(outputs, Mapping):
        outputs = list(outputs.values())
    return [tensor for part in outputs for tensor in _tensors(part)] if isinstance(outputs, list | tuple) else []


def _alike(first: list[torch.Tensor], second: list[torch.Tensor], place: int, other: int) -> bool:
    """Whether two outputs are nearly the same for a row; tensors that have no batch are left out."""
    pairs = [(one, two) for one, two in zip(first, second, strict=True) if one.dim() and two.dim()]
    rows = [(one[place], two[other]) for one, two in pairs if len(one) > place and len(two) > other]
    return all(_near(one, two) for one, two in rows)


def _near(one: torch.Tensor, two: torch.Tensor) -> bool:
    if one.shape != two.shape:
        return False
    largest = float(two.abs().max()) if two.numel() and two.dtype != torch.bool else 1.0
    return bool(torch.allclose(one.float(), two.float(), rtol=0, atol=_TOLERANCE * max(largest, 1e-6), equal_nan=True))


def _check_used(model: nn.Module, loss: Loss, inputs: torch.Tensor, targets: torch.Tensor) -> None:
    """The loss is one number, which depends on each trainable parameter: noise would move the others."""
    trainable = trainable_parameters(model)
    cards = [inputs.device] if inputs.device.type == "cuda" else []
    with torch.random.fork_rng(devices=cards), torch.enable_grad():
        outputs = model(inputs)
        try:
            value = loss(outputs, targets)
        except Exception as error:
            fix = f"cannot take made-up targets of shape {tuple(targets.shape)}: {type(error).__name__}: {error}"
            raise ParameterError("loss", type(loss).__name__, fix) from error
        if not isinstance(value, torch.Tensor) or value.dim():
            raise ParameterError("loss", type(loss).__name__, "must give one number for a batch, such as the mean")
        if not value.requires_grad:
            _refuse("", type(model).__name__, "has no parameter that moves the loss")
        found = torch.autograd.grad(value, list(trainable.values()), allow_unused=True)
    for (name, parameter), gradient in zip(trainable.items(), found, strict=True):
        if gradient is None:
            fix = "is not used by the loss, and noise would move it; freeze it with requires_grad_(False)"
            _refuse(name, tuple(parameter.shape), fix)


def _check_gradients(model: nn.Module, loss: Loss, inputs: torch.Tensor, targets: torch.Tensor) -> None:
    """torch.func gives the gradients of autograd, one row at a time."""
    with evaluated(model):
        rows = _rows(model, loss, inputs, targets)
        parameters = list(trainable_parameters(model).values())
        for place in range(len(inputs)):
            value = loss(model(inputs[place : place + 1]), targets[place : place + 1])
            parts = torch.autograd.grad(value, parameters, allow_unused=True, materialize_grads=True)
            start = 0
            for (name, parameter), part in zip(trainable_parameters(model).items(), parts, strict=True):
                if not _near(rows[place, start : start + part.numel()], part.flatten()):
                    fix = (
                        "has another gradient by torch.func than by autograd; its module must use the parameter itself"
                    )
                    _refuse(name, tuple(parameter.shape), fix)
                start += part.numel()


def _rows(model: nn.Module, loss: Loss, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Gradients by torch.func; an error names the module in which it arose."""
    try:
        return PerExampleGradients(model, loss).rows(inputs, targets)
    except RuntimeError:  # some modules, such as GRU, need weights for each row
        with _watched(model) as active:
            try:
                return PerExampleGradients(model, loss, way="apart").rows(inputs, targets)
            except RuntimeError as error:
                path = active[-1] if active else ""
                kind = type(model.get_submodule(path)).__name__
                fix = "replace it, freeze it with requires_grad_(False), or remove what depends on the values of rows"
                raise ParameterError(
                    f"model.{path}" if path else "model", kind, f"has no gradients by torch.func ({error}); {fix}"
                ) from error


@contextmanager
def _watched(model: nn.Module) -> Iterator[list[str]]:
    """The paths of the modules that run at the moment, outermost first."""
    active: list[str] = []

    def enters(path: str) -> Callable[[nn.Module, Any], None]:
        return lambda _module, _inputs: active.append(path)

    def leaves(_module: nn.Module, _inputs: object, _outputs: object) -> None:
        active.pop()

    handles = [module.register_forward_pre_hook(enters(path)) for path, module in model.named_modules()]
    handles += [module.register_forward_hook(leaves) for module in model.modules()]
    try:
        yield active
    finally:
        for handle in handles:
            handle.remove()
