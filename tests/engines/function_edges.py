"""What functions give at their edges, where libraries differ: arguments, and behind them the result."""

import math
from datetime import date, datetime
from fractions import Fraction

from sfumato.query.model.functions import Function
from sfumato.query.values.cells import MAX_INT64, MIN_INT64
from sfumato.query.values.numbers import LARGEST

at = datetime.fromisoformat
MOST, LEAST, BIG = MAX_INT64, MIN_INT64, LARGEST
DAY, TIME = date(2024, 2, 29), at("2024-02-29 23:59:58.999999")
FIRST, LAST = date(1, 1, 1), date(9999, 12, 31)
FIRST_TIME, LAST_TIME = at("0001-01-01"), at("9999-12-31 23:59:59.999999")

EDGES = {
    Function.ADD: [
        (1, 2, 3), (MOST, 1, None), (LEAST, -1, None), (MOST, LEAST, -1), (1, 0.5, 1.5), (2**53 + 1, 0.0, 2.0**53),
        (BIG, BIG, None), (BIG, 1, BIG), (BIG, -BIG, 0.0), (5e-324, 5e-324, 1e-323), (0.1, 0.2, 0.30000000000000004),
    ],
    Function.SUBTRACT: [
        (1, 2, -1), (LEAST, 1, None), (0, LEAST, None), (-1, LEAST, MOST), (-BIG, BIG, None), (0.0, 0.0, 0.0),
    ],
    Function.MULTIPLY: [
        (3, -2, -6), (2**62, 2, None), (-(2**62), 2, LEAST), (LEAST, -1, None), (1e100, 1e100, None),
        (0, BIG, 0.0), (-1.0, 0, 0.0), (5e-324, 0.5, 0.0), (1e-200, 1e100, 0.0), (2.0**-500, 2.0**-500, 2.0**-1000),
        (2.0**-500 * 1.5, 1, 2.0**-499), (-(2.0**-501), 1, 0.0),
    ],
    Function.DIVIDE: [
        (7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (7, 0, None), (0, 0, None), (LEAST, -1, None),
        (LEAST, 1, LEAST), (7.0, 2, 3.5), (7, 2.0, 3.5), (1.0, 0.0, None), (1.0, 0, None), (1, BIG, 1 / BIG),
        (1.0, 1e-200, None), (BIG, 0.5, None), (1e-200, 1e-100, 0.0), (2**53 + 1, 1.0, 2.0**53),
    ],
    Function.MODULO: [(7, 3, 1), (-7, 3, -1), (7, -3, 1), (-7, -3, -1), (7, 0, None), (LEAST, -1, 0), (-6, 3, 0)],
    Function.NEGATE: [(1, -1), (LEAST, None), (MOST, -MOST), (0.0, 0.0), (BIG, -BIG)],
    Function.ABS: [(-1, 1), (LEAST, None), (-0.5, 0.5), (-BIG, BIG)],
    Function.SIGN: [(-7, -1), (0, 0), (5e-324, 1), (-BIG, -1), (0.0, 0)],
    Function.FLOOR: [(-7, -7), (MOST, MOST), (-2.5, -3.0), (-5e-324, -1.0), (0.5, 0.0), (1e150, 1e150)],
    Function.CEIL: [(MOST, MOST), (2.1, 3.0), (-0.5, 0.0), (-1e150, -1e150)],
    Function.TRUNC: [(LEAST, LEAST), (-2.9, -2.0), (-0.5, 0.0), (2.9, 2.0), (-BIG, -BIG)],
    Function.ROUND: [
        (MOST, 0, MOST), (7, 15, 7), (2.5, 0, 3.0), (-2.5, 0, -2.0), (-0.5, 0, 0.0), (2.675, 2, 2.68),
        (0.49999999999999994, 0, 1.0), (1.005, 2, 1.0), (BIG, 0, BIG), (5e-324, 15, 0.0),
    ],
    Function.SQRT: [(4, 2.0), (2.0, math.sqrt(2)), (-1, None), (-5e-324, None), (0.0, 0.0), (BIG, math.sqrt(BIG))],
    Function.LN: [(1, 0.0), (0, None), (-1.5, None), (math.e, 1.0), (BIG, math.log(BIG))],
    Function.LOG10: [(1000, 3.0), (0.0, None), (-BIG, None)],
    Function.EXP: [
        (0, 1.0), (347, None), (346, math.exp(346)), (-693, math.exp(-693)), (-694, 0.0),
        (BIG, None), (-BIG, 0.0),
    ],
    Function.POWER: [
        (2, 10, 1024.0), (-8, Fraction(1, 3), None), (0, -1, None), (0, 0, 1.0), (1e100, 2, None),
        (2, Fraction(1, 2), math.sqrt(2)), (BIG, -1, 1 / BIG), (-2, 3, -8.0),
        (1e-200, -1, None), (1e-200, 1, 0.0), (0.5, 2000, 0.0), (0.5, -2000, None), (2, -2000, 0.0),
        (-2, 499, -(2.0**499)),
        (-2, -999, -(2.0**-999)), (0, 3, 0.0), (0, -3, None), (1, 10**100, 1.0), (-1, 10**100 + 10**84, 1.0),
        (1.0000000000000002, 4 * 10**18, None), (0.9999999999999999, 10**100, 0.0), (-0.5, Fraction(-5, 2), None),
    ],
    Function.LEAST: [
        (1, None, 0, 0), (None, None, None), ("b", "B", "B"), ("é", "z", "z"), (False, True, False),
        (BIG, BIG, BIG),
    ],
    Function.GREATEST: [(1, None, 0, 1), (None, None), (BIG, 1.0, BIG), (-BIG, 1.0, 1.0), (DAY, FIRST, DAY)],
    Function.TO_INTEGER: [
        (2.5, 3), (-2.5, -2), (BIG, None), (1e19, None), (" 39 ", 39), ("2.5", 3), ("x", None), (True, 1),
    ],
    Function.TO_FLOAT: [
        (MOST, 2.0**63), ("1e400", None), ("1e-400", 0.0), ("-0", 0.0), (False, 0.0), ("NaN", None),
        ("1e151", None), ("3e150", 3e150),
    ],
    Function.TO_TEXT: [(-7, "-7"), (True, "true"), (FIRST, "0001-01-01"), ("x", "x")],
    Function.TO_BOOLEAN: [(2, True), (0, False), (" Yes ", True), ("on", None), (False, False)],
    Function.TO_DATE: [("2024-02-29", DAY), ("2026-02-29", None), (TIME, DAY), (DAY, DAY), ("2024-02-29T23:59", DAY)],
    Function.TO_TIMESTAMP: [(DAY, at("2024-02-29")), ("2024-02-29", at("2024-02-29")), ("x", None), (TIME, TIME)],
    Function.LOWER: [("ÀÉΣЖß İ", "àéσжß İ"), ("", "")],
    Function.UPPER: [("àéσςжßÿµ ı", "ÀÉΣςЖßŸµ ı")],
    Function.LENGTH: [("", 0), ("é", 1), ("e\u0301", 2), ("\U0001f600", 1)],
    Function.SUBSTRING: [
        ("abc", 1, 2, "ab"), ("abc", 3, 9, "c"), ("abc", 4, 1, ""), ("abc", 2, 0, ""), ("\U0001f600b", 2, 1, "b"),
    ],
    Function.SUFFIX: [
        ("abc", 1, "abc"), ("abc", 3, "c"), ("abc", 4, ""), ("abc", 0, "abc"), ("abc", LEAST, "abc"), ("abc", MOST, ""),
        ("\U0001f600éb", 2, "éb"), ("", 1, ""),
    ],
    Function.TRIM: [("  a b  ", "a b"), ("\t a\u00a0", "\t a\u00a0"), ("  ", "")],
    Function.LTRIM: [("  a ", "a ")],
    Function.RTRIM: [("  a ", "  a")],
    Function.CONCAT: [
        ("a", "", "é", "aé"), ("a", None, None), ("é" * 2**11, "b" * 2**11, "é" * 2**11 + "b" * 2**11),
        ("é" * 2**11, "b" * 2**11, "a", None),
    ],
    Function.LIKE: [
        ("abc", "a%", True), ("abc", "_b_", True), ("abc", "ab", False), ("a%", "a\\%", True),
        ("ab", "a\\%", False), ("a\nb", "a%b", True), ("", "%", True), ("A", "a", False), (None, "%", None),
    ],
    Function.POSITION: [
        ("abcb", "b", 2), ("abc", "x", 0), ("", "a", 0), ("\U0001f600é b", "é", 2), ("aab", "ab", 2), ("A", "a", 0),
        ("e\u0301", "\u0301", 2), ("a%b", "%", 2),
    ],
    Function.REPLACE: [
        ("aaa", "aa", "b", "ba"), ("abc", "x", "y", "abc"), ("", "a", "b", ""), ("a\U0001f600", "\U0001f600", "", "a"),
        ("a" * 2**11, "a", "bé", "bé" * 2**11), ("a" * 2**11 + "b", "a", "bé", None), ("aa", "a", "aa", "aaaa"),
        ("b" * 5000, "b", "c", "c" * 5000), ("b" * 5000, "x", "yy", "b" * 5000), ("A", "a", "b", "A"),
    ],
    Function.YEAR: [(FIRST, 1), (LAST_TIME, 9999)],
    Function.QUARTER: [(FIRST, 1), (date(2026, 3, 31), 1), (date(2026, 4, 1), 2), (LAST, 4)],
    Function.MONTH: [(DAY, 2)],
    Function.WEEK: [(date(2027, 1, 3), 53), (date(2024, 12, 30), 1), (FIRST, 1), (LAST, 52)],
    Function.DAY: [(DAY, 29)],
    Function.DAY_OF_WEEK: [(date(2026, 2, 1), 0), (date(2026, 1, 31), 6), (FIRST, 1)],
    Function.ISO_DAY_OF_WEEK: [(date(2026, 2, 1), 7), (FIRST, 1)],
    Function.DAY_OF_YEAR: [(date(2024, 12, 31), 366), (LAST, 365), (FIRST, 1)],
    Function.HOUR: [(TIME, 23)],
    Function.MINUTE: [(TIME, 59)],
    Function.SECOND: [(TIME, 58)],
    Function.TRUNCATE: [
        (DAY, "week", date(2024, 2, 26)), (FIRST, "week", FIRST), (DAY, "hour", DAY),
        (DAY, "quarter", date(2024, 1, 1)), (TIME, "year", at("2024-01-01")), (TIME, "month", at("2024-02-01")),
        (TIME, "day", at("2024-02-29")), (TIME, "hour", at("2024-02-29 23:00")),
        (TIME, "minute", at("2024-02-29 23:59")), (LAST_TIME, "week", at("9999-12-27")),
    ],
    Function.ADD_DAYS: [
        (DAY, 1, date(2024, 3, 1)), (LAST, 1, None), (FIRST, -1, None), (DAY, MOST, None), (DAY, LEAST, None),
        (TIME, -366, TIME.replace(year=2023, day=28)), (LAST_TIME, 1, None),
    ],
    Function.ADD_MONTHS: [
        (date(2026, 1, 31), 1, date(2026, 2, 28)), (DAY, 12, date(2025, 2, 28)), (DAY, -2, date(2023, 12, 29)),
        (LAST, 1, None), (FIRST, -1, None), (DAY, MOST, None), (TIME, 1, TIME.replace(month=3)),
    ],
    Function.ADD_SECONDS: [
        (TIME, 2, at("2024-03-01 00:00:00.999999")), (LAST_TIME, 1, None), (FIRST_TIME, -1, None),
        (TIME, MOST, None), (TIME, LEAST, None), (FIRST_TIME, 86_400, at("0001-01-02")),
    ],
    Function.DAYS_BETWEEN: [(LAST, FIRST, 3_652_058), (DAY, date(2024, 3, 1), -1)],
    Function.COALESCE: [(None, 2, 3, 2), (None, None), ("", "x", ""), (BIG, 1.0, BIG)],
    Function.NULL_IF: [
        (1, 1, None), (1, 2, 1), (1, None, 1), (None, 1, None), (2**53 + 1, 2.0**53, None), (2, 2.0, None),
    ],
}  # fmt: skip
"""A `Fraction` stands for a constant, everything else for the cell of a column; None is NULL."""
