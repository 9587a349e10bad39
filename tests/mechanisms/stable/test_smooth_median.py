"""The median with smooth noise: the exact law of what is released, over all neighboring small databases."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import exp, fsum, inf, log, nan, pi, tanh

import numpy as np
import pytest
from tests.mechanisms.exhaustive import hockey_stick, neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.stable import smooth_sensitivity as noise_module
from sfumato.mechanisms.stable.smooth_median import SmoothMedian
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

VALUES = [0, 3, 4, 9, 12]
UPPER = 12
SIZES = {ADD_OR_REMOVE_ONE: range(5), REPLACE_ONE: range(3, 4)}
ROUNDING = 1e-11


def cauchy(scale, k):
    s = float(scale)
    return s * tanh(pi * s) / pi / (s * s + k * k)


def laplace(scale, k):
    return tanh(0.5 / float(scale)) * exp(-abs(k) / float(scale))


def law(mechanism, database):
    """The probability of each answer: the real `release` is given every noise that does not end beyond the grid.

    All noise of UPPER or more, of either sign, ends at one end of the grid and is counted there.
    """
    mass, found = {}, {}
    pure = mechanism.delta == 0
    for noise in range(-UPPER, UPPER + 1):
        with pytest.MonkeyPatch.context() as patch:
            asked = []
            sampler = "discrete_cauchy" if pure else "universal_laplace"
            patch.setattr(noise_module, sampler, lambda scale, _, k=noise, a=asked: a.append(scale) or np.array([k]))
            found[noise] = mechanism.release(database)
        mass[noise] = (cauchy if pure else laplace)(asked[0], noise)
    rest = (1 - fsum(mass.values())) / 2
    mass[-UPPER], mass[UPPER] = mass[-UPPER] + rest, mass[UPPER] + rest
    assert {found[-UPPER], found[UPPER]} == {0, UPPER}
    return {answer: fsum(mass[k] for k in mass if found[k] == answer) for answer in set(found.values())}


def laws_of_neighbours(mechanism):
    pairs = neighbours(VALUES, mechanism.neighboring_relation, sizes=SIZES[mechanism.neighboring_relation])
    pairs = [(tuple(sorted(first)), tuple(sorted(second))) for first, second in pairs]
    laws = {database: law(mechanism, database) for database in {database for pair in pairs for database in pair}}
    return [(laws[first], laws[second]) for first, second in pairs]


def worst_loss(mechanism):
    pairs = laws_of_neighbours(mechanism)
    return max(log(mass / second[answer]) for first, second in pairs for answer, mass in first.items())


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(3)], ids=float)
@pytest.mark.parametrize("relation", SIZES)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(relation, epsilon):
    mechanism = SmoothMedian(lower=0, upper=UPPER, epsilon=epsilon, neighboring_relation=relation)
    assert 0.5 * float(epsilon) < worst_loss(mechanism) <= float(epsilon) + ROUNDING


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("3", "0.05"), ("8", "0.3")])
@pytest.mark.parametrize("relation", SIZES)
def test_delta_summed_over_all_answers_is_not_exceeded(relation, epsilon, delta):
    mechanism = SmoothMedian(lower=0, upper=UPPER, epsilon=epsilon, delta=delta, neighboring_relation=relation)
    pairs = laws_of_neighbours(mechanism)
    worst = max(hockey_stick(first, second, float(mechanism.epsilon)) for first, second in pairs)
    assert worst <= float(mechanism.delta) + ROUNDING


def test_half_the_noise_would_be_caught():
    mechanism = SmoothMedian(lower=0, upper=UPPER, epsilon="0.5")
    object.__setattr__(mechanism.noise, "scale_factor", mechanism.noise.scale_factor / 2)
    assert worst_loss(mechanism) > 0.6


def test_less_than_half_the_laplace_noise_would_be_caught():
    mechanism = SmoothMedian(lower=0, upper=UPPER, epsilon=1, delta="1e-6")
    object.__setattr__(mechanism.noise, "scale_factor", mechanism.noise.scale_factor * Fraction(2, 5))
    pairs = laws_of_neighbours(mechanism)
    assert max(hockey_stick(first, second, 1.0) for first, second in pairs) > 0.01


def scale_for(database, relation=ADD_OR_REMOVE_ONE):
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise_module, "discrete_cauchy", lambda scale, _: asked.append(scale) or np.array([0]))
        SmoothMedian(lower=0, upper=UPPER, epsilon=1, neighboring_relation=relation).release(database)
    return asked[0]


@pytest.mark.parametrize("relation", SIZES)
def test_data_around_their_median_get_less_noise_than_data_at_both_ends(relation):
    assert scale_for([6] * 51, relation) == 1
    assert scale_for([0] * 25 + [12] * 25, relation) > 8


def test_the_order_of_the_data_does_not_matter():
    assert len({scale_for(data) for data in ([1, 5, 9, 2], [9, 5, 2, 1], [2, 9, 1, 5])}) == 1


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_no_data_value_is_an_error(delta):
    mechanism = SmoothMedian(lower=-1, upper=1, resolution="0.1", epsilon=1, delta=delta)
    for values in ([], [nan, None, inf, -inf, 1e300, 0.25], np.array([nan, inf]), Secret([True, 5])):
        answer = mechanism.release(values)
        assert -1 <= answer <= 1
        assert (answer / mechanism.resolution).denominator == 1


@pytest.mark.parametrize("delta", [0, "1e-9"])
@pytest.mark.parametrize("relation", SIZES)
def test_every_small_database_of_the_widest_grid_can_be_answered(relation, delta):
    widest = 2**40
    mechanism = SmoothMedian(lower=0, upper=widest, epsilon="0.01", delta=delta, neighboring_relation=relation)
    for size in range(4):
        for values in combinations_with_replacement([0, 1, widest // 2, widest], size):
            assert 0 <= mechanism.release(values) <= widest


@pytest.mark.statistical
def test_the_median_of_many_is_nearly_exact():
    ages = 20 + np.arange(6100) % 61
    mechanism = SmoothMedian(lower=0, upper=120, epsilon=1)
    answers = [mechanism.release(ages) for _ in range(400)]
    assert np.mean([abs(answer - 50) <= 13 for answer in answers]) > 0.95 - 4.9 * (0.05 * 0.95 / 400) ** 0.5


def test_the_event_is_pure_without_delta():
    assert SmoothMedian(lower=0, upper=1, epsilon=1).event == PureEvent(Fraction(1))
    approximate = SmoothMedian(lower=0, upper=1, epsilon=1, delta="0.01")
    assert approximate.event == ApproxEvent(Fraction(1), Fraction(1, 100))


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"lower": 120}, "upper"),
        ({"upper": inf}, "upper"),
        ({"resolution": 0}, "resolution"),
        ({"resolution": 200}, "upper"),
        ({"resolution": Fraction(1, 2**60)}, "resolution"),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong, name):
    with pytest.raises(ParameterError, match=name):
        SmoothMedian(**({"lower": 0, "upper": 120, "epsilon": 1} | wrong))


def test_a_relation_outside_is_refused():
    with pytest.raises(ParameterError, match="neighboring_relation"):
        SmoothMedian(lower=0, upper=1, epsilon=1, neighboring_relation="swap")
