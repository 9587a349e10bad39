"""Time classes: how long a query takes is chosen from its plan and public declarations, and never tells of data.

    class = quantum · 2^k, the least such time ≥ Σ over statements: declared rows · cost / speed + fit / speed
    cost  = tables read + pairs that joins make / 8 + most rows at once · work a row / 1,000
    fit   = declared rows · most rows at once · steps a row + other steps, of a model that is fitted

where pairs and rows are those for each declared row, as far as the limits of the policy let any data go. So what would
take too long on some data is refused before it is charged, and nobody suspends a dataset by a chain of joins.

An answer is kept back until the end of its class before anybody can see it, and the next query of the dataset begins
only then: so neither an answer's time nor the time that others wait in a queue depends on rows. If the work itself
takes longer than its class, the answer waits for the next doubling, and the owner is told: which doubling it was is
outside of the guarantee. Failures are paced as answers are.

Proof: proofs/server/work/pacing.md.
"""

import math
import time
from collections.abc import Callable, Iterator
from typing import Final

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.analysis.bounding import matches
from sfumato.query.analysis.work import statement_work
from sfumato.query.model.relations import BoundRows, Join, Relation, Source, UnionAll, inputs, lineage
from sfumato.query.model.statement import Statement
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.planning.plan import PrivatePlan
from sfumato.server.config import WorkEntry
from sfumato.session.training.ordered import OrderedFit
from sfumato.session.training.plan import FitPlan

STEPS_A_ROW: Final = 1_000
"""How many steps of expressions take as long as reading a row."""

PAIRS_A_ROW: Final = 8
"""How many pairs of a join take as long as reading a row."""


class OverlongError(Exception):
    """A query took longer than any may; that may be because of its rows, so that no answer to it may be seen."""


def time_class(plan: PrivatePlan | BatchPlan | FitPlan, work: WorkEntry, *, declared_rows: int) -> float:
    """The seconds that an answer takes, whatever the data are; ask for it before anything is charged.

    Args:
        plan: What is computed.
        work: Which classes there are, and how fast the machine is.
        declared_rows: How many rows the owner says that the data have, about; publicly.

    Raises:
        ParameterError: The class is longer than a query may take.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(sf.datasets.votes(), name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
        >>> from sfumato.privacy.guarantees import guarantee
        >>> from sfumato.session.asking.planning import prepare
        >>> question = votes.query("SELECT COUNT(*) AS n FROM votes WHERE sport = 'Tennis'")
        >>> plan = prepare(votes.desk, question.relation.child, text="", total=guarantee(1)).plan
        >>> work = WorkEntry(quantum=0.05, rows_per_second=1e6)
        >>> [time_class(plan, work, declared_rows=rows) for rows in (1_000, 10**6)]
        [0.05, 1.6]
    """
    if not work.quantum:
        return 0.0
    costs = sum(_cost(one, declared_rows) for one in _statements(plan))
    predicted = (costs * declared_rows + _fit_cost(plan, declared_rows)) / work.rows_per_second
    seconds = work.quantum * 2.0 ** max(0, math.ceil(math.log2(predicted / work.quantum)))
    if seconds > work.seconds:
        requirement = (
            f"may take {work.seconds:,.0f} s here; ask for fewer columns, joins or rows of a unit, shorter texts, or a "
            "smaller model"
        )
        raise ParameterError("query", f"about {predicted:,.0f} s of work", requirement)
    return seconds


def _statements(plan: PrivatePlan | BatchPlan | FitPlan) -> Iterator[Statement]:
    """All that an engine runs for a plan."""
    if isinstance(plan, FitPlan):
        yield plan.query.statement
        return
    for section in plan.sections:
        yield from section.statements
    if isinstance(plan, BatchPlan):
        yield from (workload.statement for workload in plan.workloads)
    elif plan.bounds is not None:
        yield from plan.bounds.section.statements


def _fit_cost(plan: PrivatePlan | BatchPlan | FitPlan, declared_rows: int) -> float:
    """As how many rows that are read a fit counts."""
    if not isinstance(plan, FitPlan) or not isinstance(plan.fit, OrderedFit):
        return 0
    rows = _most_rows(plan.query.statement.rows, declared_rows) * declared_rows
    return rows * plan.fit.steps_a_row + plan.fit.steps


def _cost(statement: Statement, declared_rows: int) -> float:
    """As how many rows that are read everything counts that a statement does, for each declared row."""
    steps = [step for step in lineage(statement.rows) if isinstance(step, Source | Join)]
    rows = [_most_rows(step, declared_rows) for step in (statement.rows, *steps)]
    pairs = sum(most for step, most in zip(steps, rows[1:], strict=True) if isinstance(step, Join))
    read = sum(isinstance(step, Source) for step in steps)
    return read + pairs / PAIRS_A_ROW + max(rows) * statement_work(statement) / STEPS_A_ROW


def _most_rows(relation: Relation, declared_rows: int) -> float:
    """How many rows a relation has for each declared row, at most."""
    match relation:
        case Source():
            return 1
        case Join(left=left, right=right):
            try:
                partners: float = matches(relation)
            except UnboundedSensitivityError:  # of public tables alone
                partners = _most_rows(right, declared_rows) * declared_rows
            return _most_rows(left, declared_rows) * partners
        case UnionAll(left, right):
            return _most_rows(left, declared_rows) + _most_rows(right, declared_rows)
        case BoundRows(child, most):  # there are no more units than rows
            return min(_most_rows(child, declared_rows), most)
        case _:
            return _most_rows(inputs(relation)[0], declared_rows)


class Pace:
    """The time of one answer, from now on.

    Args:
        seconds: Its time class; 0 waits for nothing.
        longest: How many seconds any answer may take.
        elapsed: How many seconds ago it was begun.
        clock: Tells seconds.
        sleep: Waits for seconds.

    Attributes:
        doublings: How often the class had to be doubled.
    """

    def __init__(
        self,
        seconds: float,
        *,
        longest: float,
        elapsed: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds, self._longest, self._clock, self._sleep = seconds, longest, clock, sleep
        self._begun = clock() - elapsed
        self.doublings = 0

    def wait(self) -> None:
        """Wait for the end of the class; or of the next doubling of it that is not over yet.

        Raises:
            OverlongError: More time has passed than any answer may take.
        """
        taken = self._clock() - self._begun
        if taken > self._longest:
            raise OverlongError
        if not self._seconds:
            return
        while self._seconds * 2**self.doublings < taken:
            self.doublings += 1
        end = min(self._seconds * 2**self.doublings, self._longest)
        self._sleep(max(0.0, self._begun + end - self._clock()))
