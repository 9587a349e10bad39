"""How many rows joins may make of one: where no engine could hold them they are refused, whoever is in the data.

An engine fails where a relation is too large for it, and that it failed would tell that somebody has rows.
"""

from typing import Final

from sfumato.errors import ParameterError
from sfumato.query.analysis.bounding import Seen, matches, most_rows
from sfumato.query.model.relations import Bound, Grouped, Join, Relation, Source, UnionAll, inputs, lineage

MAX_ROWS_MADE: Final = 10**7
"""How many rows joins may make of those of one unit, or of one row where nothing limits those."""


def check_growth(relation: Relation) -> None:
    """Refuse joins that could make more rows of one unit than an engine holds.

    Raises:
        ParameterError: They could, by the limits and the matches that the policy declares.
    """
    seen: Seen = {}
    made = max(rows_made(step, seen) for step in lineage(relation))
    if made > MAX_ROWS_MADE:
        raise ParameterError(
            "question", f"joins that may make {made:,} rows of one unit",
            f"must make at most {MAX_ROWS_MADE:,}: join on columns that the policy declares to be unique, "
            "fold the rows of a unit before you join them, or lower the limits of rows",
        )  # fmt: skip


def rows_made(relation: Relation, seen: Seen) -> int:
    """How many rows a relation may have of one unit, or of each of its rows where it is not known how many it has."""
    match relation:
        case Source(table):
            return most_rows(table.limits) or 1
        case Join(left=left):
            return rows_made(left, seen) * matches(relation, seen)
        case UnionAll(left, right):
            return rows_made(left, seen) + rows_made(right, seen)
        case Grouped(keys=()):
            return 1
        case Bound(child, most):
            return min(most, rows_made(child, seen))
        case _:
            return rows_made(inputs(relation)[0], seen)
