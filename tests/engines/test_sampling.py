import math
from datetime import date, datetime
from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions_of import cells

from sfumato.engines.sampling import encoded, least, rank_hash
from sfumato.query.model.kinds import Kind

lists = st.lists(st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8), max_size=4)


@given(lists, lists)
def test_no_two_lists_of_values_have_one_encoding(first, second):
    def texts(values):
        return [None if value is None else encoded(value).partition(":")[2] for value in values]

    same = "".join(map(encoded, first)) == "".join(map(encoded, second))
    assert same == (texts(first) == texts(second))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "N"),
        (True, "V4:true"),
        (False, "V5:false"),
        (-7, "V2:-7"),
        ("é", "V2:é"),
        ("", "V0:"),
        (0.0, "V1:0"),
        (-0.0, "V1:0"),
        (1.5, "V19:4609434218613702656"),
        (-math.inf, "V17:-4503599627370496"),
        (date(1, 2, 3), "V10:0001-02-03"),
        (datetime.fromisoformat("2026-01-31"), "V26:2026-01-31 00:00:00.000000"),
    ],
)
def test_a_value_is_encoded_with_its_length_in_bytes(value, text):
    assert encoded(value) == text


@given(cells(Kind.FLOAT), cells(Kind.FLOAT))
def test_doubles_have_one_encoding_only_if_they_are_equal(first, second):
    assert (encoded(first) == encoded(second)) == (first == second)


def test_the_hash_is_of_salt_and_values_and_of_nothing_else():
    assert rank_hash("00", ("a", 1)) == md5(b"00V1:aV1:1", usedforsecurity=False).hexdigest()
    assert len({rank_hash(salt, values) for salt in ("00", "01") for values in (("a", 1), ("a", 2), ("b", 1))}) == 6


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=20), st.integers(1, 4))
def test_the_least_items_of_each_group_are_kept(items, most):
    kept = least(items, most, within=lambda item: item[0], rank=lambda item: item[1])
    for group in "abc":
        own = sorted(item for item in items if item[0] == group)
        assert sorted(item for item in kept if item[0] == group) == own[:most]
