"""At the ends of the doubles and at ties, where only the exact result tells which way IEEE 754 rounds."""

import math
import operator
from fractions import Fraction
from itertools import product
from random import Random

import pyarrow as pa
import pytest
from tests.engines.in_postgres import values_of

from sfumato.engines.sql.terms import column, function

HALF_OF_LEAST, TOO_LARGE = Fraction(2) ** -1075, Fraction(2) ** 1024 - Fraction(2) ** 970
LARGEST = 1.7976931348623157e308
ENDS = (5e-324, 1e-323, 2.0**-1022, 2.0**-538, 2.0**-537, 2.0**-501, 2.0**499, 2.0**500, 2.0**511, 2.0**512, 2.0**960,
        2.0**969, 2.0**970, 2.0**1022, 2.0**1023, 1.7976931348623157e308)  # fmt: skip
WAYS = {"double_sum": operator.add, "double_difference": operator.sub, "double_product": operator.mul}


def neighbours(exact):
    """The doubles next to a number."""
    near = float(exact) if abs(exact) < TOO_LARGE else LARGEST
    return [one for one in (math.nextafter(near, 0), near, math.nextafter(near, math.inf)) if math.isfinite(one)]


def pairs_near(threshold, other_of, exponents):
    """Pairs of which the product, or another function, is as near to a threshold as doubles are."""
    random = Random(7)  # noqa: S311 # numbers of a test
    for _ in range(600):
        x = random.uniform(1, 2) * 2.0 ** random.randint(*exponents)
        yield from ((x, y) for y in neighbours(other_of(threshold, Fraction(x))))
    for exponent in range(*exponents):  # powers of two meet it
        yield from ((2.0**exponent, y) for y in neighbours(other_of(threshold, Fraction(2) ** exponent)))


def rounded(exact):
    """What IEEE 754 makes of an exact number."""
    if abs(exact) >= TOO_LARGE:
        return math.inf if exact > 0 else -math.inf
    return float(exact)


def assert_rounded(name, pairs, exact_of):
    both = [(sign * x, y) for (x, y), sign in product(pairs, (1, -1))]
    data = pa.table({"x": [x for x, _ in both], "y": [y for _, y in both]})
    (found,) = values_of([function(name, column("x"), column("y"))], data)
    for (x, y), value in zip(both, found, strict=True):
        assert value == rounded(exact_of(Fraction(x), Fraction(y))), (x.hex(), y.hex())


@pytest.mark.parametrize("name", WAYS)
def test_pairs_of_extremes_are_rounded_once(name):
    pairs = [(x, sign * y) for x in ENDS for y in ENDS for sign in (1, -1)]
    assert_rounded(name, pairs, WAYS[name])


def test_products_near_half_of_the_least_double_are_it_or_0():
    pairs = list(pairs_near(HALF_OF_LEAST, operator.truediv, (-600, -480)))
    pairs += list(pairs_near(HALF_OF_LEAST, operator.truediv, (-1000, -900)))
    assert_rounded("double_product", pairs, operator.mul)


def test_products_near_the_largest_double_are_it_or_infinite():
    pairs = list(pairs_near(TOO_LARGE, operator.truediv, (2, 40)))
    pairs += list(pairs_near(TOO_LARGE, operator.truediv, (490, 530)))
    assert_rounded("double_product", pairs, operator.mul)


def test_quotients_near_half_of_the_least_double_are_it_or_0():
    pairs = [(y, x) for x, y in pairs_near(HALF_OF_LEAST, operator.mul, (1, 1000)) if y]
    assert_rounded("double_quotient", pairs, operator.truediv)


def test_quotients_near_the_largest_double_are_it_or_infinite():
    pairs = [(y, x) for x, y in pairs_near(TOO_LARGE, operator.mul, (-1000, -2))]
    assert_rounded("double_quotient", pairs, operator.truediv)


def test_sums_near_the_largest_double_are_it_or_infinite():
    pairs = list(pairs_near(TOO_LARGE, operator.sub, (900, 1023)))
    assert_rounded("double_sum", pairs, operator.add)
    assert_rounded("double_difference", [(x, -y) for x, y in pairs], operator.sub)
