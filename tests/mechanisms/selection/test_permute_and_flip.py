"""Permute-and-flip: exhaustive privacy, its rank beside the exponential mechanism, edge cases."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import inf, log, nan

import numpy as np
import pytest
from scipy.integrate import quad
from tests.laws import SAMPLES, assert_law, cdf_of
from tests.mechanisms.exhaustive import neighbours
from tests.mechanisms.utilities import QUESTIONS, votes

from sfumato.errors import ParameterError
from sfumato.mechanisms.selection import permute_and_flip as module
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sfumato.privacy.events import LaplaceEvent, PureEvent
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(10)]
SCORES = [[0, 0, 0], [5, 3, 3, 0], [10, 9, 8, 7, 6, 5], [2, 100, 99], [0, -1000]]


def halves(rows):
    """Sums of real numbers that lie between lattice points, each row moving each sum by 3/10 or less."""
    return [0.3 * sum(row == candidate for row in rows) - 0.1 * len(rows) for candidate in range(3)]


def law(mechanism, scores):
    """From the exponents that the real code gives to the sampler, over all sets of true coins, to 50 digits."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "permute_and_flip_choice", lambda *exponents: asked.append(exponents) or np.array([0]))
        mechanism.release(scores)
    numerators, denominator, _ = asked[0]
    with localcontext(prec=50):
        chances = [(-Decimal(numerator) / denominator).exp() for numerator in numerators.tolist()]
        probabilities = [Decimal(0)] * len(chances)
        for coins in product([False, True], repeat=len(chances)):
            mass = Decimal(1)
            for chance, coin in zip(chances, coins, strict=True):
                mass *= chance if coin else 1 - chance
            for i in np.flatnonzero(coins).tolist():
                probabilities[i] += mass / sum(coins)
        return probabilities


def log_ratios(mechanism, query, pairs):
    laws = {database: law(mechanism, query(database)) for pair in pairs for database in pair}
    return [[(p / q).ln() for p, q in zip(laws[first], laws[second], strict=True)] for first, second in pairs]


def worst_ratio(mechanism, query, pairs):
    return max(max(ratios) for ratios in log_ratios(mechanism, query, pairs))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("query", "rows", "relation", "monotonic"), QUESTIONS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(query, rows, relation, monotonic, epsilon):
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=epsilon, monotonic=monotonic)
    worst = worst_ratio(mechanism, query, neighbours(rows, relation))
    assert Decimal("0.2") * epsilon.numerator / epsilon.denominator < worst <= Decimal(str(float(epsilon)))


def test_epsilon_is_reached():
    pairs = neighbours([0, 1], REPLACE_ONE)
    worst = worst_ratio(PermuteAndFlip(utility_sensitivity=1, epsilon=1), lambda rows: votes(rows)[:2], pairs)
    assert abs(worst - 1) < Decimal("1e-25")


@pytest.mark.parametrize("resolution", ["0.1", "0.2", "0.25", "1", "7"])
def test_rounding_to_a_resolution_is_paid_for(resolution):
    mechanism = PermuteAndFlip(utility_sensitivity="0.3", epsilon=1, resolution=resolution)
    assert worst_ratio(mechanism, halves, neighbours([0, 1, 2], REPLACE_ONE)) <= 1


def test_rounding_would_not_be_paid_for_by_the_sensitivity_alone():
    mechanism = PermuteAndFlip(utility_sensitivity="0.2", epsilon=1, resolution="0.2")
    assert worst_ratio(mechanism, halves, neighbours([0, 1, 2], REPLACE_ONE)) > 1


def test_a_false_claim_of_monotonic_utilities_would_be_caught():
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1, monotonic=True)
    assert worst_ratio(mechanism, votes, neighbours([0, 1, 2], REPLACE_ONE)) > 1


def test_a_sensitivity_half_as_large_as_the_true_one_would_be_caught():
    mechanism = PermuteAndFlip(utility_sensitivity="0.5", epsilon=1)
    assert worst_ratio(mechanism, votes, neighbours([0, 1, 2], REPLACE_ONE)) > 1


def test_its_range_is_above_epsilon_so_that_it_is_no_exponential_event():
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1)
    ratios = log_ratios(mechanism, votes, neighbours([0, 1], REPLACE_ONE))
    assert max(max(each) - min(each) for each in ratios) > Decimal("1.3")


def test_its_event_is_that_of_laplace_noise():
    assert PermuteAndFlip(utility_sensitivity=3, epsilon="0.1").event == LaplaceEvent(10)
    assert PermuteAndFlip(utility_sensitivity=1, epsilon=0).event == PureEvent(0)


def laplace_delta(epsilon, loss):
    """δ of Laplace noise of this ε at a smaller loss."""
    return max(1 - ((loss - epsilon) / 2).exp(), Decimal(0))


def profile(first, second, loss):
    return sum(max(p - loss.exp() * q, Decimal(0)) for p, q in zip(first, second, strict=True))


