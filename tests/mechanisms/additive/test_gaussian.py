"""The Gaussian mechanism: δ summed over all answers, three calibrations, edge cases."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, inf, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import SAMPLES, assert_law
from tests.mechanisms.exhaustive import answers_by_noise, gaussian_probabilities, hockey_stick, neighbours

from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_delta_up
from sfumato.accounting.gaussian.gaussian import analytic_stddev, classic_stddev, gaussian_delta_up
from sfumato.errors import ParameterError
from sfumato.mechanisms import Gaussian, GaussianNoise
from sfumato.mechanisms.additive import gaussian as module
from sfumato.numeric.distributions import discrete_gaussian_cdf
from sfumato.privacy.events import DiscreteGaussianEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

PARAMETERS = [("1", "1e-6"), ("0.1", "1e-3"), ("5.3", "1e-6"), ("0", "0.05"), ("12", "1e-2")]
ROUNDING = 1e-9  # of the sums here, which are in floats


def worst_delta(mechanism, query, pairs, reach=12):
    """The largest δ at the mechanism's ε over all pairs of neighbors, from the real code of `release`."""
    first_answer = query(pairs[0][0])
    window = range(-ceil(reach * mechanism.stddev), ceil(reach * mechanism.stddev) + 1)
    noises = list(product(window, repeat=len(first_answer) if isinstance(first_answer, list) else 1))
    laws = {}
    with pytest.MonkeyPatch.context() as patch:
        for database in {database for pair in pairs for database in pair}:
            answers = answers_by_noise(
                patch, module, "discrete_gaussian", partial(mechanism.release, query(database)), noises
            )
            laws[database] = gaussian_probabilities(answers)
    return max(hockey_stick(laws[first], laws[second], float(mechanism.epsilon)) for first, second in pairs)


@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
@pytest.mark.parametrize(
    ("query", "relation", "l2_sensitivity"), [(len, ADD_OR_REMOVE_ONE, 1), (sum, REPLACE_ONE, 2)], ids=["count", "sum"]
)
def test_delta_summed_over_all_answers_is_the_one_asked_for(query, relation, l2_sensitivity, epsilon, delta):
    mechanism = Gaussian(l2_sensitivity=l2_sensitivity, epsilon=epsilon, delta=delta)
    worst = worst_delta(mechanism, query, neighbours([0, 1, 2], relation, sizes=range(2)))
    assert 0.97 * float(delta) < worst <= float(delta) * (1 + ROUNDING)  # no more, and little noise is wasted


def test_delta_of_vectors_of_which_one_person_moves_two_numbers():
    mechanism = Gaussian(l2_sensitivity=2, l0_sensitivity=2, epsilon=3, delta="0.01")

    def histogram(rows):
        return [sum(row[0] for row in rows), sum(row[1] for row in rows)]

    pairs = neighbours([(1, 1), (1, 0), (0, -1)], ADD_OR_REMOVE_ONE, sizes=range(1))
    assert 0 < worst_delta(mechanism, histogram, pairs, reach=7) <= 0.01


def test_delta_of_rounded_real_numbers():
    mechanism = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-4", resolution="0.4")
    pairs = neighbours([Fraction(1), 0.5, Fraction(-1, 5)], ADD_OR_REMOVE_ONE, sizes=range(3))
    assert 0 < worst_delta(mechanism, sum, pairs) <= 1e-4 * (1 + ROUNDING)


def test_half_the_noise_would_be_caught():
    mechanism = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", l0_sensitivity=1)  # the sum moves by 2
    assert worst_delta(mechanism, sum, neighbours([0, 2], ADD_OR_REMOVE_ONE, sizes=range(1))) > 1e-3


