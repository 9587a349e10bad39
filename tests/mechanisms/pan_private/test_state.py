"""Pan-private states: copies are counted, and nothing but `saved` makes one."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.pan_private import state as module
from sfumato.mechanisms.pan_private.counter import PanPrivateCounter
from sfumato.mechanisms.pan_private.density import PanPrivateDensity

MECHANISMS = {
    "counter": lambda copies: PanPrivateCounter(horizon=4, epsilon=1, saved_copies=copies),
    "density": lambda copies: PanPrivateDensity(universe=5, sample=3, epsilon=1, saved_copies=copies),
}

each = pytest.mark.parametrize("name", MECHANISMS)


@each
@pytest.mark.parametrize("copies", [0, 1, 3])
def test_no_more_copies_are_saved_than_are_accounted_for(name, copies):
    running = MECHANISMS[name](copies).start()
    for left in range(copies, 0, -1):
        assert running.remaining_copies == left
        running.saved()
    with pytest.raises(ParameterError, match="saved_copies"):
        running.saved()


@each
def test_a_restored_state_saves_only_the_copies_that_were_left(name):
    mechanism = MECHANISMS[name](2)
    running = mechanism.start()
    running = mechanism.restored(running.saved())
    running = mechanism.restored(running.saved())
    with pytest.raises(ParameterError, match="saved_copies"):
        running.saved()


@each
def test_threads_together_save_no_more(name):
    running = MECHANISMS[name](20).start()

    def save(_):
        try:
            return bool(running.saved())
        except ParameterError:
            return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(save, range(100))) == 20


@each
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda function: function.__name__)
def test_a_running_state_is_not_duplicated(name, duplicate):
    with pytest.raises(TypeError, match="saved"):
        duplicate(MECHANISMS[name](1).start())


@each
def test_a_state_does_not_run_in_another_process(name, monkeypatch):
    running = MECHANISMS[name](1).start()
    monkeypatch.setattr(module, "getpid", lambda: -1)
    with pytest.raises(ParameterError, match="process"):
        running.saved()


@each
def test_what_is_no_copy_of_this_mechanism_is_refused(name):
    mechanism, other = MECHANISMS[name](2), MECHANISMS[name](3)
    text = mechanism.start().saved()
    content = json.loads(text)
    wrong = [
        None, b"", "", "[]", "3", "{}", "[" * 10**5, other.start().saved(), text[:-1],
        json.dumps(content | {"remaining_copies": 3}), json.dumps(content | {"remaining_copies": True}),
        json.dumps(content | {"kind": "another"}),
    ]  # fmt: skip
    for key in ("open", "closed", "ticks") if name == "counter" else ("bits", "members", "restores"):
        wrong += [json.dumps(content | {key: value}) for value in (None, [1], [None] * 3, "abc", 1.5)]
    for saved in wrong:
        with pytest.raises(ParameterError, match="saved"):
            mechanism.restored(saved)
    assert MECHANISMS[name](2).restored(text).remaining_copies == 1


@each
def test_nothing_of_the_state_is_shown(name):
    running = MECHANISMS[name](2).start()
    assert not any(word in repr(running) for word in ("open", "bits", "closed"))
