"""Answers, failures and suspensions come at the end of a time class, which plan and policy alone decide."""

import math
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, N, ref
from tests.session.desk import asked, charge, desk, rows
from tests.session.wire.test_fits import ticket_of

import sfumato as sf
from sfumato.errors import EngineError, FailedOnRowsError, ParameterError, UnavailableError
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantees import guarantee
from sfumato.query.statistics.counts import CountRows
from sfumato.query.statistics.means import Sum
from sfumato.server.config import WorkEntry
from sfumato.server.work import pacing
from sfumato.server.work.pacing import PAIRS_A_ROW, STEPS_A_ROW, OverlongError, Pace, time_class
from sfumato.session.asking.execution import execute
from sfumato.session.asking.planning import prepare, prepare_batch

WORK = WorkEntry(quantum=0.05, rows_per_second=1e6, seconds=600)
LONG = 1e9


class Clock:
    """A clock that passes by itself only while somebody works or sleeps."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.now += seconds


def paced(clock, seconds, *, longest=LONG, elapsed=0.0):
    return Pace(seconds, longest=longest, elapsed=elapsed, clock=clock, sleep=clock.sleep)


# When it ends


@given(st.floats(0.001, 100), st.floats(0, 1_000))
def test_whatever_time_the_work_takes_it_ends_at_the_class_or_a_doubling(seconds, taken):
    clock = Clock()
    pace = paced(clock, seconds)
    clock.now += taken
    pace.wait()
    over = math.log2((clock.now) / seconds)
    assert over == pytest.approx(round(over), abs=1e-6)
    assert round(over) == pace.doublings
    assert taken <= clock.now + 1e-9
    assert pace.doublings == 0 or seconds * 2 ** (pace.doublings - 1) < taken


def test_all_work_that_is_within_its_class_ends_at_once():
    ends = set()
    for taken in (0, 0.01, 0.4, 0.7999, 0.8):
        clock = Clock()
        pace = paced(clock, 0.8)
        clock.now += taken
        pace.wait()
        ends.add((round(clock.now, 9), pace.doublings))
    assert ends == {(0.8, 0)}


def test_without_a_class_nothing_waits():
    clock = Clock()
    pace = paced(clock, 0.0)
    clock.now += 3
    pace.wait()
    assert (clock.now, pace.doublings) == (3.0, 0)


def test_what_was_begun_earlier_ends_as_if_it_were_begun_now():
    clock = Clock()
    paced(clock, 8.0, elapsed=5.0).wait()
    assert clock.now == 3.0


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_what_takes_longer_than_anything_may_has_no_end(seconds):
    clock = Clock()
    pace = paced(clock, seconds, longest=10)
    clock.now += 10.1
    with pytest.raises(OverlongError):
        pace.wait()


def test_no_doubling_lasts_longer_than_anything_may():
    clock = Clock()
    pace = paced(clock, 1.0, longest=10)
    clock.now += 9
    pace.wait()
    assert clock.now == 10.0


def test_the_clock_of_the_system_is_waited_for():
    pace = Pace(0.02, longest=1)
    begun = pacing.time.monotonic()
    pace.wait()
    assert 0.015 < pacing.time.monotonic() - begun < 1


# Which class


def planned(table_rows, statistics=None, **clauses):
    """A query about people, and a desk with these."""
    curator = desk((PEOPLE, table_rows))
    question = asked(curator, PEOPLE, statistics=statistics or (N,), **clauses)
    return curator, prepare(curator, question.relation.child, text="a query", total=guarantee(1))


ONE = {"age": 30, "sex": "f", "pay": 3.0}
ROWS = st.lists(st.sampled_from([{}, ONE]), max_size=4)
KINDS = {
    "a count": {},
    "a sum": {"statistics": (("s", Sum(ref("age"))),)},
    "groups": {"keys": ("sex",)},
}


@pytest.mark.parametrize("kind", KINDS)
@given(ROWS, st.integers(1, 10**7))
def test_the_class_is_that_of_any_other_database(kind, records, declared):
    wanted = time_class(planned(rows(PEOPLE), **KINDS[kind])[1].plan, WORK, declared_rows=declared)
    _, prepared = planned(rows(PEOPLE, *records), **KINDS[kind])
    assert time_class(prepared.plan, WORK, declared_rows=declared) == wanted


@given(st.integers(1, 10**8), st.floats(1e3, 1e8), st.floats(1e-3, 10))
def test_a_class_is_a_doubling_of_the_quantum_and_covers_what_is_predicted(declared, speed, quantum):
    work = WorkEntry(quantum=quantum, rows_per_second=speed, seconds=1e12)
    seconds = time_class(planned(rows(PEOPLE))[1].plan, work, declared_rows=declared)
    assert math.log2(seconds / quantum).is_integer()
    assert seconds >= declared / speed * (1 - 1e-9)


def test_more_rows_and_more_work_take_longer_classes():
    plan = planned(rows(PEOPLE))[1].plan
    classes = [time_class(plan, WORK, declared_rows=10**k) for k in range(9)]
    assert classes == sorted(classes)
    assert classes[0] == WORK.quantum < classes[-1]


def test_the_work_of_expressions_counts(monkeypatch):
    plan = planned(rows(PEOPLE))[1].plan
    before = time_class(plan, WORK, declared_rows=10**6)
    monkeypatch.setattr(pacing, "statement_work", lambda _: 3 * STEPS_A_ROW)
    assert time_class(plan, WORK, declared_rows=10**6) == 4 * before


def joined(session, times, declared):
    """The class of a chain of joins of one table with itself."""
    joins = " ".join(f"JOIN visits v{n} ON v0.who = v{n}.who" for n in range(1, times))
    question = session.query(f"SELECT COUNT(*) AS n FROM visits v0 {joins}")
    plan = prepare(session.desk, question.relation.child, text="", total=guarantee(1)).plan
    return time_class(plan, WORK, declared_rows=declared)


def test_pairs_of_joins_count_as_many_as_limits_allow():
    """Whatever the rows are: here nobody has two. A chain of joins that any data could make endless is refused."""
    visits = pa.table({"who": ["a", "b"], "hours": [1, 2]})
    columns = {"who": sf.text(), "hours": sf.integer(0, 24)}
    limits, budget = sf.Limits(max_rows_per_unit=10), sf.PureDP(1)
    with sf.open(visits, name="visits", unit="who", limits=limits, columns=columns, budget=budget) as session:
        classes = [joined(session, times, 10**4) for times in range(1, 6)]
        with pytest.raises(ParameterError, match="fewer columns, joins or rows of a unit"):
            joined(session, 7, 10**4)
    predicted = [10**4 / 1e6 * sum(10**n for n in range(1, times)) / PAIRS_A_ROW for times in range(1, 6)]
    assert all(seconds >= least for seconds, least in zip(classes, predicted, strict=True))
    assert classes[0] == WORK.quantum < classes[3] < classes[4]


def test_all_statements_of_a_batch_count():
    curator, prepared = planned(rows(PEOPLE), keys=("sex",))
    questions = [asked(curator, PEOPLE, statistics=((name, CountRows()),), keys=("sex",)) for name in "ab"]
    batch = prepare_batch(curator, [one.relation for one in questions], text="two", total=guarantee(1))
    assert time_class(batch.plan, WORK, declared_rows=10**6) >= time_class(prepared.plan, WORK, declared_rows=10**6)


def test_a_quantum_of_nothing_pads_nothing():
    assert time_class(planned(rows(PEOPLE))[1].plan, WorkEntry(quantum=0), declared_rows=10**12) == 0


@pytest.mark.parametrize("records", [1_000, 10**6])
def test_the_work_of_a_fit_counts_for_each_row_and_beside(records):
    def fit_class(**changes):
        return time_class(replace(plan, fit=replace(plan.fit, **changes)), WORK, declared_rows=records)

    _, ticket = ticket_of()
    plan = ticket.prepared.plan
    light, heavy = fit_class(steps_a_row=1, steps=1), fit_class(steps_a_row=64, steps=1)
    assert heavy == pytest.approx(max(WORK.quantum, 64 * records / 1e6), rel=1)
    assert light < heavy or records == 1_000
    assert fit_class(steps_a_row=1, steps=10**8) >= 100
    with pytest.raises(ParameterError, match="smaller model"):
        fit_class(steps_a_row=1, steps=10**9)


def test_a_class_beyond_what_a_query_may_take_is_refused():
    with pytest.raises(ParameterError, match=r"query = 'about 900 s of work': may take 600 s here"):
        time_class(planned(rows(PEOPLE))[1].plan, WORK, declared_rows=900_000_000)


# Nothing is seen before


class Seen:
    """When something was written to a ledger."""

    def __init__(self, monkeypatch, clock):
        self.at = []
        for name in ("commit", "abandon", "suspend_account"):
            monkeypatch.setattr(Ledger, name, self._noting(name, getattr(Ledger, name), clock))

    def _noting(self, name, real, clock):
        def noting(*given, **options):
            self.at.append((name, round(clock.now, 9)))
            return real(*given, **options)

        return noting


class Working:
    """An engine that takes its time, and then answers or fails."""

    name, sampling = "working", "md5"

    def __init__(self, engine, clock, seconds, error=None):
        self._engine, self._clock, self._seconds, self._error = engine, clock, seconds, error

    def run(self, statement, *, salt):
        self._clock.now += self._seconds
        if self._error is not None:
            raise self._error
        return self._engine.run(statement, salt=salt)


def worked(monkeypatch, seconds, error=None, *, pace=0.4):
    """When what was written that a query leaves in a ledger, of which the work takes so long."""
    clock = Clock()
    curator, prepared = planned(rows(PEOPLE))
    curator = replace(curator, engine=Working(curator.engine, clock, seconds, error))
    ticket, seen = charge(curator, prepared), Seen(monkeypatch, clock)
    waiting = paced(clock, pace)
    if error is None:
        execute(curator, ticket, ready=waiting.wait)
    else:
        with pytest.raises((EngineError, UnavailableError, KeyboardInterrupt)):
            execute(curator, ticket, ready=waiting.wait)
    return seen.at


@pytest.mark.parametrize(("seconds", "end"), [(0, 0.4), (0.1, 0.4), (0.39, 0.4), (0.5, 0.8), (3, 3.2)])
@pytest.mark.parametrize(
    ("error", "written"),
    [
        (None, "commit"),
        (EngineError("duckdb", "connected"), "abandon"),
        (FailedOnRowsError("duckdb", "answered", "OutOfRange"), "suspend_account"),
        (MemoryError(), "suspend_account"),
        (KeyboardInterrupt(), "abandon"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, BaseException) else str(one),
)
def test_answers_failures_and_suspensions_are_written_at_the_same_times(monkeypatch, seconds, end, error, written):
    assert worked(monkeypatch, seconds, error) == [(written, pytest.approx(end))]


def test_what_another_account_was_answered_comes_no_sooner(monkeypatch):
    clock = Clock()
    curator = desk((PEOPLE, rows(PEOPLE)), shares_answers=True)
    question = asked(curator, PEOPLE, statistics=(N,))
    prepared = prepare(curator, question.relation.child, text="a query", total=guarantee(1))
    first, second = (charge(curator, prepared) for _ in range(2))
    execute(curator, first)
    engine = Working(curator.engine, clock, 5, AssertionError("it reads data"))
    seen, pace = Seen(monkeypatch, clock), paced(clock, 0.4)
    execute(replace(curator, engine=engine), second, ready=pace.wait, waits=False)
    assert seen.at == [("commit", 0.4)]
