"""The rows of least hash of each group of rows, in Polars: how `Bound` and declared matches leave rows out."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from sfumato.engines.frames.hash import message, rank_hash

_COUNT, _HASH = "n", "h"
PLACE: Final = pl.int_range(pl.len())
"""The place of a row in its frame, or over a group of rows in that group."""


def least_ranked(
    frame: pl.LazyFrame, most: int, *, within: Sequence[str], salt: str, encodings: Sequence[pl.Expr],
    ties: Sequence[str] = (),
) -> pl.LazyFrame:  # fmt: skip
    """The `most` rows of least hash of each group.

    No hash is made of the rows of a group that has no more than that.

    Args:
        frame: All rows.
        most: How many of each group are kept.
        within: The columns that groups are told apart by.
        salt: The salt of the hash.
        encodings: What is hashed, as `encoded` gives it.
        ties: Columns that order rows of one hash; without any, such rows are equal.
    """
    counted = frame.with_columns(pl.len().over(within).alias(_COUNT)).cache()  # a query read twice may give two things
    few, many = counted.filter(pl.col(_COUNT) <= most), counted.filter(pl.col(_COUNT) > most)
    ordered = many.with_columns(rank_hash(message(salt, encodings)).alias(_HASH)).sort(_HASH, *ties)
    return pl.concat([few.drop(_COUNT), ordered.filter(PLACE.over(within) < most).drop(_COUNT, _HASH)])
