"""A graphical model: a distribution of rows that is a product of functions of a few columns each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats, of_kind, real, whole
from sfumato.numeric.rationals import positive_integer, set_fields
from sfumato.synth.models.beliefs import Beliefs, believed
from sfumato.synth.models.factors import Floats
from sfumato.synth.models.layout import laid_out
from sfumato.synth.models.measured import in_order
from sfumato.synth.models.rows import Rows, drawn_rows
from sfumato.synth.models.shape import Columns, TableShape
from sfumato.synth.models.tree import junction_tree

MEMORY_LIMIT: Final = 1 << 30
"""Bytes, if no other limit is given."""
_ARRAYS: Final = 3
"""Potentials, which become conditional probabilities, joint probabilities, and one on the way."""
_LARGEST: Final = 1e9
"""Of a potential: sums of many of them stay precise."""
FITTED_VALUES: Final = "a mapping of columns to the number of a value each, such as {'sex': 1}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FitReport:
    """How well a model was fitted.

    Attributes:
        loss: ½·Σ ((expected − noisy count)/stddev)², over all counts of possible combinations.
        expected_loss: The mean of the loss at the true counts, if they were known: half of the number of counts.
        gap: How far the objective of the last step may be above its least value, in units of the loss. For a mixture
            it is ∞: nothing is known of that.
        iterations: Those of the search, in all steps together.
        is_converged: Whether each step ended because its gap was small enough. Of a mixture, whether the loss came down
            to what is expected, or did not fall any more.
        path: The potentials after each step, from which fits to more marginals start; empty for a mixture.
    """

    loss: float
    expected_loss: float
    gap: float
    iterations: int
    is_converged: bool
    path: tuple[Mapping[Columns, Floats], ...] = field(repr=False)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class GraphicalModel:
    """P(row) ∝ Π exp(potential of the row's values of some columns).

    It holds no rows. A model that was fitted to released noisy counts is as public as they are.

    Args:
        shape: The columns.
        potentials: For each group of columns an array of logarithms, one axis for each column; −∞ makes a combination
            impossible.
        total: How many rows it stands for, at least 0.
        memory_limit: Bytes that its arrays may take.
        report: How it was fitted, if it was.

    Raises:
        ParameterError: A group names what is no column, an array has another shape or holds NaN or +∞, no row is
            possible, or more memory is needed; the last is found before any of it is taken.

    Example:
        >>> shape = TableShape({"sex": 2, "smokes": 2})
        >>> model = GraphicalModel(shape, {("sex", "smokes"): np.log([[1, 3], [2, 2]])}, total=800)
        >>> model.marginal(["smokes"]).round(6).tolist()
        [300.0, 500.0]

    References:
        [MSM19] for fitting such models to noisy marginals.
    """

    shape: TableShape
    potentials: Mapping[Columns, Floats]
    total: float
    memory_limit: int
    report: FitReport | None
    beliefs: Beliefs = field(repr=False)

    def __init__(
        self,
        shape: TableShape,
        potentials: Mapping[Columns, Floats],
        *,
        total: float,
        memory_limit: int = MEMORY_LIMIT,
        report: FitReport | None = None,
    ) -> None:
        of_kind(shape, "shape", TableShape, "a TableShape")
        limit = positive_integer(memory_limit, "memory_limit")
        groups = {shape.checked(columns, "potentials"): values for columns, values in _mapped(potentials).items()}
        tree = junction_tree(shape, groups, memory_limit=limit, arrays=_ARRAYS)
        ordered = _logarithms(shape, groups)
        layout = laid_out(tree, ordered)
        found = believed(tree, layout.spread([ordered[group] for group in layout.groups]))
        if not np.isfinite(found.log_total):
            raise ParameterError("potentials", sorted(ordered), "must leave at least one row possible")
        set_fields(
            self,
            shape=shape,
            potentials=MappingProxyType(ordered),
            total=real(total, "total", least=0, is_finite=True),
            memory_limit=limit,
            report=report,
            beliefs=found,
        )

    @property
    def cells(self) -> int:
        """How many numbers the cliques of its junction tree hold."""
        return self.beliefs.tree.cells

    def marginal(self, columns: Iterable[str]) -> Floats:
        """Expected counts of all combinations of some columns: one axis for each, in the order in which they are named.

        Raises:
            ParameterError: Something is no column, or an array on the way would exceed the memory limit.

        Example:
            >>> shape = TableShape({"sex": 2, "smokes": 2, "age": 3})
            >>> GraphicalModel(shape, {}, total=12).marginal(["age", "sex"]).round(6).tolist()
            [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
        """
        named = self.shape.checked(columns)
        return self.total * self.beliefs.marginal(named, memory_limit=self.memory_limit)

    def given(self, values: Mapping[str, int]) -> "GraphicalModel":
        """The model of the rows that have these values, with as many rows as there are of them by this model.

        Raises:
            ParameterError: Something is no column or no value of it, or no row of the model has these values.

        Example:
            >>> shape = TableShape({"sex": 2, "smokes": 2})
            >>> model = GraphicalModel(shape, {("sex", "smokes"): np.log([[1, 3], [2, 2]])}, total=800)
            >>> women = model.given({"sex": 0})
            >>> round(women.total, 6), women.marginal(["smokes"]).round(6).tolist()
            (400.0, [100.0, 300.0])
        """
        fixed = of_kind(values, "values", Mapping, FITTED_VALUES)
        potentials = dict(self.potentials)
        for column in self.shape.checked(list(fixed), "values"):
            value = whole(fixed[column], "values", most=self.shape.sizes[column] - 1)
            only = np.full(self.shape.sizes[column], -np.inf)
            only[value] = 0
            potentials[column,] = only + potentials.get((column,), 0)
        if not fixed:
            return self
        try:
            narrowed = GraphicalModel(self.shape, potentials, total=0, memory_limit=self.memory_limit)
        except ParameterError:
            raise ParameterError("values", dict(fixed), "must be those of some row that the model has") from None
        share = float(np.exp(narrowed.beliefs.log_total - self.beliefs.log_total))
        set_fields(narrowed, total=self.total * min(1.0, share))
        return narrowed

    def rows(self, n: int | None = None, *, seed: int | None = None) -> Rows:
        """Made-up rows with about the marginals of the model.

        Columns are drawn clique by clique. Among the rows with the same values of a separator, each combination of
        the other columns comes as often as the model says, rounded up or down.

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
            >>> model = GraphicalModel(shape, {("sex", "smokes"): np.log([[1, 3], [2, 2]])}, total=800)
            >>> int(model.rows(seed=1)["smokes"].sum())
            500
        """
        return drawn_rows(self.beliefs, round(self.total) if n is None else n, seed=seed)


def _mapped(potentials: Mapping[Columns, Floats]) -> Mapping[Columns, Floats]:
    given = of_kind(potentials, "potentials", Mapping, "a mapping of tuples of columns to arrays")
    for columns in given:
        of_kind(columns, "potentials", tuple, "tuples of columns")
    return given


def _logarithms(shape: TableShape, groups: Mapping[Columns, Floats]) -> dict[Columns, Floats]:
    """Each array with its axes in the order of the table; those of the same columns are added."""
    ordered: dict[Columns, Floats] = {}
    for columns, values in groups.items():
        turned = in_order(shape, columns, floats(values, "potentials"), "potentials")
        if not (turned <= _LARGEST).all():
            raise ParameterError("potentials", list(columns), f"must be logarithms, of at most {_LARGEST:g}")
        target = shape.ordered(columns)
        ordered[target] = turned + ordered.get(target, 0.0)
    return ordered
