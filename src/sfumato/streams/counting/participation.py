"""The memory of who took part when: a counter's guarantee holds because it enforces this, whatever comes in.

It costs one entry for each unit that ever took part, for as long as the counter runs. It is as secret as the events.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.lattice import is_missing
from sfumato.numeric.arguments import of_kind

Unit: TypeAlias = str | int
Taken: TypeAlias = list[tuple[Unit, int]]

_STEPS: Final = 40  # bits of a step, below the count of participations


class ParticipationMemory:
    """Which units took part how often, and at which step last.

    An event is accepted iff its unit has taken part fewer than `most` times, and last at least `separation` steps
    before. Each unit is decided by itself, so that the events of one never change what is accepted of another.

    Args:
        participation: How often a unit may take part, and how far apart.

    Example:
        >>> memory = ParticipationMemory(Participation(most=2, separation=7))
        >>> [memory.accepts("ann", step) for step in (1, 5, 8, 20)], memory.accepts("bob", 5)
        ([True, False, True, False], True)
    """

    def __init__(self, participation: Participation) -> None:
        self.participation = of_kind(participation, "participation", Participation, "a Participation")
        self._known: dict[Unit, int] = {}
        self._taken: Taken = []

    def __len__(self) -> int:
        """How many units have taken part; as secret as the events."""
        return len(self._known)

    def accepts(self, unit: Any, step: int) -> bool:
        """Whether an event of a unit at a step counts; if so, it is remembered. One without a unit never counts.

        Raises:
            ParameterError: The unit is neither text nor a whole number.
        """
        found = unit_of(unit)
        return found is not None and self._accepts(found, step)

    def accept_many(self, units: Iterable[Any], which: Sequence[int], steps: Sequence[int]) -> NDArray[np.bool_]:
        """`accepts` of some of these units, one after the other.

        Args:
            units: The units of events.
            which: Which of the events, in the order in which they count.
            steps: The steps of those.

        Raises:
            ParameterError: A unit is neither text nor a whole number; then none is remembered.
        """
        found, accepts = units_of(units), self._accepts
        return np.fromiter(
            ((unit := found[at]) is not None and accepts(unit, step) for at, step in zip(which, steps, strict=True)),
            dtype=np.bool_, count=len(which),
        )  # fmt: skip

    def taken(self) -> Taken:
        """Who took part since this was asked last, in order: what `recall` needs to know it again."""
        taken, self._taken = self._taken, []
        return taken

    def recall(self, taken: Iterable[tuple[Unit, int]]) -> None:
        """Know again who took part."""
        for unit, step in taken:
            self._known[unit] = self._known.get(unit, 0) + (1 << _STEPS) >> _STEPS << _STEPS | step

    def _accepts(self, unit: Unit, step: int) -> bool:
        known = self._known.get(unit)
        if known is None:
            count = 1
        else:
            count, last = (known >> _STEPS) + 1, known & (1 << _STEPS) - 1
            if count > self.participation.most or step < last + self.participation.separation:
                return False
        self._known[unit] = count << _STEPS | step
        self._taken.append((unit, step))
        return True


def units_of(units: Iterable[Any]) -> list[Unit | None]:
    """The units of events; None where there is none.

    Raises:
        ParameterError: Something is neither text nor a whole number.
    """
    for exactly in ("to_list", "to_pylist", "tolist"):
        if hasattr(units, exactly):
            units = getattr(units, exactly)()
            break
    items = list(units)
    kinds = set(map(type, items))
    return items if kinds <= {str, int} else [unit_of(item) for item in items]


def unit_of(unit: Any) -> Unit | None:
    """The unit of an event as text or a whole number; None where it is missing, as pandas and Arrow write that too.

    Raises:
        ParameterError: It is neither.

    Example:
        >>> unit_of("ann"), unit_of(7.0), unit_of(float("nan")), unit_of(None)
        ('ann', 7, None, None)
    """
    if isinstance(unit, str):
        return str(unit)
    if is_missing(unit):
        return None
    if isinstance(unit, int | np.integer):
        return int(unit)
    if isinstance(unit, float | np.floating):
        return int(unit) if math.isfinite(unit) and unit == math.floor(unit) else None
    raise ParameterError("unit", type(unit).__name__, "must be text or whole numbers; write other ids as text")
