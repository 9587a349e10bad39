"""Owners take part over the tables of a server: what comes out, who may be missing, and what is never sent twice."""

import numpy as np
import pytest
from sqlalchemy import update
from tests.client.relays import NAMES, NEAR, STEPS, VALUES, Direct, Plan, all_run, part_of, terms_of, total_of
from tests.server.identity.databases import Clock, location

from sfumato.client.relayed import FederationPlace, written_result
from sfumato.client.taking_part import FederationJournal
from sfumato.errors import ParameterError, StateError
from sfumato.server.identity.database import Database
from sfumato.server.identity.federations import Federations, FederationState
from sfumato.server.identity.tables import FEDERATIONS


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened(tmp_path, clock):
    """Opens tables of a federation, with a clock that goes on when it is told to."""
    found = []

    def made(plan):
        found.append(Database(location("sqlite", tmp_path), now=clock))
        kept = Federations(found[-1])
        kept.open("hospitals", terms_of(plan))
        return kept

    yield made
    for database in found:
        database.close()


def started(kept, folder, *, drops=None, clock=None):
    """All owners; the first one that drops something out lets the time pass."""
    plans, drops, relays = [Plan() for _ in NAMES], drops or {}, []
    for name in NAMES:
        is_first = name == next(iter(drops), None)
        late = (lambda: clock.wait(61)) if is_first else None
        relays.append(Direct(kept, name, drops=drops.get(name, ()), late=late, others=4 - len(drops)))
    parts = [
        part_of(relay, plan, value, folder, number=number)
        for number, (relay, plan, value) in enumerate(zip(relays, plans, VALUES, strict=True))
    ]
    return plans, relays, parts


def test_all_owners_move_their_models_by_the_same_noisy_sums(opened, tmp_path):
    plans, _, parts = started(opened(Plan()), tmp_path)
    assert all_run(parts) == [None] * 4
    for plan in plans:
        assert (plan.weights == plans[0].weights).all()
        assert plan.shares == [4, 4]
    exact = total_of(range(4), (0, 1))
    assert np.abs(plans[0].weights - exact).max() < NEAR
    assert (plans[0].weights != exact).any()  # with noise


@pytest.mark.parametrize("phase", ["keys", "numbers", "revealed"])
def test_an_owner_that_drops_out_of_a_round_takes_part_in_the_next(opened, clock, tmp_path, phase):
    kept = opened(Plan())
    plans, relays, parts = started(kept, tmp_path, drops={"east": [(0, phase)]}, clock=clock)
    assert all_run(parts) == [None] * 4
    numbers = range(4) if phase == "revealed" else (0, 1, 3)
    exact = total_of(numbers, (0,)) + total_of(range(4), (1,))
    for plan in plans:
        assert (plan.weights == plans[0].weights).all()
        assert plan.shares == [len(numbers), 4]
    assert np.abs(plans[0].weights - exact).max() < NEAR
    assert {place.round for place, _ in relays[2].posted} >= {1}


def test_a_round_with_too_few_numbers_is_tried_again_without_a_second_training(opened, clock, tmp_path):
    lost = [FederationPlace(round=0, attempt=0, phase="numbers")]
    plans, relays, parts = started(opened(Plan()), tmp_path, drops={"north": lost, "west": lost}, clock=clock)
    assert all_run(parts) == [None] * 4
    assert {place.attempt for place, _ in relays[1].posted if place.round == 0} == {0, 1}
    assert [plan.computed for plan in plans] == [2] * 4
    assert np.abs(plans[0].weights - total_of(range(4), (0, 1))).max() < NEAR


def test_a_round_that_fails_after_something_was_revealed_is_over_without_a_sum(opened, clock, tmp_path):
    """A second sum of the round would not be paid for."""
    kept = opened(Plan())
    drops = {name: [(0, "revealed")] for name in NAMES[:2]}
    plans, relays, parts = started(kept, tmp_path, drops=drops, clock=clock)
    assert all_run(parts) == [None] * 4
    assert kept.result("hospitals", 0) == ""
    assert [plan.shares for plan in plans] == [[4]] * 4
    assert np.abs(plans[0].weights - total_of(range(4), (0,))).max() < NEAR  # by the weights of before
    assert {place.attempt for place, _ in relays[0].posted} == {0}


