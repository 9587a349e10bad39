"""One message after the other, and nobody waits for a process that died, is worn, or cannot open its data."""

from pathlib import Path
from threading import Event, Thread

import pytest
from tests.server.work.curators import asking, curator_file, is_alive, until

from sfumato.server.config import WorkEntry
from sfumato.server.work import queues
from sfumato.server.work.queues import Child, ChildDiedError, DatasetQueue

ANSWER, UNAVAILABLE = {"answered": True}, {"failed": "UnavailableError"}


class Actor:
    """A process of which the test decides what it does.

    Attributes:
        opens: Why it cannot open its data, or None.
        answers: What it gives to each message; an error is raised.
    """

    def __init__(self, *answers, opens=None, ready=True):
        self.answers, self.opens, self.ready = list(answers), opens, ready
        self.asked, self.ended, self.tickets = [], [], 0
        self.may_open, self.may_answer = Event(), Event()
        self.may_open.set()
        self.may_answer.set()

    def wait(self):
        assert self.may_open.wait(20)
        return "it died" if self.ended else self.opens

    def is_ready(self):
        return self.ready

    def ask(self, content, *, seconds):
        self.tickets += 1
        self.asked.append((content, seconds))
        assert self.may_answer.wait(20)
        answer = self.answers.pop(0) if self.answers else ANSWER
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    def interrupt(self):
        self.ended.append("interrupted")
        self.may_open.set()

    def kill(self):
        self.ended.append("killed")

    def close(self):
        self.ended.append("closed")


class Stage:
    """A queue and its actors, in the order in which they come on."""

    def __init__(self, *actors, **work):
        self.actors, self.started = list(actors), []
        self.queue = DatasetQueue(Path("curator.toml"), WorkEntry(**work), "people", start=self._start)

    def _start(self, config, dataset):
        assert (config, dataset) == (Path("curator.toml"), "people")
        actor = self.actors.pop(0) if self.actors else Actor()
        if isinstance(actor, Exception):
            raise actor
        self.started.append(actor)
        return actor

    def __enter__(self):
        self.queue.start()
        until(lambda: self.queue.enter() == {"in": True} or not self.actors)
        return self

    def __exit__(self, *_):
        for actor in self.started:
            actor.may_answer.set()
        self.queue.stop()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(queues, "_FIRST_PAUSE", 0.01)


def in_background(work, *given):
    """Start something that waits; gives where its result will be."""
    result = []
    thread = Thread(target=lambda: result.append(work(*given)), daemon=True)
    thread.start()
    return result


def test_messages_are_done_in_turn_by_one_process():
    with Stage(Actor({"answered": 1}, {"answered": 2})) as stage:
        assert [stage.queue.run(b"a"), stage.queue.run(b"b")] == [{"answered": 1}, {"answered": 2}]
        assert [content for content, _ in stage.started[0].asked] == [b"a", b"b"]
    assert stage.started[0].ended == ["closed"]


def test_the_next_message_begins_when_the_one_before_is_over():
    actor = Actor()
    actor.may_answer.clear()
    with Stage(actor) as stage:
        results = [in_background(stage.queue.run, content) for content in (b"a", b"b")]
        until(lambda: actor.asked)
        assert not Event().wait(0.05)
        assert len(actor.asked) == 1
        actor.may_answer.set()
        until(lambda: all(results))
        assert len(actor.asked) == 2


# Places


def test_a_full_queue_is_busy_until_somebody_leaves():
    with Stage(Actor(), queue=3) as stage:
        assert [stage.queue.enter() for _ in range(3)] == [{"in": True}] * 2 + [{"busy": True}]
        stage.queue.leave()
        assert [stage.queue.enter() for _ in range(2)] == [{"in": True}, {"busy": True}]
        assert stage.started[0].asked == []


