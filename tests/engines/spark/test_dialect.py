"""Spark's idioms keep the contract of dialects, and its SQL says what was meant."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.engines import spark_application
from tests.engines.sql.dialect_contract import TEXTS, DialectContract
from tests.engines.sql.hash_contract import HashContract

from sfumato.engines.duckdb.dialect import IDIOMS as ALL
from sfumato.engines.spark.dialect import IDIOMS, sql
from sfumato.engines.sql.expressions.casts import lower_typed
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import cast, column, function, text
from sfumato.engines.sql.expressions.texts import is_like
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Column
from sfumato.query.values.cells import typed
from sfumato.query.values.evaluation import is_like as is_like_in_python


@pytest.fixture
def values_of():
    return spark_application.values_of


class TestSparkDialect(DialectContract):
    pass


class TestSparkHash(HashContract):
    pass


def test_the_table_is_complete():
    assert set(IDIOMS) >= set(ALL) - {"md5_number", "numbered_hash", "nth_least"}  # of hashes as numbers alone


def test_no_letter_is_one_that_text_cannot_have(values_of):
    stored = [cell for cell in TEXTS if isinstance(cell, str) and "\0" in cell]
    columns = [Column(kind=kind) for kind in Kind]
    found = values_of([lower_typed("v", one, "VARCHAR") for one in columns], pa.table({"v": stored}))
    assert found == [[typed(cell, one) for cell in stored] for one in columns]


@pytest.mark.parametrize(("storage", "kind"), [("TINYINT", pa.int8()), ("INTEGER", pa.int32())])
def test_narrow_whole_numbers_are_read_as_wide_ones(values_of, storage, kind):
    cells, columns = pa.array([0, 1, -128, None], kind), [Column(kind=Kind.INTEGER), Column(kind=Kind.TEXT)]
    found = values_of([lower_typed("v", one, storage) for one in columns], pa.table({"v": cells}))
    assert found == [[0, 1, -128, None], ["0", "1", "-128", None]]


def test_a_wide_quotient_is_cut_off_toward_zero_however_wide(values_of):
    pairs = [(7, 2), (-7, 2), (2**124, 2**40 - 1), (-(2**124) - 1, 2**40), (10**27 - 1, 10**9), (1, None)]
    data = {
        "x": pa.array([Decimal(x) for x, _ in pairs], pa.decimal128(38, 0)),
        "y": pa.array([y for _, y in pairs], pa.int64()),
    }
    (found,) = values_of([function("wide_quotient", column("x"), column("y"))], pa.table(data))
    expected = [None if y is None else (abs(x) // y) * (1 if x > 0 else -1) for x, y in pairs]
    assert found == expected


HOSTILE = ("'", "\\", "\\'", "${spark.master}", "$x", "\x00", "\n", "é", "\U0001f600", "%", "--", "/*", "\\u0041", "`")


def test_a_literal_is_only_text(values_of):
    found = values_of([text(one) for one in HOSTILE], pa.table({"v": [1]}))
    assert [value for (value,) in found] == list(HOSTILE)


@pytest.mark.parametrize("pattern", ["\\a", "%\\\\%", "a\\", "\\%", "_\\_", "\\\n", "\\\\\\"])
def test_an_escape_may_stand_before_anything(values_of, pattern):
    values = ["a", "\\a", "\\", "a\\", "%", "x_", "\n", "\\\\", ""]
    term = is_like(Term(sql=column("v"), kind=Kind.TEXT), pattern)
    assert values_of([term.sql], pa.table({"v": values})) == [[is_like_in_python(one, pattern) for one in values]]


def test_moments_have_no_zone(values_of):
    moment = datetime(2026, 3, 29, 2, 30)  # noqa: DTZ001 # has no zone; in some there is no such time
    terms = [column("t"), function("start_of", text("hour"), column("t")), cast(column("t"), "DATE")]
    found = values_of(terms, pa.table({"t": pa.array([moment], pa.timestamp("us"))}))
    assert found == [[moment], [moment.replace(minute=0)], [date(2026, 3, 29)]]


def test_people_read_it_on_several_lines():
    assert "\n" in sql(function("CONCAT", *(text("x" * 40) for _ in range(4))), pretty=True)
