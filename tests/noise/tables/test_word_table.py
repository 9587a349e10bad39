"""Tables of words: every word against independent arithmetic, short words to the last bit; a table once it pays."""

from bisect import bisect_right
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import pytest
from flint import arb, ctx
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise import exact_tables as tables
from tests.noise.exact_tables import LONG, ball

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.tables.block_table import BlockTable, LaplaceShape
from sfumato.noise.tables.word_table import (
    MIXED,
    Supply,
    UncertifiedError,
    WordTable,
    gaussian_weights,
    laplace_weights,
    skellam_weights,
)
from sfumato.numeric.distributions import discrete_laplace_cdf

LAWS = {
    "Laplace 1/1000": tables.laplace(Fraction(1, 1000)),
    "Laplace 1/2": tables.laplace(Fraction(1, 2)),
    "Laplace 10": tables.laplace(Fraction(10)),
    "Laplace 355/113": tables.laplace(Fraction(355, 113)),
    "Laplace of long terms": tables.laplace(tables.LONG),
    "Gaussian of long terms": tables.gaussian(tables.LONG),
    "Gaussian 1/2": tables.gaussian(Fraction(1, 4)),
    "Gaussian 10": tables.gaussian(Fraction(100)),
    "geometric 5": tables.one_sided(Fraction(5)),
    "geometric 32": tables.one_sided(Fraction(32)),
    "Gaussian 128": tables.gaussian(Fraction(128**2)),
}
LARGE = {
    "Laplace 128": tables.laplace(Fraction(128)),
    "Laplace 1e6": tables.laplace_blocks(Fraction(10**6), 14),
    "large Laplace of long terms": tables.laplace_blocks(tables.LONG * 10**6, 14),
    "large Gaussian of long terms": tables.gaussian_blocks(tables.LONG * 10**12, 13),
    "Laplace 2^50": tables.laplace_blocks(Fraction(2**50), 45),
    "Gaussian 1e6": tables.gaussian_blocks(Fraction(10**12), 13),
    "Gaussian 2^50": tables.gaussian_blocks(Fraction(2**100), 44),
}
CHECKED = LAWS | LARGE
SHORT = ["Laplace 1/2", "Laplace 355/113", "Gaussian 1/2", "Gaussian 10", "geometric 5"]


@pytest.mark.parametrize("name", CHECKED)
def test_every_word_is_the_floor_that_ball_arithmetic_finds(name):
    law, exponent = CHECKED[name]
    words = WordTable(law).words.tolist()
    assert words == tables.floors(law, exponent, count=len(words), bits=64)
    assert words[-1] == 2**64 - 1


@pytest.mark.parametrize("name", CHECKED)
def test_the_guide_speaks_only_where_all_words_agree(name):
    table = WordTable(CHECKED[name][0])
    words = table.words.tolist()
    for leading in {*np.flatnonzero(table.guide == MIXED).tolist(), *range(0, 1 << 16, 97), 0, 65535}:
        lowest, highest = leading << 48, (leading << 48) + 2**48 - 1
        atoms = {bisect_right(words, lowest), bisect_right(words, highest)}
        inside = any(lowest <= word <= highest for word in atoms_near(words, lowest, highest))
        assert table.guide[leading] == (MIXED if inside else atoms.pop())


def atoms_near(words, lowest, highest):
    return words[max(0, bisect_right(words, lowest) - 1) : bisect_right(words, highest) + 1]


@pytest.mark.parametrize("name", SHORT)
def test_short_words_and_their_ties_give_every_atom_exactly_its_share(name, monkeypatch):
    """All 2^8 words, each with all 2^8 next parts: each U, at the middle of its part, falls on the atom it should."""
    law, exponent = CHECKED[name]
    table = WordTable(law, word_bits=8, guide_bits=4)
    old, ctx.prec = ctx.prec, tables.BITS
    exact = tables.cumulative(law, exponent, count=400)
    borders = [(each * 2**17).floor().unique_fmpz() for each in exact if each < arb(1) - arb(2) ** -30]
    ctx.prec = old
    ties, words = 0, set(table.words.tolist())
    for word in range(256):
        for part in range(256):
            monkeypatch.setattr(entropy, "random_bytes", lambda _, part=part: (part << 56 | 1 << 55).to_bytes(8))
            middle = (word << 8 | part) * 2 + 1  # in units of 2^−17
            assert table.atom(word << 56) == bisect_right(borders, middle - 1)
        ties += word in words
    assert ties == len(words)


