import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from unittest.mock import patch

import numpy as np
import pytest
from tests.streams.accounts import counter, stream
from tests.streams.one_draw import OneDraw

import sfumato as sf
from sfumato.errors import BudgetExceededError, LedgerTimeoutError, ParameterError, StateError, UnavailableError
from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.ledger.core.windows import RollingWindow
from sfumato.ledger.ledger import Ledger
from sfumato.mechanisms.continual.base import RunningCounter
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import SlidingWindow
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.streams.counting.measures import BinCounts, ClampedSum, EventCount
from sfumato.streams.keeping.state import DurableState

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


def values(releases):
    return releases.values.tolist()


def reserved(session):
    return sum(isinstance(entry, Reserved) for entry in session.payer.ledger.entries())


def test_each_step_is_released_with_events_or_without(rows):
    visits = counter(rows)
    visits.add()
    visits.add_many(count=4)
    assert values(visits.tick()) == [5]
    assert values(visits.tick(2)) == [5, 5]
    visits.add(step=6)
    visits.add()
    assert values(visits.tick(3)) == [6, 6, 7]
    assert (visits.releases.steps.tolist(), values(visits.releases)) == ([1, 2, 3, 4, 5, 6], [5, 5, 5, 6, 6, 7])
    assert (visits.next_step, visits.is_over, visits.horizon) == (7, False, 8)


def test_all_steps_are_charged_once_before_anything_is_read():
    rows = stream(unit=EACH_ROW, budget=PureDP(5))
    before = rows.spent
    visits = counter(rows, epsilon=3)
    assert (str(before), str(rows.spent)) == ("ε 0", "ε 3")
    visits.add()
    visits.tick(8)
    assert str(rows.spent) == "ε 3"
    assert str(visits.receipt.guarantee) == str(visits.releases.guarantee) == "ε 3"
    assert reserved(rows) == 1
    with pytest.raises(BudgetExceededError):
        counter(rows, epsilon=3)


def test_beyond_the_horizon_nothing_is_released_and_the_ledger_knows_the_end(rows):
    visits = counter(rows)
    visits.tick(7)
    with pytest.raises(ParameterError, match="must be at most 1"):
        visits.tick(2)
    visits.tick()
    assert visits.is_over
    with pytest.raises(ParameterError):
        visits.tick()
    visits.add()
    answers = [entry for entry in rows.payer.ledger.entries() if isinstance(entry, Committed)]
    assert answers[0].answer["receipt"]["request"] == visits.receipt.request
    assert rows.payer.ledger.pending("visits") == 0


def test_keys_bins_sums_and_windows(rows):
    by_key = counter(rows, measure=EventCount(keys=("a", "b")))
    by_key.add_many(keys=["a", "b", "b", "c"])
    by_key.add(key="a")
    assert values(by_key.tick()) == [[2, 2]]
    bins = counter(rows, measure=BinCounts((0, 10, 20)))
    bins.add_many([1, 2, 15, 99], steps=[1, 2, 2, 2])
    assert values(bins.tick(2)) == [[1, 0], [2, 1]]
    amounts = counter(rows, measure=ClampedSum(0, 4, resolution="0.5"), epsilon=800)
    amounts.add_many([1.2, 99])
    amounts.add(0.3)
    assert values(amounts.tick()) == [1.0 + 4 + 0.5]
    weekly = counter(rows, sums=SlidingWindow(2))
    weekly.add_many(steps=[1, 2, 3, 3])
    assert values(weekly.tick(4)) == [1, 2, 3, 2]


def test_no_unit_takes_part_more_often_or_closer_than_was_charged(people):
    visits = counter(people, **TWICE)
    for step in (1, 1, 2, 3, 5, 7):
        visits.add(unit="ann", step=step)
    visits.add(unit=None)
    visits.add_many(units=["bob", None, "bob", "cem"])
    assert values(visits.tick(8)) == [3, 3, 4, 4, 4, 4, 4, 4]


