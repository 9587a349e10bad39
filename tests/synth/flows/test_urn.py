"""Urns: draws have the law of Dirichlet-multinomials, in machine integers and beyond them."""

from collections import Counter
from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law, cdf_of

from sfumato.errors import ParameterError
from sfumato.synth.flows.urn import dirichlet_multinomial


def rising(weight, times):
    return prod((weight + step for step in range(times)), start=Fraction(1))


def outputs(cells, draws):
    if cells == 1:
        return [(draws,)]
    return [(one, *rest) for one in range(draws + 1) for rest in outputs(cells - 1, draws - one)]


def mass(weights, found):
    """The probability of an output, by the definition."""
    draws = sum(found)
    ways = Fraction(factorial(draws), prod(factorial(one) for one in found))
    each = prod((rising(weight, one) for weight, one in zip(weights, found, strict=True)), start=Fraction(1))
    return ways * each / rising(sum(weights), draws)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("counts", "prior"), [([2, 0, 1], Fraction(3, 2)), ([0, 0], Fraction(1, 3)), ([2, 1], Fraction(7, 1 << 62))],
    ids=["three", "no count", "beyond machine integers"],
)  # fmt: skip
def test_draws_have_the_law_of_the_definition(counts, prior):
    """Type-I error 1e-6 each; another prior is refused."""
    found, draws = outputs(len(counts), 4), 4
    laws = [cdf_of(np.array([float(mass([one + more for one in counts], out)) for out in found], dtype=float))
            for more in (prior, prior + 3)]  # fmt: skip
    places = {out: place for place, out in enumerate(found)}
    drawn = [
        places[tuple(dirichlet_multinomial(np.array(counts), prior=prior, draws=draws).tolist())]
        for _ in range(SAMPLES // 50)
    ]
    assert_law(np.array(drawn), laws[0])
    assert_not_law(np.array(drawn), laws[1])


@pytest.mark.statistical
def test_long_draws_have_the_law_of_one_cell():
    """200 draws of two cells with weights 1 and 1 are 0 to 200 equally often: pointers of any depth are followed."""
    drawn = [int(dirichlet_multinomial(np.zeros(2, dtype=np.int64), prior=Fraction(1), draws=200)[0])
             for _ in range(SAMPLES // 50)]  # fmt: skip
    assert_law(np.array(drawn), cdf_of(np.full(201, 1 / 201)))
    assert max(Counter(drawn).values()) < SAMPLES // 50


@pytest.mark.parametrize("largest", [1 << 40, (1 << 62) + 1])
def test_large_counts_are_drawn_in_their_shares(largest):
    found = dirichlet_multinomial(np.array([largest, 0, largest]), prior=Fraction(1, 1 << 20), draws=1000)
    assert found.sum() == 1000
    assert found.dtype == np.int64
    assert found[1] == 0  # but for a chance below 1e-12
    assert 300 < found[0] < 700


def test_no_draw_draws_nothing_and_what_is_no_urn_is_refused():
    assert dirichlet_multinomial(np.array([5, 1]), prior=Fraction(1), draws=0).tolist() == [0, 0]
    for counts, prior, draws in (([], 1, 1), ([1], 0, 1), ([1], 1, -1)):
        with pytest.raises(ParameterError):
            dirichlet_multinomial(np.array(counts, dtype=np.int64), prior=Fraction(prior), draws=draws)
