"""DuckDB's idioms mean what their names say; what lowering makes of them is tested beside it."""

import math
from datetime import date, datetime

import numpy as np
import pytest
from sqlglot import exp
from tests.engines import in_sql
from tests.engines.in_sql import value_of
from tests.engines.sql.doubles_contract import DoublesContract
from tests.engines.sql.hash_contract import HashContract
from tests.engines.sql.test_dialect import UNIVERSAL

from sfumato.engines.duckdb.dialect import IDIOMS, sql
from sfumato.engines.sql.expressions.terms import cast, column, constant, figure, function, named, operation, text
from sfumato.query.values.evaluation import is_like

DAY, TIME = date(2026, 1, 31), datetime.fromisoformat("2026-01-31 23:59:58.000007")


@pytest.fixture
def values_of():
    return lambda terms, data: [in_sql.values_of(term, dict(data.to_pydict())) for term in terms]


class TestDuckDBDoubles(DoublesContract):
    pass


class TestDuckDBHash(HashContract):
    pass


def of(idiom, *values):
    """An idiom of constants; a list of one is that constant in 128 bits."""
    return value_of(
        function(idiom, *(cast(constant(v[0]), "HUGEINT") if isinstance(v, list) else constant(v) for v in values))
    )


@pytest.mark.parametrize(
    ("idiom", "values", "expected"),
    [
        ("operand", (1e150,), 1e150), ("operand", (-(2.0**500),), -math.inf), ("factor", (1e-200,), 0.0),
        ("factor", (2.5 * 2.0**-500,), 2.0**-499), ("double_quotient", (1.0, 0.0), math.inf),
        ("truncated_double", (-1.5,), -1.0), ("bits_of_double", (1.0,), 4607182418800017408),
        ("whole_quotient", (-7, 2), -3), ("wide_quotient", ([-7], [2]), -3), ("wide_rest", ([-7], [2]), -1),
        ("whole_of_wide", ([2**63 - 1],), 2**63 - 1), ("nearest_double", ([2**53 + 1],), float(2**53)),
        ("whole_of_double", (1e19,), None), ("whole_of_text", ("9223372036854775808",), None),
        ("double_of_text", ("1e400",), math.inf), ("time_of_text", ("2026-02-30",), None),
        ("text_of_whole", (-7,), "-7"), ("text_of_boolean", (True,), "true"), ("text_of_double", (0.1,), "0.1"),
        ("text_of_date", (DAY,), "2026-01-31"), ("time_in_full", (TIME,), "2026-01-31 23:59:58.000007"),
        ("is_match", ("aa\n", "a+"), False), ("lower_ascii", ("ABC",), "abc"), ("upper_ascii", ("abc",), "ABC"),
        ("byte_count", ("é",), 2), ("joined", ("a", "b"), "ab"), ("joined_within", ("a" * 4096, "b"), None),
        ("joined_within", ("a", "b"), "ab"), ("days_between", (DAY, DAY), 0),
        ("start_of", ("month", TIME), datetime.fromisoformat("2026-01-01")), ("year_of", (TIME,), 2026),
        ("quarter_of", (TIME,), 1), ("month_of", (TIME,), 1), ("week_of", (TIME,), 5), ("day_of", (TIME,), 31),
        ("day_of_week_of", (TIME,), 6), ("iso_day_of_week_of", (TIME,), 6), ("day_of_year_of", (TIME,), 31),
        ("hour_of", (TIME,), 23), ("minute_of", (TIME,), 59), ("second_of", (TIME,), 58),
        ("md5_text", ("",), "d41d8cd98f00b204e9800998ecf8427e"),
    ],
)  # fmt: skip
def test_an_idiom_means_what_its_name_says(idiom, values, expected):
    assert of(idiom, *values) == expected


def test_moments_are_moved():
    assert value_of(function("days_after_date", constant(DAY), figure(1))) == date(2026, 2, 1)
    assert value_of(function("months_after_date", constant(DAY), figure(1))) == date(2026, 2, 28)
    assert value_of(function("months_after_time", constant(TIME), figure(1))).day == 28
    assert value_of(function("days_after_time", constant(TIME), figure(1))).day == 1
    assert value_of(function("seconds_after_time", constant(TIME), figure(2))).minute == 0


@pytest.mark.parametrize("total", [0, 1, -1, 2**62, -(2**62), 2**100 + 7, -(2**100) - 7])
def test_a_total_is_the_sum_of_its_parts(total):
    wide = cast(text(str(total)), "HUGEINT")
    high, low = (value_of(function(idiom, wide, figure(62))) for idiom in ("high_bits", "low_bits"))
    assert high * 2**62 + low == total


def test_a_large_term_has_a_name():
    large = operation(exp.Add, *[function("ABS", function("ABS", function("ABS", figure(-1))))] * 2)
    assert value_of(named(operation(exp.Mul, large, large), lambda x: operation(exp.Add, x, x))) == 8


def test_no_idiom_is_called_like_a_function_of_all_engines():
    assert UNIVERSAL.isdisjoint(IDIOMS)


@pytest.mark.parametrize("words", ["ab", "aé\n", "a.*'😀Ж"], ids=repr)
def test_several_words_are_looked_for_as_the_pattern_says(words):
    """Drawn patterns and texts, many of each, by the engine's own LIKE and by Python's regular expressions."""
    draw = np.random.default_rng(53)
    data = {"x": ["", *("".join(draw.choice([*words], draw.integers(9))) for _ in range(300))]}
    patterns = {"".join(draw.choice([*words, "%", "%"], draw.integers(3, 9))) for _ in range(100)}
    for pattern in sorted(patterns):
        found = in_sql.values_of(function("is_like", column("x"), text(pattern)), data)
        assert found == [is_like(one, pattern) for one in data["x"]], pattern


@pytest.mark.parametrize(("pattern", "is_its_own"), [("%a%b%", True), ("a%b_", False), (r"a%\%b%c", False)])
def test_the_engines_own_like_is_taken_for_words_alone(pattern, is_its_own):
    written = sql(function("is_like", column("x"), text(pattern)))
    assert (" LIKE " in written) == is_its_own


def test_the_engines_own_lower_makes_ascii_of_ascii_alone():
    """Of every other character it makes one other character, so that a pattern of ASCII reads the text as it should."""
    beyond = [chr(code) for code in range(128, 0x110000) if not 0xD800 <= code < 0xE000]
    lowered = in_sql.values_of(function("ascii_lowered", column("x")), {"x": [*beyond, "aZ\u0130k\u212a"]})
    assert lowered[-1] == "az\u0131k\u0131"
    assert all(len(one) == 1 and not one.isascii() for one in lowered[:-1])
