"""Fit a mixture of products to noisy marginals, whatever columns were measured together.

For noisy counts y with standard deviations σ and N rows, the loss of a mixture with marginals μ is ½·Σ ((N·μ − y)/σ)².
Weights and probabilities are softmax of numbers without bounds, and Adam moves these downward. The loss is not convex:
what is found is near a local minimum, and nothing is known of how far the least loss is.

The search ends as soon as the loss is what it would be on average at the true counts, because from there on it would
fit noise. It begins at the measured columns, with a little difference between components that is always the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.draws import uniforms
from sfumato.errors import ParameterError
from sfumato.synth.models.factors import Floats, aligned, log_sums, summed
from sfumato.synth.models.measured import AveragedCounts, estimated_total
from sfumato.synth.models.mixture import MixtureModel, halved, parts_of, products, summed_out
from sfumato.synth.models.model import FitReport
from sfumato.synth.models.shape import Columns, TableShape
from sfumato.synth.models.tree import NUMBER

COMPONENTS: Final = 50
"""How many a mixture has."""
_SPREAD: Final = 0.5
"""The standard deviation of the difference of components at the start, in logarithms."""
_STEP: Final = 0.1
_STEP_AGAIN: Final = 0.02
"""From an earlier mixture."""
_LEAST_STEP: Final = 0.001
_ROUND: Final = 25
"""Iterations in which steps stay as they are; at least so many are made, for a marginal that is new among many."""
_MEANS: Final = (0.9, 0.999)
"""How much of the means of slopes and of their squares stays in each iteration."""
_VECTORS: Final = 9
"""How many arrays as large as all logarithms are held at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Target:
    """Noisy counts of some columns: rows for the columns of the first groups, and columns for those of the others.

    Attributes:
        parts: For each group of columns that has some of them its number, and the axes of its other columns.
        cut: How many of the groups are on the side of the rows.
    """

    parts: tuple[tuple[int, tuple[int, ...]], ...]
    cut: int
    counts: Floats
    stddev: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureLoss:
    """The loss of a mixture as a function of logarithms: those of weights, and of each group's probabilities.

    Attributes:
        blocks: The groups of columns that are together in a component.
        masks: For each group 0 where a combination is possible, and −∞ elsewhere.
        targets: What is fitted.
        components: How many there are.
        total: How many rows the model stands for.
        expected: The mean of the loss at the true counts.
    """

    blocks: tuple[Columns, ...]
    masks: tuple[Floats, ...]
    targets: tuple[_Target, ...]
    components: int
    total: float
    expected: float

    def split(self, at: Floats) -> list[Floats]:
        """The logarithms of weights as one column, and for each group a row for each component."""
        ends = np.cumsum([self.components * size for size in (1, *(mask.size for mask in self.masks))])
        return [part.reshape(self.components, -1) for part in np.split(at, ends[:-1])]

    def shares(self, at: Floats) -> tuple[Floats, list[Floats]]:
        """The weights, and for each group the probabilities, with an axis for each of its columns."""
        logs = [part.copy() for part in self.split(at)]
        weights = logs[0].reshape(1, -1)
        for part in (weights, *logs[1:]):
            log_sums(part)
        pairs = zip(logs[1:], self.masks, strict=True)
        return weights[0], [part.reshape(self.components, *mask.shape) for part, mask in pairs]

    def __call__(self, at: Floats) -> tuple[float, Floats]:
        """The loss, and its slope along each logarithm."""
        weights, shares = self.shares(at)
        slopes = [np.zeros((self.components, 1)), *(np.zeros(part.shape) for part in shares)]
        loss, rows = 0.0, max(self.total, 1.0)
        for target in self.targets:
            arrays = [summed_out(shares[place], dropped) for place, dropped in target.parts]
            left = products(arrays[: target.cut], self.components)
            right = products(arrays[target.cut :], self.components)
            weighted = left * weights[:, np.newaxis]
            residuals = (rows * (weighted.T @ right) - target.counts) / target.stddev
            loss += float(np.vdot(residuals, residuals)) / 2
            residuals *= rows / target.stddev
            toward = right @ residuals.T
            slopes[0] += np.sum(left * toward, axis=1, keepdims=True)
            sides = (
                (toward * weights[:, np.newaxis], slice(target.cut)),
                (weighted @ residuals, slice(target.cut, None)),
            )
            for slope, side in sides:
                own = _of_factors(slope, arrays[side])
                for (place, dropped), part in zip(target.parts[side], own, strict=True):
                    alike = [1 if axis in dropped else size for axis, size in enumerate(shares[place].shape)]
                    slopes[1 + place] += part.reshape(alike)
        found = [_through_softmax(weights.reshape(1, -1), slopes[0].reshape(1, -1))]
        found += [
            _through_softmax(part.reshape(self.components, -1), slope.reshape(self.components, -1))
            for part, slope in zip(shares, slopes[1:], strict=True)
        ]
        return loss, np.concatenate([part.ravel() for part in found])


