"""The staircase mechanism: exhaustive privacy, less error than Laplace noise, edge cases."""

from fractions import Fraction
from functools import partial
from math import ceil, inf, nan

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law
from tests.mechanisms.exhaustive import neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import staircase as module
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.additive.staircase import Staircase
from sfumato.numeric.distributions import discrete_laplace_variance
from sfumato.privacy.events import PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

LOWER, UPPER = -1, 3
EPSILONS = [Fraction(1, 10), Fraction(2), Fraction(9)]


def clamped_sum(rows):
    return sum(max(LOWER, min(UPPER, row)) for row in rows)


def log_weights(release):
    """−ε·stair of each answer of the real code, for every noise in a window; the law is that asked for."""
    found = {}
    for noise in range(-30, 31):
        with pytest.MonkeyPatch.context() as patch:
            asked = []
            patch.setattr(module, "staircase", lambda *args, noise=noise, asked=asked: asked.append(args) or [noise])
            answer = release()
        sensitivity, width, epsilon, size = asked[0]
        assert size == 1
        found[answer] = -epsilon * max(0, ceil(Fraction(abs(noise) + 1 - width, sensitivity)))
    return found


def worst_ratio(mechanism, query, pairs):
    laws = {rows: log_weights(partial(mechanism.release, query(rows))) for pair in pairs for rows in pair}
    return max(max(laws[a][z] - laws[b][z] for z in laws[a].keys() & laws[b].keys()) for a, b in pairs)


@pytest.mark.parametrize("minimize", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("query", "relation", "sensitivity"),
    [(len, ADD_OR_REMOVE_ONE, 1), (clamped_sum, ADD_OR_REMOVE_ONE, 3), (clamped_sum, REPLACE_ONE, 4)],
    ids=["count", "sum, add or remove", "sum, replace"],
)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(query, relation, sensitivity, epsilon, minimize):
    mechanism = Staircase(linf_sensitivity=sensitivity, epsilon=epsilon, minimize=minimize)
    assert worst_ratio(mechanism, query, neighbours([-5, -1, 0, 2, 9], relation, sizes=range(2))) == epsilon


@pytest.mark.parametrize("resolution", [Fraction(1, 2), Fraction(2, 3), Fraction(2)])
def test_rounding_real_values_stays_within_epsilon(resolution):
    mechanism = Staircase(linf_sensitivity=2, epsilon=3, resolution=resolution)
    pairs = neighbours([Fraction(-2), 0.25, Fraction(3, 4), 1.5, 2], ADD_OR_REMOVE_ONE, sizes=range(2))
    assert 0 < worst_ratio(mechanism, sum, pairs) <= 3


def test_half_the_noise_would_be_caught():
    mechanism = Staircase(linf_sensitivity=Fraction(3, 2), epsilon=1)  # the sum moves by 3
    assert worst_ratio(mechanism, clamped_sum, neighbours([-1, 3], ADD_OR_REMOVE_ONE, sizes=range(2))) > 1


def test_the_budget_is_shared_by_the_numbers_that_move(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "staircase", lambda *args: asked.append(args) or np.arange(args[-1]))
    mechanism = Staircase(linf_sensitivity=5, epsilon=3, l0_sensitivity=2)
    assert mechanism.release([10, 20, 30]).tolist() == [10, 21, 32]
    assert asked == [(5, mechanism.width, Fraction(3, 2), 3)]


@pytest.mark.parametrize(("epsilon", "factor"), [(1, 1.0), (3, 1.35), (5, 2.3), (8, 6)])
def test_the_expected_error_is_smaller_than_that_of_laplace_noise(epsilon, factor):
    sensitivity = 1000
    scale = Laplace(l1_sensitivity=sensitivity, epsilon=epsilon).scale
    staircase = Staircase(linf_sensitivity=sensitivity, epsilon=epsilon)
    assert staircase.expected_error * factor < scale  # E|k| of Laplace noise is its scale, but for less than 1/scale
    squared = Staircase(linf_sensitivity=sensitivity, epsilon=epsilon, minimize="squared")
    assert squared._law.variance() < discrete_laplace_variance(scale)
    assert squared._law.variance() <= staircase._law.variance()


@pytest.mark.statistical
def test_answers_have_the_error_that_was_stated():
    mechanism = Staircase(linf_sensitivity=1000, epsilon=5, l0_sensitivity=1)
    errors = np.abs(mechanism.release(np.zeros(SAMPLES, dtype=np.int64)))
    assert abs(errors.mean() - mechanism.expected_error) < 5 * errors.std() / SAMPLES**0.5  # type-I error below 1e-6
    assert (errors <= mechanism.accuracy("0.95")).mean() >= 0.945
    assert (errors <= mechanism.accuracy("0.95") - 1).mean() <= 0.955


@pytest.mark.statistical
def test_answers_follow_the_law():
    mechanism = Staircase(linf_sensitivity=7, epsilon=2, l0_sensitivity=1)
    tail = mechanism._law.tail
    answers = mechanism.release(np.full(SAMPLES, 5))
    assert_law(answers - 5, lambda k: 1 - float(tail(k)) / 2 if k >= 0 else float(tail(-k - 1)) / 2)


def test_what_nobody_moves_is_released_exactly():
    for mechanism in (
        Staircase(linf_sensitivity=0, epsilon=1, l0_sensitivity=1),
        Staircase(linf_sensitivity="0.9", epsilon=0, l0_sensitivity=1),
    ):
        assert (mechanism.release(10**30), mechanism.release([4, 5]).tolist()) == (10**30, [4, 5])
        assert (mechanism.accuracy(), mechanism.expected_error, mechanism.event) == (0, 0, PureEvent(Fraction(0)))


def test_at_epsilon_zero_nothing_of_the_data_is_released():
    mechanism = Staircase(linf_sensitivity=2, epsilon=0, l0_sensitivity=1)
    assert (mechanism.release(7), mechanism.release([7, 8]).tolist()) == (0, [0, 0])
    assert (mechanism.accuracy(), mechanism.expected_error, mechanism.event) == (inf, inf, PureEvent(Fraction(0)))


@pytest.mark.parametrize("exact", [nan, inf, -inf, None, 1e300])
def test_no_data_value_is_an_error(exact):
    assert isinstance(Staircase(linf_sensitivity=1, epsilon=1, resolution="0.01").release(exact), Fraction)


def test_secrets_are_opened_and_vectors_keep_their_length():
    mechanism = Staircase(linf_sensitivity=3, epsilon=1, l0_sensitivity=1)
    assert isinstance(mechanism.release(Secret(42)), int)
    assert len(mechanism.release(Secret([1, 2, 3]))) == 3
    assert Staircase(linf_sensitivity=1, epsilon=1, resolution="0.5").accuracy() % Fraction(1, 4) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"linf_sensitivity": -1},
        {"epsilon": -1},
        {"epsilon": 1001},
        {"epsilon": Fraction(1, 2**50)},
        {"l0_sensitivity": 0},
        {"resolution": 0},
        {"minimize": "cubed"},
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Staircase(**({"linf_sensitivity": 2, "epsilon": 1} | wrong))


def test_a_vector_is_refused_until_it_is_stated_how_many_of_its_numbers_one_unit_moves():
    with pytest.raises(ParameterError, match="l0_sensitivity"):
        Staircase(linf_sensitivity=1, epsilon=1).release([1, 2])
