"""Report noisy max: the exact law of the index over neighboring databases, ties included."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf, nan

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.mechanisms.exhaustive import neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.selection import noisy_max as module
from sfumato.mechanisms.selection.noisy_max import NoisyMax
from sfumato.privacy.events import PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

PATIENTS = [(), (0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]
EPSILONS = [Fraction(1, 2), Fraction(1), Fraction(3)]


def symptoms(rows):
    return tuple(sum(symptom in row for row in rows) for symptom in range(3))


@cache
def mass(scale, k):
    ratio = (-1 / scale).exp()
    return (1 - ratio) / (1 + ratio) * (-abs(k) / scale).exp()


@cache
def cumulative(scale, k):
    """P(X ≤ k)."""
    ratio = (-1 / scale).exp()
    tail = (-abs(k + 1 if k >= 0 else k) / scale).exp() / (1 + ratio)
    return 1 - tail if k >= 0 else tail


def law(scale, counts):
    """P(index) = Σ_r P(r) · Π P(noise of each other count leaves it below, or level if it comes later)."""
    scale, reach = Decimal(scale.numerator) / scale.denominator, int(60 * scale) + max(counts)
    probabilities = []
    for index, count in enumerate(counts):
        total = Decimal(0)
        for noise in range(-reach, reach + 1):
            chance = mass(scale, noise)
            for other, rival in enumerate(counts):
                if other != index:
                    chance *= cumulative(scale, count + noise - rival - (other < index))
            total += chance
        probabilities.append(total)
    return probabilities


def worst_ratio(mechanism, pairs):
    with localcontext(prec=50):
        counts = {symptoms(database) for pair in pairs for database in pair}
        laws = {count: law(mechanism.scale, count) for count in counts}
        assert all(abs(sum(probabilities) - 1) < Decimal("1e-20") for probabilities in laws.values())
        return max((p / q).ln() for a, b in pairs for p, q in zip(laws[symptoms(a)], laws[symptoms(b)], strict=True))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(relation, epsilon):
    mechanism = NoisyMax(epsilon=epsilon, neighboring_relation=relation)
    worst = worst_ratio(mechanism, neighbours(PATIENTS, relation, sizes=range(3)))
    limit = Decimal(epsilon.numerator) / epsilon.denominator
    assert limit / 2 < worst <= limit


def test_the_noise_for_adding_would_not_do_for_replacing():
    mechanism = NoisyMax(epsilon=1, neighboring_relation=ADD_OR_REMOVE_ONE)
    assert worst_ratio(mechanism, neighbours(PATIENTS, REPLACE_ONE, sizes=range(3))) > 1


def worst_of_moves(mechanism, moves):
    """The largest log-ratio over all small scores and all moves of them, at 30 digits."""
    with localcontext(prec=30):
        scores = list(product(range(3), repeat=3))
        laws = {
            score: law(mechanism.scale, score)
            for score in {*scores} | {tuple(map(sum, zip(*pair, strict=True))) for pair in product(scores, moves)}
        }
        pairs = [(score, tuple(map(sum, zip(score, move, strict=True)))) for score in scores for move in moves]
        ratios = ((p / q).ln().copy_abs() for a, b in pairs for p, q in zip(laws[a], laws[b], strict=True))
        return max(ratios)


@pytest.mark.parametrize(("monotonic", "steps"), [(True, [0, 2]), (False, [-2, 0, 2])])
def test_scores_of_any_sensitivity_stay_within_epsilon(monotonic, steps):
    mechanism = NoisyMax(epsilon=1, utility_sensitivity=2, monotonic=monotonic)
    moves = list(product(steps, repeat=3))
    assert Decimal("0.5") < worst_of_moves(mechanism, moves) <= 1
    assert mechanism.scale == (2 if monotonic else 4)


def test_scores_that_move_both_ways_need_twice_the_noise():
    mechanism = NoisyMax(epsilon=1, utility_sensitivity=2)
    assert worst_of_moves(mechanism, list(product([-2, 0, 2], repeat=3))) > 1


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({"utility_sensitivity": 5}, 50),
        ({"utility_sensitivity": "2.5"}, 25),
        ({"utility_sensitivity": "2.5", "resolution": "1"}, 30),
        ({"utility_sensitivity": "2.5", "resolution": "0.1", "monotonic": False}, 500),
        ({"utility_sensitivity": 3, "monotonic": False, "neighboring_relation": REPLACE_ONE}, 120),
    ],
    ids=str,
)
def test_the_scale_follows_from_how_far_and_in_how_many_directions_scores_move(options, scale):
    assert NoisyMax(epsilon="0.1", **options).scale == scale


def test_real_scores_are_compared_on_the_lattice(monkeypatch):
    monkeypatch.setattr(module, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))
    mechanism = NoisyMax(epsilon=1, utility_sensitivity="0.3", resolution="0.1")
    assert mechanism.release([0.24, 0.25, 0.26]) == 1  # three steps each, from the second on
    assert mechanism.release([None, nan, -inf, 1e-3]) == 0


def test_the_accuracy_of_real_scores_covers_what_rounding_adds():
    whole, real = NoisyMax(epsilon=1), NoisyMax(epsilon=1, utility_sensitivity="0.1", resolution="0.1")
    assert real.accuracy(candidates=3) == (whole.accuracy(candidates=3) + 1) / Fraction(10)


@pytest.mark.parametrize("wrong", [{"utility_sensitivity": 0}, {"monotonic": 1}, {"resolution": 0}], ids=str)
def test_what_scores_cannot_be_is_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        NoisyMax(epsilon=1, **wrong)


def test_the_code_takes_the_first_largest_noisy_count_for_every_noise(monkeypatch):
    for noise in product(range(-2, 3), repeat=3):
        monkeypatch.setattr(module, "discrete_laplace", lambda _, size, noise=noise: np.array(noise[:size]))
        noisy = [count + k for count, k in zip([1, 0, 1], noise, strict=True)]
        assert NoisyMax(epsilon=1).release([1, 0, 1]) == noisy.index(max(noisy))


def test_the_sampler_is_asked_for_the_scale_and_one_noise_a_count(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "discrete_laplace", lambda *asking: asked.append(asking) or np.zeros(4, dtype=np.int64))
    NoisyMax(epsilon="0.1").release([0, 0, 0, 0])
    NoisyMax(epsilon="0.1", neighboring_relation=REPLACE_ONE).release([0, 0, 0, 0])
    assert asked == [(Fraction(10), 4), (Fraction(20), 4)]


@pytest.mark.statistical
def test_releases_follow_the_exact_law():
    mechanism, counts = NoisyMax(epsilon=1), (2, 1, 2)
    expected = [float(p) for p in law(mechanism.scale, counts)]
    found = np.bincount([mechanism.release(counts) for _ in range(3000)], minlength=3)
    for observed, probability in zip(found, expected, strict=True):
        assert binomtest(int(observed), 3000, probability).pvalue >= ALPHA


def test_a_clear_winner_is_reported_as_an_int():
    assert NoisyMax(epsilon=1).release(Secret([0, 10**6, 3])) == 1
    assert type(NoisyMax(epsilon=1).release(np.array([0, 10**6, 3]))) is int


@pytest.mark.parametrize("huge", [2**63 - 1, 2**100])
def test_huge_counts_do_not_wrap(huge):
    assert {NoisyMax(epsilon="0.001").release([0, huge, -huge]) for _ in range(50)} == {1}


def test_the_event_is_pure():
    assert NoisyMax(epsilon="0.1").event == PureEvent(Fraction(1, 10))


@pytest.mark.statistical
def test_without_epsilon_every_candidate_is_as_likely():
    mechanism = NoisyMax(epsilon=0)
    first = sum(mechanism.release([10**9, 0]) == 0 for _ in range(2000))
    assert binomtest(first, 2000, 0.5).pvalue >= ALPHA
    assert (mechanism.event, mechanism.scale, mechanism.accuracy(candidates=2)) == (PureEvent(Fraction(0)), 0, inf)


def test_no_candidate_is_an_error():
    with pytest.raises(ParameterError, match="at least one candidate"):
        NoisyMax(epsilon=1).release([])


@pytest.mark.parametrize("counts", [[1.5, 2], ["a"]])
def test_what_is_no_count_is_an_error(counts):
    with pytest.raises(ParameterError, match="integer"):
        NoisyMax(epsilon=1).release(counts)


@pytest.mark.parametrize("epsilon", [-1, inf, 1001, Fraction(1, 2**51)])
def test_an_epsilon_outside_is_refused(epsilon):
    with pytest.raises(ParameterError):
        NoisyMax(epsilon=epsilon)


def test_the_accuracy_holds_with_its_confidence():
    mechanism, counts = NoisyMax(epsilon=1), (7, 6, 0)
    shortfall = mechanism.accuracy(0.95, candidates=3)
    assert shortfall == 2 * 4  # P(|noise| > 4) = 0.0099 < 0.05/3 < P(|noise| > 3)
    assert (
        sum(p for p, count in zip(law(mechanism.scale, counts), counts, strict=True) if 7 - count <= shortfall) > 0.95
    )


@pytest.mark.parametrize("confidence", [-5, 0, 1])
def test_a_confidence_outside_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        NoisyMax(epsilon=1).accuracy(confidence, candidates=100)
