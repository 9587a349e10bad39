"""PrivBayes: a network in which each column depends on a few earlier ones, chosen privately and then measured.

Proof: proofs/synth/methods/privbayes.md.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.synth.methods.aim import LARGEST, MEAN
from sfumato.synth.methods.measuring import Measuring
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.factors import Floats
from sfumato.synth.models.shape import Columns, TableShape

_DEGREE: Final = 2
"""On how many columns one depends, at most."""

_FOR_COLUMNS: Final = Fraction(1, 5)
"""The share of ρ for single columns."""

_FOR_CHOICES: Final = Fraction(3, 10)
"""The share of ρ for the network; the rest is for its tables."""

_USEFUL: Final = 4
"""A table is useful if its mean count is so many times the mean noise on one."""

_WHOLE: Final = 1 << 16
"""The sum of the shares of a column, as whole numbers."""


def measure_network(measuring: Measuring, names: Columns, stated: Stated) -> None:
    """Measure each column, and the tables of a network of degree two [ZCPSX17].

    A fifth of ρ is for columns, three tenths are for the network, and a half is for its tables. One column after the
    other joins the network: with up to two earlier ones on which it depends most. A table has at most so many cells
    that the mean count is four times the mean noise, by the noisy number of rows. As many earlier columns are taken as
    that and the memory of a model allow. Columns that can join none stay independent.

    Args:
        measuring: What chooses and measures.
        names: The columns.
        stated: What is impossible.
    """
    rho, rounds = measuring.left, max(1, len(names) - 1)
    singles = measuring.measure_and_merge(names, rho * _FOR_COLUMNS, stated.rule)
    shape = TableShape(dict(zip(names, measuring.lengths(names), strict=True)))
    shares = {one.columns[0]: shares_of(one.counts) for one in singles}
    noise = MEAN * measuring.stddev(rho * (1 - _FOR_COLUMNS - _FOR_CHOICES) / rounds)
    most = int(stated.fit(shape, singles).total / (_USEFUL * noise))
    families: list[Columns] = []
    joined: set[str] = set()
    while len(joined) < len(names):
        found = [
            own for own in _families(shape, joined, most) if stated.fits(shape, [*families, own], LARGEST)
        ]  # fmt: skip
        if not found:
            break
        chosen = measuring.choose_child(_largest(found), shares, rho * _FOR_CHOICES / rounds)
        families.append(chosen)
        joined.update(chosen)
    tables = [shape.ordered(own) for own in families] or [(name,) for name in names]
    cost = measuring.left / len(tables)
    for columns in tables:
        measuring.measure(columns, cost)


def shares_of(counts: Floats) -> npt.NDArray[np.int64]:
    """Which share each value has by noisy counts, as whole numbers of which the sum is 2^16; alike if all are below 0.

    Example:
        >>> shares_of(np.array([30.0, 10.0, -2.0])).tolist()
        [49152, 16384, 0]
    """
    kept = np.maximum(counts, 0)
    if kept.sum() <= 0:
        kept = np.ones(len(counts))
    ends = np.rint(np.cumsum(kept) / kept.sum() * _WHOLE).astype(np.int64)
    shares: npt.NDArray[np.int64] = np.diff(ends, prepend=0)
    return shares


def _families(shape: TableShape, joined: set[str], most: int) -> Iterator[Columns]:
    """Columns that are not in the network, each with some that are; in an empty one, with any other column."""
    for name in shape.sizes:
        if name in joined:
            continue
        others = [other for other in shape.sizes if other in joined] if joined else set(shape.sizes) - {name}
        for size in range(1, _DEGREE + 1 if joined else 2):
            for parents in combinations(sorted(others, key=list(shape.sizes).index), size):
                if shape.cells([name, *parents]) <= most:
                    yield name, *parents


def _largest(families: Sequence[Columns]) -> list[Columns]:
    """Those that are no part of another one of the same column."""
    within = {(own[0], frozenset(own[1:]) - {name}) for own in families for name in own[1:]}
    return [own for own in families if (own[0], frozenset(own[1:])) not in within]
