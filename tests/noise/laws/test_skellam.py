"""Skellam integers: both tiers follow the law, and the words of tables are right to the last bit."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import skellam as skellam_law
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import BITS, DRAWS, LONG, ball

from sfumato.errors import ParameterError
from sfumato.noise.laws import skellam as module
from sfumato.noise.laws.skellam import skellam, skellam_table, universal_skellam
from sfumato.noise.tables.word_table import UncertifiedError, WordTable
from sfumato.noise.uniform.weights import Law, skellam_weights

FEW = SAMPLES // 4


def cdf(mean):
    return lambda k: skellam_law.cdf(k, float(mean), float(mean))


@pytest.mark.statistical
@pytest.mark.parametrize("mean", [Fraction(1, 4), Fraction(3), Fraction(301, 3), Fraction(10**5)])
def test_it_follows_its_law(mean):
    assert_law(skellam(mean, DRAWS if mean == 3 else SAMPLES), cdf(mean))


@pytest.mark.statistical
@pytest.mark.parametrize("mean", [Fraction(1, 4), Fraction(3)])
def test_without_a_table_it_follows_the_same_law(mean):
    assert_law(universal_skellam(mean, FEW), cdf(mean))


@pytest.mark.statistical
def test_a_large_mean_is_drawn_in_parts_that_add_up_to_it(monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_PART", 10)
    table = skellam_table(Fraction(65, 2))
    assert table.terms == 4
    assert_law(table.draw(SAMPLES), cdf(Fraction(65, 2)))
    assert_law(np.array([table.draw_one() for _ in range(20_000)]), cdf(Fraction(65, 2)))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_a_standard_deviation_ten_percent_off_is_noticed(factor):
    assert_not_law(skellam(Fraction(30), SAMPLES), cdf(30 * factor))


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
    words = WordTable(Law(skellam_weights(Fraction(mean)), 1, 2)).words.tolist()
    assert words == floors(Fraction(mean), len(words))
    assert words[-1] == 2**64 - 1


def test_ties_are_settled_far_out_in_the_tail():
    table = WordTable(Law(skellam_weights(Fraction(3)), 1, 2), word_bits=8, guide_bits=4)
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
def test_a_mean_outside_is_refused(mean, size):
    with pytest.raises(ParameterError, match="mean"):
        skellam(mean, size)
