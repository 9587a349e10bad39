"""The Laplace mechanism: exhaustive privacy, edge cases, and the law of what it releases."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, nan

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law
from tests.mechanisms.exhaustive import answers_by_noise, laplace_log_weights, max_log_ratio, neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import laplace as module
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.privacy.events import DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

WINDOW = [(k,) for k in range(-12, 13)]  # beyond it the ratio of two shifted laws no longer changes
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(20)]
LOWER, UPPER = -1, 3


def clamped_sum(rows):
    return sum(max(LOWER, min(UPPER, row)) for row in rows)


def worst_ratio(mechanism, query, pairs, noises=WINDOW):
    """The exact maximum over all pairs of neighbors and all answers of ln(P/Q), from the real code of `release`."""
    laws = {}
    with pytest.MonkeyPatch.context() as patch:
        for database in {database for pair in pairs for database in pair}:
            release = partial(mechanism.release, query(database))
            laws[database] = laplace_log_weights(answers_by_noise(patch, module, "discrete_laplace", release, noises))
    return max(max_log_ratio(laws[first], laws[second]) for first, second in pairs)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("query", "relation", "l1_sensitivity"),
    [
        (len, ADD_OR_REMOVE_ONE, 1),
        (clamped_sum, ADD_OR_REMOVE_ONE, 3),
        (clamped_sum, REPLACE_ONE, 4),
    ],
    ids=["count", "sum, add or remove", "sum, replace"],
)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(query, relation, l1_sensitivity, epsilon):
    mechanism = Laplace(l1_sensitivity=l1_sensitivity, epsilon=epsilon)
    worst = worst_ratio(mechanism, query, neighbours([-5, -1, 0, 2, 9], relation))
    assert worst == epsilon  # never more, and no noise is wasted


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("resolution", [Fraction(1, 2), Fraction(2, 3), Fraction(2)])
def test_rounding_real_values_stays_within_epsilon(epsilon, resolution):
    mechanism = Laplace(l1_sensitivity=2, epsilon=epsilon, resolution=resolution)
    pairs = neighbours([Fraction(-2), 0.25, Fraction(3, 4), 1.5, 2], ADD_OR_REMOVE_ONE)
    assert 0 < worst_ratio(mechanism, sum, pairs) <= epsilon


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_vectors_of_rounded_values_stay_within_epsilon(relation):
    def totals(rows):
        return [sum((row[column] for row in rows), start=Fraction(0)) for column in range(2)]

    half, quarter = Fraction(1, 2), Fraction(1, 4)
    rows = [(half, half), (quarter, 3 * quarter), (1, 0), (-half, half)]
    mechanism = Laplace(l1_sensitivity=1 if relation is ADD_OR_REMOVE_ONE else 2, epsilon=1, resolution=1, dimension=2)
    noises = list(product(range(-5, 6), repeat=2))
    worst = worst_ratio(mechanism, totals, neighbours(rows, relation, sizes=range(2)), noises)
    assert Fraction(1, 2) <= worst <= 1


def test_half_the_noise_would_be_caught():
    mechanism = Laplace(l1_sensitivity=Fraction(3, 2), epsilon=1)  # the sum moves by 3
    assert worst_ratio(mechanism, clamped_sum, neighbours([-1, 3], ADD_OR_REMOVE_ONE)) == 2


def test_every_element_of_a_vector_gets_noise_of_its_own(monkeypatch):
    monkeypatch.setattr(module, "discrete_laplace", lambda _, size: np.arange(size) + 1)
    assert Laplace(l1_sensitivity=1, epsilon=1).release([10, 20, 30]).tolist() == [11, 22, 33]


@pytest.mark.statistical
def test_releases_follow_the_law_of_the_event():
    mechanism = Laplace(l1_sensitivity=3, epsilon="0.7")
    noise = mechanism.release(np.full(SAMPLES, 1000)) - 1000
    assert_law(noise, partial(discrete_laplace_cdf, mechanism.event.scale))


@pytest.mark.statistical
@pytest.mark.parametrize("resolution", [None, "0.1"])
def test_the_accuracy_covers_as_often_as_it_says(resolution):
    mechanism = Laplace(l1_sensitivity=1, epsilon="0.1", resolution=resolution, dimension=SAMPLES if resolution else 1)
    exact = np.full(SAMPLES, 5)
    inside = np.abs(mechanism.release(exact) - exact) <= mechanism.accuracy(0.95)
    assert inside.mean() > 0.95 - 4.9 * (0.95 * 0.05 / SAMPLES) ** 0.5


def test_parameters_are_exact():
    mechanism = Laplace(l1_sensitivity=3, epsilon=0.1, resolution="0.5", dimension=4)
    assert mechanism.scale == (6 + 3) * 10
    assert mechanism.event == DiscreteLaplaceEvent(Fraction(90), Fraction(9))


@pytest.mark.parametrize("epsilon", [0.03333333333333333, "0.1234567890123456789", Fraction(10**20, 10**20 + 1)])
def test_a_long_scale_is_rounded_up_and_the_event_says_so(epsilon):
    mechanism = Laplace(l1_sensitivity=1, epsilon=epsilon)
    exact = 1 / mechanism.epsilon
    assert exact < mechanism.scale < exact * (1 + Fraction(1, 2**22))
    assert mechanism.event == DiscreteLaplaceEvent(mechanism.scale, Fraction(1))
    worst = worst_ratio(mechanism, len, neighbours([0], ADD_OR_REMOVE_ONE))
    assert mechanism.epsilon * (1 - Fraction(1, 2**22)) < worst < mechanism.epsilon
    assert worst == mechanism.event.l1_sensitivity / mechanism.event.scale


@pytest.mark.parametrize("values", [np.arange(10**4), [1, 2, 3], np.array([2**63 - 1, -(2**63)])])
def test_a_release_leaves_the_exact_values_as_they_are(values):
    before = list(values)
    Laplace(l1_sensitivity=1, epsilon=1).release(values)
    assert list(values) == before


def test_epsilon_zero_releases_a_constant_and_no_accuracy():
    mechanism = Laplace(l1_sensitivity=1, epsilon=0)
    assert (mechanism.release(10**30), mechanism.release([4, 5]).tolist()) == (0, [0, 0])
    assert (mechanism.accuracy(), mechanism.event, mechanism.scale) == (inf, PureEvent(Fraction(0)), 0)
    assert Laplace(l1_sensitivity=1, epsilon=0, resolution="0.1").release(7.5) == 0


@pytest.mark.parametrize("epsilon", [0, 1])
def test_what_nobody_moves_is_released_exactly(epsilon):
    mechanism = Laplace(l1_sensitivity=0, epsilon=epsilon)
    assert (mechanism.release(10**30), mechanism.release([4, 5]).tolist()) == (10**30, [4, 5])
    assert (mechanism.accuracy(), mechanism.event) == (0, PureEvent(Fraction(0)))


@pytest.mark.parametrize(
    ("l1_sensitivity", "epsilon", "accepted"),
    [
        (1, 1000, True),
        (1, 1001, False),
        (2**50, 1, True),
        (2**50 + 1, 1, False),
        (1, Fraction(1, 2**50), True),
        (1, Fraction(1, 2**50 + 1), False),
    ],
)
def test_scales_that_cannot_be_drawn_are_refused_when_constructed(l1_sensitivity, epsilon, accepted):
    if accepted:
        assert isinstance(Laplace(l1_sensitivity=l1_sensitivity, epsilon=epsilon).release(0), int)
    else:
        with pytest.raises(ParameterError, match="1/1000 and 2\\^50"):
            Laplace(l1_sensitivity=l1_sensitivity, epsilon=epsilon)


@pytest.mark.parametrize(
    "wrong",
    [{"l1_sensitivity": -1}, {"epsilon": -1}, {"epsilon": inf}, {"resolution": 0}, {"dimension": 0}, {"epsilon": nan}],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Laplace(**({"l1_sensitivity": 1, "epsilon": 1} | wrong))


@pytest.mark.parametrize("exact", [1.5, [1.5], [1.5, 2.5, 3.5]])
def test_a_vector_that_is_not_of_its_dimension_is_refused(exact):
    with pytest.raises(ParameterError, match="dimension 2"):
        Laplace(l1_sensitivity=1, epsilon=1, resolution=1, dimension=2).release(exact)


def test_secrets_are_opened():
    assert isinstance(Laplace(l1_sensitivity=1, epsilon=1).release(Secret(42)), int)


@pytest.mark.parametrize("exact", [nan, inf, -inf, None, 1e300])
def test_no_data_value_is_an_error(exact):
    assert isinstance(Laplace(l1_sensitivity=1, epsilon=1, resolution="0.01").release(exact), Fraction)


def test_rounding_costs_a_step_for_each_coordinate_that_moves_and_no_more():
    scales = [
        Laplace(l1_sensitivity=1, epsilon=1, resolution="0.1", dimension=100, l0_sensitivity=moved).scale
        for moved in (None, 1, 3, 100, 10**6)
    ]
    assert scales == [109, 10, 12, 109, 109]


def test_an_array_of_floats_is_released_on_the_lattice():
    exact = np.full(1000, 0.26)
    mechanism = Laplace(l1_sensitivity=1, epsilon=1, resolution="0.1", dimension=1000, l0_sensitivity=1)
    steps = mechanism.release(exact) * 10
    assert np.abs(steps - np.round(steps)).max() < 1e-9


@pytest.mark.parametrize("exact", [[1, 2], [1, 2**70], np.array([2**63], dtype=np.uint64)], ids=repr)
def test_at_epsilon_zero_not_even_the_type_tells_of_the_data(exact):
    answer = Laplace(l1_sensitivity=1, epsilon=0).release(exact)
    assert (answer.dtype, answer.any()) == (np.int64, False)


@pytest.mark.parametrize("resolution", [None, "0.5"])
def test_a_mask_is_not_released(resolution):
    values = np.ma.masked_array([1, 2, 3], mask=[False, True, False], dtype=np.int64 if resolution is None else float)
    answer = Laplace(l1_sensitivity=1, epsilon=1, resolution=resolution, dimension=3).release(values)
    assert type(answer) is np.ndarray
    assert answer.shape == (3,)
