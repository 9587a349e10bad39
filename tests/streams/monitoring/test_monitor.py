import json
import shutil

import pytest
from tests.streams.accounts import LOUD, stream

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError, StateError, UnavailableError
from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import RunningTotal, SlidingWindow
from sfumato.mechanisms.monitors.statistics import Change, CumulativeSum
from sfumato.mechanisms.selection import sparse_vector_session as noises
from sfumato.privacy.events import SelfComposedEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.streams.counting.measures import BinCounts, ClampedSum, EventCount
from sfumato.streams.keeping.state import DurableState
from sfumato.streams.monitoring.monitor import Monitor

TWICE = {"participation": Participation(2, 2)}


@pytest.fixture
def rows():
    """An account where each event is a unit."""
    with stream(unit=EACH_ROW) as found:
        yield found


@pytest.fixture
def people(tmp_path):
    """An account that protects visitors, in a ledger that lasts."""
    with stream(tmp_path) as found:
        yield found


def monitor(session, *, threshold=10, epsilon=LOUD, **options):
    """A monitor that compares nearly what it counts."""
    return Monitor(session=session, threshold=threshold, epsilon=epsilon, **options)


def entries(session, kind):
    return sum(isinstance(entry, kind) for entry in session.payer.ledger.entries())


def alarmed(alarms):
    return [(alarm.tick, int(alarm.estimate)) for alarm in alarms]


def test_it_says_at_which_steps_the_threshold_is_passed(rows):
    busy = monitor(rows, alarms=2)
    busy.add_many(count=3)
    assert busy.tick() == ()
    busy.add_many(count=30)
    assert alarmed(busy.tick()) == [(2, 30)]
    busy.add_many(steps=[5] * 20 + [4] * 2)
    assert alarmed(busy.tick(9)) == [(5, 20)]
    assert (busy.next_step, busy.is_over, busy.remaining_alarms) == (6, True, 0)
    assert alarmed(busy.alarms) == [(2, 30), (5, 20)]
    with pytest.raises(ParameterError, match="alarms"):
        busy.tick()


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        (SlidingWindow(1), []),
        (SlidingWindow(3), [4]),
        (RunningTotal(), [3]),
        (Change(1), [5]),
        (CumulativeSum(1), [4]),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, list) else "",
)
def test_any_statistic_may_be_compared(statistic, expected, rows):
    busy = monitor(rows, threshold=10, statistic=statistic)
    busy.add_many(steps=[1] * 2 + [2] * 4 + [3] * 5 + [4] * 4 + [5] * (14 if expected == [5] else 0))
    expected = expected if expected != [4] or isinstance(statistic, CumulativeSum) else [3]
    assert [alarm.tick for alarm in busy.tick(5)] == expected


def test_it_is_charged_once_before_anything_is_read(rows):
    before = rows.spent
    busy = monitor(rows, epsilon=3, alarms=5)
    assert (str(before), str(rows.spent)) == ("ε 0", "ε 3")
    for _ in range(4):
        busy.add_many(count=90)
        busy.tick()
    assert (str(rows.spent), entries(rows, Reserved)) == ("ε 3", 1)
    assert (busy.receipt.guarantee, busy.receipt.neighboring_relation) == (PureDP(3), "add_or_remove_one")


def test_too_little_budget_is_refused_before_anything_is_made(tmp_path):
    with stream(tmp_path, budget=PureDP(1), unit=EACH_ROW) as session:
        with pytest.raises(BudgetExceededError):
            monitor(session, epsilon=2, state=tmp_path / "busy.monitor")
        assert str(session.spent) == "ε 0"


def test_units_take_part_as_often_as_they_may_and_events_are_clamped(people):
    busy = monitor(people, measure=ClampedSum(0, 5), **TWICE)
    busy.add_many([9, 3, 1, 5, 5], units=["ann", "ann", "bob", None, "bob"])
    assert busy.tick() == ()  # 5 of ann and 1 of bob: not again in one step
    busy.add_many([5, 5], units=["ann", "cem"])  # too soon for ann
    assert busy.tick() == ()
    busy.add_many([5, 5, 5], units=["ann", "bob", "ann"])
    assert alarmed(busy.tick()) == [(3, 10)]


def test_an_account_of_people_needs_participations(people, rows):
    with pytest.raises(ParameterError, match="participation is missing"):
        monitor(people)
    with pytest.raises(ParameterError, match="participation"):
        monitor(people, participation=3)
    with pytest.raises(ParameterError, match="units"):
        monitor(rows).add(unit="ann")


def test_noise_follows_the_units_and_the_relation_of_the_account():
    def scale(relation="add_or_remove_one", **options):
        with stream(unit="visitor", neighboring_relation=sf.NeighboringRelation(relation)) as session:
            return monitor(session, epsilon=1, **options)._alarm.sparse_vector.comparison_scale

    once, often = Participation(1), Participation(30)
    assert scale(participation=once) == scale(participation=often)
    assert scale(participation=often, statistic=SlidingWindow(7)) == 7 * scale(participation=once)
    assert scale("replace_one", participation=once) > scale(participation=once)
    assert scale(participation=once, measure=ClampedSum(0, 4)) == 4 * scale(participation=once)


