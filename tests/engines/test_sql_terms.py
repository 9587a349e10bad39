from fractions import Fraction

import pytest

from sfumato.engines.sql_terms import column, constant, double, function, present, stripped, whole


def emitted(term):
    return term.sql(dialect="duckdb")


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (True, "TRUE"),
        ("it's", "'it''s'"),
        ("\\", "'\\'"),
        (3, "CAST(3 AS BIGINT)"),
        (-3, "CAST(-3 AS BIGINT)"),
        (Fraction(1, 2), "CAST('0.5' AS DOUBLE)"),
        (Fraction(10**400), "CAST('inf' AS DOUBLE)"),
        (2**63, "CAST('9.223372036854776e+18' AS DOUBLE)"),
    ],
)
def test_a_constant_has_the_type_of_its_column(value, sql):
    assert emitted(constant(value)) == sql


def test_names_are_quoted():
    assert emitted(column('a"; DROP TABLE t; --')) == '"a""; DROP TABLE t; --"'


def test_the_other_pieces():
    assert emitted(function("GREATEST", whole(1), double(0.1))) == "GREATEST(CAST(1 AS BIGINT), CAST('0.1' AS DOUBLE))"
    assert emitted(present("v")) == 'NOT "v" IS NULL'
    assert emitted(stripped(column("v"))) == "TRIM(\"v\", ' ')"