def fit_mixture(
    shape: TableShape,
    measured: Mapping[Columns, AveragedCounts],
    impossible: Mapping[Columns, Floats],
    *,
    total: float | None,
    start: MixtureModel | None = None,
    tolerance: float,
    max_iterations: int,
    memory_limit: int,
    components: int = COMPONENTS,
) -> MixtureModel:
    """Fit a mixture to noisy counts.

    Args:
        shape: The columns.
        measured: For each group of columns its counts.
        impossible: For each group of columns 0 where a combination is possible, and −∞ elsewhere. Its columns are
            together in each component.
        total: How many rows there are, if that is public; else it is estimated.
        start: An earlier mixture, from which the search begins if it has these groups and as many components.
        tolerance: Steps become smaller where the loss falls by less than this share in 25 iterations.
        max_iterations: Of the search.
        memory_limit: Bytes that its arrays may take.
        components: How many.

    Raises:
        ParameterError: No row is possible, or more memory is needed: this is found before it is taken.

    Example:
        >>> from sfumato.synth.models.measured import NoisyMarginal, combined
        >>> shape = TableShape({"sex": 2, "smokes": 2})
        >>> counts = combined(shape, [NoisyMarginal(["sex", "smokes"], [[97, 305], [201, 197]], stddev=5)])
        >>> options = {"tolerance": 0.005, "max_iterations": 2_000, "memory_limit": 1 << 30}
        >>> fit_mixture(shape, counts, {}, total=None, **options).marginal(["smokes"]).round(-1).tolist()
        [300.0, 500.0]

    References:
        [ABKKMRS21] and [LVW21] for such fits; [KB15] for Adam.
    """
    if (needed := mixture_memory(shape, measured, impossible, components=components)) > memory_limit:
        requirement = f"is too small: a mixture needs {needed:,} bytes. Leave out marginals, or merge values"
        raise ParameterError("memory_limit", memory_limit, requirement)
    problem = mixture_loss(shape, measured, impossible, total=total, components=components)
    if start is not None and (tuple(start.probabilities), len(start.weights)) == (problem.blocks, components):
        begin, step = _logarithms(start, problem.masks), _STEP_AGAIN
    else:
        begin, step = _beginning(shape, problem, measured), _STEP
    at, report = _descended(problem, begin, step, tolerance=tolerance, max_iterations=max_iterations)
    weights, shares = problem.shares(at)
    own = dict(zip(problem.blocks, shares, strict=True))
    return MixtureModel(shape, weights, own, total=problem.total, memory_limit=memory_limit, report=report)


def mixture_loss(
    shape: TableShape,
    measured: Mapping[Columns, AveragedCounts],
    impossible: Mapping[Columns, Floats],
    *,
    total: float | None,
    components: int,
) -> MixtureLoss:
    """The loss of mixtures of so many components; arguments are those of `fit_mixture`.

    Raises:
        ParameterError: No row is possible.
    """
    blocks = joined_columns(shape, impossible)
    masks = [_mask(shape, block, impossible) for block in blocks]
    if not all(np.isfinite(mask).any() for mask in masks):
        raise ParameterError("impossible", sorted(impossible), "must leave at least one row possible")
    targets, kept = [], []
    for columns, counts in measured.items():
        target, possible = _target(blocks, masks, columns, counts)
        targets.append(target)
        kept.append((target.counts[possible], counts.variance))
    return MixtureLoss(
        blocks=tuple(blocks), masks=tuple(masks), targets=tuple(targets), components=components,
        total=estimated_total(kept) if total is None else total, expected=sum(part.size for part, _ in kept) / 2,
    )  # fmt: skip


def joined_columns(shape: TableShape, groups: Iterable[Columns]) -> list[Columns]:
    """The columns of the table, those together that groups join.

    Example:
        >>> joined_columns(TableShape({"a": 2, "b": 2, "c": 2, "d": 2}), [("a", "c"), ("d",)])
        [('a', 'c'), ('b',), ('d',)]
    """
    found = [{name} for name in shape.sizes]
    for group in groups:
        met = [block for block in found if block & set(group)]
        found = [block for block in found if block not in met] + ([set().union(*met)] if met else [])
    return sorted((shape.ordered(block) for block in found), key=lambda block: list(shape.sizes).index(block[0]))


def mixture_memory(
    shape: TableShape, measured: Iterable[Columns], impossible: Iterable[Columns], *, components: int = COMPONENTS
) -> int:
    """The bytes that a fit takes: all logarithms and counts several times, and one marginal at a time.

    Args:
        shape: The columns.
        measured: The groups of columns that were measured.
        impossible: The groups of columns that stay together.
        components: How many.

    Example:
        >>> wide = TableShape({f"c{number}": 10 for number in range(100)})
        >>> mixture_memory(wide, [("c0", "c1"), ("c1", "c2"), ("c2", "c0")], [])
        3664400
    """
    blocks = joined_columns(shape, impossible)
    cells = _VECTORS * components * (1 + sum(map(shape.cells, blocks)))
    largest = 0
    for columns in measured:
        lengths = [shape.cells(kept) for _, kept, _ in parts_of(blocks, columns)]
        cut = halved(lengths)
        largest = max(largest, 4 * prod(lengths) + 6 * components * (prod(lengths[:cut]) + prod(lengths[cut:])))
        cells += 4 * prod(lengths)
    return NUMBER * (cells + largest)


