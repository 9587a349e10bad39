"""Marginals of a query: how many rows have each combination of the values of some columns, for what was charged.

Each is one `Statement` over the same rows, bounded per unit as any other. So an engine groups and counts, and nothing
but counts leaves it; rows stay where they are.

Proof: proofs/session/training/marginals.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
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

_ROWS: Final = "rows"


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
        own = {one.name: one for one in self._query.attributes}
        found = self._run(self._query.marginal(names)).open_for_noise()
        places, is_known = np.zeros(len(found.amounts[0]), dtype=np.int64), np.ones(len(found.amounts[0]), dtype=bool)
        for name, keys in zip(names, found.keys, strict=True):
            codes = own[name].codes(keys)
            is_known &= codes >= 0
            places = places * own[name].size + codes
        counts = np.zeros(self._query.size(names), dtype=np.int64)
        np.add.at(counts, places[is_known], np.array(found.amounts[0], dtype=np.int64)[is_known])
        return Secret(counts)


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
