"""A grid of all rows into cells: one group of each attribute, of which one after the other is specialized."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.synth.generalization.hierarchies import Node

Whole: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Specialization:
    """A group of an attribute, and the groups that take its place.

    Attributes:
        attribute: The place of the attribute.
        group: The place of the group.
        parts: What takes its place.
    """

    attribute: int
    group: int
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class CellGrid:
    """The groups of each attribute; together they are cells, the last attribute fastest.

    Each value of an attribute is in one of its groups, so each row is in one cell. Nothing follows from rows.

    Attributes:
        groups: The groups of each attribute.

    Example:
        >>> from sfumato.query.model.kinds import Kind
        >>> from sfumato.session.training.attributes import Attribute
        >>> from sfumato.synth.generalization.hierarchies import hierarchy_of
        >>> sex = hierarchy_of(Attribute(name="sex", kind=Kind.TEXT, values=("f", "m"), missing="missing"))
        >>> start = CellGrid(((sex,),))
        >>> (only,) = start.candidates(most_cells=3)
        >>> start.cells, start.specialized(only).cells, start.candidates(most_cells=2)
        (1, 3, ())
    """

    groups: tuple[tuple[Node, ...], ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many groups each attribute has."""
        return tuple(map(len, self.groups))

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(self.lengths)

    def candidates(self, *, most_cells: int) -> tuple[Specialization, ...]:
        """All specializations of one group after which there are so many cells at most, in a fixed order."""
        found = []
        for place, groups in enumerate(self.groups):
            room = most_cells // (self.cells // len(groups)) - len(groups) + 1
            found += [
                Specialization(attribute=place, group=number, parts=parts)
                for number, group in enumerate(groups)
                for parts in group.specializations
                if len(parts) <= room
            ]
        return tuple(found)

    def specialized(self, chosen: Specialization) -> "CellGrid":
        """The grid with the parts of one group in its place."""
        own = self.groups[chosen.attribute]
        groups = list(self.groups)
        groups[chosen.attribute] = (*own[: chosen.group], *chosen.parts, *own[chosen.group + 1 :])
        return replace(self, groups=tuple(groups))

    def replayed(self, choices: Sequence[int], *, most_cells: int) -> "CellGrid":
        """The grid after some choices, each the place of a candidate."""
        found = self
        for place in choices:
            found = found.specialized(found.candidates(most_cells=most_cells)[place])
        return found

    def numbers(self, attribute: int, codes: Whole) -> Whole:
        """The places of the groups that values of an attribute are in.

        Args:
            attribute: Its place.
            codes: The numbers of the values.
        """
        groups = self.groups[attribute]
        of_code = np.zeros(sum(len(group.codes) for group in groups), dtype=np.int64)
        for place, group in enumerate(groups):
            of_code[list(group.codes)] = place
        found: Whole = of_code[codes]
        return found

    def cells_of(self, codes: Whole) -> Whole:
        """The cell of each row.

        Args:
            codes: One row a row, one column an attribute.
        """
        cells = np.zeros(len(codes), dtype=np.int64)
        for place, groups in enumerate(self.groups):
            cells = cells * len(groups) + self.numbers(place, codes[:, place])
        return cells

    def groups_of(self, cells: Whole) -> Whole:
        """The places of the groups that cells are of, one row a cell, one column an attribute."""
        found = np.empty((len(cells), len(self.groups)), dtype=np.int64)
        left = cells
        for place in reversed(range(len(self.groups))):
            left, found[:, place] = np.divmod(left, len(self.groups[place]))
        return found
