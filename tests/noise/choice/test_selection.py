"""Exact choice among candidates: exponentially, and by permute-and-flip."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import inf, lcm, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES, assert_law, assert_not_law, cdf_of
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.choice import selection as module
from sfumato.noise.choice.selection import (
    HOPELESS,
    LargeWeights,
    exponential_choice_of,
    gaps_above_smallest,
    permute_and_flip_choice,
    rough_exp,
    whole_numbers,
)


def choice(exponents, size, weights=None):
    """Of exponents that are fractions."""
    denominator = lcm(*(exponent.denominator for exponent in exponents))
    return exponential_choice_of([int(e * denominator) for e in exponents], denominator, size, weights=weights)


def law(exponents, weights=None):
    logs = [-float(exponent - min(exponents)) for exponent in exponents]
    masses = np.exp(logs) * np.array([1] * len(logs) if weights is None else weights, dtype=np.float64)
    return cdf_of(masses / masses.sum())


def large(numerators, denominator, weights):
    """Weights by their logarithms, some too small by what is allowed; too large where a candidate is hopeless."""
    most = max(map(log, filter(None, weights)))
    logarithms = [
        most if n > (most + HOPELESS) * denominator else log(weight) - 2**-21 if weight else -inf
        for n, weight in zip(map(int, numerators), map(int, weights), strict=True)
    ]
    return LargeWeights(np.array(logarithms), [*map(int, weights)].__getitem__)


CASES = {
    "fair": [Fraction(0)] * 5,
    "two": [Fraction(1, 3), Fraction(0)],
    "shifted": [Fraction(1000), Fraction(1001), Fraction(2001, 2)],
    "spread": [Fraction(k, 7) for k in range(30)],
    "long fractions": [Fraction(k**9, 3**40) + Fraction(1, 7**30) for k in range(90)],
    "hopeless ones": [Fraction(10**30), Fraction(0), Fraction(1), Fraction(10**6)],
}
WEIGHTED = {
    "small": ([3, 1, 0, 7, 2], [0, 1, -5, 2, 0]),
    "wide gaps of little use": ([1, 5**8, 0, 5**12, 5**16], [0, 13, 1, 19, 26]),
    "beyond 64 bits": ([2**70, 2**71, 0, 3 * 2**72, 2**60], [1, 0, 5, 2, 3]),
}


@pytest.mark.statistical
@pytest.mark.parametrize("exponents", CASES.values(), ids=CASES)
def test_candidates_have_their_probability(exponents):
    assert_law(choice(exponents, DRAWS), law(exponents))


@pytest.mark.statistical
@pytest.mark.parametrize("exponents", CASES.values(), ids=CASES)
def test_single_draws_have_the_same_law(exponents):
    draws = np.concatenate([choice(exponents, 1) for _ in range(5000)])
    assert_law(draws, law(exponents))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [Fraction(11, 10), Fraction(10, 11)])
def test_exponents_off_by_ten_percent_are_refused(factor):
    exponents = CASES["spread"]
    assert_not_law(choice(exponents, SAMPLES), law([exponent * factor for exponent in exponents]))


@pytest.mark.statistical
@pytest.mark.parametrize(("weights", "exponents"), WEIGHTED.values(), ids=WEIGHTED)
def test_weights_multiply_the_probabilities(weights, exponents):
    exponents = [Fraction(exponent) for exponent in exponents]
    draws = choice(exponents, SAMPLES, weights)
    assert 2 not in draws
    assert_law(draws, law(exponents, weights))


@pytest.mark.statistical
@pytest.mark.parametrize(("weights", "exponents"), WEIGHTED.values(), ids=WEIGHTED)
def test_weights_by_their_logarithms_multiply_the_probabilities(weights, exponents):
    weights, exponents = [*weights, 5], [*exponents, 10**6]
    draws = exponential_choice_of(exponents, 1, SAMPLES, weights=large(exponents, 1, weights))
    assert_law(draws, law([Fraction(exponent) for exponent in exponents], weights))


@pytest.mark.statistical
@pytest.mark.parametrize(("constant", "value"), [("_MOST_IN_FLOATS", 0), ("_PRECISION", 3), ("_INFLATION", 1.5)])
def test_the_law_does_not_depend_on_how_candidates_are_proposed(monkeypatch, constant, value):
    """In integers alone, with proposals of a few units each, or with proposals far too many."""
    monkeypatch.setattr(module, constant, value)
    if constant == "_INFLATION":
        monkeypatch.setattr(module, "_surely_below", lambda upper: upper // 3)
    exponents = CASES["spread"][:9]
    assert_law(choice(exponents, SAMPLES // 5), law(exponents))


@pytest.mark.statistical
def test_every_draw_may_be_decided_exactly(monkeypatch):
    monkeypatch.setattr(module, "_surely_below", lambda upper: 0 * upper)
    weights, exponents = [2, 10**12, 1], [Fraction(1), Fraction(28), Fraction(0)]
    assert_law(choice(exponents, SAMPLES // 10, weights), law(exponents, weights))


def masses_by_enumeration(monkeypatch, numerators, denominator, weights):
    """How many units of each candidate are kept, parts of units included, over all that can be proposed."""
    monkeypatch.setattr(module, "_PRECISION", 6)
    proposals = module._proposals(np.array(numerators), denominator, np.array(weights))
    candidates, masses = proposals.candidates, Counter()

    def part(unit, _bits, bounds):
        candidate = int(np.searchsorted(proposals.edges, current[0], side="right")) - 1
        masses[candidate] += min(1, max(0, Fraction(bounds(64)[0], 1 << 64) - unit))
        return False

    monkeypatch.setattr(module, "below", part)
    for unit in range(int(proposals.edges[-1])):
        current = [unit]
        monkeypatch.setattr(module, "uniform_below", lambda _total, _count, unit=unit: np.array([unit]))
        masses.update(proposals._attempts(1).tolist())
    return candidates, masses


@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [5, 1, 90, 1000]])
def test_over_all_units_each_candidate_is_kept_as_often_as_its_weight(monkeypatch, weights):
    numerators = [0, 1, 9, 40]
    candidates, masses = masses_by_enumeration(monkeypatch, numerators, 8, weights)
    for i, (weight, numerator) in enumerate(zip(weights, numerators, strict=True)):
        assert float(masses[i]) == pytest.approx(weight * np.exp(-numerator / 8) * 2.0**candidates.shift, rel=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 2**62)), min_size=1, max_size=20),
    st.integers(1, 10**5),
    st.sampled_from([None, 1, 2**500, 2**937, 2**1001]),
)
def test_proposals_enclose_the_weights(candidates, denominator, scale):
    """In floats; by logarithms; and, where weights are beyond 64 bits or logarithms beyond 694, in integers."""
    numerators, weights = (np.array(column) for column in zip(*candidates, strict=True))
    gaps = gaps_above_smallest(numerators, denominator)
    if scale is not None:
        weights = weights.astype(object)
        weights[::2] *= scale
        weights = large(gaps, denominator, weights)
    proposals = module._proposals(gaps, denominator, weights)
    assert (proposals.edges.dtype == object) == (scale == 2**1001)
    for i, upper in enumerate(np.diff(proposals.edges).tolist()):
        low, high = proposals.candidates.bounds(i, 40)
        assert 0 <= high - low <= 2
        assert high <= upper << 40
        assert max(0, module._surely_below(upper)) << 40 <= low
        assert upper <= Fraction(low, 1 << 40) * (1 + Fraction(1, 2**13)) + 2


@pytest.mark.parametrize(("weight", "numerator", "shift"), [(1, 3, 31), (2**80, 700, 32), (10**9, 5, -7)])
def test_weights_are_bounded_as_an_independent_calculation_says(weight, numerator, shift):
    low, high = module._Candidates(np.array([numerator]), 7, np.array([weight], dtype=object), shift).bounds(0, 50)
    with localcontext(prec=80):
        exact = weight * (-Decimal(numerator) / 7).exp() * Decimal(2) ** (shift + 50)
    assert low <= exact <= high


def test_floats_of_weights_are_as_right_as_claimed():
    numerators = np.concatenate([np.arange(0, 1000), np.random.default_rng(0).integers(0, 10**5, 20_000)])
    with np.errstate(under="ignore"):
        exact = np.exp(-numerators.astype(np.longdouble) / 1000)
    errors = np.abs(rough_exp(numerators, 1000) - exact)
    assert (errors <= np.maximum(exact * 2.0**-16, 2.0**-120)).all()
    assert errors.max() <= 2.0**-21


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_single_candidate_is_always_chosen(size):
    assert choice([Fraction(5)], size).tolist() == [0] * size


def test_one_good_candidate_among_many_is_found():
    exponents = [Fraction(10**4)] * 5000
    exponents[1234] = Fraction(0)
    assert choice(exponents, 20).tolist() == [1234] * 20


@pytest.mark.parametrize(
    "numerators",
    [
        np.array([0, 200, 255], dtype=np.uint8),
        np.array([-(2**63), 2**63 - 1]),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([2**70, 2**80], dtype=object),
        np.array([False, True]),
        [-(10**40), 10**40],
    ],
)
def test_integers_of_all_kinds_are_taken_exactly(numerators):
    gaps = gaps_above_smallest(numerators, 1)
    exact = [int(number) for number in numerators]
    assert gaps.tolist() == [number - min(exact) for number in exact]
    assert exponential_choice_of(numerators, 1, 3).max() < len(numerators)


def test_floats_are_no_whole_numbers():
    with pytest.raises(TypeError):
        whole_numbers(np.array([0.5]))


def test_denominators_beyond_floats_are_taken_exactly():
    assert exponential_choice_of([0, 10**403], 10**400, 5).tolist() == [0] * 5
    assert set(exponential_choice_of([0, 1], 10**400, 200).tolist()) == {0, 1}


def test_the_caller_keeps_its_numerators():
    numerators = np.array([7, 5])
    exponential_choice_of(numerators, 2, 3, weights=numerators)
    assert numerators.tolist() == [7, 5]


def test_no_candidate_is_an_error():
    with pytest.raises(ParameterError, match="at least one candidate"):
        choice([], 1)


@pytest.mark.parametrize("weights", [[0, 0], [-1, 3], [1], [1, 1, 1]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ParameterError, match="weights"):
        choice([Fraction(0), Fraction(1)], 1, weights)


@pytest.mark.parametrize(("denominator", "size", "name"), [(0, 1, "denominator"), (1, -1, "size")])
def test_parameters_outside_are_refused_by_name(denominator, size, name):
    with pytest.raises(ParameterError, match=name):
        exponential_choice_of([0, 1], denominator, size)


FLIPPED = {
    "one": [5],
    "fair": [3, 3, 3, 3],
    "two": [10, 0],
    "spread": [0, 2, 5, 9, 14, 20],
    "two best": [7, 0, 30, 0],
    "hopeless": [10**40, 0, 4, 10**6],
}
DENOMINATOR = 7


def permute_and_flip_law(numerators, denominator=DENOMINATOR):
    """The definition: over all sets of true coins, the winner is a uniform one of the set."""
    with localcontext(prec=50):
        chances = [(-Decimal(number - min(numerators)) / denominator).exp() for number in numerators]
        probabilities = [Decimal(0)] * len(chances)
        for coins in product([False, True], repeat=len(chances)):
            mass = Decimal(1)
            for chance, coin in zip(chances, coins, strict=True):
                mass *= chance if coin else 1 - chance
            for i in np.flatnonzero(coins).tolist():
                probabilities[i] += mass / sum(coins)
        return [float(probability) for probability in probabilities]


@pytest.mark.statistical
@pytest.mark.parametrize("numerators", [case for case in FLIPPED.values() if len(case) > 1], ids=str)
def test_permute_and_flip_gives_candidates_their_probability(numerators):
    assert_law(
        permute_and_flip_choice(numerators, DENOMINATOR, DRAWS), cdf_of(np.array(permute_and_flip_law(numerators)))
    )


@pytest.mark.statistical
@pytest.mark.parametrize("numerators", [case for case in FLIPPED.values() if len(case) > 1], ids=str)
def test_single_draws_of_permute_and_flip_have_the_same_law(numerators):
    draws = np.concatenate([permute_and_flip_choice(numerators, DENOMINATOR, 1) for _ in range(5000)])
    assert_law(draws, cdf_of(np.array(permute_and_flip_law(numerators))))


@pytest.mark.statistical
def test_coins_that_sixteen_bits_never_settle_have_the_same_law(monkeypatch):
    monkeypatch.setattr(module, "_ERROR", 1e9)
    assert_law(
        permute_and_flip_choice(FLIPPED["spread"], DENOMINATOR, SAMPLES),
        cdf_of(np.array(permute_and_flip_law(FLIPPED["spread"]))),
    )


@pytest.mark.statistical
def test_the_law_of_the_exponential_mechanism_is_refused():
    weights = np.exp(-np.array(FLIPPED["spread"]) / DENOMINATOR)
    assert_not_law(permute_and_flip_choice(FLIPPED["spread"], DENOMINATOR, SAMPLES), cdf_of(weights / weights.sum()))


@pytest.mark.statistical
def test_draws_of_permute_and_flip_are_independent():
    pairs = permute_and_flip_choice([3, 0], DENOMINATOR, 2 * SAMPLES).reshape(SAMPLES, 2)
    both = permute_and_flip_law([3, 0])[0] ** 2
    assert binomtest(int((pairs == 0).all(axis=1).sum()), SAMPLES, both).pvalue >= ALPHA


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 10**9), Fraction(1, 3), Fraction(3), Fraction(11)])
def test_of_all_first_bits_only_those_that_contain_the_probability_are_undecided(monkeypatch, exponent):
    every, extended = np.arange(1 << 16, dtype=np.uint16), []

    def settle(numerators, denominator, *, leading):
        extended.extend((Fraction(int(n), denominator), int(u)) for n, u in zip(numerators, leading, strict=True))
        return np.zeros(len(leading), dtype=np.bool_)

    monkeypatch.setattr(module.entropy, "random_halfwords", lambda count: every[:count])
    monkeypatch.setattr(module, "rational_coins", settle)
    coins = module._coins(np.array([exponent.numerator]), exponent.denominator, len(every))[:, 0]
    with localcontext(prec=50):
        scaled = (-Decimal(exponent.numerator) / exponent.denominator).exp() * (1 << 16)
    assert {exact for exact, _ in extended} <= {exponent}
    doubtful = {first for _, first in extended}
    assert len(doubtful) <= 2
    assert all(first in doubtful or coins[first] == (first + 1 <= scaled) for first in range(1 << 16))
    assert int(scaled) in doubtful | {1 << 16}


def test_the_best_is_always_among_those_that_win():
    assert permute_and_flip_choice([10**4] * 5000 + [0], 1, 20).tolist() == [5000] * 20


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_permute_and_flip_always_chooses_a_single_candidate(size):
    assert permute_and_flip_choice([5], 3, size).tolist() == [0] * size


def test_batches_of_permute_and_flip_hide_nothing(monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_BATCH", 10)
    draws = permute_and_flip_choice([0, 10**6, 0], 1, 50)
    assert set(draws.tolist()) == {0, 2}
    assert len(draws) == 50


def test_no_candidate_for_permute_and_flip_is_an_error():
    with pytest.raises(ParameterError, match="at least one candidate"):
        permute_and_flip_choice([], 1, 1)


@pytest.mark.parametrize(("denominator", "size", "name"), [(0, 1, "denominator"), (1, -1, "size")])
def test_permute_and_flip_refuses_parameters_outside_by_name(denominator, size, name):
    with pytest.raises(ParameterError, match=name):
        permute_and_flip_choice([0, 1], denominator, size)
