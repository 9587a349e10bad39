"""Time classes: how long a query takes is chosen from its plan and public declarations, and never tells of data.

    class = quantum · 2^k, the least such time ≥ Σ over statements: declared rows · (1 + work a row / 32) / speed

An answer is kept back until the end of its class before anybody can see it, and the next query of the dataset begins
only then: so neither an answer's time nor the time that others wait in a queue depends on rows. If the work itself
takes longer than its class, the answer waits for the next doubling, and the owner is told: which doubling it was is
outside of the guarantee.
"""

import math
import time
from collections.abc import Callable, Iterator
from typing import Final

from sfumato.query.analysis.work import statement_work
from sfumato.query.model.statement import Statement
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.planning.plan import PrivatePlan

STEPS_A_ROW: Final = 32
"""How many steps of expressions take as long as reading a row."""


def time_class(plan: PrivatePlan | BatchPlan, *, declared_rows: int, rows_per_second: float, quantum: float) -> float:
    """The seconds that an answer takes, whatever the data are.

    Args:
        plan: What is computed.
        declared_rows: How many rows the owner says that the data have, about; publicly.
        rows_per_second: How many rows this machine reads in a second, about.
        quantum: The shortest class; with 0 no time is added, and time tells of data.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(sf.datasets.votes(), name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
        >>> from sfumato.privacy.guarantees import guarantee
        >>> from sfumato.session.asking.planning import prepare
        >>> question = votes.query("SELECT COUNT(*) AS n FROM votes WHERE sport = 'Tennis'")
        >>> plan = prepare(votes.desk, question.relation.child, text="", total=guarantee(1)).plan
        >>> [time_class(plan, declared_rows=rows, rows_per_second=1e6, quantum=0.05) for rows in (1_000, 10**6)]
        [0.05, 1.6]
    """
    if not quantum:
        return 0.0
    predicted = (
        sum(1 + statement_work(one) / STEPS_A_ROW for one in _statements(plan)) * declared_rows / rows_per_second
    )
    return quantum * 2.0 ** max(0, math.ceil(math.log2(predicted / quantum)))


def _statements(plan: PrivatePlan | BatchPlan) -> Iterator[Statement]:
    """All that an engine runs for a plan."""
    for section in plan.sections:
        yield from section.statements
    if isinstance(plan, BatchPlan):
        yield from (workload.statement for workload in plan.workloads)
    elif plan.bounds is not None:
        yield from plan.bounds.section.statements


class Pace:
    """The time of one answer, from now on.

    Args:
        seconds: Its time class; 0 waits for nothing.
        clock: Tells seconds.
        sleep: Waits for seconds.

    Attributes:
        doublings: How often the class had to be doubled.
    """

    def __init__(
        self,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds, self._clock, self._sleep = seconds, clock, sleep
        self._begun = clock()
        self.doublings = 0

    def wait(self) -> None:
        """Wait for the end of the class; or of the next doubling of it that is not over yet."""
        if not self._seconds:
            return
        taken = self._clock() - self._begun
        while self._seconds * 2**self.doublings < taken:
            self.doublings += 1
        self._sleep(max(0.0, self._begun + self._seconds * 2**self.doublings - self._clock()))