def test_a_restored_monitor_goes_on_with_its_noise_and_without_a_charge(people, tmp_path, monkeypatch):
    drawn = []
    real = noises.discrete_laplace
    monkeypatch.setattr(noises, "discrete_laplace", lambda scale, size: drawn.append(size) or real(scale, size))
    path = tmp_path / "busy.monitor"
    options = {"alarms": 3, "statistic": SlidingWindow(2), "state": path, **TWICE}
    with monitor(people, **options) as busy:
        busy.add_many(units=range(30))
        assert alarmed(busy.tick(position={"batch": 1})) == [(1, 30)]
        threshold = busy._running._compared._noisy_threshold
        busy.add(unit="lost with the process")
        count = len(drawn)
    with monitor(people, **options) as busy:
        assert len(drawn) == count
        assert busy._running._compared._noisy_threshold == threshold
        assert (alarmed(busy.alarms), busy.position, busy.next_step) == ([(1, 30)], {"batch": 1}, 2)
        busy.add_many(units=[*range(5), *range(100, 105)])  # 0 to 4 took part one step ago
        assert alarmed(busy.tick()) == [(2, 35)]
        assert alarmed(busy.tick(2)) == []
        busy.add_many(units=range(15))
        busy.commit(position={"batch": 2})
    with monitor(people, **options) as busy:
        assert alarmed(busy.tick()) == [(5, 15)]
        assert busy.is_over
    assert (str(people.spent), entries(people, Reserved), entries(people, Committed)) == (f"ε {LOUD}", 1, 1)
    with monitor(people, **options) as busy:
        assert (busy.is_over, alarmed(busy.alarms)) == (True, [(1, 30), (2, 35), (5, 15)])


def test_the_noise_of_the_threshold_is_kept_before_anything_is_compared(people, tmp_path):
    options = {"state": tmp_path / "busy.monitor", "epsilon": "0.001", **TWICE}
    thresholds = set()
    for _ in range(3):
        with monitor(people, **options) as busy:
            thresholds.add(busy._running._compared._noisy_threshold)
    assert len(thresholds) == 1


def test_an_old_copy_and_another_monitor_are_refused(people, tmp_path):
    path, copy = tmp_path / "busy.monitor", tmp_path / "copy"
    with monitor(people, alarms=3, state=path, **TWICE) as busy:
        busy.tick()
    shutil.copy(path, copy)
    with monitor(people, alarms=3, state=path, **TWICE) as busy:
        busy.tick()
        with pytest.raises(StateError):
            monitor(people, alarms=3, state=path, **TWICE)
    shutil.copy(copy, path)
    with pytest.raises(StateError, match="old copy"):
        monitor(people, alarms=3, state=path, **TWICE)
    with pytest.raises(StateError, match="another stream"):
        monitor(people, alarms=4, state=path, **TWICE)
    with pytest.raises(StateError, match="does not exist"):
        monitor(people, state=tmp_path / "none", must_exist=True, **TWICE)


def test_no_alarm_leaves_before_it_is_kept(people, tmp_path, monkeypatch):
    path = tmp_path / "busy.monitor"
    with monitor(people, state=path, **TWICE) as busy:
        busy.add_many(units=range(40))

        def fail(*_):
            raise StateError("busy", "no space")

        monkeypatch.setattr(DurableState, "commit", fail)
        with pytest.raises(StateError, match="no space"):
            busy.tick()
        assert busy.alarms == ()
        monkeypatch.undo()
        with pytest.raises(StateError, match="commit failed"):
            busy.commit()
    with monitor(people, state=path, **TWICE) as busy:
        assert (busy.next_step, busy.alarms) == (1, ())


def test_what_is_written_is_what_is_read(people, tmp_path):
    with monitor(people, state=tmp_path / "busy.monitor", alarms=2, **TWICE) as busy:
        busy.add_many(units=range(40))
        found = busy.tick()
        kept = json.loads(busy._state.content)
        assert kept["alarm"]["remaining"] == 1
    with monitor(people, state=tmp_path / "busy.monitor", alarms=2, **TWICE) as busy:
        assert busy.alarms == found


def test_a_suspended_account_says_nothing(people, tmp_path):
    busy = monitor(people, state=tmp_path / "busy.monitor", **TWICE)
    busy.suspend()
    with pytest.raises((StateError, UnavailableError)):
        busy.tick()


def test_refreshed_alarms_are_charged_as_a_sequence(rows):
    busy = monitor(rows, epsilon=4, alarms=4, is_refreshed=True)
    assert isinstance(busy.receipt.event, SelfComposedEvent)
    assert str(rows.spent) == "ε 4"


def test_the_accuracy_is_known_beforehand(rows):
    busy = monitor(rows, epsilon=1, alarms=3)
    assert 0 < busy.accuracy(steps=10) < busy.accuracy(steps=1000)
    assert busy.accuracy("0.5", steps=10) < busy.accuracy(steps=10)


@pytest.mark.parametrize(
    "measure", [EventCount(keys=("a", "b")), BinCounts((0, 1, 2)), ClampedSum(0, 1, resolution="0.1"), 7]
)
def test_only_one_whole_number_is_compared(measure, rows):
    with pytest.raises(ParameterError, match="measure"):
        monitor(rows, measure=measure)


def test_parameters_are_checked_before_anything_is_charged(rows):
    for wrong in ({"epsilon": 0}, {"threshold": "many"}, {"alarms": 0}, {"state": 7}, {"session": None}):
        with pytest.raises(ParameterError):
            Monitor(**{"session": rows, "threshold": 1, "epsilon": 1, **wrong})
    assert str(rows.spent) == "ε 0"
    busy = monitor(rows)
    for steps in (0, 1.5):
        with pytest.raises(ParameterError, match="steps"):
            busy.tick(steps)
    with pytest.raises(ParameterError, match="position"):
        busy.tick(position=object())
    with pytest.raises(ParameterError, match="position"):
        busy.tick(position="x" * 70_000)


def test_it_shows_nothing_of_the_events(rows):
    busy = monitor(rows, epsilon=2)
    busy.add_many(count=7)
    assert repr(busy) == "<Monitor: 0 of 1 alarms in 0 steps, ε 2 charged to visits>"
