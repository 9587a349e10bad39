"""Fit a graphical model to noisy marginals, by a few steps of mirror descent that are solved in full.

For noisy counts y with standard deviations σ and N rows, the loss of a distribution P of rows with marginals μ is

    L(P) = ½·Σ ((N·μ − y)/σ)²

From P₀, which is uniform over all possible rows, each step goes to the P of least L(P) + τ·KL(P ‖ last one). That is a
graphical model with one potential x for each count, and x is the minimum of the convex function

    F(x) = log Z(x) − ⟨x, y⟩/N + ½·τ·Σ (σ·(x − last x)/N)²

in which log Z and its slope μ come from one calibration of the junction tree. The duality gap is ½·Σ (N/σ·∂F)².

With τ = 3·N/σ a step fits the counts above about 3·σ, and leaves smaller ones near what the other marginals say.
Proof: proofs/synth/models/fitting.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind, real
from sfumato.numeric.rationals import positive_integer
from sfumato.synth.models.beliefs import believed
from sfumato.synth.models.descent import VECTORS, SearchPoint, minimized
from sfumato.synth.models.factors import Floats
from sfumato.synth.models.layout import Layout, laid_out
from sfumato.synth.models.measured import AveragedCounts, NoisyMarginal, combined, estimated_total, zeros
from sfumato.synth.models.mixture import FittedModel, MixtureModel
from sfumato.synth.models.model import MEMORY_LIMIT, FitReport, GraphicalModel
from sfumato.synth.models.relaxed import fit_mixture
from sfumato.synth.models.shape import Columns, TableShape
from sfumato.synth.models.tree import NUMBER, JunctionTree, junction_tree

_ARRAYS: Final = 4
"""Numbers held at once for each cell of the tree: what is impossible, potentials, probabilities, and one on the way."""
_CAUTION: Final = 3.0
"""How many standard deviations a count has that the first step half fits."""
_MOST_STEPS: Final = 10_000
_SMALLEST: Final = 1e-12
"""Of a tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Problem:
    """F of one step; arrays over all counts are one after the other."""

    layout: Layout
    impossible: Sequence[Floats]
    shares: Floats
    """y/N, and 0 where no row is possible."""
    deviations: Floats
    """σ/N."""
    ridge: Floats
    """τ·(σ/N)²."""
    center: Floats
    count: int
    """How many counts are of combinations that are possible."""

    def __call__(self, at: Floats) -> SearchPoint:
        found = believed(self.layout.tree, self.layout.spread(self.layout.split(at), onto=self.impossible))
        means = self.layout.join(self.layout.gather(found.joints))
        moved = at - self.center
        pull = self.ridge * moved
        gradient = means - self.shares + pull
        return SearchPoint(
            at=at,
            value=found.log_total - float(at @ self.shares) + float(moved @ pull) / 2,
            gradient=gradient,
            curvature=np.maximum(means, self.shares) + self.ridge,
            gap=_half_square(gradient / self.deviations),
        )

    def loss(self, point: SearchPoint) -> float:
        """L, from what is left of the slope without the pull to the center."""
        return _half_square((point.gradient - self.ridge * (point.at - self.center)) / self.deviations)


def fit_model(
    shape: TableShape,
    marginals: Iterable[NoisyMarginal],
    *,
    total: float | None = None,
    impossible: Mapping[Columns, ArrayLike] | None = None,
    start: FittedModel | None = None,
    steps: int = 3,
    tolerance: float = 0.005,
    max_iterations: int = 2_000,
    memory_limit: int = MEMORY_LIMIT,
    tree_limit: int | None = None,
) -> FittedModel:
    """Fit a model to released noisy marginals.

    It reads nothing but what it is given, so it costs no privacy: what is made of released counts is as private as they
    are. Each marginal is weighted by its precision; several ones of the same columns are averaged first.

    The model is a graphical one, the best of each step, as long as its junction tree has at most `tree_limit` cells.
    Beyond that it is a mixture of 50 products, of which the memory does not depend on which columns were measured
    together. Its fit is a local minimum, and nothing is known of how far a better one would be.

    Args:
        shape: The columns, each with how many values it may have.
        marginals: Noisy counts, with independent noise.
        total: How many rows there are, if that is public; else it is estimated from all marginals, and is at least 1.
        impossible: For groups of columns which combinations no row has, as public knowledge: arrays of True and False.
            They get the probability 0, and counts of them are ignored.
        start: An earlier model, such as one fitted to some of the marginals. It saves time; the model found is the
            same within the gap.
        steps: How many, up to 10,000. More come nearer to the least loss, and begin to fit noise.
        tolerance: What the duality gap of each step may be, as a share of the expected loss; 1e-12 to 1. A mixture is
            moved by smaller steps once its loss falls by less than this share in 25 iterations.
        max_iterations: Iterations of the search, in all steps together.
        memory_limit: Bytes that its arrays may take.
        tree_limit: The most cells that a junction tree may have. Where it would have more, or need more memory, a
            mixture is fitted, which takes no `steps`. None: never.

    Returns:
        A `GraphicalModel` or a `MixtureModel`, with a report.

    Raises:
        ParameterError: A marginal does not fit the columns, no row is possible, or more memory is needed: this is found
            before it is taken.

    Example:
        >>> shape = TableShape({"sex": 2, "smokes": 2})
        >>> model = fit_model(shape, [NoisyMarginal(["sex", "smokes"], [[97, 305], [201, 197]], stddev=5)])
        >>> model.report.is_converged, model.marginal(["smokes"]).round(-1).tolist()
        (True, [300.0, 500.0])

    References:
        [MSM19] for graphical models of noisy marginals, and their fit by mirror descent; [CT93] for steps in full;
        [ABKKMRS21] and [LVW21] for mixtures.
    """
    measured = combined(of_kind(shape, "shape", TableShape, "a TableShape"), marginals)
    never = zeros(shape, {} if impossible is None else impossible)
    count = positive_integer(steps, "steps", most=_MOST_STEPS)
    limit = positive_integer(memory_limit, "memory_limit")
    most = positive_integer(max_iterations, "max_iterations")
    gap = real(tolerance, "tolerance", is_finite=True)
    if not _SMALLEST <= gap <= 1:
        raise ParameterError("tolerance", tolerance, f"must be from {_SMALLEST:g} to 1")
    stated = None if total is None else real(total, "total", least=0, is_finite=True)
    if start is not None:
        of_kind(start, "start", (GraphicalModel, MixtureModel), "a model that was fitted")
        if start.shape != shape:
            raise ParameterError("start", list(start.shape.sizes), "must be a model of the same columns")
    beside = (VECTORS + count) * NUMBER * sum(map(shape.cells, measured))
    tree = _tree(shape, [*measured, *never], beside=beside, memory_limit=limit, tree_limit=tree_limit)
    if tree is None:
        return fit_mixture(
            shape, measured, never, total=stated, start=start if isinstance(start, MixtureModel) else None,
            tolerance=gap, max_iterations=most, memory_limit=limit,
        )  # fmt: skip
    layout, of_zeros = laid_out(tree, measured), laid_out(tree, never)
    masks = of_zeros.spread([never[group] for group in of_zeros.groups])
    if not np.isfinite(believed(tree, [mask.copy() for mask in masks]).log_total):
        raise ParameterError("impossible", sorted(never), "must leave at least one row possible")
    problem, rows = _problem(layout, measured, masks, stated)
    guesses = _path(layout, start) if isinstance(start, GraphicalModel) else []
    path, report = _walked(problem, guesses, steps=count, tolerance=gap, max_iterations=most)
    potentials = dict(zip(layout.groups, layout.split(path[-1]), strict=True))
    for group, mask in never.items():
        potentials[group] = potentials.get(group, 0.0) + mask
    return GraphicalModel(shape, potentials, total=rows, memory_limit=limit, report=report)


