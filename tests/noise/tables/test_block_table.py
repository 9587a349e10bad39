"""Draws by blocks: the chances of places against exact ones, and the whole law."""

from fractions import Fraction
from functools import partial
from math import floor

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import assert_law, assert_not_law
from tests.noise import exact_tables as tables
from tests.noise.exact_tables import DRAWS

from sfumato.noise import entropy
from sfumato.noise.tables import block_table as module
from sfumato.noise.tables.block_table import BlockTable, DirectTable, GaussianShape, LaplaceShape, zigzag
from sfumato.noise.tables.word_table import WordTable
from sfumato.noise.uniform import bernoulli as coins
from sfumato.numeric.distributions import discrete_gaussian_cdf, discrete_laplace_cdf

SHAPES = [
    (LaplaceShape(Fraction(20), 1), partial(discrete_laplace_cdf, Fraction(20))),
    (LaplaceShape(Fraction(1000, 3), 3), partial(discrete_laplace_cdf, Fraction(1000, 3))),
    (LaplaceShape(Fraction(2**50), 45), partial(discrete_laplace_cdf, Fraction(2**50))),
    (GaussianShape(Fraction(900), 0), partial(discrete_gaussian_cdf, Fraction(30))),
    (GaussianShape(Fraction(900), 3), partial(discrete_gaussian_cdf, Fraction(30))),
    (GaussianShape(Fraction(2**100), 44), partial(discrete_gaussian_cdf, Fraction(2**50))),
]
IDS = ["Laplace 20", "Laplace 1000/3", "Laplace 2^50", "Gaussian 30 singly", "Gaussian 30", "Gaussian 2^50"]


@pytest.mark.statistical
@pytest.mark.parametrize(("shape", "cdf"), SHAPES, ids=IDS)
@pytest.mark.parametrize("margin", [coins.MARGIN, 2.0], ids=["float", "integers only"])
def test_it_follows_its_law(shape, cdf, margin, monkeypatch):
    monkeypatch.setattr(coins, "MARGIN", margin)
    table = BlockTable(shape)
    samples = table.draw(DRAWS if margin < 1 else 20_000)
    assert samples.dtype == np.int64
    assert_law(samples, cdf)
    if margin < 1:
        assert_not_law(samples, lambda k: cdf(floor(k * 1.1)))
        assert_not_law(samples, lambda k: cdf(floor(k / 1.1)))


@pytest.mark.statistical
@pytest.mark.parametrize(("shape", "cdf"), SHAPES, ids=IDS)
def test_one_by_one_it_follows_its_law(shape, cdf):
    table = BlockTable(shape)
    assert_law(np.array([table.draw_one() for _ in range(30_000)]), cdf)


@given(
    st.sampled_from([LaplaceShape(Fraction(10**6, 7), 12), GaussianShape(Fraction(10**11, 3), 11)]),
    st.integers(0, 1300),
    st.integers(0, 2**11),
)
def test_the_float_of_an_exponent_is_near_enough(shape, block, step):
    exact = shape.exponent(block, step)
    ours = Fraction(float(shape.exponents(np.array([block]), np.array([step]))[0]))
    assert abs(ours - exact) <= exact / 2**49


@pytest.mark.parametrize("shape", [LaplaceShape(Fraction(10**6), 14), GaussianShape(Fraction(10**12), 13)])
def test_what_keeps_every_place_is_no_more_than_the_chance_of_the_worst(shape):
    table = BlockTable(shape)
    for block in range(0, 1000, 37):
        worst = (-tables.ball(shape.exponent(block, 1 << shape.width_bits))).exp() * 2**16
        sure = int(table._sure(block + 1)[block])
        assert arb(sure) <= worst < sure + 3


def test_exponents_are_those_of_the_law_beyond_the_inner_end():
    laplace, gaussian = LaplaceShape(Fraction(7, 2), 3), GaussianShape(Fraction(50), 3)
    for block, step in [(0, 0), (0, 8), (3, 5)]:
        x, inner = 8 * block + step, 8 * block
        assert laplace.exponent(block, step) == Fraction(x - inner) / Fraction(7, 2)
        assert gaussian.exponent(block, step) == Fraction(x * x - inner * inner, 100)


