"""Choice by enclosed weights: every beginning of a uniform number, wide enclosures, and the law of the draws."""

from fractions import Fraction
from itertools import accumulate
from math import ceil, exp, floor

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law, cdf_of

from sfumato.errors import EntropyError, ParameterError
from sfumato.noise import entropy
from sfumato.noise.choice import enclosed_choice as module
from sfumato.noise.choice.enclosed_choice import enclosed_choice
from sfumato.numeric.rounding import exp_bounds

WEIGHTS = [Fraction(1, 3), Fraction(0), Fraction(1), Fraction(1, 7), Fraction(2, 9), Fraction(0)]


def enclosing(weights, *, below=0, above=0, factor=lambda _: 1):
    """Enclosures that are wider than they need be by whole units on either side."""

    def weights_at(bits):
        scaled = [weight * factor(bits) * 2**bits for weight in weights]
        return [(max(0, floor(value) - below), ceil(value) + above) if value else (0, 0) for value in scaled]

    return weights_at


def answer(weights_at, supply):
    """The real answer if U begins with these bytes; None where the code asks for more."""
    left = list(supply)

    def read(count):
        if count > len(left):
            raise EntropyError("the bytes of this test")
        return bytes(left.pop(0) for _ in range(count))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FIRST_BITS", 8)
        patch.setattr(entropy, "random_bytes", read)
        try:
            return int(enclosed_choice(weights_at, 1)[0])
        except EntropyError:
            return None


def answers(weights_at):
    """Every beginning of U of one byte, or of two where one does not settle it, with its answer."""
    for first in range(256):
        found = answer(weights_at, [first])
        if found is not None:
            yield Fraction(first, 256), Fraction(1, 256), found
        else:
            for second in range(256):
                yield Fraction(256 * first + second, 1 << 16), Fraction(1, 1 << 16), answer(weights_at, [first, second])


def misplaced(found, weights):
    """Answers of U in [start, start + width) that do not lie within the exact cumulative probabilities."""
    ends = [Fraction(0), *(end / sum(weights) for end in accumulate(weights))]
    decided = [(start, width, index) for start, width, index in found if index is not None]
    return [case for case in decided if not ends[case[2]] <= case[0] <= ends[case[2] + 1] - case[1]]


ENCLOSURES = {
    "tight": {},
    "wide": {"below": 3, "above": 5},
    "from above": {"above": 2},
    "another factor each time": {"factor": lambda bits: Fraction(7, 5 + bits), "above": 1},
    "nothing known at first": {"factor": lambda bits: Fraction(1, 2 if bits > 8 else 2**9), "below": 1},
}


@pytest.mark.parametrize("width", ENCLOSURES.values(), ids=ENCLOSURES)
def test_every_uniform_number_goes_to_the_candidate_it_belongs_to(width):
    found = list(answers(enclosing(WEIGHTS, **width)))
    assert sum(width for _, width, _ in found) == 1
    assert misplaced(found, WEIGHTS) == []
    assert {index for _, _, index in found} == {0, 2, 3, 4, None}
    assert sum(width for _, width, index in found if index is None) < Fraction(1, 1000)


def test_enclosures_that_miss_the_weights_would_be_caught():
    beside = enclosing([Fraction(1, 3), Fraction(2, 3) + Fraction(1, 10)])
    assert misplaced(answers(beside), [Fraction(1, 3), Fraction(2, 3)])


@pytest.mark.parametrize("first_bits", [8, 16, 64, 256])
@pytest.mark.parametrize(("side", "index"), [(-1, 0), (1, 2)])
def test_a_uniform_number_beside_a_boundary_is_refined_until_its_side_is_known(first_bits, side, index, monkeypatch):
    boundary = WEIGHTS[0] / sum(WEIGHTS)
    left = list(floor((boundary + Fraction(side, 1 << 100)) * (1 << 1024)).to_bytes(128))
    monkeypatch.setattr(module, "_FIRST_BITS", first_bits)
    monkeypatch.setattr(entropy, "random_bytes", lambda count: bytes(left.pop(0) for _ in range(count)))
    assert enclosed_choice(enclosing(WEIGHTS, below=2, above=1), 1).tolist() == [index]
    assert len(left) == 128 - max(16, first_bits // 8)  # 64 bits do not tell, 128 do


EXPONENTS = [Fraction(k, 7) for k in range(30)]


def weights_of_exponents(bits):
    return [exp_bounds(exponent, bits) for exponent in EXPONENTS]


def law(exponents):
    weights = np.array([exp(-exponent) for exponent in exponents])
    return cdf_of(weights / weights.sum())


@pytest.mark.statistical
@pytest.mark.parametrize("first_bits", [8, 64])
def test_candidates_have_their_probability(first_bits, monkeypatch):
    monkeypatch.setattr(module, "_FIRST_BITS", first_bits)
    size = SAMPLES if first_bits == 64 else 5000  # eight bits leave a tenth of the draws to a second look
    assert_law(enclosed_choice(weights_of_exponents, size), law(EXPONENTS))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [Fraction(11, 10), Fraction(10, 11)])
def test_exponents_off_by_ten_percent_are_refused(factor):
    draws = enclosed_choice(weights_of_exponents, SAMPLES)
    assert_not_law(draws, law([exponent * factor for exponent in EXPONENTS]))


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_single_candidate_is_always_chosen(size):
    draws = enclosed_choice(lambda _: [(0, 5)] if _ < 128 else [(1, 5)], size)
    assert (draws.tolist(), draws.dtype) == ([0] * size, np.int64)


def test_one_good_candidate_among_many_is_found():
    weights = [Fraction(1, 10**300)] * 5000
    weights[1234] = Fraction(1)
    assert enclosed_choice(enclosing(weights, above=1), 5).tolist() == [1234] * 5


@pytest.mark.parametrize("weights", [[], [Fraction(0)] * 3], ids=["none", "all of them 0"])
def test_weights_without_a_law_are_refused(weights):
    with pytest.raises(ParameterError, match="at least one weight above 0"):
        enclosed_choice(enclosing(weights), 1)


def test_a_negative_size_is_refused():
    with pytest.raises(ParameterError, match="size"):
        enclosed_choice(enclosing(WEIGHTS), -1)
