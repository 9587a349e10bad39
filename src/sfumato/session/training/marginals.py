"""Marginals of a query: how many rows have each combination of the values of some columns, for what was charged.

Each is one `Statement` over the same rows, bounded per unit as any other. So an engine groups and counts, and nothing
but counts leaves it; rows stay where they are.

Proof: proofs/session/training/marginals.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, of_kind
from sfumato.privacy.codec import Json
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.query.analysis.bounding import bound_joins, limits_of, narrowed, ungrouped
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.sizes import check_growth, check_size
from sfumato.query.analysis.stability import Sensitivity, reach_of, sensitivity
from sfumato.query.analysis.work import check_work
from sfumato.query.model.relations import GroupBy, Relation, Select
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import KeyColumn, RowCount, Statement
from sfumato.query.planning.questions import Aggregate, check_limits
from sfumato.query.statistics.counts import CountRows
from sfumato.session.training.attributes import Attribute, Binning, attribute_of
from sfumato.session.training.plan import Run

Counts: TypeAlias = npt.NDArray[np.int64]
"""How many rows there are of each combination of values, the last column fastest."""

MOST_CELLS: Final = 1 << 27
"""How many combinations one marginal has at most: a GiB of counts."""

_TOGETHER: Final = 1 << 16
"""How many combinations columns have at most that are counted in one pass for several marginals of them."""

_ROWS: Final = "rows"
_APART: Final[Mapping[str, Counts]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalQuery:
    """What is read for synthetic data: the columns of a query as attributes, and how the rows of a unit are bounded.

    Attributes:
        question: All attributes and how many rows are alike, as a question.
        rows: The attributes of all rows.
        attributes: The columns.
        limits: Of a unit.
    """

    question: Aggregate
    rows: Select
    attributes: tuple[Attribute, ...]
    limits: Limits

    @property
    def statement(self) -> Statement:
        """What an engine would run for the marginal of all columns."""
        return self.marginal([one.name for one in self.attributes])

    @property
    def lattices(self) -> Json:
        """How each column is cut, for the key under which what was released is stored."""
        return [[repr(one.values), repr(one.edges), repr(one.missing)] for one in self.attributes]

    @property
    def rows_per_unit(self) -> int:
        """How many rows one unit has, at most."""
        return max(1, reach_of(self.statement).rows)

    def read(self, run: Run) -> "Marginals":
        """The marginals, of which none is computed yet.

        Args:
            run: Runs a statement, all with one salt.
        """
        return Marginals(self, run)

    def marginal(self, names: Sequence[str]) -> Statement:
        """What an engine runs for the marginal of some columns, in this order."""
        computed = dict(self.rows.columns)
        read = Select(self.rows.child, tuple((name, computed[name]) for name in names))
        keys = tuple(KeyColumn(name=name, values=None) for name in names)
        return Statement(rows=bound_joins(read), keys=keys, measures=(RowCount(),), limits=self.limits)

    def sensitivity(self, names: Sequence[str], neighboring_relation: NeighboringRelation) -> Sensitivity:
        """How far one unit moves the marginal of some columns: in L1, in L2, in cells."""
        statement = self.marginal(names)
        return sensitivity(statement, statement.measures[0], neighboring_relation=neighboring_relation)

    def merged_l2(self, neighboring_relation: NeighboringRelation) -> Fraction:
        """How far one unit moves any sums of cells of a marginal, each cell being in one sum: in L2."""
        own = self.sensitivity([one.name for one in self.attributes], neighboring_relation)
        return own.l2 if self.rows_per_unit == 1 else Fraction(own.l1)

    def size(self, names: Sequence[str]) -> int:
        """How many combinations of values some columns have."""
        own = {one.name: one.size for one in self.attributes}
        return prod(own[name] for name in names)


class Marginals:
    """The marginals of a query, of which each is computed where the data is when it is asked for.

    Of a unit with more rows than are kept, two marginals may keep different ones; as many at most.

    Args:
        query: What is read.
        run: Runs a statement, all with one salt.
    """

    __slots__ = ("_query", "_run")

    def __init__(self, query: MarginalQuery, run: Run) -> None:
        self._query, self._run = query, run

    def counts(self, names: Sequence[str]) -> Secret[Counts]:
        """The marginal of some columns, for noise alone.

        Args:
            names: Some of the columns.
        """
        return Secret(self._counted(names))

    def each(
        self, groups: Sequence[Sequence[str]], *, merging: Mapping[str, Counts] = _APART
    ) -> Iterator[tuple[tuple[str, ...], Secret[Counts]]]:
        """Several marginals, in any order and in fewer passes over the rows than there are marginals.

        Where one row of each unit is kept at most, marginals of a few columns are sums of one marginal of all of these
        columns: one unit moves sums no further. Else each is counted alone, because sums may move further then.

        Args:
            groups: Of each marginal its columns.
            merging: For some columns the number that each of their values counts as: from 0, without gaps. Only the
                merged counts have to fit into memory.
        """
        if self._query.rows_per_unit > 1:
            yield from ((tuple(names), Secret(self._counted(names, merging))) for names in groups)
            return
        sizes = {one.name: one.size for one in self._query.attributes}
        merged = sizes | {name: int(numbers.max()) + 1 for name, numbers in merging.items()}
        for names, own in passes(groups, sizes):
            counts = self._counted(names, merging).reshape([merged[name] for name in names])
            for group in own:
                places = [names.index(name) for name in group]
                summed = counts.sum(axis=tuple(set(range(len(names))) - set(places)))
                order = np.argsort(np.argsort(places))
                yield group, Secret(np.ascontiguousarray(summed.transpose(order)).reshape(-1))

    def different_rows(self, names: Sequence[str]) -> Secret[tuple[Counts, Counts]]:
        """The different rows of some columns, and how many are like each, for a fit alone.

        It is the same marginal without the combinations that no row has, for columns that have too many of them.

        Args:
            names: Some of the columns.

        Returns:
            The numbers of values, one row a combination, one column a column; and how many rows have each.
        """
        own = {one.name: one for one in self._query.attributes}
        found = self._run(self._query.marginal(names)).open_for_noise()
        codes = np.stack([own[name].codes(keys) for name, keys in zip(names, found.keys, strict=True)], axis=1)
        is_known = (codes >= 0).all(axis=1)
        return Secret((codes[is_known], np.array(found.amounts[0], dtype=np.int64)[is_known]))

    def _counted(self, names: Sequence[str], merging: Mapping[str, Counts] = _APART) -> Counts:
        codes, amounts = self.different_rows(names).open_for_noise()
        places, cells = np.zeros(len(codes), dtype=np.int64), 1
        for place, name in enumerate(names):
            numbers = merging.get(name)
            size = self._query.size([name]) if numbers is None else int(numbers.max()) + 1
            places = places * size + (codes[:, place] if numbers is None else numbers[codes[:, place]])
            cells *= size
        counts = np.zeros(cells, dtype=np.int64)
        np.add.at(counts, places, amounts)
        return counts


def passes(
    groups: Sequence[Sequence[str]], sizes: Mapping[str, int], *, most: int = _TOGETHER
) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Sets of columns that are counted together, each with those groups that are sums of it; each group is in one.

    One set after the other is made of the widest group that is left, and of those columns that add the most groups,
    while there are few combinations. What is best would be too much to compute.

    Args:
        groups: Some columns each.
        sizes: How many values each column has.
        most: How many combinations a set has at most, unless it is one group alone.

    Example:
        >>> list(passes([("a", "b"), ("a", "c"), ("a", "d")], {"a": 2, "b": 3, "c": 4, "d": 9}, most=24))
        [(('a', 'b', 'c'), [('a', 'b'), ('a', 'c')]), (('a', 'd'), [('a', 'd')])]
    """
    names = list(sizes)
    lengths = np.array([float(sizes[name]) for name in names])
    inside = np.array([[name in own for name in names] for own in map(set, groups)], dtype=bool)
    left = np.ones(len(groups), dtype=bool)
    while left.any():
        together = inside[int(np.argmax(left * inside.sum(axis=1)))].copy()  # the widest, of which others are part
        while True:
            beyond = inside[left] & ~together
            gains = beyond[beyond.sum(axis=1) == 1].sum(axis=0)
            gains[lengths * lengths[together].prod() > most] = 0
            if not gains.any():
                break
            together[int(np.argmax(gains))] = True
        done = left & ~(inside & ~together).any(axis=1)
        left &= ~done
        yield (
            tuple(name for name, is_in in zip(names, together, strict=True) if is_in),
            [tuple(groups[place]) for place in np.flatnonzero(done).tolist()],
        )


