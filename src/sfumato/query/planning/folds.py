"""Statistics inside of a sub-query: exact folds of the rows of one group, which no noise covers and nobody is shown."""

from collections.abc import Collection

from sfumato.errors import NotPrivateError
from sfumato.query.analysis.shape import Shape, shape_of
from sfumato.query.analysis.units import NO_TIES, UNIT, ties_of
from sfumato.query.model.expressions import ColumnRef, Expression
from sfumato.query.model.relations import Fold, Folded, Grouped, Relation, Select
from sfumato.query.statistics.statistic import Statistic


def folded(name: str, statistic: Statistic, shape: Shape) -> Folded:
    """The fold of the rows of each group that a statistic stands for.

    Args:
        name: What the column is called.
        statistic: COUNT, COUNT(x), COUNT(DISTINCT x), SUM, AVG, MIN or MAX; SUM and AVG perhaps of clamped values.
        shape: What is known of the rows.

    Raises:
        NotPrivateError: It is another statistic.
        ParameterError: A column does not exist, or is of the wrong kind.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> from sfumato.query.statistics.counts import CountRows
        >>> folded("n", CountRows(), shape_of(Source(Table(name="t", columns={"age": integer()})))).fold.value
        'count_rows'
    """
    fold = statistic.fold(name, shape)
    if fold is None:
        raise NotPrivateError(
            f"{statistic.stored.tag} in a sub-query",
            "a sub-query has the exact folds of single groups only",
            "Fold by count, count_distinct, sum, mean, min or max, or ask for it outside.",
        )
    return fold


def grouped(rows: Relation, keys: Collection[str], folds: Collection[Folded], *, used: Collection[str]) -> Grouped:
    """One row for each group, of which `used` columns are read.

    Units are kept apart anyway, so a key that holds the unit is none: it is the one value that a group has of it.
    """
    ties = ties_of(rows)
    units = [key for key in keys if UNIT in ties.get(key, NO_TIES)]
    others = tuple(key for key in keys if key not in units)
    has_columns = bool(others or folds)
    carried = [Folded(name, Fold.MIN, ColumnRef(name)) for name in units if name in used or not has_columns]
    return Grouped(rows, others, (*carried, *folds))


def with_columns(relation: Relation, columns: tuple[tuple[str, Expression], ...]) -> Relation:
    """Some columns of a relation, which stays as it is if they are its own in their order."""
    own = tuple((name, ColumnRef(name)) for name in shape_of(relation).columns)
    return relation if columns == own else Select(relation, columns)
