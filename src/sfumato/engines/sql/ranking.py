"""The rows of least hash of each group of rows, in SQL: how `Bound` and declared matches leave rows out."""

from collections.abc import Sequence

from sqlglot import exp

from sfumato.engines.sql.hash import rank_text
from sfumato.engines.sql.queries import select, window
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.terms import Sql, aliased, any_of, case, column, figure, function, operation

_COUNT, _HASH, _PLACE = "n", "h", "p"


def least_ranked(
    rows: Rows,
    most: int,
    *,
    within: Sequence[Sql],
    salt: str,
    encodings: Sequence[Sequence[Sql]],
    kept: Sequence[Sql] = (),
) -> exp.Select:
    """The `most` rows of least hash of each group; rows of one hash are equal.

    No hash is made of the rows of a group that has no more than that.

    Args:
        rows: All rows.
        most: How many of each group are kept.
        within: What groups are told apart by.
        salt: The salt of the hash.
        encodings: What is hashed, as `encoded` gives it.
        kept: What rows are kept in any case.
    """
    own, limit = [column(name) for name in rows.selected], figure(most)
    count = window(function("COUNT", exp.Star()), within)
    counted = select([*own, aliased(count, _COUNT)], rows.query)
    hashed = case([(operation(exp.GT, column(_COUNT), limit), rank_text(salt, encodings))])
    ordered = rows.with_units(select([*own, aliased(hashed, _HASH)], counted))
    place = window(function("ROW_NUMBER"), within, [column(_HASH)])
    placed = select([*own, aliased(place, _PLACE)], ordered)
    return select(own, placed, where=[any_of([*kept, operation(exp.LTE, column(_PLACE), limit)])])