def test_places_are_never_given_twice_however_many_enter_at_once():
    with Stage(Actor(), queue=10) as stage:
        found = []
        threads = [Thread(target=lambda: found.append(stage.queue.enter())) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found.count({"in": True}) == 9


def test_nobody_enters_before_the_dataset_is_open():
    actor = Actor()
    actor.may_open.clear()
    stage = Stage(actor)
    stage.queue.start()
    assert stage.queue.enter() == {"renewed": True}
    actor.may_open.set()
    until(lambda: stage.queue.enter() == {"in": True})
    stage.queue.stop()
    assert stage.queue.enter() == {"closed": True}


# What dies


def test_who_died_before_a_message_is_replaced_and_the_next_one_does_it():
    with Stage(Actor(ChildDiedError()), Actor({"answered": 2})) as stage:
        assert stage.queue.run(b"a") == {"answered": 2}
        assert [content for actor in stage.started for content, _ in actor.asked] == [b"a", b"a"]
        assert stage.queue.enter() == {"in": True}


def test_a_message_over_which_two_died_is_given_up():
    with Stage(Actor(ChildDiedError()), Actor(ChildDiedError()), Actor()) as stage:
        assert stage.queue.run(b"a") == UNAVAILABLE
        until(lambda: len(stage.started) == 3)
        assert stage.queue.run(b"b") == ANSWER
        assert [content for content, _ in stage.started[2].asked] == [b"b"]


def test_whoever_enters_while_a_dead_process_is_replaced_waits_and_hears_nothing_of_it():
    fresh = Actor()
    fresh.may_open.clear()
    with Stage(Actor(ChildDiedError()), fresh) as stage:
        result = in_background(stage.queue.run, b"a")
        until(lambda: len(stage.started) == 2)
        assert stage.queue.enter() == {"in": True}
        fresh.may_open.set()
        until(lambda: result)
        assert result == [ANSWER]


def test_those_who_wait_hear_it_if_the_data_cannot_be_opened_any_more():
    broken = [Actor(opens="no file") for _ in range(3)]
    first = Actor(ChildDiedError())
    first.may_answer.clear()
    with Stage(first, *broken) as stage:
        results = [in_background(stage.queue.run, content) for content in (b"a", b"b", b"c")]
        until(lambda: first.asked)
        first.may_answer.set()
        until(lambda: all(results))
        assert results == [[UNAVAILABLE]] * 3 or results.count([ANSWER]) == 0
        until(lambda: stage.queue.enter() == {"in": True})
    assert [actor.ended for actor in broken] == [["killed"]] * 3


def test_a_process_may_take_as_long_as_queries_may_and_a_little_more():
    with Stage(Actor(), seconds=7) as stage:
        stage.queue.run(b"a")
        assert stage.started[0].asked[0][1] == 7 + queues._GRACE


@pytest.mark.parametrize("error", [BlockingIOError(11, "no room"), EOFError(), ConnectionRefusedError()], ids=repr)
def test_a_machine_without_room_for_a_process_is_asked_again(error):
    with Stage(error, error, Actor(ANSWER | {"worn": True}), error, Actor()) as stage:
        until(lambda: stage.queue.enter() == {"in": True})
        for _ in range(5):
            assert stage.queue.run(b"a") == ANSWER


# What is worn


def test_a_worn_process_goes_on_until_its_successor_is_ready():
    first, second = Actor(ANSWER | {"worn": True}, ANSWER), Actor(ready=False)
    with Stage(first, second) as stage:
        assert stage.queue.run(b"a") == ANSWER
        until(lambda: len(stage.started) == 2)
        assert stage.queue.run(b"b") == ANSWER
        second.ready = True
        assert stage.queue.run(b"c") == ANSWER
        until(lambda: first.ended)
        assert stage.queue.run(b"d") == ANSWER
        assert [content for content, _ in second.asked] == [b"d"]
    assert (first.ended, second.ended) == (["closed"], ["closed"])


def test_a_process_is_replaced_after_so_many_tickets():
    with Stage(tickets=3) as stage:
        for _ in range(20):
            assert stage.queue.run(b"a") == ANSWER
        assert {actor.tickets for actor in stage.started[:-2]} == {4}


def test_a_successor_that_cannot_open_the_data_is_forgotten():
    first, second = Actor({"answered": 1, "worn": True}), Actor(opens="no file")
    with Stage(first, second) as stage:
        for _ in range(3):
            stage.queue.run(b"a")
        assert second.ended == ["killed"]
        assert first.ended == []


# The end


def test_the_end_waits_for_what_is_done_and_fails_what_waits():
    actor = Actor()
    actor.may_answer.clear()
    with Stage(actor) as stage:
        first = in_background(stage.queue.run, b"a")
        until(lambda: actor.asked)
        second = in_background(stage.queue.run, b"b")
        until(lambda: stage.queue._tasks.qsize() == 1)
        ending = in_background(stage.queue.stop)
        until(stage.queue._is_over.is_set)
        assert stage.queue.run(b"c") == UNAVAILABLE
        actor.may_answer.set()
        until(lambda: ending and first and second)
        assert (first, second) == ([ANSWER], [UNAVAILABLE])
    assert len(actor.asked) == 1


def test_the_end_does_not_wait_for_data_that_is_being_opened():
    actor = Actor()
    actor.may_open.clear()
    stage = Stage(actor)
    stage.queue.start()
    until(lambda: stage.started)
    stage.queue.stop()
    assert actor.ended == ["interrupted", "killed"]


def test_the_end_ends_a_successor_too():
    first, second = Actor(ANSWER | {"worn": True}), Actor(ready=False)
    with Stage(first, second) as stage:
        stage.queue.run(b"a")
        until(lambda: len(stage.started) == 2)
    assert (first.ended, second.ended) == (["closed"], ["closed"])


# Real processes


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A process with a small dataset, and a gateway's half."""
    file = curator_file(tmp_path_factory.mktemp("curator"))
    child = Child(file, "people")
    assert child.wait() is None
    with asking(file) as gateway:
        yield child, gateway, file
    child.close()
    assert not is_alive(child.process_id)


def test_a_real_process_answers_and_says_whether_it_is_worn(real):
    child, gateway, _ = real
    ticket = gateway.ticket()
    assert child.ask(gateway.message(ticket), seconds=20) == {"answered": True, "doublings": 0, "worn": False}
    assert gateway.answer(ticket) is not None


def test_a_real_process_that_takes_too_long_is_ended(real):
    file = real[2]
    child = Child(file, "people")
    assert child.wait() is None
    with pytest.raises(ChildDiedError):
        child._heard(0.05)
    assert not is_alive(child.process_id)


def test_a_real_process_says_why_it_cannot_open_its_data(tmp_path):
    file = curator_file(tmp_path)
    (tmp_path / "people.parquet").unlink()
    child = Child(file, "people")
    assert "people.parquet" in child.wait()
    child.close()


def test_a_message_to_a_dead_process_tells_that_it_died(real):
    child = Child(real[2], "people")
    assert child.wait() is None
    child.interrupt()
    until(lambda: not is_alive(child.process_id))
    with pytest.raises(ChildDiedError):
        child.ask(b"x" * 10**6, seconds=20)


PUBLISH = b'{"purpose": "publish"}'


def test_a_version_is_published_once_nobody_is_between_a_charge_and_its_ticket():
    child = Actor(*[ANSWER] * 3)
    with Stage(child) as stage:
        assert stage.queue.enter() == {"in": True}  # a query, beside the place that the stage has for the owner
        published = in_background(stage.queue.run, PUBLISH)
        entered = in_background(stage.queue.enter)
        assert stage.queue.run(b"charged before") == ANSWER
        assert (published, entered) == ([], [])
        stage.queue.leave()
        until(lambda: published and entered)
        assert (published, entered) == ([ANSWER], [{"in": True}])
        assert [content for content, _ in child.asked] == [b"charged before", PUBLISH]


def test_two_owners_who_publish_at_once_do_not_wait_for_each_other():
    with Stage(Actor(*[ANSWER] * 2)) as stage:
        assert stage.queue.enter() == {"in": True}

        def publish():
            answer = stage.queue.run(PUBLISH)
            stage.queue.leave()
            return answer

        both = [in_background(publish) for _ in range(2)]
        until(lambda: all(both))
        assert both == [[ANSWER]] * 2


def test_a_version_that_would_have_to_wait_for_ever_is_not_published():
    with Stage(Actor(ANSWER), seconds=0.2) as stage:
        assert stage.queue.enter() == {"in": True}
        assert stage.queue.run(PUBLISH) == UNAVAILABLE
        assert stage.queue.enter() == {"in": True}
