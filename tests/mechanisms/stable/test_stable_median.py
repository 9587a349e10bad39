"""The median by propose-test-release: the exact law of answers and refusals, over all neighboring small databases."""

from fractions import Fraction
from math import exp, fsum, inf, nan

import numpy as np
import pytest
from tests.mechanisms.exhaustive import hockey_stick, neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.stable import propose_test_release as noise_module
from sfumato.mechanisms.stable import stable_median as module
from sfumato.mechanisms.stable.propose_test_release import ProposeTestRelease
from sfumato.mechanisms.stable.stable_median import StableMedian
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

VALUES = [0, 4, 5, 6, 12]
UPPER = 12
SIZES = {ADD_OR_REMOVE_ONE: range(4), REPLACE_ONE: range(3, 4)}
FAR = 50


def laplace(scale, k):
    ratio = exp(-1 / float(scale))
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def released(mechanism, database, test_noise, noise):
    """The real answer to these noises, and the scales they were asked with."""
    asked, left = [], [test_noise, noise]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise_module, "discrete_laplace", lambda scale, _: asked.append(scale) or np.array([left.pop(0)]))
        return mechanism.release(database), tuple(asked)


def law(mechanism, database):
    """The probability of None and of each grid point; all noise beyond the grid's width is counted at its ends."""
    scales = released(mechanism, database, FAR, 0)[1]
    answering = fsum(
        laplace(scales[0], k) for k in range(-FAR, FAR) if released(mechanism, database, k, 0)[0] is not None
    )
    mass = {noise: laplace(scales[1], noise) for noise in range(-UPPER, UPPER + 1)}
    rest = (1 - fsum(mass.values())) / 2
    mass[-UPPER], mass[UPPER] = mass[-UPPER] + rest, mass[UPPER] + rest
    found = {None: 1 - answering}
    for noise, probability in mass.items():
        answer = released(mechanism, database, FAR, noise)[0]
        found[answer] = found.get(answer, 0.0) + answering * probability
    return found


def worst_delta(mechanism):
    pairs = neighbours(VALUES, mechanism.neighboring_relation, sizes=SIZES[mechanism.neighboring_relation])
    pairs = [(tuple(sorted(first)), tuple(sorted(second))) for first, second in pairs]
    laws = {database: law(mechanism, database) for database in {database for pair in pairs for database in pair}}
    return max(hockey_stick(laws[first], laws[second], float(mechanism.epsilon)) for first, second in pairs)


def proposing(sensitivity, epsilon, delta, relation=ADD_OR_REMOVE_ONE):
    return StableMedian(
        lower=0,
        upper=UPPER,
        proposed_sensitivity=sensitivity,
        epsilon=epsilon,
        delta=delta,
        neighboring_relation=relation,
    )


@pytest.mark.parametrize(("epsilon", "delta"), [("4", "0.1"), ("1", "0.3"), ("8", "0.001")])
@pytest.mark.parametrize("relation", SIZES)
def test_no_neighbours_are_told_apart_but_with_probability_delta(relation, epsilon, delta):
    mechanism = proposing(1, epsilon, delta, relation)
    assert 0.01 * float(delta) < worst_delta(mechanism) <= float(delta)


def test_a_quarter_of_the_noise_would_be_caught(monkeypatch):
    real = ProposeTestRelease.scale.fget
    monkeypatch.setattr(ProposeTestRelease, "scale", property(lambda self: real(self) / 4))
    mechanism = proposing(1, 1, "0.05")
    first, second = (law(mechanism, (5,) * 30 + (6,) * count) for count in (30, 31))
    assert hockey_stick(first, second, 1.0) > 0.4


def test_a_distance_that_is_too_large_by_one_would_be_caught(monkeypatch):
    real = module.distance_to_instability
    monkeypatch.setattr(module, "distance_to_instability", lambda *args, **kwargs: real(*args, **kwargs) + 1)
    assert worst_delta(proposing(1, 4, "0.1")) > 0.1


@pytest.mark.parametrize("relation", SIZES)
def test_stable_data_are_answered_and_others_are_not(relation):
    mechanism = proposing(2, 1, "1e-9", relation)
    assert mechanism.release([6] * 1000 + [0] * 100) is not None
    assert mechanism.release([0] * 500 + [12] * 501) is None
    assert mechanism.release([]) is None


def test_no_data_value_is_an_error():
    mechanism = StableMedian(lower=-1, upper=1, proposed_sensitivity="0.1", resolution="0.1", epsilon=1, delta="1e-9")
    for values in ([nan, None, inf, -inf, 1e300], np.array([nan, inf]), Secret([True, 5])):
        assert mechanism.release(values) is None
    answer = mechanism.release([0.25, nan, inf] + [0.3] * 1000)
    assert -1 <= answer <= 1
    assert (answer * 10).denominator == 1


def test_a_proposal_between_two_steps_counts_as_the_lower():
    finer = StableMedian(lower=0, upper=1, proposed_sensitivity="0.19", resolution="0.1", epsilon=1, delta="0.01")
    exact = StableMedian(lower=0, upper=1, proposed_sensitivity="0.1", resolution="0.1", epsilon=1, delta="0.01")
    assert finer.accuracy() == exact.accuracy() == Fraction(6, 10)
    assert released(finer, (0.5,) * 99, FAR, 1)[1] == (Fraction(2), Fraction(2))


def test_the_event_is_the_same_with_an_answer_or_without():
    assert proposing(1, 1, "0.01").event == ApproxEvent(Fraction(1), Fraction(1, 100))


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": "0.5"}, "delta"),
        ({"upper": 0}, "upper"),
        ({"resolution": 0}, "resolution"),
        ({"proposed_sensitivity": "0.9"}, "proposed_sensitivity"),
        ({"proposed_sensitivity": 120}, "proposed_sensitivity"),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong, name):
    good = {"lower": 0, "upper": 120, "proposed_sensitivity": 2, "epsilon": 1, "delta": "1e-6"}
    with pytest.raises(ParameterError, match=name):
        StableMedian(**(good | wrong))
