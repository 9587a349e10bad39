"""Doubles are rounded, cast and written on Spark as in Python, also where Spark's own functions are of 64 bits."""

import math
from struct import pack, unpack

import pyarrow as pa
import pytest
from tests.engines.spark_application import values_of

from sfumato.engines.sql.expressions.terms import column, function

VALUES = (
    0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 4503599627370495.5, -4503599627370495.5, 2.0**53 + 2, 1e300,
    -1e300, 5e-324, -5e-324, 9223372036854775807.0, -9223372036854775808.0, 9223372036854774784.0,
)  # fmt: skip
INFINITIES = (math.inf, -math.inf)


def found(idiom, values=VALUES):
    (values,) = values_of([function(idiom, column("v"))], pa.table({"v": pa.array(values, pa.float64())}))
    return values


@pytest.mark.parametrize(
    ("idiom", "rounded"), [("FLOOR", math.floor), ("CEIL", math.ceil), ("truncated_double", math.trunc)]
)
def test_doubles_are_rounded_as_doubles(idiom, rounded):
    assert found(idiom) == [float(rounded(value)) for value in VALUES]
    assert found(idiom, INFINITIES) == list(INFINITIES)
    assert math.isnan(found(idiom, [math.nan, 0.0])[0])


def test_a_double_is_a_whole_number_if_64_bits_hold_it():
    whole = [float(math.trunc(value)) for value in VALUES]
    assert found("whole_of_double", whole) == [int(value) if -(2**63) <= value < 2**63 else None for value in whole]
    assert found("whole_of_double", [*INFINITIES, math.nan]) == [None] * 3


def test_the_bits_of_a_double_are_those_of_the_machine_from_the_least_on():
    values = [*VALUES[1:], 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308]
    assert found("bits_of_double", values) == [unpack("<q", pack("<d", value))[0] for value in values]


def test_doubles_are_written_as_python_writes_them():
    values = [0.1, -0.001, 1e-4, 9.5e-5, 1e16, 123456789.125, 9007199254740992.0, 1e15 + 0.5, -1.5e-300]
    assert found("text_of_double", values) == list(map(repr, values))
