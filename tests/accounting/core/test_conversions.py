import math
from fractions import Fraction
from functools import partial

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.core.conversions import (
    group,
    group_gdp,
    group_zcdp,
    parallel,
    promise,
    repeated,
    sequential,
    stable,
    to_approx,
    to_pure,
)
from sfumato.accounting.core.finite import smallest_delta
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import REPLACE_ONE

MIXED = (PureDP("0.5"), ApproxDP("0.25", "1e-6"), PureDP(1), ApproxDP("0.1", "1e-5"))


def test_pure_is_approximate_with_delta_zero():
    assert to_approx(PureDP(1)) == ApproxDP(1, 0)
    assert to_pure(ApproxDP(1, 0)) == PureDP(1)
    with pytest.raises(ParameterError, match="delta"):
        to_pure(ApproxDP(1, "1e-9"))


def test_in_sequence_epsilons_and_deltas_add_up():
    assert sequential(MIXED) == ApproxDP("1.85", "1.1e-5")
    assert sequential(()) == PureDP(0)
    assert sequential((PureDP(1), NO_GUARANTEE)) == NO_GUARANTEE
    assert repeated(MIXED[1], 4) == sequential([MIXED[1]] * 4)
    assert repeated(NO_GUARANTEE, 2) == NO_GUARANTEE


def test_in_parallel_the_largest_parts_count():
    assert parallel(MIXED, max_parts_per_unit=1) == ApproxDP(1, "1e-5")
    assert parallel(MIXED, max_parts_per_unit=2) == ApproxDP("1.5", "1.1e-5")
    assert parallel(MIXED, neighboring_relation=REPLACE_ONE, max_parts_per_unit=1) == ApproxDP("1.5", "1.1e-5")
    assert parallel(MIXED, max_parts_per_unit=2, neighboring_relation=REPLACE_ONE) == sequential(MIXED)
    assert parallel((), max_parts_per_unit=1) == PureDP(0)
    assert parallel((PureDP(1), NO_GUARANTEE), max_parts_per_unit=1) == NO_GUARANTEE


@given(st.lists(st.fractions(0, 3), max_size=5), st.integers(1, 6))
def test_parallel_is_at_most_sequential(epsilons, parts):
    guarantees = [PureDP(epsilon) for epsilon in epsilons]
    assert parallel(guarantees, max_parts_per_unit=parts) <= sequential(guarantees)


def test_a_group_of_one_has_the_same_guarantee():
    for guarantee in (*MIXED, NO_GUARANTEE, ApproxDP(0, "0.1")):
        assert group(guarantee, 1) == guarantee


@given(st.fractions(0, 20, max_denominator=10**6), st.integers(1, 30))
def test_group_delta_is_the_geometric_sum_rounded_up(epsilon, size):
    with mpmath.workdps(50):
        loss = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        truth = mpmath.fsum(mpmath.exp(i * loss) for i in range(size))
        found = group(ApproxDP(epsilon, "1e-300"), size).delta * 10**300
        assert truth <= mpmath.mpf(found.numerator) / found.denominator <= truth * (1 + mpmath.mpf("1e-6"))


def test_a_large_group_has_no_guarantee():
    assert group(ApproxDP(1, "1e-6"), 20) == NO_GUARANTEE
    assert group(ApproxDP(1, "1e-6"), 10**6) == NO_GUARANTEE
    assert group(PureDP(1), 10**6) == PureDP(10**6)
    assert group(NO_GUARANTEE, 2) == NO_GUARANTEE


def test_group_privacy_holds_for_a_chain_of_neighbors():
    """Three laws, each a neighbor of the next: the ends keep the guarantee for groups of two."""
    laws = [("0.7", "0.3", 0), ("0.5", "0.45", "0.05"), ("0.3", "0.55", "0.15")]
    epsilon = Fraction(1, 5)
    delta = max(smallest_delta(laws[i], laws[i + 1], epsilon=epsilon) for i in (0, 1))
    claimed = group(ApproxDP(epsilon, delta), 2)
    assert smallest_delta(laws[0], laws[2], epsilon=claimed.epsilon) <= claimed.delta


