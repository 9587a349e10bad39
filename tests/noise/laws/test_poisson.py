"""Poisson and Skellam integers: against their laws, by exact enumeration of rejection, and tables to the last bit."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from math import ceil, comb, factorial

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import nbinom
from scipy.stats import poisson as poisson_law
from scipy.stats import skellam as skellam_law
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import BITS, DRAWS, LONG, ball

from sfumato.errors import ParameterError
from sfumato.noise.laws import poisson as module
from sfumato.noise.laws.poisson import poisson, skellam, skellam_table, universal_skellam
from sfumato.noise.tables.word_table import AtomWeights, UncertifiedError, WordTable, skellam_weights

FEW = SAMPLES // 4


def skellam_cdf(mean):
    return lambda k: skellam_law.cdf(k, float(mean), float(mean))


@pytest.mark.statistical
@pytest.mark.parametrize("mean", [Fraction(1, 4), Fraction(3), Fraction(301, 3), Fraction(10**5)])
def test_skellam_integers_follow_their_law(mean):
    assert_law(skellam(mean, DRAWS if mean == 3 else SAMPLES), skellam_cdf(mean))


@pytest.mark.statistical
@pytest.mark.parametrize("mean", [Fraction(1, 4), Fraction(3)])
def test_without_a_table_it_follows_the_same_law(mean):
    assert_law(universal_skellam(mean, FEW), skellam_cdf(mean))


@pytest.mark.statistical
def test_a_large_mean_is_drawn_in_parts_that_add_up_to_it(monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_PART", 10)
    table = skellam_table(Fraction(65, 2))
    assert table.terms == 4
    assert_law(table.draw(SAMPLES), skellam_cdf(Fraction(65, 2)))
    assert_law(np.array([table.draw_one() for _ in range(20_000)]), skellam_cdf(Fraction(65, 2)))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_a_standard_deviation_ten_percent_off_is_noticed(factor):
    assert_not_law(skellam(Fraction(30), SAMPLES), skellam_cdf(30 * factor))


def floors(mean, count):
    """⌊2^64·C_i⌋ of the atoms 0, −1, 1, −2, 2, … from Bessel functions by ball arithmetic."""
    old, ctx.prec = ctx.prec, BITS
    twice = 2 * ball(mean)
    masses = [(-twice).exp() * twice.bessel_i(arb(k)) for k in range(count // 2 + 1)]
    of_atoms = [masses[0], *(mass for mass in masses[1:] for _ in range(2))]
    words = [int((total * 2**64).floor().unique_fmpz()) for total in accumulate(of_atoms[:count])]
    ctx.prec = old
    return [min(word, 2**64 - 1) for word in words]


@pytest.mark.parametrize("mean", ["1/1000000000000000000000000000000", "1/3", "1", "31/2", "1000", LONG])
def test_every_word_is_the_floor_that_ball_arithmetic_finds(mean):
    words = WordTable(AtomWeights(skellam_weights(Fraction(mean)), 1, 2)).words.tolist()
    assert words == floors(Fraction(mean), len(words))
    assert words[-1] == 2**64 - 1


def test_ties_are_settled_far_out_in_the_tail():
    table = WordTable(AtomWeights(skellam_weights(Fraction(3)), 1, 2), word_bits=8, guide_bits=4)
    words = table.words.tolist()
    atoms = [table.atom(word << 56 | 1 << 40) for word in range(255)]
    assert all(abs(atom - bisect_right(words, word)) <= 1 for word, atom in enumerate(atoms))
    assert table.settle(255) >= len(words) - 1


def test_the_table_of_the_largest_part_names_its_atoms_in_16_bits():
    spread = 9.3 * (2 * module._LARGEST_PART) ** 0.5  # what lies beyond is below 2^−64
    assert 2 * spread < 2**15


def test_a_few_draws_need_no_table(monkeypatch):
    monkeypatch.setattr(module, "skellam_table", lambda _: pytest.fail("a table was built"))
    assert len(skellam(Fraction(12345, 7), 8)) == 8


def test_a_law_that_defies_certification_is_drawn_without_a_table(monkeypatch):
    def defy(_):
        raise UncertifiedError

    monkeypatch.setattr(module, "WordTable", defy)
    assert len(skellam(Fraction(12345, 11), 50)) == 50


def test_a_mean_of_zero_is_no_noise():
    assert skellam(Fraction(0), 2).tolist() == [0, 0]
    assert skellam(Fraction(0), 2000).tolist() == [0] * 2000


@pytest.mark.parametrize("mean", [Fraction(-1), Fraction(2**40 + 1)])
@pytest.mark.parametrize("size", [1, 2000])
def test_a_skellam_mean_outside_is_refused(mean, size):
    with pytest.raises(ParameterError, match="mean"):
        skellam(mean, size)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mean", ["1/20", "1/3", "1/2", "3/4", "1", "5/2", "10", "1000/7", "1/3000000000000000000001", 10**5]
)
def test_poisson_integers_follow_their_law(mean):
    draws = DRAWS if mean == "5/2" else SAMPLES if Fraction(mean) < 1000 else SAMPLES // 4
    samples = poisson(Fraction(mean), draws)
    if Fraction(mean) < Fraction(1, 1000):
        assert samples.max() <= 1
    else:
        assert_law(samples, lambda k: poisson_law.cdf(k, float(Fraction(mean))))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [1.1, 1 / 1.1])
def test_a_mean_ten_percent_off_is_noticed(factor):
    assert_not_law(poisson(Fraction(5), SAMPLES), lambda k: poisson_law.cdf(k, 5 * factor))


@pytest.mark.statistical
@pytest.mark.parametrize("heads", [1, 3, 200])
def test_tails_before_so_many_heads_are_negative_binomial(heads):
    assert_law(module._tails_before(heads, SAMPLES), lambda k: nbinom.cdf(k, heads, 0.5))


@pytest.mark.parametrize(
    "mean", [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(4), Fraction(15, 2)]
)
def test_the_coins_make_exactly_the_law(mean, monkeypatch):
    """Proposal times the product of the coins that the code tosses is mean^k/k!, but for one constant."""
    asked = []

    def toss(between, _, *, above):
        asked.extend(zip(between.tolist(), above.tolist(), strict=True))
        return np.ones(len(between), dtype=np.bool_)

    monkeypatch.setattr(module, "_coins", toss)
    heads, constants = ceil(mean), set()
    for k in range(20):
        asked.clear()
        assert module._kept(np.array([k]), mean).all()
        coins = [2 * mean / j if above else j / (2 * mean) for j, above in asked]
        assert all(coin <= 1 for coin in coins)
        kept = Fraction(1)
        for coin in coins:
            kept *= coin
        proposal = Fraction(comb(k + heads - 1, k), 2 ** (k + heads))
        constants.add(proposal * kept * factorial(k) / mean**k)
    assert len(constants) == 1


@pytest.mark.parametrize("mean", [Fraction(4), Fraction(1, 3), Fraction(1, 10**30), Fraction(10**30 - 1, 10**30)])
def test_coins_compare_with_what_they_are_asked_for(mean, monkeypatch):
    bounds = []
    monkeypatch.setattr(
        module, "uniform_below_each", lambda given: bounds.append(given) or np.zeros(len(given), dtype=np.int64)
    )
    heads = module._coins(np.array([10**3, 1]), mean, above=np.array([True, False]))
    assert heads.all()
    assert bounds[0].tolist() == [10**3 * mean.denominator, 2 * mean.numerator]


def test_large_means_are_drawn():
    draws = poisson(Fraction(2**40), 2)
    assert (abs(draws - 2**40) < 20 * 2**20).all()


def test_a_mean_of_zero_draws_zeros():
    assert poisson(Fraction(0), 3).tolist() == [0, 0, 0]
    assert poisson(Fraction(7, 2), 0).tolist() == []


@pytest.mark.parametrize("mean", [Fraction(-1), Fraction(2**40 + 1)])
def test_a_poisson_mean_outside_is_refused(mean):
    with pytest.raises(ParameterError, match="mean"):
        poisson(mean, 1)