def marginal_query(
    relation: Relation, *, bins: Mapping[str, Binning] | None = None, limits: Limits | None = None
) -> MarginalQuery:
    """What is read for synthetic data.

    A number is clamped to its bounds and lies in a bin, a date in a period. A value that is missing, or not listed, is
    one too. So every row is counted once in each marginal.

    Args:
        relation: The rows; each column is an attribute.
        bins: How columns are cut, by name; see `attribute_of`.
        limits: Limits of a unit narrower than the policy's.

    Raises:
        ParameterError: There is no such column, or it cannot be cut so.
        UnboundedSensitivityError: A column has neither bounds nor listed values, or nothing bounds the rows of a unit.
        NotPrivateError: The time that one row takes could reveal it.
    """
    shape = shape_of(relation)
    cut = {} if bins is None else dict(of_kind(bins, "bins", Mapping, "a mapping of columns, such as {'age': 10}"))
    names = tuple(shape.columns)
    unknown = [name for name in cut if not is_one_of(name, names)]
    if unknown:
        raise ParameterError("bins", unknown[0], f"must be of columns of the query: {', '.join(names)}")
    made = [attribute_of(name, shape.column(name), cut.get(name)) for name in names]
    coded = Select(relation, tuple((name, value) for name, (_, value) in zip(names, made, strict=True)))
    check_size(coded)
    check_growth(coded)
    if limits is not None:
        check_limits(limits, shape.metric)
    kept = ungrouped(narrowed(limits_of(coded), limits)) if shape.metric is Metric.UNITS else Limits()
    found = MarginalQuery(
        question=Aggregate(GroupBy(coded, names), ((_ROWS, CountRows()),), limits), rows=coded,
        attributes=tuple(attribute for attribute, _ in made), limits=kept,
    )  # fmt: skip
    check_work(found.statement)
    reach_of(found.statement)  # refuses what nothing bounds
    return found
