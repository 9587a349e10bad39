"""Propose-test-release: the exact law of answers and refusals, for all distances around the threshold."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA

from sfumato.errors import ParameterError
from sfumato.mechanisms.stable import propose_test_release as module
from sfumato.mechanisms.stable.propose_test_release import ProposeTestRelease, StableValue
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.secret import Secret

PARAMETERS = [("2", "0.01", "2"), ("1", "0.2", "1"), ("4", "1e-6", "3"), ("3", "0.49", "1/2")]
WINDOW = 60


def mass(scale, k):
    ratio = (-scale.denominator / Decimal(scale.numerator)).exp()
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def above(scale, k):
    """P(X > k)."""
    ratio = (-scale.denominator / Decimal(scale.numerator)).exp()
    return ratio ** (k + 1) / (1 + ratio) if k >= 0 else 1 - ratio**-k / (1 + ratio)


def release(mechanism, exact, noises):
    """The real answer when the sampler gives these noises, and the scales it was asked for."""
    asked, left = [], list(noises)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "discrete_laplace", lambda scale, _: asked.append(scale) or np.array([left.pop(0)]))
        return mechanism.release(exact), asked


def law(mechanism, exact):
    """The probability of None and of each answer in a window, from the real `release`."""
    answering = [noise for noise in range(-WINDOW, WINDOW) if release(mechanism, exact, [noise, 0])[0] is not None]
    assert answering == list(range(answering[0], WINDOW))  # so the noises that lead to an answer have no gap
    _, (test_scale, scale) = release(mechanism, exact, [WINDOW, 0])
    answers = above(test_scale, answering[0] - 1)
    found = {release(mechanism, exact, [WINDOW, noise])[0]: mass(scale, noise) for noise in range(-WINDOW, WINDOW + 1)}
    return {None: 1 - answers} | {answer: answers * probability for answer, probability in found.items()}


def rivals(mechanism):
    """Values and distances of neighbors: values are anywhere if both distances are 0, else at most Δ apart."""
    step = int(max(mechanism.proposed_sensitivity, 1)) if mechanism.proposed_sensitivity >= 1 else 0
    around = range(max(mechanism.threshold - 2, 1), mechanism.threshold + 3)
    for distance, change, shift in product([1, 2, *around], [-1, 0, 1], [0, step]):
        yield StableValue(0, distance), StableValue(shift, distance + change)
        yield StableValue(shift, distance + change), StableValue(0, distance)
    yield StableValue(0, 0), StableValue(10**6, 0)


def worst_delta(mechanism):
    with localcontext(prec=50):
        growth = (mechanism.epsilon.numerator / Decimal(mechanism.epsilon.denominator)).exp()
        deltas = []
        for first, second in rivals(mechanism):
            one, other = law(mechanism, first), law(mechanism, second)
            # An answer beyond the other's window has a probability of next to nothing where the values are near.
            known = [answer for answer in one if answer in other or abs(first.value - second.value) > WINDOW]
            deltas.append(sum(max(Decimal(0), one[answer] - growth * other.get(answer, 0)) for answer in known))
        return max(deltas)


@pytest.mark.parametrize(("epsilon", "delta", "proposed"), PARAMETERS)
def test_no_neighbours_are_told_apart_but_with_probability_delta(epsilon, delta, proposed):
    mechanism = ProposeTestRelease(proposed_sensitivity=proposed, epsilon=epsilon, delta=delta)
    with localcontext(prec=50):
        worst = worst_delta(mechanism)
        assert worst <= Decimal(delta)
        assert worst > Decimal(delta) * (-Decimal(epsilon) / 2).exp() * Decimal(
            "0.99"
        )  # the next threshold below fails


@pytest.mark.parametrize(("epsilon", "delta", "proposed"), PARAMETERS)
def test_the_threshold_is_the_smallest_that_noise_exceeds_with_probability_delta(epsilon, delta, proposed):
    mechanism = ProposeTestRelease(proposed_sensitivity=proposed, epsilon=epsilon, delta=delta)
    with localcontext(prec=50):
        assert above(mechanism.test_scale, mechanism.threshold) <= Decimal(delta)
        assert above(mechanism.test_scale, mechanism.threshold - 1) > Decimal(delta)


def test_a_smaller_threshold_would_be_caught(monkeypatch):
    mechanism = ProposeTestRelease(proposed_sensitivity=1, epsilon=2, delta="0.01")
    threshold = mechanism.threshold
    monkeypatch.setattr(ProposeTestRelease, "threshold", property(lambda _: threshold - 1))
    assert worst_delta(mechanism) > Decimal("0.01")


def test_half_the_noise_on_the_answer_would_be_caught(monkeypatch):
    mechanism = ProposeTestRelease(proposed_sensitivity=2, epsilon=2, delta="0.001")
    monkeypatch.setattr(ProposeTestRelease, "scale", property(lambda _: Fraction(1)))
    assert worst_delta(mechanism) > Decimal("0.1")


@pytest.mark.parametrize(("test_scale", "loss"), [(Fraction(1), 1), (Fraction(1, 2), 2)])
def test_the_test_alone_loses_half_of_epsilon_and_twice_that_with_half_the_noise(monkeypatch, test_scale, loss):
    mechanism = ProposeTestRelease(proposed_sensitivity=2, epsilon=2, delta="0.001")
    far = mechanism.threshold + 1
    monkeypatch.setattr(ProposeTestRelease, "test_scale", property(lambda _: test_scale))
    monkeypatch.setattr(ProposeTestRelease, "threshold", property(lambda _: far - 1))
    with localcontext(prec=50):
        near, next_to_it = (law(mechanism, StableValue(0, distance))[None] for distance in (far, far + 1))
        assert abs((near / next_to_it).ln() - loss) < Decimal("1e-30")


def test_the_noise_has_the_scales_that_are_stated():
    mechanism = ProposeTestRelease(proposed_sensitivity=3, epsilon="0.5", delta="1e-6")
    assert (mechanism.test_scale, mechanism.scale) == (4, 12)
    assert release(mechanism, StableValue(7, 10**6), [-5, 30]) == (37, [Fraction(4), Fraction(12)])
    assert release(mechanism, StableValue(7, 0), [0]) == (None, [Fraction(4)])


@pytest.mark.parametrize("distance", [0, -1, -(10**30)])
def test_a_distance_below_zero_counts_as_zero(distance):
    mechanism = ProposeTestRelease(proposed_sensitivity=1, epsilon=1, delta="0.001")
    assert release(mechanism, StableValue(7, distance), [mechanism.threshold, 0])[0] is None
    assert release(mechanism, StableValue(7, distance), [mechanism.threshold + 1, 0])[0] == 7


@pytest.mark.statistical
def test_at_the_threshold_it_answers_as_often_as_it_refuses_and_ties_refuse():
    mechanism = ProposeTestRelease(proposed_sensitivity=1, epsilon=1, delta="0.001")
    answered = sum(mechanism.release(StableValue(0, mechanism.threshold)) is not None for _ in range(2000))
    assert binomtest(answered, 2000, float(above(Fraction(2), 0))).pvalue >= ALPHA


@pytest.mark.statistical
def test_the_accuracy_covers_as_often_as_it_says():
    mechanism = ProposeTestRelease(proposed_sensitivity=2, epsilon=1, delta="0.001")
    errors = [abs(mechanism.release(Secret(StableValue(-40, 10**6))) + 40) for _ in range(2000)]
    assert np.mean(np.array(errors) <= mechanism.accuracy("0.95")) > 0.95 - 4.9 * (0.95 * 0.05 / 2000) ** 0.5


def test_the_event_is_the_same_with_an_answer_or_without():
    mechanism = ProposeTestRelease(proposed_sensitivity=1, epsilon=1, delta="0.001")
    assert mechanism.event == ApproxEvent(Fraction(1), Fraction(1, 1000))


def test_huge_values_do_not_wrap():
    mechanism = ProposeTestRelease(proposed_sensitivity=1, epsilon=1, delta="0.001")
    assert abs(mechanism.release(StableValue(2**200, 2**200)) - 2**200) < 2**20


@pytest.mark.parametrize("wrong", [(1.5, 3), (3, 1.5), (None, 3), ("3", "4"), (1, 2, 3), 4])
def test_what_is_no_pair_of_integers_is_refused(wrong):
    with pytest.raises(ParameterError, match="exact"):
        ProposeTestRelease(proposed_sensitivity=1, epsilon=1, delta="0.001").release(wrong)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"proposed_sensitivity": 0}, "proposed_sensitivity"),
        ({"proposed_sensitivity": 2**51}, "scale"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 3000}, "scale"),
        ({"delta": 0}, "delta"),
        ({"delta": "0.5"}, "delta"),
        ({"delta": 2}, "delta"),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong, name):
    with pytest.raises(ParameterError, match=name):
        ProposeTestRelease(**({"proposed_sensitivity": 1, "epsilon": 1, "delta": "0.001"} | wrong))
