"""The search finds the event that a careful reader would have chosen."""

import numpy as np
import pytest

from sfumato.audit.events import strongest_event
from sfumato.privacy.guarantees import ApproxDP

RNG = np.random.default_rng(3)
CLAIM = ApproxDP(1, 0)
NORMAL = RNG.normal(0, 1, 2000)


def found(first, second, claim=CLAIM):
    return strongest_event(first, second, claim=claim)


def test_a_shift_is_seen_by_a_threshold():
    suspicion = found(NORMAL, NORMAL + 5)
    assert suspicion.event.words.startswith(("the answer ≤", "the answer ≥"))
    assert suspicion.event.happened(np.array([-9.0, 9.0])).sum() == 1


def test_the_direction_says_where_the_event_is_likelier():
    first, second = np.array([0] * 100), np.array([0] * 50 + [7] * 50)
    suspicion = found(first, second)
    assert suspicion.event.happened(np.array([7, 0])).tolist() == [True, False]
    assert suspicion.likelier_on_second
    assert not found(second, first).likelier_on_second


def test_one_value_between_others_is_seen():
    first, second = RNG.integers(0, 5, 2000), RNG.integers(0, 5, 2000)
    suspicion = found(first[first != 2], second[: np.count_nonzero(first != 2)])
    assert suspicion.event.words == "the answer = 2.0"


def test_a_missing_answer_is_seen():
    suspicion = found(np.where(NORMAL > 1, np.nan, NORMAL), NORMAL)
    assert "missing" in suspicion.event.words
    assert suspicion.event.happened(np.array([np.nan, 0.0])).tolist() == [True, False]


def test_labels_are_joined_where_each_alone_is_rare():
    first = [f"{letter}" for letter in "abcdefghij"] * 20
    suspicion = found(first, ["z"] * 200)
    assert suspicion.event.happened(first).mean() in {0, 1}
    assert "the whole answer is" in suspicion.event.words


def test_the_type_of_an_answer_is_seen():
    suspicion = found([1] * 100, [1.0] * 100)
    assert suspicion.event.happened([1, 1.0]).sum() == 1


def test_labels_seen_once_are_no_evidence():
    first, second = ([f"{side}{i}" for i in range(500)] for side in "ab")
    assert found(first, second).strength == 0


def test_outputs_of_different_shapes_are_compared():
    suspicion = found(np.zeros((50, 2)), np.zeros((50, 3)))
    assert suspicion.strength > 0
    assert suspicion.event.happened(np.zeros((1, 2))) != suspicion.event.happened(np.zeros((1, 3)))


def test_equal_samples_have_no_event():
    assert found(NORMAL, NORMAL).strength == 0


@pytest.mark.parametrize(("delta", "seen"), [("0.001", True), ("0.2", False)])
def test_an_event_within_delta_is_allowed(delta, seen):
    first, second = np.zeros(2000), np.array([0] * 1900 + [1] * 100)
    assert (found(first, second, ApproxDP(1, delta)).strength > 5) == seen


@pytest.mark.parametrize("delta", ["0", "0.1"])
def test_a_claim_that_promises_next_to_nothing_is_never_contradicted(delta):
    assert found(np.zeros(100), np.ones(100), ApproxDP(1000, delta)).strength == (
        0 if delta == "0" else pytest.approx(0)
    )