@pytest.mark.parametrize(
    ("epsilon", "delta", "missed"), [("8", "1e-6", 3.01), ("5.3", None, 2.12), ("12", "1e-5", 1.45)]
)
def test_the_epsilon_and_delta_shown_hold_for_the_noise_drawn_whatever_the_calibration(epsilon, delta, missed):
    """At ε = 12 the continuous law needs more noise than the discrete one, which then misses δ all the same."""
    shown = Fraction(delta or gaussian_delta_up(noise_multiplier=1, epsilon=epsilon))
    stddev = analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta=shown)
    continuous = discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=1, epsilon=epsilon)
    assert continuous / float(shown) == pytest.approx(missed, abs=0.01)
    mechanism = Gaussian(l2_sensitivity=1, epsilon=epsilon, delta=shown, calibration="analytic")
    assert (mechanism.epsilon, mechanism.delta) == (Fraction(epsilon), shown)
    assert worst_delta(mechanism, len, neighbours([1], ADD_OR_REMOVE_ONE, sizes=range(1))) <= shown * (1 + ROUNDING)


@given(
    st.tuples(st.sampled_from(["analytic", "classic"]), st.fractions(Fraction(1, 20), Fraction(19, 20)))
    | st.tuples(st.just("analytic"), st.integers(1, 15)),
    st.integers(1, 12),
    st.sampled_from([1, 3]),
)
def test_no_calibration_shows_what_its_noise_misses(case, digits, numbers):
    calibration, epsilon = case
    noise = Gaussian(
        l2_sensitivity=2, epsilon=epsilon, delta=Fraction(1, 2**digits), calibration=calibration, l0_sensitivity=numbers
    )
    spent = discrete_gaussian_delta_up(
        stddev=noise.stddev, l2_sensitivity=2, epsilon=noise.epsilon, l0_sensitivity=numbers
    )
    assert spent <= noise.delta


@pytest.mark.parametrize("calibration", ["analytic", "classic"])
def test_a_calibration_for_the_continuous_law_stays_where_it_is_enough(calibration):
    stddev = {"analytic": analytic_stddev, "classic": classic_stddev}[calibration]
    noise = Gaussian(l2_sensitivity=1, epsilon="0.5", delta="1e-5", calibration=calibration)
    assert noise.stddev == stddev(l2_sensitivity=1, epsilon="0.5", delta="1e-5")


def test_the_classic_calibration_is_the_formula_of_the_textbook():
    mechanism = Gaussian(l2_sensitivity=3, epsilon="0.5", delta="1e-5", calibration="classic")
    assert float(mechanism.stddev) == pytest.approx(3 * sqrt(2 * log(1.25e5)) / 0.5, rel=1e-9)


def test_the_classic_calibration_is_larger_than_needed():
    classic, analytic, discrete = (
        Gaussian(l2_sensitivity=1, epsilon="0.5", delta="1e-5", calibration=calibration).stddev
        for calibration in ("classic", "analytic", "discrete")
    )
    assert classic > 1.1 * analytic
    assert float(discrete) == pytest.approx(float(analytic), rel=0.02)


