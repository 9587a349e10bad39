"""One look for each key: equal keys have the same, others have others, and their order is total and exact."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from itertools import combinations, permutations, product
from math import inf, nan, nextafter
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.mechanisms.partitions.keys import NO_KEY, canonical_counts, canonical_key, key_rank


class Point(NamedTuple):
    """A tuple with a name."""

    x: Any
    y: Any


class Color(StrEnum):
    """A text with a name."""

    RED = "red"


class Level(IntEnum):
    """An integer with a name."""

    ONE = 1


BERLIN, EAST = ZoneInfo("Europe/Berlin"), timezone(timedelta(hours=1))
REPEATED = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)  # twice, at 00:30 and 01:30 in UTC
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC).replace(tzinfo=None)
MIDNIGHT = NOON.replace(hour=0)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
TENTH, HUGE = 0.1, 1e308
CLASSES = [
    [None],
    [1, True, 1.0, Decimal(1), Decimal("1.00"), Decimal("0.1E+1"), Fraction(1), 1 + 0j, complex(1, -0.0), Level.ONE,
     np.int64(1), np.uint8(1), np.bool_(True), np.float64(1), np.float16(1), np.longdouble(1), np.complex128(1)],
    [0, -0.0, 0.0, False, Decimal("-0"), Decimal("0E+999999999"), Fraction(0), np.float32(-0.0), complex(-0.0, -0.0)],
    [0.5, Fraction(1, 2), Decimal("0.50"), np.float32(0.5), np.longdouble(0.5), complex(0.5, 0)],
    [0.1, Fraction(TENTH), Decimal(TENTH), np.float64(0.1), np.longdouble(0.1)],
    [Decimal("0.1"), Decimal("0.100"), Fraction(1, 10)],
    [float(np.float32(0.1)), np.float32(0.1), Fraction(float(np.float32(0.1)))],
    [Fraction(1, 3)],
    [1e308, int(1e308), Decimal(HUGE), np.float64(1e308)],
    [5e-324, Fraction(5e-324)],
    [2**53 + 1, Decimal(2**53 + 1), np.int64(2**53 + 1)],
    [2.0**53, 2**53],
    [Decimal("1" * 60 + ".5"), Decimal("1" * 60 + ".50")],
    [inf, Decimal("Infinity"), np.float32(inf), complex(inf, 0)],
    [-inf, Decimal("-Infinity"), np.float64(-inf)],
    [1j, complex(-0.0, 1), np.complex128(1j)],
    ["red", np.str_("red"), Color.RED],
    ["1"],
    [b"red", np.bytes_(b"red")],
    [(1, "red"), (True, np.str_("red")), Point(1.0, Color.RED)],
    [((),)],
    [((0.5, (None,)),), ((Decimal("0.5"), (None,)),)],
    [date(2026, 1, 31)],
    [NOON, pd.Timestamp(NOON), NOON.replace(fold=1)],
    [NOON.replace(tzinfo=UTC), NOON.replace(hour=13, tzinfo=EAST), NOON.replace(hour=13, tzinfo=BERLIN),
     pd.Timestamp("2026-01-31 12:00", tz="UTC"), pd.Timestamp("2026-01-31 13:00", tz="Europe/Berlin")],
    [REPEATED, REPEATED.replace(fold=1)],
]  # fmt: skip

decimals = st.decimals(allow_nan=False).filter(lambda number: abs(number.adjusted()) < 400)
numbers = (
    st.integers()
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.fractions()
    | decimals
    | st.complex_numbers(allow_nan=False)
    | st.sampled_from([0.1, Decimal("0.1"), Fraction(1, 10), nextafter(0.1, 1), Fraction(1, 3), 10**399, 2**53 + 1])
)
simple = (
    st.none()
    | numbers
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=st.just(UTC) | st.just(EAST) | st.just(BERLIN))
)
keys = st.recursive(simple, lambda parts: st.lists(parts, max_size=3).map(tuple), max_leaves=4)


@pytest.mark.parametrize("equal", CLASSES, ids=repr)
def test_equal_keys_look_alike(equal):
    assert all(len({equal[0], key}) == 1 for key in equal), "a dict would not hold them as one"
    assert len({repr(canonical_key(key)) for key in equal}) == 1


def test_different_keys_look_different():
    looks = [canonical_key(equal[0]) for equal in CLASSES]
    assert all(first != second and repr(first) != repr(second) for first, second in combinations(looks, 2))


@given(keys)
def test_the_canonical_key_equals_the_key_and_stands_for_itself(key):
    look = canonical_key(key)
    assert repr(canonical_key(look)) == repr(look)
    assert look == key or isinstance(key, tuple | datetime)


@given(numbers, numbers)
def test_numbers_have_the_same_look_exactly_if_they_are_equal(first, second):
    assert (repr(canonical_key(first)) == repr(canonical_key(second))) is (first == second)


@given(decimals.filter(Decimal.is_finite) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_looks_the_same_in_every_type_that_holds_it(number):
    look = repr(canonical_key(number))
    assert look == repr(canonical_key(Fraction(number)))
    if isinstance(number, float):
        assert look == repr(canonical_key(np.float64(number))) == repr(canonical_key(Decimal(number)))


def test_a_number_between_two_floats_keeps_its_exact_value():
    fine = np.longdouble(1) + np.finfo(np.longdouble).eps
    assert canonical_key(fine) == Fraction(*fine.as_integer_ratio())


@pytest.mark.parametrize(
    ("key", "look"),
    [(True, "1"), (1e3, "1000"), (Decimal("2.50"), "2.5"), (Decimal("0.10"), "Decimal('0.1')"), (Color.RED, "'red'"),
     (Fraction(2, 6), "Fraction(1, 3)"), (Decimal("-3E+2"), "-300"), (Point(1.0, None), "(1, None)"),
     (REPEATED, "datetime.datetime(2026, 10, 25, 0, 30, tzinfo=datetime.timezone.utc)")],
    ids=repr,
)  # fmt: skip
def test_looks_are_plain(key, look):
    assert repr(canonical_key(key)) == look


@pytest.mark.parametrize(
    "key",
    [nan, -nan, Decimal("NaN"), Decimal("sNaN"), np.float32(nan), np.longdouble(nan), complex(nan, 0), complex(0, nan),
     complex(nan, 1), pd.NA, pd.NaT, ("a", nan), (("a", Decimal("NaN")), 1)],
    ids=repr,
)  # fmt: skip
def test_what_equals_nothing_is_no_key(key):
    assert canonical_key(key) is NO_KEY


@pytest.mark.parametrize(
    ("key", "look"),
    [
        (Decimal("1E+999999999"), inf),
        (Decimal("-1E+999999999"), -inf),
        (Decimal("1E-999999999"), 0),
        (10**400, inf),
        (Decimal("1E+400"), inf),
        (10**400 - 1, 10**400 - 1),
        (Decimal("1E+399"), 10**399),
        (Fraction(-(10**5000)), -inf),
        (Fraction(1, 10**400 + 1), 0),
        (Fraction(1, 10**400), Decimal("1E-400")),
        (Decimal("1E-400"), Decimal("1E-400")),
        (LAST.replace(tzinfo=timezone(-timedelta(hours=5))), LAST),
        (FIRST.replace(tzinfo=EAST), FIRST),
        (pd.Timestamp(np.datetime64("20000-01-01", "s")), LAST.replace(tzinfo=None)),
        (pd.Timestamp("-100-01-01"), FIRST.replace(tzinfo=None)),
        (pd.Timestamp(2026, 1, 31, nanosecond=7), MIDNIGHT),
    ],
    ids=lambda value: f"{value!r:.30}" if not isinstance(value, int | Fraction) else "number",
)
def test_no_value_is_too_odd_for_a_look(key, look):
    assert repr(canonical_key(key)) == repr(look)


@pytest.mark.parametrize(
    "key",
    [frozenset({1}), timedelta(1), np.timedelta64(1, "D"), np.datetime64("2026-01-31"), np.complex64(1), object(),
     range(3), ("a", frozenset()), (nan, frozenset())],
    ids=lambda key: type(key).__name__,
)  # fmt: skip
def test_other_types_are_refused_by_their_name(key):
    with pytest.raises(ParameterError, match="keys") as refused:
        canonical_key(key)
    assert refused.value.value in {type(key).__name__, "frozenset"}


@given(st.lists(keys, max_size=6), st.randoms())
def test_the_order_is_total_and_not_that_of_the_input(some, random):
    looks = [*canonical_counts(dict.fromkeys(some, 1))]
    expected = sorted(looks, key=key_rank)
    random.shuffle(looks)
    assert list(map(repr, sorted(looks, key=key_rank))) == list(map(repr, expected))


def test_only_the_same_keys_share_a_place_and_the_order_is_transitive():
    looks = [canonical_key(equal[0]) for equal in CLASSES]
    ranks = [key_rank(look) for look in looks]
    for (i, first), (j, second) in product(enumerate(ranks), repeat=2):
        assert (first == second) is (i == j)
        assert (first < second) + (first == second) + (second < first) == 1
    assert all(a < c for a, b, c in permutations(ranks, 3) if a < b < c)


def test_numbers_are_ordered_exactly_and_infinities_at_the_ends():
    ordered = [-inf, -1e308, Fraction(-1, 3), 0, 5e-324, Decimal("0.1"), 0.1, nextafter(0.1, 1), Fraction(1, 3), 1 - 1j,
               1, 1j + 1, 2**53, 2**53 + 1, 1e308, 10**399, inf]  # fmt: skip
    ranks = [key_rank(canonical_key(number)) for number in ordered]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


def test_kinds_are_ordered():
    ordered = [None, 7, "", "a", (), (None,), (1, "x"), b"", NOON, NOON.replace(tzinfo=UTC), date(1, 1, 1)]
    backwards = ordered[::-1]
    assert sorted(backwards, key=key_rank) == ordered


def test_keys_that_fall_together_have_the_largest_of_their_counts():
    moments = [pd.Timestamp(2026, 1, 31, nanosecond=n) for n in range(4)]
    assert canonical_counts(dict(zip(moments, (3, 10**30, -1, 0), strict=True))) == {MIDNIGHT: 10**30}
    assert canonical_counts({nan: 3, True: np.int64(2), "a": -1}) == {1: 2, "a": -1}
    assert canonical_counts({}) == {}


@pytest.mark.parametrize("moves", [*product([-1, 0, 1], repeat=3)], ids=str)
def test_a_unit_moves_no_count_further_and_no_more_counts_than_before(moves):
    moments = [pd.Timestamp(2026, 1, 31, nanosecond=0), pd.Timestamp(2026, 1, 31, nanosecond=1), "a"]
    for counts in product(range(1, 4), repeat=3):
        moved = [count + move for count, move in zip(counts, moves, strict=True)]
        before, after = (canonical_counts(dict(zip(moments, each, strict=True))) for each in (counts, moved))
        changes = [abs(after[key] - before[key]) for key in before]
        assert max(changes) <= 1
        assert sum(changes) <= sum(map(abs, moves))


def test_counting_canonical_keys_needs_no_merging():
    column = [True, 1.0, "a", np.str_("a"), Decimal("1.0")]
    assert repr(canonical_counts(Counter(map(canonical_key, column)))) == "{1: 3, 'a': 2}"


def test_masked_keys_are_missing_and_far_dates_are_no_error():
    assert canonical_key(np.ma.masked_array([1], mask=[True])[0]) is NO_KEY or canonical_key(np.ma.masked) is NO_KEY
    far = pd.Series(np.array(["-0100-01-01"], dtype="M8[s]")).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")[0]
    assert isinstance(canonical_key(far), datetime)
    assert canonical_key(np.longdouble(2) ** 1100) == canonical_key(2**1100) == 2**1100


@pytest.mark.parametrize(
    "counts", [None, [("a", 3)], [3, 4], pd.Series({"a": 3})], ids=["none", "pairs", "list", "series"]
)
def test_counts_without_keys_are_refused_and_not_shown(counts):
    with pytest.raises(ParameterError, match=r"counts by key.*to_dict") as refusal:
        canonical_counts(counts)
    assert "3" not in str(refusal.value).replace('{"a": 3}', "")
