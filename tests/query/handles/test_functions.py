from datetime import date, datetime

import pytest
from tests.query.frames import PEOPLE, frame, value

from sfumato.errors import ParameterError

people = frame(PEOPLE)
DAY = date(2026, 1, 31)
TIME = datetime.fromisoformat("2026-01-31T12:34:56.789")

VALUES = [
    (people.age.clip(18, 65), {"age": 5}, 18),
    (people.age.clip(18, 65), {"age": 99}, 65),
    (people.age.clip(18, 65), {"age": None}, None),
    (people.pay.clip("0.5", 2), {"pay": 0.25}, 0.5),
    (people.age.sign(), {"age": -5}, -1),
    (people.pay.floor(), {"pay": 2.5}, 2.0),
    (people.pay.ceil(), {"pay": 2.5}, 3.0),
    (people.pay.trunc(), {"pay": -2.5}, -2.0),
    (people.pay.round(), {"pay": 2.5}, 3.0),
    (people.pay.round(1), {"pay": 2.25}, 2.3),
    (people.pay.sqrt(), {"pay": 2.25}, 1.5),
    (people.pay.sqrt(), {"pay": -1.0}, None),
    (people.pay.log(), {"pay": 1.0}, 0.0),
    (people.pay.log(), {"pay": 0.0}, None),
    (people.pay.log10(), {"pay": 100.0}, 2.0),
    (people.pay.exp(), {"pay": 0.0}, 1.0),
    (people.pay.exp(), {"pay": 1e9}, None),
    (people.sex.lower(), {"sex": "M"}, "m"),
    (people.sex.upper(), {"sex": "m"}, "M"),
    (people.sex.length(), {"sex": "née"}, 3),
    (people.sex.substring(2, 3), {"sex": "abcdef"}, "bcd"),
    (people.sex.trim(), {"sex": " m "}, "m"),
    (people.sex.trim_left(), {"sex": " m "}, "m "),
    (people.sex.trim_right(), {"sex": " m "}, " m"),
    (people.sex.like("a%_"), {"sex": "abc"}, True),
    (people.born.year, {"born": DAY}, 2026),
    (people.born.quarter, {"born": DAY}, 1),
    (people.born.month, {"born": DAY}, 1),
    (people.born.week, {"born": DAY}, 5),
    (people.born.day, {"born": DAY}, 31),
    (people.born.day_of_week, {"born": DAY}, 6),
    (people.born.iso_day_of_week, {"born": DAY}, 6),
    (people.born.day_of_year, {"born": DAY}, 31),
    (people.seen.hour, {"seen": TIME}, 12),
    (people.seen.minute, {"seen": TIME}, 34),
    (people.seen.second, {"seen": TIME}, 56),
    (people.born.truncate("month"), {"born": DAY}, date(2026, 1, 1)),
    (people.seen.truncate("hour"), {"seen": TIME}, datetime.fromisoformat("2026-01-31T12:00")),
    (people.born.add_days(1), {"born": DAY}, date(2026, 2, 1)),
    (people.born.add_days(-people.age), {"born": DAY, "age": 30}, date(2026, 1, 1)),
    (people.born.add_months(1), {"born": DAY}, date(2026, 2, 28)),
    (people.seen.add_seconds(4), {"seen": TIME}, datetime.fromisoformat("2026-01-31T12:35:00.789")),
]


@pytest.mark.parametrize(("handle", "cells", "result"), VALUES)
def test_a_handle_has_the_value_of_its_function(handle, cells, result):
    found = value(handle, **cells)
    assert (found, type(found)) == (result, type(result))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (people.sex.floor, "must be of float or integer"),
        (people.age.lower, "must be of text"),
        (lambda: people.age.year, "must be of date or timestamp"),
        (lambda: people.born.hour, "must be of timestamp"),
        (lambda: people.sex.clip(0, 1), "greatest|one kind"),
        (lambda: people.age.clip(2, 1), "at or below"),
        (lambda: people.pay.round(16), "at most 15"),
        (lambda: people.pay.round(True), "whole number"),
        (lambda: people.pay.round(1.5), "whole number"),
        (lambda: people.sex.substring(0, 1), "at least 1"),
        (lambda: people.sex.substring(1, -1), "at least 0"),
        (lambda: people.sex.like(1), "like"),
        (lambda: people.born.truncate("decade"), "must be one of: year"),
        (lambda: people.born.add_days("x"), "add_days"),
        (lambda: people.born.add_months(0.5), "months"),
        (lambda: people.born.add_seconds(1), "add_seconds"),
    ],
)
def test_a_function_of_another_kind_or_out_of_range_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_a_clipped_value_has_bounds_so_that_it_can_be_summed():
    unbounded = people.sex.length().clip(0, 10).facts
    assert (unbounded.interval.lower, unbounded.interval.upper, unbounded.nullable) == (0, 10, True)