def _descended(
    problem: MixtureLoss, at: Floats, step: float, *, tolerance: float, max_iterations: int
) -> tuple[Floats, FitReport]:
    """Where Adam ends."""
    loss, slope = problem(at)
    mean, square = np.zeros(at.shape), np.zeros(at.shape)
    before, used, is_converged = loss, 0, False
    while used < max_iterations and not is_converged:
        used += 1
        mean += (1 - _MEANS[0]) * (slope - mean)
        square += (1 - _MEANS[1]) * (slope**2 - square)
        scale = np.sqrt(square / (1 - _MEANS[1] ** used)) + np.finfo(np.float64).tiny
        at = at - step / (1 - _MEANS[0] ** used) * mean / scale
        loss, slope = problem(at)
        if used % _ROUND == 0:
            step /= 2 if loss > before * (1 - tolerance) else 1
            before = loss
        is_converged = used >= _ROUND and (loss <= problem.expected or step < _LEAST_STEP)
    return at, FitReport(
        loss=loss, expected_loss=problem.expected, gap=inf, iterations=used, is_converged=is_converged, path=()
    )  # fmt: skip


def _of_factors(slope: Floats, arrays: Sequence[Floats]) -> Iterator[Floats]:
    """Of the slope along a product of arrays, those along each of them."""
    if len(arrays) == 1:
        yield slope
        return
    axes = list(range(len(arrays) + 1))
    parted = slope.reshape(len(slope), *(array.shape[1] for array in arrays))
    for place in axes[1:]:
        operands: list[Any] = [parted, axes]
        for other, array in enumerate(arrays, start=1):
            if other != place:
                operands += [array, [0, other]]
        yield np.einsum(*operands, [0, place], optimize="greedy")


def _through_softmax(shares: Floats, slope: Floats) -> Floats:
    """The slope along logarithms, of that along the shares that they make."""
    found: Floats = shares * (slope - np.sum(shares * slope, axis=1, keepdims=True))
    return found


def _mask(shape: TableShape, block: Columns, impossible: Mapping[Columns, Floats]) -> Floats:
    """0 where a combination of a group's columns is possible, and −∞ elsewhere."""
    found = np.zeros(shape.lengths(block))
    for columns, logs in impossible.items():
        if set(columns) <= set(block):
            found += aligned(logs, columns, block)
    return found


def _target(
    blocks: Sequence[Columns], masks: Sequence[Floats], columns: Columns, measured: AveragedCounts
) -> tuple[_Target, NDArray[np.bool_]]:
    """What is fitted, and which combinations are possible; counts of others are 0, as those of a mixture are."""
    parts = list(parts_of(blocks, columns))
    order = [name for _, kept, _ in parts for name in kept]
    places = {block: place for place, block in enumerate(blocks)}
    possible = np.ones((1, 1))
    lengths = []
    for block, _, dropped in parts:
        own = summed_out(np.isfinite(masks[places[block]])[np.newaxis].astype(np.float64), dropped)
        lengths.append(own.shape[1])
        possible = products([possible, own], 1)
    cut = halved(lengths)
    counts = measured.counts.transpose([columns.index(name) for name in order]).reshape(prod(lengths[:cut]), -1)
    is_possible = possible.reshape(counts.shape) > 0
    target = _Target(
        parts=tuple((places[block], dropped) for block, _, dropped in parts), cut=cut,
        counts=np.where(is_possible, counts, 0.0), stddev=float(np.sqrt(measured.variance)),
    )  # fmt: skip
    return target, is_possible


def _beginning(shape: TableShape, problem: MixtureLoss, measured: Mapping[Columns, AveragedCounts]) -> Floats:
    """Independent columns as they were measured, with a difference between components that is always the same."""
    found = [np.zeros(problem.components)]
    for place, (block, mask) in enumerate(zip(problem.blocks, problem.masks, strict=True)):
        logs = mask.copy()
        for name in block:
            having = [columns for columns in measured if name in columns]
            if having:
                columns = min(having, key=shape.cells)
                counts = summed(measured[columns].counts, columns, (name,))
                noise = np.sqrt(measured[columns].variance * shape.cells(columns) / shape.sizes[name])
                logs += aligned(np.log(np.maximum(counts, noise)), (name,), block)
        uniform = uniforms(0, f"components of group {place}", problem.components * mask.size)
        apart = (uniform - 0.5) * np.sqrt(12) * _SPREAD
        found.append((logs.ravel() + apart.reshape(problem.components, -1)).ravel())
    return np.concatenate(found)


def _logarithms(start: MixtureModel, masks: Sequence[Floats]) -> Floats:
    """Where an earlier search ended; what is possible is so by a little at least."""
    least = np.finfo(np.float64).tiny
    found = [np.log(np.maximum(start.weights, least))]
    for own, mask in zip(start.probabilities.values(), masks, strict=True):
        found.append((np.log(np.maximum(own, least)) + mask).ravel())
    return np.concatenate(found)
