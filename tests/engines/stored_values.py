"""Stored values and what every engine reads in them, kind by kind."""

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from hashlib import sha256

from sfumato.query.model.columns import Column
from sfumato.query.model.kinds import Kind
from sfumato.query.values.numbers import LARGEST

at = datetime.fromisoformat
WHOLE_ID = Column(kind=Kind.TEXT, is_id=True, is_whole=True)
"""An id that was declared as an integer, where text holds it."""

NUMBERS_AS_READ = [
    # stored, as a whole number, as a float; None is NULL
    ("39", 39, 39), (" 39 ", 39, 39), ("+7", 7, 7), ("-2", -2, -2), ("2.5", 3, 2.5), ("-2.5", -2, -2.5), (".5", 1, 0.5),
    ("5.", 5, 5), ("1e2", 100, 100), ("1_000", None, None), ("1,5", None, None), ("0x10", None, None), ("", None, None),
    (" ", None, None), ("word", None, None), ("NaN", None, None), ("inf", None, None), ("-Infinity", None, None),
    ("１２", None, None), ("\u00a01", None, None), ("1\n", None, None), ("\x001", None, None),
    ("1e400", None, None), ("-1e151", None, None), ("3e150", None, 3e150), ("1e-400", 0, 0), ("-1E-400", 0, 0),
    ("0." + "0" * 248, 0, 0), ("0." + "0" * 249, None, None), ("True", 1, 1), ("false", 0, 0),
    ("9223372036854775808", None, 2.0**63), ("-9223372036854775808", -(2**63), -(2.0**63)), ("9" * 400, None, None),
    ("9" * 150, None, 1e150),
    (3, 3, 3), (2**63 - 1, 2**63 - 1, 2.0**63), (-(2**63), -(2**63), -(2.0**63)),
    (2.5, 3, 2.5), (-2.5, -2, -2.5), (0.49999999999999994, 1, 0.49999999999999994), (-0.0, 0, 0),
    (math.nan, None, None), (math.inf, None, None), (-math.inf, None, None),
    (2.0**500, None, None), (-LARGEST, None, -LARGEST), (1e19, None, 1e19),
    (True, 1, 1), (False, 0, 0),
    (Decimal("1.50"), 2, 1.5), (Decimal("-0.50"), 0, -0.5), (Decimal("9" * 15), 10**15 - 1, 1e15 - 1),
    (None, None, None),
]  # fmt: skip

MANY_NINES = "9" * 300
IDS_AS_READ = [
    # stored, as an id that was declared as an integer and is held as text; None is NULL
    ("7", "7"), ("007", "7"), ("+7", "7"), (" 7 ", "7"), ("-7", "-7"), ("-07", "-7"), ("0", "0"), ("-0", "0"),
    ("+000", "0"), ("9223372036854775807", "9223372036854775807"), ("9223372036854775808", "9223372036854775808"),
    ("-9223372036854775809", "-9223372036854775809"), ("1" + "0" * 40, "1" + "0" * 40), ("0" * 300 + "12", "12"),
    (MANY_NINES, "9" * 256 + sha256(MANY_NINES.encode()).hexdigest()),
    (f"-0{MANY_NINES}", "-" + "9" * 255 + sha256(f"-{MANY_NINES}".encode()).hexdigest()),
    ("7.0", "7"), ("1e3", "1000"), ("2.5", "3"), ("-0.4", "0"), ("True", "1"), ("1e19", None), ("1e400", None),
    ("word", None), ("", None), (" ", None), ("+", None), ("--7", None), ("+-7", None), ("7-", None), ("1 2", None),
    ("１２", None), ("1\n", None), (7, "7"), (-(2**63), str(-(2**63))), (7.0, "7"), (True, "1"), (Decimal("7.5"), "8"),
    (None, None),
]  # fmt: skip