@pytest.mark.parametrize("epsilon", [1, 3])
@pytest.mark.parametrize(("query", "rows", "relation", "monotonic"), QUESTIONS)
def test_it_tells_no_more_than_laplace_noise(query, rows, relation, monotonic, epsilon):
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=epsilon, monotonic=monotonic)
    closest = []
    for first, second in neighbours(rows, relation):
        laws = law(mechanism, query(first)), law(mechanism, query(second))
        for part in ("0", "0.3", "0.8", "0.99"):
            loss = Decimal(part) * epsilon
            allowed = laplace_delta(Decimal(epsilon), loss)
            assert profile(*laws, loss) <= allowed + Decimal("1e-40")
            closest.append(profile(*laws, loss) / allowed)
    assert max(closest) > Decimal("0.3")


def test_the_exponential_event_would_promise_too_much():
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1)
    laws = law(mechanism, [1, 0]), law(mechanism, [0, 1])
    range_bound = (1 - Decimal("-0.5").exp()) ** 2 / (1 - Decimal(-1).exp())
    assert profile(*laws, Decimal(0)) > range_bound


@pytest.mark.parametrize("scores", SCORES, ids=str)
@pytest.mark.parametrize("monotonic", [False, True])
def test_probabilities_are_those_of_the_definition(scores, monotonic):
    mechanism = PermuteAndFlip(utility_sensitivity=3, epsilon=2, monotonic=monotonic)
    assert mechanism.probabilities(scores) == pytest.approx([float(p) for p in law(mechanism, scores)], rel=1e-12)


@pytest.mark.parametrize("scores", SCORES, ids=str)
def test_it_is_the_largest_after_exponential_noise(scores):
    gaps = (max(scores) - np.array(scores)) / 2

    def wins(i):
        others = np.delete(gaps, i)
        return quad(lambda x: np.exp(-x) * np.prod(np.maximum(0, 1 - np.exp(gaps[i] - others - x))), gaps[i], 60)[0]

    expected = [wins(i) for i in range(len(scores))]
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1)
    assert mechanism.probabilities(scores) == pytest.approx(expected, abs=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("scores", [[3, 2, 0, 1, 3], [0.5, 0.25, 1.75, 1.5], np.arange(12)])
def test_choices_have_their_probability(scores):
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1)
    assert_law(mechanism.release_many(scores, SAMPLES), cdf_of(mechanism.probabilities(scores)))


@pytest.mark.parametrize("scores", [*SCORES, list(range(40)), [0] * 30 + [3], [9] + [0] * 200], ids=str)
@pytest.mark.parametrize("epsilon", ["0.1", 1, 4])
def test_it_is_never_worse_than_the_exponential_mechanism(scores, epsilon):
    best_first = sorted(scores, reverse=True)
    laws = [
        cls(utility_sensitivity=1, epsilon=epsilon).probabilities(best_first) for cls in (PermuteAndFlip, Exponential)
    ]
    ends = np.append(np.flatnonzero(np.diff(best_first)), len(scores) - 1)
    flipped, exponential = (np.cumsum(each)[ends] for each in laws)
    assert (flipped >= exponential - 1e-12).all()


@pytest.mark.parametrize("scores", [[0] * 20, [5, *[0] * 19], list(range(20))], ids=["level", "one good", "rising"])
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_accuracy_holds_with_its_confidence(scores, monotonic, confidence):
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1, monotonic=monotonic)
    shortfall = mechanism.accuracy(confidence, candidates=20)
    assert shortfall == pytest.approx((1 if monotonic else 2) * log(9.5 / (1 - confidence)))
    assert shortfall < Exponential(utility_sensitivity=1, epsilon=1, monotonic=monotonic).accuracy(
        confidence, candidates=20
    )
    within = np.array(scores) >= max(scores) - shortfall
    assert mechanism.probabilities(scores)[within].sum() >= confidence


def test_the_accuracy_at_its_ends():
    nothing = PermuteAndFlip(utility_sensitivity=1, epsilon=0)
    assert nothing.accuracy(candidates=3) == inf
    assert nothing.accuracy(candidates=1) == 0
    assert PermuteAndFlip(utility_sensitivity=1, epsilon=1).accuracy(0.4, candidates=2) == 0


def test_releases_are_indexes():
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1)
    assert mechanism.release(Secret([0, 10**6])) == 1
    assert type(mechanism.release([0, 10**6])) is int
    assert mechanism.release_many([0, 10**6], 5).tolist() == [1] * 5


def test_without_epsilon_all_are_alike():
    assert PermuteAndFlip(utility_sensitivity=1, epsilon=0).probabilities([1, 5, 9]) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(("scores", "best"), [([nan, -(10**9)], 0), ([-inf, None, 10**9], 2), ([1e300, inf], 1)])
@pytest.mark.parametrize("resolution", [None, 1])
def test_no_utility_is_an_error(scores, best, resolution):
    mechanism = PermuteAndFlip(utility_sensitivity=1, epsilon=1, resolution=resolution)
    if resolution is None or 1e300 not in scores:  # both lie beyond the lattice, and tie
        assert mechanism.release(scores) == best


@pytest.mark.parametrize("scores", [[], np.array([]), np.zeros((2, 2))])
def test_no_candidate_is_an_error(scores):
    with pytest.raises(ParameterError, match="scores"):
        PermuteAndFlip(utility_sensitivity=1, epsilon=1).release(scores)


@pytest.mark.parametrize(
    "wrong", [{"utility_sensitivity": 0}, {"epsilon": -1}, {"epsilon": inf}, {"resolution": 0}], ids=str
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        PermuteAndFlip(**({"utility_sensitivity": 1, "epsilon": 1} | wrong))