def _tree(
    shape: TableShape, groups: Sequence[Columns], *, beside: int, memory_limit: int, tree_limit: int | None
) -> JunctionTree | None:  # fmt: skip
    """The junction tree of the groups; None if it has too many cells, and something else can be fitted."""
    if tree_limit is None:
        return junction_tree(shape, groups, memory_limit=memory_limit, arrays=_ARRAYS, beside=beside)
    most = _ARRAYS * NUMBER * positive_integer(tree_limit, "tree_limit") + beside
    try:
        return junction_tree(shape, groups, memory_limit=min(most, memory_limit), arrays=_ARRAYS, beside=beside)
    except ParameterError:
        return None


def _problem(
    layout: Layout, measured: Mapping[Columns, AveragedCounts], masks: Sequence[Floats], total: float | None
) -> tuple[_Problem, float]:
    """The first step, and how many rows the model stands for."""
    uniform = believed(layout.tree, [mask.copy() for mask in masks])
    possible = [part > 0 for part in layout.gather(uniform.joints)]
    parts = [measured[group] for group in layout.groups]
    kept = [(part.counts[mask], part.variance) for part, mask in zip(parts, possible, strict=True)]
    rows = estimated_total(kept) if total is None else total
    scale = max(rows, 1.0)
    counts = layout.join(np.where(mask, part.counts, 0.0) for part, mask in zip(parts, possible, strict=True))
    spreads = [np.sqrt(part.variance) for part in parts]
    deviations = (
        layout.join(np.full(mask.shape, spread) for mask, spread in zip(possible, spreads, strict=True)) / scale
    )
    typical = np.exp(np.log(deviations).mean()) if deviations.size else 1.0  # of several marginals the geometric mean
    problem = _Problem(
        layout=layout,
        impossible=masks,
        shares=counts / scale,
        deviations=deviations,
        ridge=_CAUTION / typical * deviations**2,
        center=np.zeros(deviations.shape),
        count=int(sum(mask.sum() for mask in possible)),
    )
    return problem, rows


def _path(layout: Layout, start: GraphicalModel) -> list[Floats]:
    """Where the search of each step may begin: where an earlier fit ended it, and 0 for what was not measured then."""
    shape = layout.tree.shape
    return [
        layout.join(earlier.get(group, np.zeros(shape.lengths(group))) for group in layout.groups)
        for earlier in (() if start.report is None else start.report.path)
    ]


def _walked(
    problem: _Problem, guesses: Sequence[Floats], *, steps: int, tolerance: float, max_iterations: int
) -> tuple[list[Floats], FitReport]:
    """Where each step ends."""
    layout, expected = problem.layout, problem.count / 2
    gap = tolerance * max(expected, 1.0)
    path: list[Floats] = []
    used, is_converged = 0, True
    for step in range(steps):
        start = guesses[step] if step < len(guesses) else problem.center
        point, iterations = minimized(problem, start, gap=gap, max_iterations=max_iterations - used)
        used += iterations
        is_converged &= point.gap <= gap
        path.append(point.at)
        ended, problem = problem, replace(problem, center=point.at)
    report = FitReport(
        loss=ended.loss(point), expected_loss=expected, gap=point.gap, iterations=used, is_converged=is_converged,
        path=tuple(MappingProxyType(dict(zip(layout.groups, layout.split(at), strict=True))) for at in path),
    )  # fmt: skip
    return path, report


def _half_square(residuals: Floats) -> float:
    return float(residuals @ residuals) / 2
