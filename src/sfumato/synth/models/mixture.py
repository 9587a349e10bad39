"""A mixture of products: a distribution of rows whose size does not depend on which columns were measured together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats, of_kind, real, whole
from sfumato.numeric.rationals import positive_integer, set_fields
from sfumato.synth.models.factors import Floats
from sfumato.synth.models.model import FITTED_VALUES, MEMORY_LIMIT, FitReport, GraphicalModel
from sfumato.synth.models.rows import Numbers, Rows, checked_draw, drawn_values, split_values
from sfumato.synth.models.shape import Columns, TableShape
from sfumato.synth.models.tree import NUMBER

_GROUPS: Final = "a mapping of tuples of columns to arrays, in which each column is in one tuple"
_ARRAYS: Final = 3
"""Probabilities as they are given, as they are kept, and one on the way."""


@dataclass(frozen=True, slots=True, init=False, eq=False)
class MixtureModel:
    """P(row) = Σ weight(k) · Π probability(k, the row's values of some columns), over components k.

    Within a component groups of columns do not depend on each other. Most groups have one column; several columns are
    together where combinations of them are impossible. It holds no rows. A model that was fitted to released noisy
    counts is as public as they are.

    Args:
        shape: The columns.
        weights: One for each component, of at least 0; they are divided by their sum.
        probabilities: For each group an array, of which the first axis is for components, and others are for its
            columns. What is said of one component is divided by its sum. Each column is in one group.
        total: How many rows it stands for, at least 0.
        memory_limit: Bytes that its arrays may take.
        report: How it was fitted, if it was.

    Raises:
        ParameterError: A group names what is no column, a column is in no group or in two, an array has another shape
            or numbers below 0, a sum is 0, or more memory is needed; the last is found before any of it is taken.

    Example:
        >>> shape = TableShape({"sex": 2, "smokes": 2})
        >>> own = {("sex",): [[1, 0], [0, 1]], ("smokes",): [[1, 3], [2, 2]]}
        >>> model = MixtureModel(shape, [1, 1], own, total=800)
        >>> model.marginal(["smokes", "sex"]).tolist()
        [[100.0, 200.0], [300.0, 200.0]]

    References:
        [ABKKMRS21] for relaxed tables, and [LVW21] for rows that are distributions, which are components of one weight.
    """

    shape: TableShape
    weights: Floats
    probabilities: Mapping[Columns, Floats]
    total: float
    memory_limit: int
    report: FitReport | None = field(repr=False)

    def __init__(
        self,
        shape: TableShape,
        weights: ArrayLike,
        probabilities: Mapping[Columns, ArrayLike],
        *,
        total: float,
        memory_limit: int = MEMORY_LIMIT,
        report: FitReport | None = None,
    ) -> None:
        of_kind(shape, "shape", TableShape, "a TableShape")
        limit = positive_integer(memory_limit, "memory_limit")
        shares = np.atleast_1d(floats(weights, "weights"))
        blocks = _blocks(shape, probabilities)
        needed = _ARRAYS * NUMBER * len(shares) * sum(map(shape.cells, blocks.values()))
        if needed > limit:
            raise ParameterError("memory_limit", limit, f"must be at least {needed:,} bytes for so many components")
        given = {
            block: _normalized(floats(probabilities[name], "probabilities"), (len(shares), *shape.lengths(block)))
            for name, block in blocks.items()
        }
        set_fields(
            self,
            shape=shape,
            weights=_normalized(shares[np.newaxis], (1, len(shares)), "weights")[0],
            probabilities=MappingProxyType(given),
            total=real(total, "total", least=0, is_finite=True),
            memory_limit=limit,
            report=report,
        )

    @property
    def cells(self) -> int:
        """How many numbers its components hold."""
        return len(self.weights) * (1 + sum(self.shape.cells(block) for block in self.probabilities))

    def marginal(self, columns: Iterable[str]) -> Floats:
        """Expected counts of all combinations of some columns: one axis for each, in the order in which they are named.

        Raises:
            ParameterError: Something is no column, or an array on the way would exceed the memory limit.

        Example:
            >>> shape = TableShape({"sex": 2, "smokes": 2, "age": 3})
            >>> own = {(name,): np.ones((1, size)) for name, size in shape.sizes.items()}
            >>> MixtureModel(shape, [1], own, total=12).marginal(["age", "sex"]).round(6).tolist()
            [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
        """
        named = self.shape.checked(columns)
        parts = list(parts_of(self.probabilities, named))
        lengths = [self.shape.cells(kept) for _, kept, _ in parts]
        cut = halved(lengths)
        sides = prod(lengths[:cut]), prod(lengths[cut:])
        needed = NUMBER * (2 * len(self.weights) * sum(sides) + 2 * prod(sides))
        if needed > self.memory_limit:
            requirement = f"must be at least {needed:,} bytes for the marginal of {', '.join(named)}"
            raise ParameterError("memory_limit", self.memory_limit, requirement)
        arrays = [summed_out(self.probabilities[block], dropped) for block, _, dropped in parts]
        left = products(arrays[:cut], len(self.weights)) * self.weights[:, np.newaxis]
        found = left.T @ products(arrays[cut:], len(self.weights))
        order = [name for _, kept, _ in parts for name in kept]
        table = found.reshape(self.shape.lengths(tuple(order)))
        return self.total * table.transpose([order.index(name) for name in named])

    def given(self, values: Mapping[str, int]) -> "MixtureModel":
        """The model of the rows that have these values, with as many rows as there are of them by this model.

        Each component counts by its weight times its probability of these values: that is exact.

        Raises:
            ParameterError: Something is no column or no value of it, or no row of the model has these values.

        Example:
            >>> shape = TableShape({"sex": 2, "smokes": 2})
            >>> own = {("sex",): [[1, 0], [0, 1]], ("smokes",): [[1, 3], [2, 2]]}
            >>> women = MixtureModel(shape, [1, 1], own, total=800).given({"sex": 0})
            >>> women.total, women.marginal(["smokes"]).tolist()
            (400.0, [100.0, 300.0])
        """
        fixed = of_kind(values, "values", Mapping, FITTED_VALUES)
        for column in self.shape.checked(list(fixed), "values"):
            whole(fixed[column], "values", most=self.shape.sizes[column] - 1)
        if not fixed:
            return self
        chances = np.zeros(len(self.weights))
        narrowed: dict[Columns, Floats] = {}
        with np.errstate(divide="ignore"):  # −∞ is the logarithm of 0
            chances += np.log(self.weights)
            for block, array in self.probabilities.items():
                picked = (slice(None), *(int(fixed[name]) if name in fixed else slice(None) for name in block))
                narrowed[block] = np.zeros(array.shape)
                narrowed[block][picked] = array[picked]
                chances += np.log(narrowed[block].reshape(len(chances), -1).sum(axis=1))
        is_possible = np.isfinite(chances)
        if not is_possible.any():
            raise ParameterError("values", dict(fixed), "must be those of some row that the model has")
        largest = chances.max()
        weights = np.exp(chances[is_possible] - largest)
        own = {block: array[is_possible] for block, array in narrowed.items()}
        total = self.total * min(1.0, float(np.exp(largest) * weights.sum()))
        return MixtureModel(self.shape, weights, own, total=total, memory_limit=self.memory_limit)

    def rows(self, n: int | None = None, *, seed: int | None = None) -> Rows:
        """Made-up rows with about the marginals of the model.

        Each component has as many rows as its weight says, rounded up or down. Among them each value of a group of
        columns comes as often as the component says, rounded in the same way, and groups are in random order.

        Args:
            n: How many; the total of the model, rounded, if not given.
            seed: The same seed gives the same rows. It may be public: rows are made of the model alone. Without one,
                the system's generator is read.

        Returns:
            For each column of the table the number of the value of each row.

        Raises:
            ParameterError: n is no whole number from 0 to 2^31, or the seed is none of at least 0.

        Example:
            >>> shape = TableShape({"sex": 2, "smokes": 2})
            >>> own = {("sex",): [[1, 0], [0, 1]], ("smokes",): [[1, 3], [2, 2]]}
            >>> int(MixtureModel(shape, [1, 1], own, total=800).rows(seed=1)["smokes"].sum())
            500
        """
        count, source = checked_draw(round(self.total) if n is None else n, seed)
        component = drawn_values(np.zeros(count, dtype=np.int64), self.weights[np.newaxis], "component", seed=source)
        found: dict[str, Numbers] = {}
        for place, (block, array) in enumerate(self.probabilities.items()):
            values = drawn_values(component, array.reshape(len(array), -1), f"block {place}", seed=source)
            found |= split_values(values, block, self.shape.lengths(block))
        return {name: found[name] for name in self.shape.sizes}


FittedModel: TypeAlias = GraphicalModel | MixtureModel
"""What is fitted to released counts: `marginal`, `given` and `rows` of both are alike."""


def parts_of(blocks: Iterable[Columns], columns: Iterable[str]) -> Iterator[tuple[Columns, Columns, tuple[int, ...]]]:
    """The groups that have some of the columns: which ones, and the axes of the others.

    Example:
        >>> list(parts_of([("a", "b"), ("c",), ("d",)], ["d", "b"]))
        [(('a', 'b'), ('b',), (1,)), (('d',), ('d',), ())]
    """
    wanted = set(columns)
    for block in blocks:
        kept = tuple(name for name in block if name in wanted)
        if kept:
            yield block, kept, tuple(place for place, name in enumerate(block, start=1) if name not in wanted)


def summed_out(array: Floats, dropped: tuple[int, ...]) -> Floats:
    """For each component its probabilities in one row, those along some axes added up."""
    kept: Floats = array.sum(axis=dropped) if dropped else array
    return kept.reshape(len(array), -1)


def halved(lengths: Sequence[int]) -> int:
    """Where to cut a product of arrays, so that both sides together are smallest.

    Example:
        >>> halved([3, 4, 50]), halved([7])
        (2, 0)
    """
    return min(range(len(lengths) + 1), key=lambda place: prod(lengths[:place]) + prod(lengths[place:]))


def products(arrays: Sequence[Floats], components: int) -> Floats:
    """For each component the products of all combinations of numbers of its rows.

    Example:
        >>> products([np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]])], 1).tolist()
        [[3.0, 5.0, 6.0, 10.0]]
    """
    found = np.ones((components, 1))
    for array in arrays:
        found = (found[:, :, np.newaxis] * array[:, np.newaxis]).reshape(components, -1)
    return found


def _blocks(shape: TableShape, probabilities: Mapping[Columns, ArrayLike]) -> dict[Columns, Columns]:
    """For each group its columns, if each column of the table is in one."""
    given = of_kind(probabilities, "probabilities", Mapping, _GROUPS)
    blocks = {block: shape.checked(of_kind(block, "probabilities", tuple, _GROUPS), "probabilities") for block in given}
    if sorted(name for block in blocks for name in block) != sorted(shape.sizes):
        raise ParameterError("probabilities", list(blocks), f"must be {_GROUPS}")
    return blocks


def _normalized(array: Floats, lengths: tuple[int, ...], name: str = "probabilities") -> Floats:
    """What is said of each component, divided by its sum."""
    if array.shape != lengths:
        raise ParameterError(name, f"an array of shape {array.shape}", f"must have the shape {lengths}")
    sums = array.reshape(lengths[0], -1).sum(axis=1)
    if not (array >= 0).all() or not np.isfinite(sums).all() or not (sums > 0).all():
        raise ParameterError(name, f"an array of shape {lengths}", "must be numbers of at least 0, and not all 0")
    shares: Floats = array / sums.reshape(-1, *(1 for _ in lengths[1:]))
    return shares
