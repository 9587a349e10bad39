"""A running sparse vector: it halts, refuses, and shows nothing of its noise."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.selection import sparse_vector_session as module
from sfumato.mechanisms.selection.sparse_vector import SparseVector
from sfumato.privacy.secret import Secret

FAR = 10**6


def test_a_session_halts_and_refuses_whatever_it_is_asked():
    session = SparseVector(epsilon=1, cutoff=2, linf_sensitivity=1).start(0)
    assert session.each_above([10**6, -(10**6), 10**6, 10**6]) == (True, False, True)
    assert session.halted
    for exact in (0, 10**9, Secret(5), "no number"):
        with pytest.raises(ParameterError, match="halted") as refusal:
            session.above(exact)
        assert str(exact) not in str(refusal.value) or exact == 0


def test_a_session_may_choose_its_next_answer():
    session = SparseVector(epsilon=1, cutoff=1, answer_share="0.5", linf_sensitivity=1).start(1000)
    assert session.above(Secret(-(10**6))) is False
    assert session.value(-(10**6)) is None
    assert abs(session.value(Secret(10**6)) - 10**6) < 10**4


def test_a_session_says_nothing_of_its_noisy_threshold():
    session = SparseVector(epsilon=1, cutoff=3, linf_sensitivity=1).start(10**9)
    assert repr(session) == "SparseVectorSession(remaining=3)"
    assert not hasattr(session, "__dict__")


def test_answers_asked_together_are_cut_off_at_the_halt():
    session = SparseVector(epsilon=1, cutoff=3, linf_sensitivity=1).start()
    assert session.each_above([FAR, -FAR]) == (True, False)
    assert session.remaining == 2
    assert session.each_above(np.array([FAR, -FAR, FAR, FAR, FAR])) == (True, False, True)
    assert (session.remaining, session.halted) == (0, True)


def test_values_are_told_of_answers_above_alone():
    session = SparseVector(epsilon=1, cutoff=3, answer_share="0.5", linf_sensitivity=1).start()
    values = session.each_value([-FAR, FAR, -FAR])
    assert [value is None for value in values] == [True, False, True]
    assert session.remaining == 2


def test_the_threshold_keeps_its_noise_for_the_whole_session(monkeypatch):
    drawn = []
    draw = module.discrete_laplace
    monkeypatch.setattr(module, "discrete_laplace", lambda scale, size: drawn.append(scale) or draw(scale, size))
    mechanism = SparseVector(epsilon=1, cutoff=2, linf_sensitivity=1)
    session = mechanism.start()
    for _ in range(3):
        session.above(-FAR)
    assert drawn == [mechanism.threshold_scale, *[mechanism.comparison_scale] * 3]


def test_nothing_is_looked_at_after_the_halt(monkeypatch):
    session = SparseVector(epsilon=1, linf_sensitivity=1).start()
    session.above(FAR)
    monkeypatch.setattr(module, "opened", lambda _: pytest.fail("an answer was opened"))
    with pytest.raises(ParameterError, match="halted"):
        session.each_above(Secret([1, 2]))
    with pytest.raises(ParameterError, match="halted"):
        session.above(Secret(1))


def test_threads_together_get_no_more_than_the_cutoff():
    session = SparseVector(epsilon=1, cutoff=20, linf_sensitivity=1).start()

    def ask(_):
        try:
            return session.above(FAR)
        except ParameterError:
            return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(ask, range(200))) == 20


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda function: function.__name__)
def test_a_running_session_is_not_duplicated(duplicate):
    session = SparseVector(epsilon=1, linf_sensitivity=1).start(threshold=10)
    with pytest.raises(TypeError, match="cannot be copied"):
        duplicate(session)


def test_a_session_does_not_reply_in_another_process(monkeypatch):
    session = SparseVector(epsilon=1, linf_sensitivity=1).start(threshold=10)
    monkeypatch.setattr(module, "getpid", lambda: -1)
    with pytest.raises(ParameterError, match="another process"):
        session.above(5)


def test_answers_may_be_made_in_the_light_of_the_session():
    session = SparseVector(epsilon=1, cutoff=5, linf_sensitivity=1).start(threshold=10**9)
    assert session.each_above(-session.remaining for _ in range(3)) == (False,) * 3


def test_a_restored_session_goes_on_with_the_threshold_and_the_replies_that_remain():
    mechanism = SparseVector(epsilon=1, cutoff=3, linf_sensitivity=1)
    session = mechanism.start(threshold=10**9)
    session.above(2 * 10**9)
    restored = mechanism.restored(session.saved())
    assert restored.saved() == session.saved()
    assert restored.remaining == 2
    assert restored.each_above([0, 2 * 10**9, 2 * 10**9, 0]) == (False, True, True)
    assert mechanism.restored(restored.saved()).halted


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        7,
        {},
        {"noisy_threshold": 1},
        {"noisy_threshold": "1", "remaining": 1},
        {"noisy_threshold": 1, "remaining": 4},
    ],
    ids=["nothing", "a number", "no fields", "one field", "text", "too many"],
)
def test_what_no_session_saved_is_refused(wrong):
    with pytest.raises(ParameterError, match="saved"):
        SparseVector(epsilon=1, cutoff=3, linf_sensitivity=1).restored(wrong)