def test_the_counter_goes_on_after_a_restart_with_all_that_was_committed(people, tmp_path):
    options = {"state": tmp_path / "s", "measure": EventCount(keys=("a", "b")), **TWICE}
    visits = counter(people, **options)
    visits.add_many(keys=["a", "a", "b"], units=["ann", "bob", "ann"])
    visits.add(key="b", unit="cem", step=5)
    shown = values(visits.tick(2, position={"batch": 17}))
    visits.add(key="a", unit="dan")
    visits.commit(position={"batch": 18})
    visits.add(key="a", unit="lost with the process")
    receipt, spent = visits.receipt, str(people.spent)
    visits.close()

    again = counter(people, **options)
    assert (again.next_step, again.position, again.receipt, str(people.spent)) == (3, {"batch": 18}, receipt, spent)
    assert values(again.releases) == shown == [[2, 0], [2, 0]]
    again.add(key="b", unit="ann")
    again.add(key="b", unit="ann", step=5)  # twice already
    assert values(again.tick(3)) == [[3, 1], [3, 1], [3, 2]]
    assert again.position == {"batch": 18}
    assert len(again.releases) == 5
    assert reserved(people) == 1


def test_the_noise_goes_on_too(people, tmp_path):
    options = {"state": tmp_path / "s", "mechanism": OneDraw, **TWICE}
    seen = set()
    for _ in range(4):
        with counter(people, **options) as visits:
            released = visits.tick(2)
            seen.update((released.values / released.steps).tolist())
    assert len(seen) == 1
    assert seen.pop() > 1000


def test_the_end_is_there_after_a_restart_even_if_the_ledger_did_not_hear_of_it(people, tmp_path):
    options = {"state": tmp_path / "s", **TWICE}
    visits = counter(people, **options)
    with (
        patch.object(Ledger, "commit", side_effect=LedgerTimeoutError("ledger", 30)),
        pytest.raises(LedgerTimeoutError),
    ):
        visits.tick(8)
    visits.close()
    for _ in range(2):
        again = counter(people, **options)
        assert (again.is_over, len(again.releases)) == (True, 8)
        with pytest.raises(ParameterError):
            again.tick()
        with pytest.raises(StateError):
            again.commit(position=1)
        again.close()
    assert people.payer.ledger.pending("visits") == 0


@pytest.mark.parametrize("fails", ["commit", "write"])
def test_nothing_leaves_that_is_not_kept_and_the_counter_goes_on_when_it_is_opened_again(people, tmp_path, fails):
    options = {"state": tmp_path / "s", "mechanism": OneDraw, **TWICE}
    visits = counter(people, **options)
    (first,) = values(visits.tick())
    target = DurableState if fails == "commit" else type(visits._state._file)
    with patch.object(target, fails, side_effect=StateError("s", "the disk is full")), pytest.raises(StateError):
        visits.tick()
    for action in (visits.tick, lambda: visits.commit(position=1)):
        with pytest.raises(StateError, match="open the counter again"):
            action()
    assert len(visits.releases) == 1
    visits.close()
    (again,) = values(counter(people, **options).tick())
    assert again == 2 * first


def test_a_release_is_durable_before_it_is_given(people, tmp_path):
    """At the moment when the ledger hears of a state, it is on the disk; and when it is given, the ledger has heard."""
    visits, told = counter(people, state=tmp_path / "s", **TWICE), []
    pass_on, draw = DurableState._renew, RunningCounter.release_block

    def drawn(running, increments):
        told.append("drawn")
        return draw(running, increments)

    def renewed(state, fingerprint):
        told.append("on the disk" if state._file.read().number > state._live.number else "early")
        pass_on(state, fingerprint)
        told.append("in the ledger")

    with patch.object(DurableState, "_renew", renewed), patch.object(RunningCounter, "release_block", drawn):
        visits.tick()
        told.append("given")
    assert told == ["drawn", "on the disk", "in the ledger", "given"]


def test_an_old_copy_and_a_second_process_release_nothing(people, tmp_path):
    options = {"mechanism": OneDraw, **TWICE}
    with counter(people, state=tmp_path / "s", **options) as visits:
        visits.tick()
    shutil.copy(tmp_path / "s", tmp_path / "old")
    with counter(people, state=tmp_path / "s", **options) as visits:
        with pytest.raises(StateError, match="another process has it open"):
            counter(people, state=tmp_path / "s", **options)
        with pytest.raises(StateError, match="old copy"):
            counter(people, state=tmp_path / "old", **options)
        visits.tick()
    with pytest.raises(StateError, match="is of another stream"):
        counter(people, state=tmp_path / "s", mechanism=OneDraw, participation=Participation(3))
    with pytest.raises(StateError, match="does not exist"):
        counter(people, state=tmp_path / "none", must_exist=True, **options)
    assert reserved(people) == 1


