"""How far two tables are apart: marginals of one, two and three columns, and how columns depend on each other."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, prod, sqrt
from statistics import fmean
from typing import Final, TypeAlias

import numpy as np

from sfumato.datasets.draws import uniforms
from sfumato.synth.reports.rows import CodedRows, cells_of, counted

Sizes: TypeAlias = Mapping[str, int]
Columns: TypeAlias = tuple[str, ...]

MOST_TRIPLES: Final = 100
"""Of three columns so many groups are looked at, as in the contest [RTMT21]."""

_BEST: Final = 1_000_000
"""The score of equal tables [RTMT21]."""

_DENSE: Final = 1 << 22
"""So many combinations are counted in an array; of more only those that rows have."""


def groups_of(names: Sequence[str], size: int, *, seed: int) -> tuple[Columns, ...]:
    """All groups of some columns; of three columns a hundred at most, drawn at random.

    Example:
        >>> groups_of(["age", "sex", "pay"], 2, seed=0)
        (('age', 'sex'), ('age', 'pay'), ('sex', 'pay'))
        >>> len(groups_of([str(number) for number in range(12)], 3, seed=0))
        100
    """
    found = list(combinations(names, size))
    if size <= 2 or comb(len(names), size) <= MOST_TRIPLES:  # noqa: PLR2004 # pairs
        return tuple(found)
    first = np.argsort(uniforms(seed, "triples", len(found)), kind="stable")[:MOST_TRIPLES]
    return tuple(found[place] for place in sorted(first.tolist()))


def total_variation(one: CodedRows, other: CodedRows, sizes: Sizes, columns: Sequence[str]) -> float:
    """½·Σ |p − q| over all combinations of values, p and q the shares of rows that have one: from 0 to 1.

    Both have at least one row.

    Example:
        >>> one, other = {"sex": np.array([0, 0, 0, 1])}, {"sex": np.array([0, 1])}
        >>> total_variation(one, other, {"sex": 2}, ["sex"])
        0.25
    """
    if prod(sizes[column] for column in columns) <= _DENSE:
        counts = [counted(rows, sizes, columns) for rows in (one, other)]
    else:
        cells = [cells_of(rows, sizes, columns) for rows in (one, other)]
        _, places = np.unique(np.concatenate(cells), return_inverse=True)
        parts = np.split(places, [len(cells[0])])
        counts = [np.bincount(part, minlength=int(places.max()) + 1) for part in parts]
    shares = [count / count.sum() for count in counts]
    return float(np.abs(shares[0] - shares[1]).sum()) / 2


def distances(one: CodedRows, other: CodedRows, sizes: Sizes, groups: Sequence[Columns]) -> dict[Columns, float]:
    """The total variation distance of the marginal of each group of columns."""
    return {columns: total_variation(one, other, sizes, columns) for columns in groups}


def contest_score(triples: Mapping[Columns, float]) -> float | None:
    """10^6·(1 − mean of ½·Σ |p − q|) over groups of three columns; None where there is none.

    It is the score of marginals in NIST's contest of 2018, which drew groups of three columns at random [RTMT21]. Here
    bins are those of the synthesis.

    Example:
        >>> contest_score({("age", "sex", "pay"): 0.25, ("age", "sex", "ill"): 0.05})
        850000.0
    """
    return _BEST * (1 - fmean(triples.values())) if triples else None


def association(rows: CodedRows, sizes: Sizes, pair: Sequence[str]) -> float:
    """How much two columns depend on each other, by their values or bins, from 0 to 1: Cramér's V [Cra46].

        V = √(χ²/n / (min(r, c) − 1)),    r and c the number of values that some row has,

    and 0 where a column has one value alone.

    Example:
        >>> rows = {"sex": np.array([0, 0, 1, 1]), "ill": np.array([0, 0, 1, 0])}
        >>> round(association(rows, {"sex": 2, "ill": 2}, ["sex", "ill"]), 6)
        0.57735
    """
    counts = counted(rows, sizes, pair).reshape(sizes[pair[0]], sizes[pair[1]])
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)].astype(np.float64)
    least = min(counts.shape) - 1
    if least < 1:
        return 0.0
    both = counts.sum(axis=1)[:, np.newaxis] * counts.sum(axis=0)
    return min(1.0, sqrt(max(0.0, float((counts**2 / both).sum()) - 1) / least))


def bootstrap(rows: CodedRows, *, seed: int) -> CodedRows:
    """As many rows, drawn with replacement: what another sample of the same size would be, about."""
    n = len(next(iter(rows.values())))
    drawn = np.minimum((uniforms(seed, "bootstrap", n) * n).astype(np.int64), n - 1)
    return {name: column[drawn] for name, column in rows.items()}


def independent(rows: CodedRows, *, seed: int) -> CodedRows:
    """The same columns, each in an order of its own, so that none depends on another."""
    return {
        name: column[np.argsort(uniforms(seed, f"order of {name}", len(column)), kind="stable")]
        for name, column in rows.items()
    }
