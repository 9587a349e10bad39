"""What is stated in public beside a query: which marginals matter, which combinations no row has, what is cut how.

All are facts of those who ask, never read off the data. They are a part of the key under which a synthesis is stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, combinations, pairwise
from math import gcd, lcm
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import each, is_one_of, listed, of_kind
from sfumato.numeric.rationals import Number, exact, positive, positive_integer
from sfumato.privacy.codec import Json
from sfumato.query.model.kinds import Kind
from sfumato.session.training.attributes import Attribute
from sfumato.synth.methods.merging import MergingRule, QuantileCut
from sfumato.synth.models.fitting import fit_model
from sfumato.synth.models.measured import NoisyMarginal
from sfumato.synth.models.mixture import FittedModel
from sfumato.synth.models.model import MEMORY_LIMIT, GraphicalModel
from sfumato.synth.models.relaxed import joined_columns, mixture_memory
from sfumato.synth.models.shape import Columns, TableShape
from sfumato.synth.models.tree import NUMBER, junction_tree

Workload: TypeAlias = Iterable[Sequence[str]] | Mapping[Columns, Number]
"""Groups of columns whose marginals matter, with a weight each or alike."""

Impossible: TypeAlias = Mapping[Columns, Iterable[Sequence[Any]]]
"""For groups of columns the combinations of declared values that no row has."""

_MOST_GROUPS: Final = 10_000
"""Groups to choose from: those of a workload and all of their parts."""

_WIDEST: Final = 8
"""Columns of a group of a workload."""

_MOST_CELLS: Final = MEMORY_LIMIT // (4 * NUMBER)
"""Combinations of a group: a model would need more than its memory."""

_MOST_ZEROS: Final = 1 << 20
"""Cells of a model that does nothing but leave out what is impossible."""

_MOST_IN_TREE: Final = 1 << 19
"""The largest limit of cells of a tree: with more, each round of a method would take long."""

_MOST_FOR_COLUMNS: Final = MEMORY_LIMIT // 4
"""Bytes of a mixture of single columns; the rest is for what is chosen."""

_HEAVIEST: Final = 1 << 40
"""Of a weight, once all are whole numbers."""

_GROUPS: Final = "a list of tuples of columns, such as [('age', 'sex')], or a mapping of them to weights"
_COMBINATIONS: Final = "a mapping of tuples of columns to lists of values, such as {('sex', 'ill'): [('m', True)]}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stated:
    """Public facts that methods go by.

    Attributes:
        workload: Groups of columns with their weights as whole numbers; none: each method has its own.
        impossible: For groups of columns an array that is True where a combination is impossible.
        cuts: Numbers that are cut at noisy quantiles.
        tree_limit: The most cells of a junction tree; beyond it mixtures are fitted. None: never.
    """

    workload: Mapping[Columns, int] = field(default_factory=lambda: MappingProxyType({}))
    impossible: Mapping[Columns, npt.NDArray[np.bool_]] = field(default_factory=lambda: MappingProxyType({}))
    cuts: Mapping[str, QuantileCut] = field(default_factory=lambda: MappingProxyType({}))
    tree_limit: int | None = None

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        *,
        workload: Workload | None = None,
        impossible: Impossible | None = None,
        quantiles: Mapping[str, int] | None = None,
        tree_limit: int | None = None,
    ) -> "Stated":
        """What a caller states, checked.

        Raises:
            ParameterError: A group names what is no column, a combination what is no value, or either needs too much
                memory.
        """
        shape = TableShape({one.name: one.size for one in attributes})
        weights = {} if workload is None else _weights(shape, workload)
        zeros = {} if impossible is None else _zeros(shape, attributes, impossible)
        cuts = {} if quantiles is None else _cuts(attributes, quantiles, frozenset(chain.from_iterable(zeros)))
        limit = None if tree_limit is None else positive_integer(tree_limit, "tree_limit", most=_MOST_IN_TREE)
        if limit is not None and mixture_memory(shape, joined_columns(shape, zeros), zeros) > _MOST_FOR_COLUMNS:
            requirement = (
                "cannot be stated: values of columns, and combinations of those that are impossible together, are too "
                "many for a mixture; state fewer bins, or leave it out"
            )
            raise ParameterError("tree_limit", limit, requirement)
        return cls(
            workload=MappingProxyType(weights), impossible=MappingProxyType(zeros), cuts=MappingProxyType(cuts),
            tree_limit=limit,
        )  # fmt: skip

    @property
    def rule(self) -> MergingRule:
        """Which values may count as one: none of a column of which a combination is impossible."""
        return MergingRule(kept=frozenset(chain.from_iterable(self.impossible)), cuts=self.cuts)

    def document(self) -> dict[str, Json]:
        """All of it as JSON values."""
        groups: list[Json] = [[list(columns), weight] for columns, weight in sorted(self.workload.items())]
        zeros: list[Json] = [
            [list(columns), [*map(int, np.flatnonzero(cells))]] for columns, cells in sorted(self.impossible.items())
        ]
        cuts: list[Json] = [[name, cut.parts] for name, cut in sorted(self.cuts.items())]
        found: dict[str, Json] = {"workload": groups, "impossible": zeros, "quantiles": cuts}
        found["tree_limit"] = self.tree_limit
        return {name: own for name, own in found.items() if own}

    def weights(self, names: Columns, size: int) -> dict[Columns, int]:
        """All groups to choose from, smaller ones first, each with its weight: how much the workload has of it.

        A group of the workload counts for a candidate by the number of columns that they share, times its own weight.

        Args:
            names: The columns of the table.
            size: If there is no workload, it has all groups of so many columns, or of all columns if these are fewer.

        Example:
            >>> Stated(workload={("age", "sex"): 2, ("sex", "ill"): 1}).weights(("age", "sex", "ill"), 3)
            {('age',): 2, ('sex',): 3, ('ill',): 1, ('age', 'sex'): 5, ('sex', 'ill'): 4}
        """
        wanted = self.workload or dict.fromkeys(combinations(names, min(size, len(names))), 1)
        place = {name: number for number, name in enumerate(names)}
        groups = sorted(_parts(wanted), key=lambda own: (len(own), [place[name] for name in own]))
        sets = [(set(columns), weight) for columns, weight in wanted.items()]
        return {own: sum(weight * len(other & set(own)) for other, weight in sets) for own in groups}

    def fit(
        self, shape: TableShape, measured: Sequence[NoisyMarginal], *, total: float | None = None,
        start: FittedModel | None = None,
    ) -> FittedModel:  # fmt: skip
        """The model of what was measured, in which what is impossible has no rows."""
        return fit_model(
            shape, measured, total=total, impossible=self.impossible, start=start, tree_limit=self.tree_limit
        )

    def fits(self, shape: TableShape, groups: Iterable[Columns], room: int) -> bool:
        """Whether a model of these groups takes no more bytes than that, beside what is impossible.

        With a limit of trees any groups do that alone take no more, as long as a mixture of all has memory.
        """
        if self.tree_limit is not None:
            chosen = {shape.ordered(group) for group in groups}
            all_groups = chosen.union((name,) for name in shape.sizes)
            is_small = all(NUMBER * shape.cells(group) <= room for group in chosen)
            return is_small and mixture_memory(shape, all_groups, self.impossible) <= MEMORY_LIMIT
        alone = junction_tree(shape, self.impossible).size if self.impossible else 0
        return junction_tree(shape, [*groups, *self.impossible]).size <= room + alone


def _parts(groups: Iterable[Columns]) -> set[Columns]:
    """The groups and all groups within them, each of at least one column."""
    found: set[Columns] = set()
    for group in groups:
        found.update(own for size in range(1, len(group) + 1) for own in combinations(group, size))
    return found


def _weights(shape: TableShape, workload: Workload) -> dict[Columns, int]:
    if isinstance(workload, str):
        raise ParameterError("workload", workload, f"must be {_GROUPS}")
    pairs = workload.items() if isinstance(workload, Mapping) else ((group, 1) for group in each(workload, "workload"))
    given: dict[Columns, Fraction] = {}
    for group, weight in pairs:
        columns = shape.ordered(of_kind(group, "workload", (tuple, list), _GROUPS), "workload")
        if not 0 < len(columns) <= _WIDEST:
            raise ParameterError("workload", list(columns), f"must have groups of 1 to {_WIDEST} columns")
        if shape.cells(columns) > _MOST_CELLS:
            requirement = f"have more than {_MOST_CELLS:,} combinations; state fewer bins, or smaller groups"
            raise ParameterError("workload", " and ".join(columns), requirement)
        given[columns] = given.get(columns, Fraction(0)) + positive(weight, "workload")
        if len(given) > _MOST_GROUPS:
            break
    if not given or len(_parts(given)) > _MOST_GROUPS:
        requirement = f"must have at least one group, and with all parts of groups at most {_MOST_GROUPS:,}"
        raise ParameterError("workload", f"{len(given)} groups", requirement)
    scale = Fraction(lcm(*(one.denominator for one in given.values())))
    scale /= gcd(*(int(one * scale) for one in given.values()))
    found = {columns: int(weight * scale) for columns, weight in given.items()}
    if max(found.values()) > _HEAVIEST:
        raise ParameterError("workload", max(given.values()), "must have weights that are ratios of small numbers")
    return found


def _zeros(
    shape: TableShape, attributes: Sequence[Attribute], impossible: Impossible
) -> dict[Columns, npt.NDArray[np.bool_]]:  # fmt: skip
    own = {one.name: one for one in attributes}
    found: dict[Columns, npt.NDArray[np.bool_]] = {}
    for group, rows in of_kind(impossible, "impossible", Mapping, _COMBINATIONS).items():
        named = shape.checked(of_kind(group, "impossible", tuple, _COMBINATIONS), "impossible")
        columns = shape.ordered(named)
        if not columns or shape.cells(columns) > _MOST_ZEROS:
            requirement = f"must be groups of columns with at most {_MOST_ZEROS:,} combinations"
            raise ParameterError("impossible", list(group), requirement)
        cells = found.setdefault(columns, np.zeros(shape.lengths(columns), dtype=np.bool_))
        for row in each(rows, "impossible", of="combinations of values"):
            values = listed(of_kind(row, "impossible", (tuple, list), _COMBINATIONS), "impossible")
            if len(values) != len(named):
                raise ParameterError("impossible", list(values), f"must have a value of each of {', '.join(named)}")
            codes = {name: _codes(own[name], value) for name, value in zip(named, values, strict=True)}
            cells[np.ix_(*(codes[name] for name in columns))] = True
    if junction_tree(shape, found).cells > _MOST_ZEROS + sum(shape.sizes.values()):
        raise ParameterError("impossible", list(found), "must be fewer groups: they need too much memory together")
    logs = {columns: np.where(cells, -np.inf, 0.0) for columns, cells in found.items()}
    try:
        GraphicalModel(shape, logs, total=1)
    except ParameterError:
        raise ParameterError("impossible", list(found), "must leave at least one row possible") from None
    return found


def _cuts(
    attributes: Sequence[Attribute], quantiles: Mapping[str, int], kept: frozenset[str]
) -> dict[str, QuantileCut]:  # fmt: skip
    found = {}
    own = {one.name: one.edges for one in attributes}
    for name, parts in of_kind(quantiles, "quantiles", Mapping, "a mapping of columns to parts: {'pay': 8}").items():
        edges = own[name] if is_one_of(name, own) else None
        if edges is None:
            raise ParameterError("quantiles", name, "must be columns of the query that are numbers with bounds")
        if name in kept:
            raise ParameterError("quantiles", name, "has impossible values, which stay apart: state its bins instead")
        count = positive_integer(parts, "quantiles", most=len(edges) - 1)
        found[name] = QuantileCut(parts=count, bins=len(edges) - 1)
    return found


def _codes(attribute: Attribute, value: Any) -> list[int]:
    """The numbers of what is meant: one value, or the bins of a range of a number."""
    if attribute.edges is None or value is None:
        try:
            return [attribute.code_of(value)]
        except (ParameterError, TypeError):
            raise ParameterError("impossible", value, f"must be a value of {attribute.name}") from None
    is_whole, is_range = attribute.kind is Kind.INTEGER, isinstance(value, tuple | list)
    ends = tuple(value) if is_range else (value, value)
    if len(ends) != 2 or not (is_range or is_whole):  # noqa: PLR2004 # from and to
        raise ParameterError("impossible", value, f"must be a range of {attribute.name}, such as (0, 15)")
    first, last = (exact(one, "impossible") for one in ends)
    end = last + 1 if is_whole else last
    bins = list(pairwise(attribute.edges))
    met = [place for place, (low, high) in enumerate(bins) if low < end and high > first]
    if not met or any(bins[place][0] < first or bins[place][1] > end for place in met):
        requirement = f"must be whole bins of {attribute.name}; state bins with edges there"
        raise ParameterError("impossible", str(value), requirement)
    return met
