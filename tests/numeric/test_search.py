from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.numeric.search import smallest_dyadic, smallest_integer


@given(st.integers(-1000, 1000))
def test_the_smallest_integer_is_found(edge):
    assert smallest_integer(lambda n: n >= edge, fails_at=-1001, holds_at=1001) == edge


@given(st.integers(1, 1000), st.sets(st.integers(1, 999)))
def test_the_result_holds_even_if_the_predicate_is_not_monotone(modulus, holding):
    def holds(n: int) -> bool:
        return n in holding or n >= 1000 or n % (modulus + 1) == modulus

    found = smallest_integer(holds, fails_at=0, holds_at=1000)
    assert holds(found)
    assert found == 1 or not holds(found - 1)


@given(st.fractions(min_value=Fraction(1, 10**20), max_value=10**20), st.fractions(min_value=1, max_value=10**6))
def test_the_smallest_dyadic_is_on_the_safe_side_and_near(edge, guess):
    found = smallest_dyadic(lambda x: x >= edge, guess=guess, bits=32)
    assert found is not None
    assert edge <= found <= edge * (1 + Fraction(1, 2**30))
    assert found.numerator.bit_length() <= 32 or found.denominator == 1


@pytest.mark.parametrize("guess", [Fraction(1, 10**9), Fraction(1), Fraction(10**9)])
def test_the_guess_does_not_change_the_result(guess):
    assert smallest_dyadic(lambda x: x * x >= 2, guess=guess) == smallest_dyadic(
        lambda x: x * x >= 2, guess=Fraction(7)
    )


def test_a_predicate_that_never_holds_has_no_result():
    assert smallest_dyadic(lambda _: False, guess=Fraction(1)) is None


def test_a_predicate_that_always_holds_ends_at_a_tiny_number():
    found = smallest_dyadic(lambda _: True, guess=Fraction(1))
    assert found is not None
    assert found < Fraction(1, 2**500)