AMOUNTS_AS_READ = [
    # stored, as a whole number of a column with bounds, before it is clamped to them
    ("9223372036854775807", 2**63 - 1), ("9223372036854775808", 2**63 - 1), ("9223372036854775807.5", 2**63 - 1),
    ("-9223372036854775808", -(2**63)), ("-9223372036854775809", -(2**63)), ("9" * 30, 2**63 - 1),
    ("9" * 31, 2**63 - 1), ("9" * 150, 2**63 - 1), ("-1e150", -(2**63)), ("1e151", None), ("-1e400", None),
    ("9" * 400, None), (1e19, 2**63 - 1), (-1e19, -(2**63)), (-(2.0**63), -(2**63)), (2.0**500, None),
    (math.inf, None), (math.nan, None), ("inf", None), ("nan", None), ("word", None), ("39", 39), (2.5, 3),
    (None, None),
]  # fmt: skip

BOOLEANS_AS_READ = [
    ("true", True), ("T", True), (" Yes ", True), ("y", True), ("1", True), ("False", False), ("f", False),
    ("NO", False), ("n", False), ("0", False), ("on", None), ("2", None), ("", None), ("ｙ", None), (True, True),
    (False, False), (2, True), (0, False), (0.5, True), (-0.0, False), (math.nan, None), (Decimal("0.0"), False),
    (None, None),
]  # fmt: skip

TIMES_AS_READ = [
    # stored, as a time; as a day it is the day of that time
    ("2026-01-31", at("2026-01-31")), (" 2026-01-31 ", at("2026-01-31")),
    ("2024-02-29", at("2024-02-29")), ("2026-02-29", None), ("1900-02-29", None), ("2026-04-31", None),
    ("0001-01-01", at("0001-01-01")), ("0000-01-01", None), ("9999-12-31", at("9999-12-31")),
    ("10000-01-01", None), ("2026-13-01", None), ("2026-00-01", None), ("2026-01-00", None), ("2026-1-31", None),
    ("20260131", None), ("26-01-31", None), ("+2026-01-31", None), ("-2026-01-31", None), ("2026/01/31", None),
    ("31.01.2026", None), ("2026-01-31Z", None), ("2026-W05", None), ("２０２６-01-31", None), ("2026-01-31\n", None),
    ("2026-01-31 12:34", at("2026-01-31 12:34")), ("2026-01-31T12:34", at("2026-01-31 12:34")),
    ("2026-01-31 12:34:56", at("2026-01-31 12:34:56")),
    ("2026-01-31 12:34:56.5", at("2026-01-31 12:34:56.500000")),
    ("2026-01-31T12:34:56.000001", at("2026-01-31 12:34:56.000001")),
    ("9999-12-31 23:59:59.999999", at("9999-12-31 23:59:59.999999")),
    ("2026-01-31 12:34:56.1234567", None), ("2026-01-31 12:34:56.", None), ("2026-01-31 12:34:60", None),
    ("2026-01-31 24:00", None), ("2026-01-31 12", None), ("2026-01-31 12:60", None), ("2026-01-31  12:34", None),
    ("2026-01-31 12:34Z", None), ("2026-01-31 12:34+01:00", None), ("2026-01-31t12:34", None), ("12:34", None),
    ("", None), ("today", None), ("infinity", None), ("epoch", None), ("2026-01-31 (BC)", None),
    (None, None),
]  # fmt: skip

MOMENTS_AS_READ = [
    # Python's own days and times
    (date(2026, 1, 31), at("2026-01-31")), (at("2026-01-31 23:59"), at("2026-01-31 23:59")),
    (datetime(2026, 1, 31, 12, tzinfo=UTC), at("2026-01-31 12:00")),
    (datetime(2026, 1, 31, 23, tzinfo=timezone(timedelta(hours=-5))), at("2026-02-01 04:00")),
    (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))), None),
    (datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5))), None),
    (20260131, None), (1.5, None), (True, None), (Decimal(1), None),
]  # fmt: skip
