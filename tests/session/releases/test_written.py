"""Released numbers as JSON, and back to the same values of the same types."""

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.session.releases.releasing import Released
from sfumato.session.releases.written import decode_released, encode_released

DAY, TIME = dt.date(2026, 1, 31), dt.datetime.fromisoformat("2026-01-31T23:59:59.999999")


def survived(released):
    """What a ledger gives back: its JSON as text, read again."""
    return decode_released(json.loads(json.dumps(encode_released(released))))


keys = (
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"])) | st.dates()
    | st.datetimes()
)  # fmt: skip
numbers = st.integers(-(2**200), 2**200)


@given(
    st.lists(st.lists(keys, max_size=3).map(tuple), max_size=4).map(tuple),
    st.lists(st.lists(st.lists(numbers, max_size=3).map(tuple), max_size=3).map(tuple), max_size=3).map(tuple),
)
def test_whatever_is_released_survives_the_ledger(groups, measured):
    released = Released(groups=groups, measured=measured)
    again = survived(released)
    assert again == released
    assert [[type(key) for key in group] for group in again.groups] == [[type(key) for key in g] for g in groups]


@pytest.mark.parametrize(
    "key", [True, 1, "1", "true", DAY, TIME, dt.datetime.fromisoformat("2026-01-31"), "2026-01-31", ""]
)
def test_keys_that_look_alike_are_told_apart(key):
    ((again,),) = survived(Released(groups=((key,),), measured=())).groups
    assert (again, type(again)) == (key, type(key))


@pytest.mark.parametrize("key", [None, 1.5, {"time": "x"}, []])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(TypeError, match="a stored key"):
        decode_released({"groups": [[key]], "measured": []})
