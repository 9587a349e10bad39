"""Baskets of a query: which of some declared items each unit has in any of its rows, for what was charged.

An engine folds the rows of a unit to one, which has its items as the bits of a few whole numbers, and counts how many
units have the same. So a unit is in one basket whatever its rows are, and no row leaves the engine.

Proof: proofs/session/training/baskets.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.numeric.arguments import is_one_of
from sfumato.privacy.codec import Json
from sfumato.privacy.secret import Secret
from sfumato.query.analysis.bounding import bound_joins, limits_of, ungrouped
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.sizes import check_growth, check_size
from sfumato.query.analysis.stability import reach_of
from sfumato.query.analysis.work import check_work
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, Expression, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Fold, Folded, GroupBy, Grouped, Relation, Select
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import KeyColumn, RowCount, Statement
from sfumato.query.planning.questions import Aggregate
from sfumato.query.statistics.counts import CountRows
from sfumato.session.training.plan import Run

MOST_ITEMS: Final = 1_000
"""How many items may be declared."""

BITS: Final = 40
"""So many items have their bits in one whole number."""

_ROWS: Final = "baskets"

Words: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BasketCounts:
    """The different baskets of all units, which only a fit may see; nothing of them is shown.

    Attributes:
        words: One row a basket; item k is in it if bit k mod 40 of its word k div 40 is set.
        counts: How many units have each.
    """

    words: Words = field(repr=False)
    counts: npt.NDArray[np.int64] = field(repr=False)

    def has(self, item: int) -> npt.NDArray[np.bool_]:
        """For each basket whether an item is in it."""
        found: npt.NDArray[np.bool_] = (self.words[:, item // BITS] >> (item % BITS) & 1).astype(np.bool_)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BasketQuery:
    """What is read for baskets: one row a unit, with the bits of its items.

    Attributes:
        question: The words of all units, and how many are alike, as a question.
        statement: What an engine runs.
        items: The declared items, in the order of their bits.
    """

    question: Aggregate
    statement: Statement
    items: tuple[Key, ...]

    @property
    def lattices(self) -> Json:
        """What each bit is, for the key under which what was released is stored."""
        return [repr(item) for item in self.items]

    @property
    def rows_per_unit(self) -> int:
        """How many baskets a unit has: 1."""
        return reach_of(self.statement).rows

    def read(self, run: Run) -> Secret[BasketCounts]:
        """The baskets, for a fit alone."""
        found = run(self.statement).open_for_noise()
        counts = np.array(found.amounts[0], dtype=np.int64)
        words = np.zeros((len(counts), len(self.statement.keys)), dtype=np.int64)
        for place, keys in enumerate(found.keys):
            most = (1 << min(BITS, len(self.items) - place * BITS)) - 1
            words[:, place] = np.fromiter(keys, dtype=np.int64, count=len(counts)) & most
        return Secret(BasketCounts(words=words, counts=counts))


def basket_query(relation: Relation, *, item: str) -> BasketQuery:
    """What is read for baskets.

    A row whose item is missing or not listed adds nothing to the basket of its unit.

    Args:
        relation: The rows.
        item: The column of items, which has listed values.

    Raises:
        ParameterError: There is no such column.
        UnboundedSensitivityError: It has no listed values, or more than 1,000.
        NotPrivateError: Rows have no unit that may have several.
    """
    shape = shape_of(relation)
    if not is_one_of(item, shape.columns):
        raise ParameterError("item", item, f"must be one of: {', '.join(shape.columns)}")
    items = shape.column(item).values
    if items is None or len(items) > MOST_ITEMS:
        raise UnboundedSensitivityError(
            "baskets", item, f"Declare its values in the policy, at most {MOST_ITEMS:,}: sf.text(values=[...])."
        )
    if shape.metric is not Metric.UNITS:
        raise NotPrivateError(
            "baskets of rows that are units", "each row is a unit, so that a basket would have one item",
            "Declare the unit: the column that says whose basket a row is in.",
        )  # fmt: skip
    folded = _folded(relation, item, items)
    check_size(folded)
    check_growth(folded)
    names = tuple(name for name, _ in folded.columns)
    statement = Statement(
        rows=bound_joins(folded), keys=tuple(KeyColumn(name=name, values=None) for name in names),
        measures=(RowCount(),), limits=ungrouped(limits_of(folded)),
    )  # fmt: skip
    check_work(statement)
    if reach_of(statement).rows != 1:
        raise NotPrivateError("baskets", "a unit would have several", "Name one column of items.")
    question = Aggregate(GroupBy(folded, names), ((_ROWS, CountRows()),), None)
    return BasketQuery(question=question, statement=statement, items=tuple(items))


def _folded(relation: Relation, item: str, items: Sequence[Key]) -> Select:
    """One row a unit: for each item the largest of what its rows have, the item's bit or 0; bits are then added up."""
    of_item = [
        Folded(f"i{place}", Fold.MAX, Case(((_is(item, value), _whole(1 << place % BITS)),), _whole(0)))
        for place, value in enumerate(items)
    ]
    kept = Grouped(relation, (), tuple(of_item))
    words = [of_item[start : start + BITS] for start in range(0, len(items), BITS)]
    return Select(
        kept, tuple((f"w{number}", _sum([ColumnRef(one.name) for one in word])) for number, word in enumerate(words))
    )


def _is(column: str, value: Key) -> Compare:
    constant = Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return Compare(Comparison.EQUAL, ColumnRef(column), Literal(constant))


def _whole(number: int) -> Literal:
    return Literal(Fraction(number))


def _sum(terms: Sequence[Expression]) -> Expression:
    """Terms added up, as a tree of least depth."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return Call(Function.ADD, (_sum(terms[:half]), _sum(terms[half:])))
