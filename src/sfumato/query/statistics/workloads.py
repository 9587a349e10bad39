"""Counts and sums that several ways to group have in common, measured together as a workload over one histogram."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.mechanisms.workloads.queries import Floats, Subsets
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism
from sfumato.privacy.events import Event
from sfumato.query.model.statement import KeyColumn, Statement


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """One measure of the rows of one statement, by all keys that some questions group by.

    Attributes:
        statement: The histogram: one measure, and one key for each axis. Every row is in a cell, also those that no
            question asks for, NULL among them.
        mechanism: What answers all groups of queries, which name axes as the statement names its keys.
    """

    statement: Statement
    mechanism: WorkloadMechanism

    @property
    def event(self) -> Event:
        """The event of all that is measured."""
        return self.mechanism.event

    def widths(self, confidence: Fraction) -> tuple[Floats, ...]:
        """The half-widths of the intervals of all answers, in lattice steps; arrays as those of the answers."""
        return self.mechanism.accuracy(confidence)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedCells:
    """One number of each group of a section, as it follows from a workload; a float.

    Attributes:
        statement: The statement of the section that would measure it alone.
        workload: What measures it.
        axes: For each key of the section its axis.
        group: The queries that are its groups.
        running: For each key by which running sums are asked, the queries that are those sums.
    """

    statement: int
    workload: Workload
    axes: tuple[int, ...]
    group: int
    running: tuple[tuple[str, int], ...] = ()

    @property
    def event(self) -> Event:
        """The event of the whole workload."""
        return self.workload.event

    def by_group(self, numbers: Floats, keys: Sequence[KeyColumn]) -> list[float]:
        """Numbers of queries in the order of the histogram's axes, as one list in the order of the groups.

        Args:
            numbers: One axis for each that the queries name; those that are no key of the section have one number.
            keys: The keys of the section.
        """
        plan = self.workload.mechanism.plan
        named = [axis for axis, (name, _) in enumerate(plan.columns) if name in dict(plan.workload[self.group].kinds)]
        own = numbers.squeeze(axis=tuple(place for place, axis in enumerate(named) if axis not in self.axes))
        order = sorted(self.axes)
        own = own.transpose([order.index(axis) for axis in self.axes])
        return [float(number) for number in own[np.ix_(*map(self._places, self.axes, keys))].reshape(-1)]

    def _places(self, axis: int, key: KeyColumn) -> list[int]:
        """Where the values of a key are among the queries; a truth equals the 0 or 1 that stands for it there."""
        is_chosen = isinstance(self.workload.mechanism.plan.kinds[self.group][axis], Subsets)
        values = sorted(key.values or ()) if is_chosen else self.workload.statement.keys[axis].values or ()
        listed = {value: place for place, value in enumerate(values)}
        return [listed[value] for value in key.values or ()]
