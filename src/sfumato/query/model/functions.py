"""The functions that expressions may call: what they take, what they give, and what they mean.

All are total. Unless said otherwise a function of a NULL is NULL; so is any result outside of its kind: an INTEGER
beyond 64 bits, a FLOAT of 2^500 or more in size or no number, a day outside of the years 1 to 9999. Numbers are 64-bit
integers and binary doubles; arithmetic on two integers is exact, any other is done in doubles, operation by operation,
where factors, what is divided and by what, and what is raised to a power are first rounded to multiples of 2^-500.
Engines keep these meanings to the bit, but for LN, LOG10, EXP and POWER, which may differ in the last bit between
libraries.
"""

from enum import StrEnum
from typing import Final

RANGE: Final = 500
"""A FLOAT is less than 2 to this in size, about 3.27e150."""

MAX_TEXT: Final = 2**12
"""How many code points a text that is made of others may have, or a few steps would make one that no memory holds."""


class Function(StrEnum):
    """A function by name; its arguments in the order given behind it."""

    # arithmetic: INTEGER of INTEGERs, else FLOAT
    ADD = "add"  # x + y
    SUBTRACT = "subtract"  # x − y
    MULTIPLY = "multiply"  # x · y
    DIVIDE = "divide"  # x / y, of two INTEGERs toward zero; NULL if y = 0
    MODULO = "modulo"  # INTEGERs only: x − y·(x divide y), with the sign of x; NULL if y = 0
    NEGATE = "negate"  # −x
    ABS = "abs"  # |x|
    SIGN = "sign"  # −1, 0 or 1, an INTEGER
    FLOOR = "floor"  # the largest whole number ≤ x; of the kind of x
    CEIL = "ceil"  # the smallest whole number ≥ x; of the kind of x
    TRUNC = "trunc"  # the whole part of x, toward zero; of the kind of x
    ROUND = "round"  # x, digits (a Literal, 0…15): floor(x·10^digits + 1/2) / 10^digits in doubles; of an INTEGER: x
    SQRT = "sqrt"  # FLOAT; NULL if x < 0
    LN = "ln"  # FLOAT; NULL if x ≤ 0
    LOG10 = "log10"  # FLOAT; NULL if x ≤ 0
    EXP = "exp"  # FLOAT; 0 below 2^-1000
    POWER = "power"  # x, y (a Literal): FLOAT; NULL where it is not a real number; 0 below 2^-1000
    LEAST = "least"  # of one or more of one kind (numbers may mix): the least that is not NULL
    GREATEST = "greatest"  # the greatest that is not NULL

    # conversions: as stored values are read, see `values.cells.typed`
    TO_INTEGER = "to_integer"  # of INTEGER, FLOAT (half up), TEXT, BOOLEAN
    TO_FLOAT = "to_float"  # of INTEGER, FLOAT, TEXT, BOOLEAN
    TO_TEXT = "to_text"  # of INTEGER, TEXT, BOOLEAN ('true', 'false'), DATE ('2026-01-31'); no FLOAT, no TIMESTAMP
    TO_BOOLEAN = "to_boolean"  # of INTEGER, TEXT, BOOLEAN
    TO_DATE = "to_date"  # of TEXT, DATE, TIMESTAMP
    TO_TIMESTAMP = "to_timestamp"  # of TEXT, DATE (at midnight), TIMESTAMP

    # text, counted in code points
    LOWER = "lower"  # letter by letter, those of `letters` only
    UPPER = "upper"
    LENGTH = "length"  # INTEGER
    SUBSTRING = "substring"  # x, start ≥ 1 (a Literal), length ≥ 0 (a Literal)
    SUFFIX = "suffix"  # x, INTEGER: what begins at that place, from 1; all of it if that is below 1
    TRIM = "trim"  # without spaces (U+0020) at both ends
    LTRIM = "ltrim"
    RTRIM = "rtrim"
    CONCAT = "concat"  # x || y; of two or more TEXTs; NULL beyond MAX_TEXT code points
    LIKE = "like"  # x, pattern (a Literal; % any run, _ any one, \ escapes): BOOLEAN
    POSITION = "position"  # x, word (a Literal of at least one): INTEGER, where it first begins, from 1; 0 if nowhere
    REPLACE = "replace"  # x, old (a Literal of at least one), new (a Literal); NULL if it grows beyond MAX_TEXT

    # dates and times
    YEAR = "year"  # these of DATE or TIMESTAMP, an INTEGER
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"  # of ISO 8601
    DAY = "day"
    DAY_OF_WEEK = "day_of_week"  # 0 on Sunday … 6 on Saturday
    ISO_DAY_OF_WEEK = "iso_day_of_week"  # 1 on Monday … 7 on Sunday
    DAY_OF_YEAR = "day_of_year"
    HOUR = "hour"  # these three of TIMESTAMP only
    MINUTE = "minute"
    SECOND = "second"  # whole seconds
    TRUNCATE = "truncate"  # x, unit (a Literal: year, quarter, month, week, day, hour, minute): of the kind of x
    ADD_DAYS = "add_days"  # x, INTEGER: of the kind of x
    ADD_MONTHS = "add_months"  # x, INTEGER (a Literal): the same day of that month, or its last; of the kind of x
    ADD_SECONDS = "add_seconds"  # TIMESTAMP, INTEGER
    DAYS_BETWEEN = "days_between"  # x − y of two DATEs, an INTEGER

    # NULL
    COALESCE = "coalesce"  # of one or more of one kind (numbers may mix): the first that is not NULL
    NULL_IF = "null_if"  # x, y: NULL if x = y, else x
