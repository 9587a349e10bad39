"""What idioms are made of keeps its order of computation."""

from sfumato.engines.duckdb import dialect as duckdb
from sfumato.engines.spark import dialect as spark
from sfumato.engines.sql.expressions.terms import column, function

UNIVERSAL = frozenset(
    {
        "ABS", "CEIL", "COALESCE", "COUNT", "DENSE_RANK", "EXP", "FLOOR", "GREATEST", "LEAST", "LENGTH", "LN", "LOG10",
        "MAX", "MIN", "POWER", "ROW_NUMBER", "SIGN", "SQRT", "SUBSTRING", "SUM",
    }
)  # fmt: skip
"""The functions that are no idioms."""


def test_an_operation_within_another_keeps_its_parentheses():
    a, b, c = map(column, "abc")
    quotient = function("whole_quotient", a, function("whole_quotient", b, c))
    assert duckdb.sql(quotient) == '("a" // ("b" // "c"))'
    assert spark.sql(quotient) == "(`a` DIV (`b` DIV `c`))"


def test_all_dialects_have_the_idioms_that_are_written():
    of_numbers = {"md5_number", "numbered_hash", "nth_least"}  # of hashes as numbers alone
    needed = {name for name in duckdb.IDIOMS if name not in UNIVERSAL} - of_numbers
    assert needed <= set(spark.IDIOMS)