@pytest.mark.parametrize("size", [0, 1, 32_768, 50_000])
def test_it_draws_as_many_as_asked(size):
    assert len(BlockTable(LaplaceShape(Fraction(1000), 4)).draw(size)) == size


@pytest.mark.parametrize("atom", [2**21, 2**21 + 1, 2**40])
def test_noise_beyond_int64_comes_as_python_integers(atom, monkeypatch):
    table = BlockTable(LaplaceShape(Fraction(2**50), 45))
    table._sure_of_leading[:] = 0  # everything is in doubt
    table._table.guide[:] = -1
    monkeypatch.setattr(table._table, "atoms", lambda leading: np.full(len(leading), atom))
    block = atom // 2
    for value in table.draw(50).tolist():
        assert block << 45 <= abs(value) <= (block + 1) << 45
        assert (value < 0) == (atom % 2)


def block_and_step(value, width):
    """Where an integer lies: in which block from 0, and how far from its inner end."""
    magnitude = value if value >= 0 else -value - 1
    return magnitude // width, (abs(value) - magnitude // width * width)


@pytest.mark.parametrize("shape", [shape for shape, _ in SHAPES], ids=IDS)
def test_the_coin_of_each_proposal_is_that_of_its_own_value(shape, monkeypatch):
    asked = []

    def keep_all(exponents, exact, *, uniforms):
        asked.extend((float(exponents[i]), exact(i)) for i in range(len(uniforms)))
        return np.ones(len(uniforms), dtype=np.bool_)

    table = BlockTable(shape)
    table._sure_of_leading[:] = 0  # every place is in doubt
    monkeypatch.setattr(module, "exp_coins", keep_all)
    values = table.draw(500).tolist()
    assert min(values) < 0 < max(values)
    for value, (nearly, exactly) in zip(values, asked, strict=True):
        assert exactly == shape.exponent(*block_and_step(value, 1 << shape.width_bits))
        assert nearly == pytest.approx(float(exactly), rel=1e-12)


@pytest.mark.parametrize("shape", [shape for shape, _ in SHAPES], ids=IDS)
def test_one_by_one_too(shape, monkeypatch):
    asked = []
    table = BlockTable(shape)
    table._sure_of_block[:] = 0
    monkeypatch.setattr(module, "exact_coin", lambda exponent, *_: asked.append(exponent) or True)
    values = [table.draw_one() for _ in range(500)]
    assert min(values) < 0 < max(values)
    assert asked == [shape.exponent(*block_and_step(value, 1 << shape.width_bits)) for value in values]


def test_atoms_stand_for_values_of_growing_magnitude():
    assert zigzag(np.arange(7)).tolist() == [0, -1, 1, -2, 2, -3, 3]


@pytest.mark.parametrize("law", [tables.laplace(Fraction(10))[0], tables.gaussian(Fraction(128**2))[0]])
def test_every_leading_part_gives_the_value_of_its_words(law, monkeypatch):
    words = WordTable(law)
    table = DirectTable(words)
    every = np.arange(1 << 16, dtype="<u2")
    monkeypatch.setattr(entropy, "random_halfwords", lambda count: every[:count])
    monkeypatch.setattr(entropy, "random_words", lambda count: np.full(count, 123 << 16, dtype=np.uint64))
    drawn = np.concatenate([table.draw(1 << 15), table.draw(1 << 15)])
    assert drawn.dtype == np.int64
    for leading in range(0, 1 << 15, 7):
        atom = words.atom(leading << 48 | 123)
        assert drawn[leading] == zigzag(np.array([atom]))[0]


@pytest.mark.parametrize("size", [0, 1, 32_767, 32_768, 32_769, 100_000])
def test_a_direct_table_draws_as_many_as_asked(size):
    assert len(DirectTable(WordTable(tables.laplace(Fraction(3))[0])).draw(size)) == size


def test_one_direct_draw_is_the_value_of_its_word(monkeypatch):
    words = WordTable(tables.laplace(Fraction(3))[0])
    table = DirectTable(words)
    for leading in range(0, 1 << 16, 11):
        word = leading << 48 | 77
        monkeypatch.setattr(entropy, "random_bytes", lambda _, word=word: word.to_bytes(8))
        assert table.draw_one() == zigzag(np.array([words.atom(word)]))[0]
