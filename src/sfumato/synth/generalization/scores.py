"""How good a specialization is: how many rows then have the class that is the most frequent one of their cell.

Proof: proofs/synth/generalization/scores.md.
"""

from dataclasses import dataclass, field
from math import prod

import numpy as np

from sfumato.synth.generalization.grid import CellGrid, Specialization, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRows:
    """Rows as numbers of values, which only a fit may see.

    Attributes:
        codes: Different rows, one column an attribute.
        labels: The class of each.
        amounts: How many rows are like each.
        classes: How many classes there are.
    """

    codes: Whole = field(repr=False)
    labels: Whole = field(repr=False)
    amounts: Whole = field(repr=False)
    classes: int

    def counted(self, cells: Whole, *, size: int) -> Whole:
        """How many rows of each class each of some cells has: cells × classes."""
        places = cells * self.classes + self.labels
        counts = np.zeros(size * self.classes, dtype=np.int64)
        np.add.at(counts, places, self.amounts)
        return counts.reshape(size, self.classes)


def right_rows(rows: ClassRows, grid: CellGrid, candidates: tuple[Specialization, ...]) -> list[int]:
    """For each candidate, how many rows have the most frequent class of their cell once it is chosen.

        Σ over cells of the largest count of a class

    **Guarantee**: one row that enters raises each by 0 or 1, and one that leaves lowers each by 0 or 1. So at most m
    rows that enter, or at most m that leave, or both, change each by at most m. Proof:
    proofs/synth/generalization/scores.md.

    =========================  ==============================================
    Edge case                  Behavior
    =========================  ==============================================
    no rows                    all are 0
    two classes as frequent    one of them counts
    no candidate               no number
    =========================  ==============================================

    Args:
        rows: The rows.
        grid: The cells that there are.
        candidates: Specializations of it.

    Example:
        >>> from sfumato.synth.generalization.hierarchies import Group
        >>> sex = Group(label="any", codes=(0, 1), below=(Group(label="f", codes=(0,)), Group(label="m", codes=(1,))))
        >>> rows = ClassRows(
        ...     codes=np.array([[0], [0], [1]]), labels=np.array([0, 1, 1]), amounts=np.array([9, 2, 5]), classes=2
        ... )
        >>> start = CellGrid(((sex,),))
        >>> right_rows(rows, start, start.candidates(most_cells=2))
        [14]

    References:
        [MCFY11], where rows of the specialized group alone count.
    """
    cells = grid.cells_of(rows.codes)
    at_most = rows.counted(cells, size=grid.cells).max(axis=1)
    everywhere = int(at_most.sum())
    known: dict[tuple[int, int], tuple[Whole, int]] = {}
    found = []
    for candidate in candidates:
        place = candidate.attribute, candidate.group
        if place not in known:
            own, below = grid.lengths[candidate.attribute], prod(grid.lengths[candidate.attribute + 1 :])
            before = int(at_most.reshape(-1, own, below)[:, candidate.group].sum())
            known[place] = _running(rows, grid, cells, *place), everywhere - before
        running, elsewhere = known[place]
        ends = np.cumsum([len(part.codes) for part in candidate.parts])
        inside = running[ends] - running[np.concatenate([[0], ends[:-1]])]
        found.append(elsewhere + int(inside.max(axis=2).sum()))
    return found


def _running(rows: ClassRows, grid: CellGrid, cells: Whole, attribute: int, group: int) -> Whole:
    """Running sums over the values of a group, in its order: values + 1 × cells of the other attributes × classes."""
    codes = grid.groups[attribute][group].codes
    order = np.full(sum(len(one.codes) for one in grid.groups[attribute]), -1, dtype=np.int64)
    order[list(codes)] = np.arange(len(codes))
    places = order[rows.codes[:, attribute]]
    is_in = places >= 0
    below = prod(grid.lengths[attribute + 1 :])
    others = cells[is_in] // (below * grid.lengths[attribute]) * below + cells[is_in] % below
    size = grid.cells // grid.lengths[attribute]
    inside = ClassRows(
        codes=rows.codes[is_in], labels=rows.labels[is_in], amounts=rows.amounts[is_in], classes=rows.classes
    )  # fmt: skip
    counts = inside.counted(places[is_in] * size + others, size=len(codes) * size)
    running = np.zeros((len(codes) + 1, size, rows.classes), dtype=np.int64)
    np.cumsum(counts.reshape(len(codes), size, rows.classes), axis=0, out=running[1:])
    return running