@pytest.mark.parametrize("epsilon", [1, 2, 10])
def test_the_classic_calibration_is_refused_where_it_is_unproven(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        Gaussian(l2_sensitivity=1, epsilon=epsilon, delta="1e-5", calibration="classic")


@pytest.mark.statistical
def test_releases_follow_the_law_of_the_event():
    mechanism = Gaussian(l2_sensitivity=2, epsilon="0.7", delta="1e-5", l0_sensitivity=1)
    noise = mechanism.release(np.full(SAMPLES, 1000)) - 1000
    assert_law(noise, partial(discrete_gaussian_cdf, mechanism.event.stddev))


@pytest.mark.statistical
@pytest.mark.parametrize("resolution", [None, "0.1"])
def test_the_accuracy_covers_as_often_as_it_says(resolution):
    mechanism = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", resolution=resolution, l0_sensitivity=1)
    exact = np.full(SAMPLES, 5)
    inside = np.abs(mechanism.release(exact) - exact) <= mechanism.accuracy(0.95)
    assert inside.mean() > 0.95 - 4.9 * (0.95 * 0.05 / SAMPLES) ** 0.5


def test_the_event_describes_the_noise_that_is_drawn():
    mechanism = Gaussian(l2_sensitivity=2, l0_sensitivity=3, epsilon=1, delta="1e-6")
    assert mechanism.event == DiscreteGaussianEvent(mechanism.stddev, Fraction(2), 3)


@pytest.mark.parametrize("epsilon", [0, 1])
def test_what_nobody_moves_is_released_exactly(epsilon):
    mechanism = Gaussian(l2_sensitivity=0, epsilon=epsilon, delta="1e-6", l0_sensitivity=1)
    assert (mechanism.release(10**30), mechanism.release([4, 5]).tolist()) == (10**30, [4, 5])
    assert (mechanism.accuracy(), mechanism.event) == (0, PureEvent(Fraction(0)))


def test_every_element_of_a_vector_gets_noise_of_its_own(monkeypatch):
    monkeypatch.setattr(module, "discrete_gaussian", lambda _, size: np.arange(size) + 1)
    mechanism = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", l0_sensitivity=1)
    assert mechanism.release(Secret([10, 20, 30])).tolist() == [11, 22, 33]


@pytest.mark.parametrize(
    "wrong",
    [
        {"l2_sensitivity": -1},
        {"epsilon": -1},
        {"epsilon": nan},
        {"delta": 0},
        {"delta": 1},
        {"delta": 2},
        {"l0_sensitivity": 0},
        {"resolution": 0},
        {"calibration": "best"},
        {"l2_sensitivity": inf},
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Gaussian(**({"l2_sensitivity": 1, "epsilon": 1, "delta": "1e-6"} | wrong))


def test_a_stddev_that_cannot_be_drawn_is_refused_when_constructed():
    with pytest.raises(ParameterError, match="stddev"):
        Gaussian(l2_sensitivity=2**50, epsilon=1, delta="1e-6")


@pytest.mark.parametrize("exact", [nan, inf, -inf, None, 1e300])
def test_no_data_value_is_an_error(exact):
    mechanism = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", resolution="0.01")
    assert isinstance(mechanism.release(exact), Fraction)


def test_a_vector_is_refused_until_it_is_stated_how_many_of_its_numbers_one_unit_moves():
    mechanism = Gaussian(l2_sensitivity="1.4143", epsilon=1, delta="1e-6")
    with pytest.raises(ParameterError, match="l0_sensitivity"):
        mechanism.release([1, 2])
    both = Gaussian(l2_sensitivity="1.4143", epsilon=1, delta="1e-6", l0_sensitivity=2)
    assert both.stddev > 1.3 * mechanism.stddev  # of one integer alone, 1.4143 is as good as 1
    assert len(both.release([1, 2])) == 2


def test_its_event_is_the_law_it_draws():
    assert GaussianNoise(l2_sensitivity=3, stddev="2.5", l0_sensitivity=4).event == DiscreteGaussianEvent("2.5", 3, 4)


def test_of_the_width_of_a_calibrated_answer_it_is_that_answer():
    calibrated = Gaussian(l2_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=1)
    same = GaussianNoise(l2_sensitivity=2, stddev=calibrated.stddev, l0_sensitivity=1)
    assert (same.event, same.accuracy(0.9)) == (calibrated.event, calibrated.accuracy(0.9))


@pytest.mark.statistical
def test_the_noise_has_the_stated_width():
    n = 100_000
    noise = np.asarray(GaussianNoise(l2_sensitivity=1, stddev=7).release([0] * n), dtype=float)
    assert noise.std() == pytest.approx(7, rel=5 / np.sqrt(2 * n))  # five standard errors: 6e-7
    assert abs(noise.mean()) < 5 * 7 / np.sqrt(n)


def test_how_many_numbers_move_is_unknown_unless_it_is_stated():
    unknown = GaussianNoise(l2_sensitivity=2, stddev=5)
    assert unknown.l0_sensitivity is None
    assert unknown.event == DiscreteGaussianEvent(5, 2, 4)
    assert len(unknown.release([0] * 9)) == 9


def test_nothing_gets_no_noise():
    assert len(GaussianNoise(l2_sensitivity=1, stddev=7).release([])) == 0


@pytest.mark.parametrize("wrong", [{"stddev": 0}, {"stddev": -1}, {"l2_sensitivity": 0}, {"l0_sensitivity": 0}])
def test_what_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(ParameterError):
        GaussianNoise(**({"l2_sensitivity": 1, "stddev": 1, "l0_sensitivity": 1} | wrong))
