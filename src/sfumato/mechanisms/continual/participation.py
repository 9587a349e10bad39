"""How often one privacy unit is in a stream, and how far it then moves what is measured.

A column of a strategy C says how an event at one tick moves the measurements C·x. A unit that is in several ticks moves
them by the sum of several columns, each times what it adds there.
"""

from dataclasses import dataclass
from typing import Final

from sfumato.numeric.rationals import positive_integer, set_fields


@dataclass(frozen=True, slots=True, init=False)
class Participation:
    """One privacy unit has events in at most `most` ticks, one event in each, at least `separation` ticks apart.

    The default, once, protects a single event. Whoever feeds a counter must enforce more: a counter sees sums.

    Args:
        most: The most ticks of the horizon in which one unit has an event.
        separation: The least distance of two such ticks; 1 where they may follow each other.

    Raises:
        ParameterError: One of them is no positive integer.

    Example:
        >>> weekly = Participation(most=4, separation=7)
        >>> weekly.within(horizon=20), weekly.in_a_run(8)
        (3, 2)
    """

    most: int
    separation: int

    def __init__(self, most: int = 1, separation: int = 1) -> None:
        set_fields(self, most=positive_integer(most, "most"), separation=positive_integer(separation, "separation"))

    def within(self, horizon: int) -> int:
        """The most ticks of a horizon in which one unit can be."""
        return min(self.most, self.in_a_run(horizon))

    def in_a_run(self, ticks: int) -> int:
        """The most ticks of so many that follow each other, if only the separation holds."""
        return -(-ticks // self.separation)

    def nodes_squared(self, levels: int, horizon: int) -> int:
        """At least Σ m² over the nodes of a binary tree, where a unit is m times below a node.

        A node of level l has 2^l ticks, so at most M = ⌈2^l/separation⌉ of them; Σ m² over a level, with Σ m fixed, is
        largest if as many nodes as possible have M. For one participation it is exact: the number of levels.

        Example:
            >>> Participation().nodes_squared(11, 1024), Participation(2).nodes_squared(3, 4)
            (11, 10)
        """
        times, total = self.within(horizon), 0
        for level in range(levels):
            packed = min(times, self.in_a_run(1 << level))
            full, rest = divmod(times, packed)
            total += full * packed**2 + rest**2
        return total


ONCE: Final = Participation()
