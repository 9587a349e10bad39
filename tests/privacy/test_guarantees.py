import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, NoGuarantee, PureDP, exact_guarantee, guarantee

EPSILONS = st.fractions(0, 5)
GUARANTEES = st.one_of(
    st.builds(PureDP, EPSILONS),
    st.builds(ApproxDP, EPSILONS, st.fractions(0, Fraction(99, 100))),
    st.just(NO_GUARANTEE),
)


@given(GUARANTEES, GUARANTEES, GUARANTEES)
def test_guarantees_form_a_commutative_monoid(first, second, third):
    assert first + second == second + first
    assert (first + second) + third == first + (second + third)
    assert first + PureDP(0) == first


@given(GUARANTEES, GUARANTEES, GUARANTEES)
def test_guarantees_are_partially_ordered(first, second, third):
    assert first <= first + PureDP(0)
    assert (first <= second <= first) == (first == second)
    if first <= second <= third:
        assert first <= third
    assert (first < second) == (first <= second and first != second)


@given(GUARANTEES, GUARANTEES, GUARANTEES)
def test_adding_keeps_the_order_and_only_weakens(first, second, third):
    if first <= second:
        assert first + third <= second + third
    assert first <= first + second


@given(GUARANTEES, GUARANTEES)
def test_equal_guarantees_have_equal_hashes(first, second):
    if first == second:
        assert hash(first) == hash(second)


def test_a_delta_of_zero_is_a_pure_promise():
    assert ApproxDP(1, 0) == PureDP(1)
    assert {ApproxDP(1, 0), PureDP(1)} == {PureDP(1)}
    assert ApproxDP(1, 0) != ApproxDP(1, "1e-9")
    assert PureDP(1) != 1
    assert isinstance(guarantee(1, 0), PureDP)
    assert isinstance(guarantee(1, "0.1"), ApproxDP)


def test_some_guarantees_cannot_be_compared():
    strict_delta, strict_epsilon = ApproxDP(2, "1e-9"), ApproxDP(1, "1e-5")
    assert not strict_delta <= strict_epsilon
    assert not strict_epsilon <= strict_delta


def test_ten_tenths_are_one():
    assert sum([PureDP(0.1)] * 10, start=PureDP(0)) == PureDP(1)


def test_epsilon_zero_is_legal_and_the_strongest():
    assert PureDP(0) <= PureDP("1e-100")
    assert str(PureDP(0)) == "ε 0"


@pytest.mark.parametrize("infinite", [math.inf, "inf", " Infinity ", "∞"])
@pytest.mark.parametrize("make", [PureDP, lambda epsilon: ApproxDP(epsilon, "1e-6"), guarantee])
def test_an_infinite_epsilon_must_be_asked_for_by_name(make, infinite):
    with pytest.raises(ParameterError, match="NO_GUARANTEE"):
        make(infinite)


def test_no_guarantee_is_the_weakest_and_absorbs():
    assert ApproxDP(10**9, "0.999") < NO_GUARANTEE
    assert PureDP(1) + NO_GUARANTEE == NO_GUARANTEE == NoGuarantee()
    assert NO_GUARANTEE.epsilon == math.inf
    assert NO_GUARANTEE.delta == 1
    assert str(NO_GUARANTEE) == "no guarantee"


def test_deltas_that_reach_one_promise_nothing():
    assert ApproxDP(1, "0.5") + ApproxDP(1, "0.5") == NO_GUARANTEE


@pytest.mark.parametrize("wrong", [-1, "nan", math.nan, "-inf", None, True])
def test_epsilon_is_checked_by_name(wrong):
    with pytest.raises(ParameterError, match="epsilon"):
        PureDP(wrong)


@pytest.mark.parametrize("wrong", [-1, 1, "1.5", "nan", None])
def test_delta_is_checked_by_name(wrong):
    with pytest.raises(ParameterError, match="delta"):
        ApproxDP(1, wrong)


def test_a_guarantee_never_changes():
    with pytest.raises(AttributeError):
        PureDP(1).epsilon = Fraction(2)


def test_people_read_guarantees():
    assert str(PureDP("0.1")) == "ε 0.1"
    assert str(ApproxDP("1/3", "1e-6")) == "ε ≈0.333333, δ 1e-06"


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
def test_exact_parameters_make_the_guarantee_that_checked_ones_make(delta):
    exact, checked = exact_guarantee(Fraction(1, 3), delta), guarantee("1/3", delta)
    assert (exact, repr(exact), type(exact)) == (checked, repr(checked), type(checked))
