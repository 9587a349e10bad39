"""Where centers start: far from one another within the declared bounds, whatever the data.

They are chosen among points of a sequence that fills the bounds evenly. So they are the same for the same columns, and
cost nothing.
"""

from typing import Final

import numpy as np

from sfumato.learn.linear.design import UNIT, Design, Matrix
from sfumato.session.training.columns import Codes

_CANDIDATES: Final = 2_048
"""Among how many points the centers are chosen, at least."""


def packed_starts(design: Design, clusters: int) -> tuple[tuple[int, ...], ...]:
    """Centers that lie far from one another, and half as far from the bounds, in lattice steps.

    One after the other, the point is taken whose distance to the others, or twice that to the nearest bound, is
    largest. Spheres of one radius around them would then hardly overlap, nor leave the bounds.

    Args:
        design: The features.
        clusters: How many centers there are.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.learn.linear.design import centered_design
        >>> from sfumato.session.training.columns import TrainingColumn
        >>> age = TrainingColumn(name="age", lower=Fraction(0), upper=Fraction(100))
        >>> design = centered_design([age], norm=None, l1_norm=None, is_of_columns=False)
        >>> [round(start / UNIT, 1) for (start,) in packed_starts(design, 3)]
        [0.0, 0.7, -0.7]

    References:
        [SCLBJ16] packs spheres by chance; [Rob18] for the sequence.
    """
    points = design.rows(_even_codes(design, max(_CANDIDATES, 4 * clusters)))
    numbers = [place for place, is_number in enumerate(_are_numbers(design)) if is_number]
    inside = 2 * (UNIT - np.abs(points[:, numbers]).max(axis=1, initial=0.0))
    reach = inside**2 if numbers else np.full(len(points), np.inf)
    chosen: list[tuple[int, ...]] = []
    for _ in range(clusters):
        point = points[int(np.argmax(reach))]
        chosen.append(tuple(int(step) for step in point))
        reach = np.minimum(reach, ((points - point) ** 2).sum(axis=1))
    return tuple(chosen)


def _even_codes(design: Design, size: int) -> Codes:
    """Codes of points that fill the bounds evenly: fractions of multiples of powers of a generalized golden ratio."""
    columns = design.columns
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (len(columns) + 1))
    powers = ratio ** -(1.0 + np.arange(len(columns)))
    shares = (0.5 + np.outer(np.arange(size), powers)) % 1.0
    codes = np.floor(shares * [column.steps + 1 for column in columns])
    return np.minimum(codes, [column.steps for column in columns]).astype(np.int32)


def _are_numbers(design: Design) -> Matrix:
    """Whether each feature is a number."""
    found: list[bool] = []
    for column in design.columns:
        found += [True] if column.is_number else [False] * len(column.values or ())
    return np.array(found)
