"""What every counter does: unbiased sums with the stated error, tick by tick or in blocks, saved and restored."""

import copy
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.continual.counters import COUNTERS, HORIZON, KEYS, exact_sums

from sfumato.accounting import BasicAccountant, ZCDPAccountant
from sfumato.errors import ParameterError
from sfumato.mechanisms import BinaryTree, Contribution
from sfumato.privacy.secret import Secret

EVERY = pytest.mark.parametrize("name", sorted(COUNTERS))
COPIES = 16_000  # the relative error of a standard deviation is below 0.9%, also of one Laplace noise
STREAM = [3, 0, 0, 7, -2, 10**9, *range(HORIZON - 6)]


@EVERY
def test_the_stddev_is_as_stated_at_every_tick_and_the_sums_are_right(name):
    """5% are 5.6 standard deviations and more of what is compared: a type-I error below 1e-6."""
    mechanism = COUNTERS[name]
    running = mechanism.start(COPIES)
    increments = np.tile(np.array(STREAM)[:, None], (1, COPIES))
    parts = np.split(increments, [1, 2, 9])
    noise = (
        np.concatenate([running.release_block(part) for part in parts]) - exact_sums(mechanism.sums, STREAM)[:, None]
    )
    for step in (1, 2, 7, HORIZON // 2, HORIZON - 1, HORIZON):
        stddev = mechanism.stddev(step)
        assert noise[step - 1].std() == pytest.approx(stddev, rel=0.05)
        assert abs(noise[step - 1].mean()) < 6 * stddev / COPIES**0.5 + 0.01
        assert np.mean(np.abs(noise[step - 1]) > mechanism.half_width(step)) < 0.06
    if mechanism.horizon:
        assert max(mechanism.stddev(step) for step in range(1, HORIZON + 1)) == pytest.approx(mechanism.largest_stddev)


@EVERY
def test_neighbouring_ticks_are_correlated_as_their_sums_are(name):
    """Fresh noise at each tick would make the difference of two sums as noisy as both together."""
    mechanism = COUNTERS[name]
    released = mechanism.start(COPIES // 8).release_block(np.zeros((HORIZON, COPIES // 8), dtype=int))
    apart = (released[14] - released[12]).std()
    assert apart < (mechanism.stddev(15) ** 2 + mechanism.stddev(13) ** 2) ** 0.5 * 0.97


@EVERY
def test_one_after_the_other_is_as_a_block(name):
    running = COUNTERS[name].start(COPIES // 10)
    zeros = [0] * (COPIES // 10)
    noise = np.array([running.release(zeros) for _ in range(HORIZON)])
    for step in (1, 8, HORIZON):
        assert noise[step - 1].std() == pytest.approx(COUNTERS[name].stddev(step), rel=0.15)


@EVERY
def test_a_restored_counter_goes_on_with_its_noise(name):
    """What is not known yet is the noise of the ticks to come; what was known stays: all sums but for that agree."""
    mechanism = COUNTERS[name]
    running = mechanism.start(500)
    before = running.release_block(np.zeros((15, 500), dtype=int))[-1]
    saved = running.saved()
    again = mechanism.restored(saved)
    assert (again.step, again.numbers, again.saved(), repr(again)) == (15, 500, saved, repr(running))
    first, second = (counter.release_block(np.zeros((1, 500), dtype=int))[0] for counter in (running, again))
    fresh = (first - second).std()
    assert 0 < fresh < 2**0.5 * (mechanism.stddev(16) * 1.2)
    assert (first - before).std() < 2 * max(mechanism.stddev(16), mechanism.stddev(15))
    assert running.saved() != again.saved()


@EVERY
def test_the_event_costs_what_was_asked(name):
    mechanism = COUNTERS[name]
    if mechanism.epsilon is not None:
        cost = BasicAccountant().compose(mechanism.event).epsilon(0)
        assert Fraction(cost) <= mechanism.epsilon < Fraction(cost) * Fraction("1.001")
        assert mechanism.guarantee.epsilon == mechanism.epsilon
    else:
        cost = ZCDPAccountant().compose(mechanism.event).rho
        assert cost <= mechanism.rho < cost * Fraction("1.001")
        assert mechanism.guarantee.rho == mechanism.rho


@EVERY
def test_values_of_any_size_are_exact_and_a_secret_is_opened(name):
    mechanism = COUNTERS[name]
    huge = [2**70, -(2**70), 2**62, 5, None, 2**100] + [0] * (HORIZON - 6)
    released = mechanism.start().release_block(Secret(huge))
    plain = [value or 0 for value in huge]
    width = getattr(mechanism.sums, "width", HORIZON)
    for step in range(1, HORIZON + 1):
        if not hasattr(mechanism.sums, "factor"):
            off = released[step - 1] - sum(plain[max(0, step - width) : step])
            assert abs(off) < 40 * mechanism.stddev(HORIZON - 1) + 40


@EVERY
def test_the_memory_is_about_what_is_stated(name):
    mechanism = COUNTERS[name]
    running = mechanism.start(1000)
    running.release_block(np.zeros((HORIZON, 1000), dtype=int))
    assert len(running.saved()) < 8 * 1000 * (mechanism.memory + 35) + 2000


def test_shapes_and_the_horizon_are_refused_before_anything_is_drawn():
    mechanism = BinaryTree(horizon=4, epsilon=1, contribution=KEYS)
    running = mechanism.start(2)
    for wrong in ([1], [1, 2, 3], 1, [0.5, 1]):
        with pytest.raises(ParameterError):
            running.release(wrong)
    with pytest.raises(ParameterError, match="ends at tick 4"):
        running.release_block(np.zeros((5, 2), dtype=int))
    assert running.step == 0
    assert running.release_block(np.zeros((0, 2), dtype=int)).shape == (0, 2)
    assert running.release_block([[1, 2]] * 4).shape == (4, 2)
    with pytest.raises(ParameterError):
        running.release([0, 0])
    for step in (0, 5, 1.0):
        with pytest.raises(ParameterError):
            mechanism.stddev(step)


@EVERY
def test_numbers_that_come_later_have_the_noise_of_all_ticks_and_the_others_keep_theirs(name):
    """5% are as above; a number whose noise began at tick 9 would have a half of it, or less."""
    mechanism = COUNTERS[name]
    running = mechanism.start(1)
    running.release_block(STREAM[:9])
    plain = mechanism.restored(running.saved())
    running.widen(COPIES)
    assert (running.step, running.numbers) == (9, COPIES + 1)
    for one, other in zip(_states(plain), _states(running), strict=True):
        assert np.array_equal(one, other if one.shape == other.shape else other[..., :1])
    noise = running.release(np.zeros(COPIES + 1, dtype=np.int64))[1:]
    assert noise.std() == pytest.approx(mechanism.stddev(10), rel=0.05)
    assert abs(noise.mean()) < 6 * mechanism.stddev(10) / COPIES**0.5 + 0.01


def _states(running):
    return [*running._noise.state().values(), *running._readout.state().values()]


RELATIONS = pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])


@RELATIONS
@pytest.mark.parametrize("kind", ["count", "clamped"])
def test_a_contribution_to_one_number_is_none_of_several(kind, relation):
    """Moved between two numbers, an event changes both: by 2 in L1, where one number changes by 1."""
    bound = Contribution.count(relation) if kind == "count" else Contribution.clamped(-1, 2, relation)
    mechanism = BinaryTree(horizon=4, epsilon=1, contribution=bound)
    with pytest.raises(ParameterError, match="one_of"):
        mechanism.start(2)
    with pytest.raises(ParameterError, match="one_of"):
        mechanism.start().widen(1)
    with pytest.raises(ParameterError, match="hold all"):
        mechanism.restored(mechanism.start().saved().replace(b'"numbers": 1', b'"numbers": 2'))
    assert mechanism.start(1).release([1]).shape == (1,)


@RELATIONS
@pytest.mark.parametrize("kind", ["one_of", "vector"])
def test_moving_an_event_between_numbers_is_in_the_sensitivity(kind, relation):
    bound = (
        Contribution.one_of(relation) if kind == "one_of" else Contribution.vector(l1=1, neighboring_relation=relation)
    )
    counter = BinaryTree(horizon=4, epsilon=1, contribution=bound)
    assert counter.start(2).numbers == 2
    events = [np.zeros(2, dtype=int), *bound.bounded([[1, 0], [0, 1]])]
    others = events if relation == "replace_one" else events[:1]
    assert max(int(np.abs(event - other).sum()) for event in events for other in others) == bound.l1_sensitivity


@EVERY
@pytest.mark.parametrize("numbers", [1, 3])
def test_what_is_returned_shares_no_memory_with_the_counter(name, numbers):
    """Every array that comes out is overwritten; the counter goes on as if nobody had."""
    running = COUNTERS[name].start(numbers)
    for ticks in (1, 3, 1):
        saved = running.release_block(np.zeros((ticks, numbers), dtype=int)), running.saved()
        saved[0][...] = 10**15
        assert running.saved() == saved[1]
    last = running.release([0] * numbers)
    saved = running.saved()
    last[...] = 10**15
    assert running.saved() == saved
    assert max(map(abs, running.release([0] * numbers).tolist())) < 10**12


def test_a_running_counter_is_not_copied():
    running = BinaryTree(horizon=4, epsilon=1).start()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            copied(running)


def test_a_counter_does_not_go_on_in_another_process(monkeypatch):
    running = BinaryTree(horizon=4, epsilon=1).start()
    monkeypatch.setattr("sfumato.mechanisms.continual.base.getpid", lambda: os.getpid() + 1)
    for call in (running.saved, lambda: running.release([1])):
        with pytest.raises(ParameterError, match="process"):
            call()


@pytest.mark.parametrize("name", COUNTERS)
def test_an_interrupted_counter_neither_goes_on_nor_is_saved(name, monkeypatch):
    """Its noise may be ahead of its ticks."""
    running = COUNTERS[name].start(1)
    running.release([0])
    kept = running.saved()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(running._readout), "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.release([0])
    monkeypatch.undo()
    for refused in (lambda: running.release([0]), running.saved):
        with pytest.raises(ParameterError, match="interrupted"):
            refused()
    assert COUNTERS[name].restored(kept).step == 1


def test_a_state_of_another_mechanism_or_none_is_refused():
    mechanism = BinaryTree(horizon=4, epsilon=1)
    saved = mechanism.start().saved()
    for wrong in (b"", b"{}\n", saved[:-9], b"[]\n" + saved, "text", saved.replace(b"noise.open", b"noise.oxen"),
                  saved.replace(b'"step"', b'"stop"'), saved.replace(b'"numbers": 1', b'"numbers": 2')):  # fmt: skip
        with pytest.raises(ParameterError):
            mechanism.restored(wrong)
    with pytest.raises(ParameterError, match="this mechanism"):
        BinaryTree(horizon=5, epsilon=1).restored(saved)