@pytest.mark.parametrize("rest", [12345 << 40, 0xFFF << 52], ids=["low", "high"])
@pytest.mark.parametrize("name", SHORT)
def test_many_at_once_are_settled_as_one_by_one(name, rest, monkeypatch):
    """Ties end up below their C_i with a low rest of U, and above it with a high one."""
    table = WordTable(CHECKED[name][0], word_bits=8, guide_bits=4)
    monkeypatch.setattr(entropy, "random_bytes", lambda _: rest.to_bytes(8))
    ends = np.tile(np.arange(16, dtype=np.uint64), 16)
    monkeypatch.setattr(entropy, "random_words", lambda _: ends << np.uint64(60))
    together = table.atoms(np.repeat(np.arange(16), 16))
    assert together.tolist() == [table.atom(word << 56) for word in range(256)]


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["Laplace 10", "Gaussian 10", "geometric 5"])
@pytest.mark.parametrize(("word_bits", "guide_bits"), [(8, 4), (16, 8), (64, 16)])
def test_the_law_does_not_depend_on_the_length_of_words(name, word_bits, guide_bits):
    law, exponent = LAWS[name]
    table = WordTable(law, word_bits=word_bits, guide_bits=guide_bits)
    cumulative = [float(each) for each in tables.cumulative(law, exponent, count=2000)]
    leading = entropy.random_halfwords(SAMPLES // (10 if word_bits == 8 else 1)) >> np.uint16(16 - guide_bits)
    samples = table.atoms(leading)
    assert_law(samples, lambda k: cumulative[min(k, 1999)] if k >= 0 else 0.0)
    wrong = tables.laplace(Fraction(20)) if name == "Laplace 10" else tables.one_sided(Fraction(36))  # few samples
    others = [float(each) for each in tables.cumulative(*wrong, count=2000)]
    assert_not_law(samples, lambda k: others[min(k, 1999)] if k >= 0 else 0.0)


def test_beyond_the_last_word_the_tail_goes_on(monkeypatch):
    law, exponent = LAWS["Laplace 1/2"]
    table = WordTable(law)
    monkeypatch.setattr(entropy, "random_bytes", lambda _: (2**64 - 2**40).to_bytes(8))
    atom = table.atom(2**64 - 1)  # U is 1 − 2^−88
    below, above = tables.cumulative(law, exponent, count=atom + 1)[-2:]
    assert atom >= len(table.words)
    assert 1 - above < arb(2) ** -88 < 1 - below


def test_a_tie_in_the_tail_asks_for_more_bits(monkeypatch):
    table, answers = WordTable(LAWS["Laplace 1/2"][0]), iter([2**64 - 1] * 20 + [0])
    monkeypatch.setattr(entropy, "random_bytes", lambda _: next(answers).to_bytes(8))
    assert 20 * 64 * 0.69 / 2 < table.settle(2**64 - 1) / 2 < 22 * 64 * 0.7 / 2


def test_a_scale_made_to_defy_certification_gets_no_table_and_the_same_law():
    """1/scale = 2·artanh(1/256) to 700 bits: C_0 is 1/256 but for 2^−700, so its word would need as many bits."""
    ctx_precision, ctx.prec = ctx.prec, 1500
    exact = 2 * (arb(1) / 256).atanh()
    inverse = Fraction(int((exact * 2**700).floor().unique_fmpz()), 2**700)
    ctx.prec = ctx_precision
    with pytest.raises(UncertifiedError):
        WordTable(tables.laplace(1 / inverse)[0])
    samples = discrete_laplace(1 / inverse, 400_000)
    assert_law(samples, partial(discrete_laplace_cdf, Fraction(1 / inverse)))


def test_a_large_scale_made_to_defy_certification_gets_no_table_either():
    """The first block of two atoms has C_1 = (1 − q)·…: with q = 1 − 2^−5 to 700 bits its word would need as many."""
    old, ctx.prec = ctx.prec, 1500
    inverse = Fraction(int((-(1 - arb(2) ** -5).log() * 2**700).floor().unique_fmpz()), 2**700)
    ctx.prec = old
    scale = 2**20 / inverse
    with pytest.raises(UncertifiedError):
        BlockTable(LaplaceShape(scale, 20))


@pytest.mark.parametrize("precision", [72, 128, 192])
@pytest.mark.parametrize(
    ("stream", "exponent"),
    [
        (laplace_weights(Fraction(10)), lambda k: Fraction(k, 10)),
        (laplace_weights(Fraction(1, 1000)), lambda k: Fraction(1000 * k)),
        (laplace_weights(Fraction(355, 113)), lambda k: Fraction(113 * k, 355)),
        (gaussian_weights(Fraction(100)), lambda k: Fraction(k * k, 200)),
        (gaussian_weights(Fraction(1, 9)), lambda k: Fraction(9 * k * k, 2)),
    ],
)
def test_every_weight_lies_between_its_bounds(stream, exponent, precision):
    old, ctx.prec = ctx.prec, 400
    for k, (lower, upper) in enumerate(islice(stream(precision), 500)):
        exact = (-ball(exponent(k))).exp() * arb(2) ** precision
        assert arb(lower) <= exact <= arb(upper)
        assert upper - lower <= 4 * k * k + 4
    ctx.prec = old


@pytest.mark.parametrize("precision", [72, 128, 192])
@pytest.mark.parametrize("mean", [Fraction(1, 10**30), Fraction(1, 3), Fraction(10), Fraction(10**7, 19), LONG])
def test_every_weight_of_a_skellam_law_lies_between_its_bounds(mean, precision):
    """Against Bessel functions by ball arithmetic, and beyond where the first ratios start."""
    spread = 2 + int((2 * mean) ** 0.5)
    old, ctx.prec = ctx.prec, 600
    for k, (lower, upper) in enumerate(islice(skellam_weights(mean)(precision), 2500)):
        if 0 < k < 20 or k % 50 == 49:
            exact = (2 * ball(mean)).bessel_i(arb(k)) / (2 * ball(mean)).bessel_i(arb(0)) * arb(2) ** precision
            assert arb(lower) <= exact <= arb(upper)
        assert upper - lower <= (4 * k + 4) * (k + spread)
    ctx.prec = old


def test_the_weight_of_nothing_is_one():
    assert next(laplace_weights(Fraction(3))(64)) == next(gaussian_weights(Fraction(3))(64)) == (1 << 64, 1 << 64)


class Recorder:
    """A tier that notes what it is asked for."""

    def __init__(self):
        self.asked = []

    def draw(self, size):
        self.asked.append(size)
        return np.zeros(size, dtype=np.int64)

    def draw_one(self):
        self.asked.append(1)
        return 0


def supply():
    table, universal, built = Recorder(), Recorder(), []
    made = Supply(build=lambda: built.append(1) or table, universal=universal.draw, universal_one=universal.draw_one)
    return made, table, universal, built


def test_one_large_request_builds_the_table_at_once():
    made, table, universal, built = supply()
    made.draw(1_000_000)
    assert (table.asked, universal.asked, len(built)) == ([1_000_000], [], 1)


def test_small_requests_build_it_when_they_add_up():
    made, table, universal, built = supply()
    for _ in range(400):
        made.draw(100)
    assert len(universal.asked) + len(table.asked) == 400
    assert 200 < len(universal.asked) < 300
    assert len(built) == 1


def test_a_few_draws_are_made_one_by_one():
    made, table, universal, built = supply()
    assert made.draw(5).tolist() == [0] * 5
    assert (universal.asked, built) == ([1] * 5, [])
    made.draw(1_000_000)
    made.draw(3)
    assert table.asked == [1_000_000, 1, 1, 1]


@pytest.mark.parametrize("size", [0, 1, 8, 9, 1000, 500_000])
def test_it_gives_as_many_as_asked(size):
    drawn = supply()[0].draw(size)
    assert (len(drawn), drawn.dtype) == (size, np.int64)


def test_a_few_that_do_not_fit_are_python_integers():
    made = Supply(build=Recorder, universal=Recorder().draw, universal_one=lambda: 2**80)
    assert made.draw(2).tolist() == [2**80] * 2


def test_a_negative_size_is_refused():
    with pytest.raises(ParameterError, match="size = -1"):
        supply()[0].draw(-1)