def test_a_source_that_fails_suspends_the_account(rows):
    first, second = counter(rows), counter(rows)
    first.suspend()
    with pytest.raises(UnavailableError):
        second.tick()
    with pytest.raises(StateError):
        first.tick()
    rows.payer.ledger.resume_account("visits", reason="the source was repaired")
    second.tick()


def test_a_closed_counter_ends_and_stays_charged(rows):
    with counter(rows) as visits:
        visits.tick()
    with pytest.raises(StateError):
        visits.tick()
    assert rows.payer.ledger.pending("visits") == 0
    assert str(rows.spent) == "ε 100"


def test_threads_add_events_and_none_is_lost(rows):
    visits = counter(rows)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(lambda: [visits.add() for _ in range(500)]) for _ in range(4)]:
            done.result()
    assert values(visits.tick()) == [2000]


def test_it_is_charged_to_a_session_and_a_child_account_for_their_unit():
    table = sf.datasets.votes()
    session = sf.open(table, name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(200))
    child = session.open_account("ann", budget=sf.PureDP(100))
    assert values(counter(child).tick()) == [0]
    assert (str(child.remaining), str(session.remaining)) == ("ε 0", "ε 100")
    limits = sf.Limits(max_rows_per_unit=3)
    by_voter = sf.open(
        table, name="votes", columns={"sport": sf.text()}, unit="voter", limits=limits, budget=sf.PureDP(200)
    )
    with pytest.raises(ParameterError, match="protects each voter"):
        counter(by_voter)
    visits = counter(by_voter, **TWICE)
    visits.add(unit=3)
    assert values(visits.tick()) == [1]


def test_an_account_that_refills_is_refused_as_the_counter_goes_on_after_its_window():
    window = RollingWindow(timedelta(days=30).days)
    table = sf.datasets.votes()
    policy = sf.Policy(
        dataset="votes", version="1", data_version="1", unit_name="row",
        tables={"votes": sf.Table(name="votes", columns={"sport": sf.text()}, unit=sf.EACH_ROW)},
        sources={"votes": sf.SourceFacts(source=table)},
    )  # fmt: skip
    with sf.Session(policy, budget=PureDP(200), window=window) as session:
        with pytest.raises(ParameterError, match="has the window"):
            counter(session)
        assert str(session.spent) == "ε 0"


@pytest.mark.parametrize(
    "position", [float("nan"), object(), "x" * (1 << 17), {1, 2}], ids=["nan", "object", "long", "set"]
)
def test_a_position_is_json_and_short(rows, position, monkeypatch):
    monkeypatch.setattr("sfumato.streams.counting.counter._LONGEST_POSITION", 1 << 16)
    visits = counter(rows)
    visits.add()
    with pytest.raises(ParameterError, match="position"):
        visits.tick(position=position)
    assert values(visits.tick(position=[1, "a"])) == [1]
    assert visits.position == [1, "a"]


@pytest.mark.parametrize("steps", [0, -1, 1.5, "two", None, True, 1 << 40])
def test_steps_are_whole_numbers(rows, steps):
    with pytest.raises(ParameterError, match="steps"):
        counter(rows).tick(steps)


def test_a_block_of_steps_is_as_the_steps_one_by_one(rows):
    one, block = counter(rows), counter(rows)
    rng = np.random.default_rng(1)
    steps = rng.integers(1, 9, size=100)
    one.add_many(steps=steps)
    block.add_many(steps=steps)
    assert [values(one.tick())[0] for _ in range(8)] == values(block.tick(8))


def test_it_says_how_far_it_is_and_never_what_it_holds(rows):
    visits = counter(rows, epsilon=1)
    visits.add_many(count=12345)
    visits.tick()
    assert repr(visits) == "<Counter: 1 of 8 steps released, ε 1 charged to visits>"
    assert visits.half_width(1) == visits.releases.half_widths()[0]
