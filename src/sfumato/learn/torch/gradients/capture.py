"""What enters the layers of a network for a block of rows, and the slope of each row's loss by what comes out.

The parameters' own gradients are not computed: the backward pass ends at what comes out of the layers.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NoReturn

import torch
from torch import nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients.attention import PRODUCTS, attended
from sfumato.learn.torch.gradients.per_example import Loss, check_autocast, deterministic, fresh_randomness
from sfumato.learn.torch.gradients.sites import LAYERS, Passage, Site

_PARAMETERS: Final = {"weight", "bias"}
_OF_ATTENTION: Final = {"in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias"}


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a hook saw, before the backward pass."""

    site: Site
    inputs: torch.Tensor
    version: int
    edge: GradientEdge
    rows: int


@dataclass(frozen=True, slots=True)
class Network:
    """A model and a loss, both of whose rows do not meet each other.

    Attributes:
        model: The network.
        loss: The loss of a batch of outputs and targets.
        autocast: The type of the numbers in mixed precision, None for none.
        width: How many trainable numbers there are.
        sites: The layers that have them; an attention has four.
    """

    model: nn.Module
    loss: Loss
    autocast: torch.dtype | None = None
    width: int = field(init=False)
    sites: tuple[Site, ...] = field(init=False)

    def __post_init__(self) -> None:
        check_autocast(self.autocast)
        places: dict[int, int] = {}
        width = 0
        for parameter in self.model.parameters():
            if parameter.requires_grad:
                places[id(parameter)] = width
                width += parameter.numel()
        if not width:
            raise ParameterError("model", type(self.model).__name__, "must have a parameter that requires a gradient")
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "sites", tuple(_sites(self.model, places)))

    def passages(self, inputs: torch.Tensor, targets: torch.Tensor) -> list[Passage]:
        """What goes through the layers for a block of rows.

        Args:
            inputs: The rows.
            targets: Their targets.
        """
        sights: list[_Sight] = []
        slopes = self._slopes(inputs, targets, sights)[0]
        return _passages(sights, slopes)

    def checked_passages(self, inputs: torch.Tensor, targets: torch.Tensor) -> list[Passage]:
        """The same, of made-up rows, and refuse what ghost clipping cannot train.

        Raises:
            ParameterError: A module was called twice or changed what entered it, its rows do not come first, or its
                parameters are used elsewhere.
        """
        sights: list[_Sight] = []
        slopes, uses = self._slopes(inputs, targets, sights)
        seen = Counter(id(sight.site) for sight in sights)
        reached = {id(sight.site) for sight, slope in zip(sights, slopes, strict=True) if slope is not None}
        for sight in sights:
            if seen[id(sight.site)] > 1:
                refuse(sight.site.path, sight.site.module, "it is called twice")
            if sight.rows != len(inputs) or len(sight.inputs) != len(inputs):
                refuse(sight.site.path, sight.site.module, "rows must come first in what enters it (batch_first=True)")
            if sight.inputs._version != sight.version:  # noqa: SLF001 # the only way to know
                refuse(sight.site.path, sight.site.module, "what entered it is changed in place later")
        for site in self.sites:
            known = not isinstance(site.module, nn.MultiheadAttention) and id(site) in reached
            for name, parameter in site.module.named_parameters():
                if parameter.requires_grad and uses[id(parameter)] != int(known):
                    refuse(site.path, site.module, f"{name} is used outside of it")
        return _passages(sights, slopes)

    def _slopes(
        self, inputs: torch.Tensor, targets: torch.Tensor, sights: list[_Sight]
    ) -> tuple[list[torch.Tensor | None], Counter[int]]:
        is_mixed = self.autocast is not None
        with torch.enable_grad(), _watched(self.sites, sights), deterministic(), fresh_randomness(inputs.device):
            with torch.autocast(inputs.device.type, dtype=self.autocast, enabled=is_mixed, cache_enabled=False):
                outputs = self.model(inputs)
            if is_mixed and isinstance(outputs, torch.Tensor):
                outputs = outputs.float()
            total = row_losses(self.loss, outputs, targets).sum()
            edges = [sight.edge for sight in sights]
            slopes = torch.autograd.grad(total, edges, allow_unused=True) if edges and total.requires_grad else ()
        return list(slopes) or [None] * len(sights), _uses(total)