def test_a_stable_transformation_multiplies_epsilon():
    assert stable(PureDP("0.5"), 3) == PureDP("1.5")
    assert stable(ApproxDP("0.5", "1e-6"), 3) == group(ApproxDP("0.5", "1e-6"), 3)


def test_what_reaches_delta_one_promises_nothing():
    assert promise(Fraction(1), Fraction(1)) == NO_GUARANTEE
    assert promise(math.inf, Fraction(0)) == NO_GUARANTEE


@pytest.mark.parametrize("wrong", [0, -1, 1.5])
def test_counts_are_checked(wrong):
    for call in (group, stable, repeated):
        with pytest.raises(ParameterError):
            call(PureDP(1), wrong)
    with pytest.raises(ParameterError, match="max_parts_per_unit"):
        parallel(MIXED, max_parts_per_unit=wrong)


def test_a_group_of_one_is_the_guarantee_itself_however_large_epsilon():
    assert group(ApproxDP(1000, "1e-6"), 1) == ApproxDP(1000, "1e-6")


@pytest.mark.parametrize("size", [1, 2, 7])
def test_groups_of_gaussian_noise_agree_in_every_measure(size):
    # A group moves the answer `size` times as far: μ = size/σ and ρ = μ²/2 (Bun and Steinke 2016; Dong, Roth, Su 2022).
    single = Fraction(1, 3)
    assert group_gdp(single, size) == size * single
    assert group_zcdp(single**2 / 2, size) == group_gdp(single, size) ** 2 / 2


@pytest.mark.parametrize("convert", [group_zcdp, group_gdp])
def test_groups_in_other_measures_check_their_parameters(convert):
    with pytest.raises(ParameterError, match=r"rho|mu"):
        convert(-1, 2)
    with pytest.raises(ParameterError, match="size"):
        convert(1, 0)


@pytest.mark.parametrize(("epsilon", "delta", "size"), [(800, "1e-350", 2), (300, "1e-395", 4), (1, "1e-390", 800)])
def test_growth_beyond_the_floats_still_meets_a_tiny_delta(epsilon, delta, size):
    with mpmath.workdps(50):
        truth = mpmath.fsum(mpmath.exp(i * epsilon) for i in range(size)) * mpmath.mpf(delta)
        found = group(ApproxDP(epsilon, delta), size).delta
        assert truth <= mpmath.mpf(found.numerator) / found.denominator <= truth * (1 + mpmath.mpf("1e-9"))


def test_growth_beyond_every_delta_promises_nothing():
    assert group(ApproxDP(800, "1e-340"), 2) == NO_GUARANTEE
    assert group(ApproxDP(1, "1e-390"), 10**15) == NO_GUARANTEE


@pytest.mark.parametrize("combine", [sequential, partial(parallel, max_parts_per_unit=1)])
def test_no_guarantee_absorbs_an_epsilon_beyond_the_floats(combine):
    assert combine([PureDP("1e390"), NO_GUARANTEE]) == NO_GUARANTEE
    assert repeated(NO_GUARANTEE, 10**400) == NO_GUARANTEE


def test_a_long_number_is_rounded_up_to_a_short_one():
    long = Fraction(1, 3**6000)
    found = promise(1 + long, long)
    assert 1 + long < found.epsilon < 1 + long + Fraction(1, 2**4000)
    assert long < found.delta < Fraction(1, 2**4000)
    assert promise(Fraction(3**6000), Fraction(0)) == NO_GUARANTEE


def test_the_sum_of_many_different_fractions_is_a_guarantee():
    parts = [PureDP(Fraction(1, 10**30 + step)) for step in range(1, 200)]
    exact = sum(part.epsilon for part in parts)
    assert exact <= sequential(parts).epsilon <= exact * (1 + Fraction(1, 2**1000))