def test_owners_that_come_again_catch_up_and_reveal_nothing_twice(opened, clock, tmp_path):
    """All programs end before anything of the second round is revealed, and others begin."""
    kept = opened(Plan())
    _, relays, parts = started(kept, tmp_path)
    for relay in relays:
        stop_before(relay, FederationPlace(round=1, attempt=0, phase="revealed"))
    assert all(isinstance(error, KeyboardInterrupt) for error in all_run(parts))
    again, relays, parts = started(kept, tmp_path)
    clock.wait(61)
    assert all_run(parts) == [None] * 4
    for plan in again:
        assert (plan.weights == again[0].weights).all()
        assert plan.shares == [4]
    assert kept.result("hospitals", 1) == ""  # they had noted it, so that none of them revealed anything
    assert [relay.posted for relay in relays] == [[]] * 4


def stop_before(relay, at):
    send = relay.send

    def sending(place, message):
        if place == at:
            raise KeyboardInterrupt
        return send(place, message)

    relay.send = sending


def test_a_server_that_forgets_a_round_gets_no_second_sum_of_it(opened, tmp_path):
    """As one that was restored from an old backup, or that lies, also of how often the round was tried."""
    _, _, parts = started(opened(Plan()), tmp_path)
    assert all_run(parts) == [None] * 4
    for attempt in (0, 1):
        kept = opened(Plan())  # with the same terms
        with kept._database.writing() as connection:
            connection.execute(update(FEDERATIONS).values(attempt=attempt))
        _, relays, parts = started(kept, tmp_path)
        for relay in relays:
            relay.messages = failing(relay.messages)
        assert all(isinstance(error, KeyboardInterrupt) for error in all_run(parts))
        assert [relay.posted for relay in relays] == [[]] * 4


def failing(messages, times=3):
    asked = []

    def asking(place):
        asked.append(place)
        if len(asked) > times:
            raise KeyboardInterrupt
        return messages(place)

    return asking


def test_another_secret_is_noticed_before_numbers_are_sent(opened, tmp_path):
    _, relays, parts = started(opened(Plan()), tmp_path)
    parts[2] = part_of(relays[2], Plan(), VALUES[2], tmp_path, number=2, secret=b"another secret, of 32 bytes long")
    errors = all_run(parts)
    assert all(isinstance(error, ParameterError) for error in errors)
    assert {place.phase for relay in relays for place, _ in relay.posted} == {"keys"}


def test_other_results_than_those_of_owners_move_nothing(opened, tmp_path):
    plans, relays, parts = started(opened(Plan()), tmp_path)
    for relay in relays:
        relay.result = lambda _: "0" * 64 + written_result(((1, 2, 3), 4))
    assert all(isinstance(error, ParameterError) for error in all_run(parts))
    assert [plan.public.rounds for plan in plans] == [0] * 4


def test_what_was_begun_and_revealed_is_noted_before(tmp_path):
    path = tmp_path / "journal"
    journal = FederationJournal(path, "of one")
    journal.begins(3, 0)
    again = FederationJournal(path, "of one")
    assert (again.may_begin(3, 0), again.may_begin(3, 1), again.may_begin(2, 0)) == (False, True, True)
    journal.reveals(3)
    again = FederationJournal(path, "of one")
    assert not any(again.may_begin(3, attempt) for attempt in range(3))
    with pytest.raises(StateError, match="round 3 was revealed before"):
        again.reveals(3)
    with pytest.raises(StateError, match="another federation"):
        FederationJournal(path, "of another")
    path.write_text("of one 00\nrevealed\n")
    with pytest.raises(StateError, match="damaged"):
        FederationJournal(path, "of one")
    with pytest.raises(ParameterError, match="journal"):
        FederationJournal(tmp_path, "of one")


def test_an_attempt_is_never_begun_twice_though_the_server_says_that_nothing_was_sent(opened, tmp_path):
    """Else an owner whose program ended would tell others two digests of one attempt."""
    _, relays, parts = started(opened(Plan()), tmp_path)
    for relay in relays:
        stop_before(relay, FederationPlace(round=0, attempt=0, phase="boxes"))
    all_run(parts)
    _, relays, parts = started(opened(Plan()), tmp_path)  # another server, which knows of nothing
    for relay in relays:
        relay.messages = failing(relay.messages)
    assert all(isinstance(error, KeyboardInterrupt) for error in all_run(parts))
    assert [relay.posted for relay in relays] == [[]] * 4


def test_numbers_on_the_server_say_nothing(opened, tmp_path):
    """All that it sees of them is uniform modulo 2^b: here in its upper half about as often as not."""
    kept = opened(Plan())
    _, relays, parts = started(kept, tmp_path)
    assert all_run(parts) == [None] * 4
    texts = [text for relay in relays for place, text in relay.posted if place.phase == "numbers"]
    assert len(set(texts)) == 8
    assert not any(str(STEPS) in text for text in texts)
    assert kept.messages("hospitals", FederationState(round=1, attempt=0, phase="numbers")) is None