def row_losses(loss: Loss, outputs: Any, targets: torch.Tensor) -> torch.Tensor:
    """The loss of each row, as a batch of its own.

    Example:
        >>> row_losses(nn.MSELoss(), torch.tensor([[1.0], [3.0]]), torch.tensor([[0.0], [1.0]])).tolist()
        [1.0, 4.0]
    """

    def of_row(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return loss(output[None], target[None])

    return torch.vmap(of_row, randomness="different")(outputs, targets)


def refuse(path: str, module: nn.Module, why: str) -> NoReturn:
    """Raise a ParameterError that names a module and what to do."""
    named = f"{path or 'the model itself'} ({type(module).__name__})"
    raise ParameterError("model", named, f'cannot be trained by ghost clipping: {why}. Use mode="per example"')


def _sites(model: nn.Module, places: dict[int, int]) -> Iterator[Site]:
    """The layers with trainable parameters; refuses those whose gradients are not known."""
    owned: Counter[int] = Counter()
    attentions = [module for module in model.modules() if type(module) is nn.MultiheadAttention]
    inside = {id(module.out_proj) for module in attentions}
    for path, module in model.named_modules(remove_duplicate=False):
        own = dict(module.named_parameters(recurse=False))
        trained = {name: place for name, parameter in own.items() if (place := places.get(id(parameter))) is not None}
        for name in trained:
            owned[id(own[name])] += 1
            if owned[id(own[name])] > 1:
                refuse(path, module, f"{name} is shared with another module")
        if not trained or id(module) in inside:
            yield from _attention_sites(path, module, places) if type(module) is nn.MultiheadAttention else ()
            continue
        if type(module) not in LAYERS or not own.keys() <= _PARAMETERS | _OF_ATTENTION:
            refuse(path, module, "its gradients are not known")
        if why := _strange(module):
            refuse(path, module, why)
        if type(module) is nn.MultiheadAttention:
            yield from _attention_sites(path, module, places)
        else:
            yield Site(path=path, module=module, weight=trained.get("weight"), bias=trained.get("bias"))


def _attention_sites(path: str, module: Any, places: dict[int, int]) -> Iterator[Site]:
    """The products of an attention; their names follow the path after a colon."""
    if why := _strange(module):
        refuse(path, module, why)
    size = module.embed_dim
    whole, biases = places.get(id(module.in_proj_weight)), places.get(id(module.in_proj_bias))
    for index, name in enumerate(PRODUCTS[:3]):
        weight = None if whole is None else whole + index * size * size
        if module.in_proj_weight is None:
            weight = places.get(id(getattr(module, f"{name[0]}_proj_weight")))
        bias = None if biases is None else biases + index * size
        yield Site(path=f"{path}:{name}", module=module, weight=weight, bias=bias)
    out = module.out_proj
    yield Site(path=f"{path}:out", module=module, weight=places.get(id(out.weight)), bias=places.get(id(out.bias)))


def _strange(module: Any) -> str | None:
    """Why a module of a known kind cannot be trained all the same, or None."""
    match module:
        case nn.Embedding() if module.max_norm is not None or module.scale_grad_by_freq or module.sparse:
            return "max_norm, scale_grad_by_freq and sparse mix rows"
        case nn.InstanceNorm1d() | nn.InstanceNorm2d() | nn.InstanceNorm3d() if module.track_running_stats:
            return "running statistics mix rows"
        case nn.MultiheadAttention() if module.bias_k is not None or module.bias_v is not None or module.add_zero_attn:
            return "bias_kv and zero_attn have no known gradient"
    return "its forward was replaced" if "forward" in module.__dict__ else None


@contextmanager
def _watched(sites: tuple[Site, ...], sights: list[_Sight]) -> Iterator[None]:
    """Meanwhile each layer adds to `sights` what goes through it."""

    def saw(site: Site, inputs: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        if not output.requires_grad:
            output.requires_grad_()
        sights.append(_Sight(site, inputs.detach(), inputs._version, get_gradient_edge(output), len(output)))  # noqa: SLF001
        return output

    def after(site: Site, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:  # noqa: ARG001
        saw(site, given[0] if given else named["input"], output)

    products: dict[nn.Module, dict[str, Site]] = {}
    with ExitStack() as stack:
        for site in sites:
            if isinstance(site.module, nn.MultiheadAttention):
                products.setdefault(site.module, {})[site.path.rpartition(":")[2]] = site
            else:
                hook = site.module.register_forward_hook(partial(after, site), prepend=True, with_kwargs=True)
                stack.callback(hook.remove)
        for module, named in products.items():
            attention: Any = module

            def seen(name: str, given: torch.Tensor, made: torch.Tensor, named: Any = named) -> torch.Tensor:
                return saw(named[name], given, made)

            attention.forward = partial(attended, module, seen)
            stack.callback(module.__dict__.pop, "forward", None)
        yield


def _uses(total: torch.Tensor) -> Counter[int]:
    """How often each parameter enters the graph of a loss."""
    uses: Counter[int] = Counter()
    waiting, known = [total.grad_fn], set()
    while waiting:
        node = waiting.pop()
        for following, _ in () if node is None else node.next_functions:
            if hasattr(following, "variable"):
                uses[id(following.variable)] += 1
            elif following is not None and following not in known:
                known.add(following)
                waiting.append(following)
    return uses


def _passages(sights: list[_Sight], slopes: list[torch.Tensor | None]) -> list[Passage]:
    return [
        Passage(site=sight.site, inputs=_at_least_single(sight.inputs), slopes=_at_least_single(slope))
        for sight, slope in zip(sights, slopes, strict=True)
        if slope is not None
    ]


def _at_least_single(values: torch.Tensor) -> torch.Tensor:
    """Half precision becomes single; other types stay, tokens too."""
    return values.float() if values.dtype in {torch.float16, torch.bfloat16} else values
