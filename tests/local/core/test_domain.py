"""Domains: every value has its number, every other thing is unknown, and only a declaration can be wrong."""

from datetime import date
from decimal import Decimal
from hashlib import sha256
from math import inf, nan

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.local import DirectEncoding, Domain, HadamardSketch

DRINKS = Domain(["tea", "coffee", 7])


class Odd:
    """What raises, whatever is asked of it."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("who asks?")

    def __repr__(self):
        return "Odd()"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 2, 3, -1], [0, 2, -1, -1]),
        (np.array([0, 2, 3], dtype=np.uint8), [0, 2, -1]),
        (np.array([2**64 - 1], dtype=np.uint64), [-1]),
        (np.ma.masked_array([1, 2], mask=[False, True]), [1, -1]),
        ([Decimal("1e999999999"), 2.0, np.array(2)], [-1, 2, 2]),
        (np.array([1.0, nan, inf, 1.5]), [1, -1, -1, -1]),
        ([Decimal(2), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")], [2, -1, -1, -1]),
        ([None, pd.NA, pd.NaT, np.ma.masked, "1", b"1", date(2026, 1, 1), [1], {}, 10**400], [-1] * 10),
        (pa.array([1, None]), [1, -1]),
        (pd.Series([1, None], dtype="Int64"), [1, -1]),
        ([True, False], [1, 0]),
        ([np.ma.masked_array([1], mask=[True]), np.complex128(1), Odd()], [-1, -1, -1]),
    ],
    ids=str,
)
def test_numbers_stand_for_themselves_and_nothing_is_an_error(values, expected):
    assert Domain(3).indexes(values).tolist() == expected


def test_labels_are_numbered_as_listed():
    assert DRINKS.indexes(["coffee", 7, 7.0, "7", None, nan, [1], np.int64(7)]).tolist() == [1, 2, 2, -1, -1, -1, -1, 2]
    assert DRINKS.indexes([Odd(), np.ma.masked_array([7], mask=[True]), np.complex128(7)]).tolist() == [-1] * 3
    assert DRINKS.index(7) == 2
    assert DRINKS.values() == ("tea", "coffee", 7)


def test_what_is_unknown_is_other_where_that_is_declared():
    assert Domain(["a", "b"], other="b").indexes(["a", "x", None]).tolist() == [0, 1, 1]
    assert Domain(4, other=3).indexes(np.array([0, 9])).tolist() == [0, 3]


def test_more_values_than_fit_into_memory_are_not_listed():
    assert len(Domain(2**20).values()) == 2**20
    for many in (2**20 + 1, 2**31):
        with pytest.raises(ParameterError, match="candidates"):
            Domain(many).values()
    sketch = HadamardSketch(2**31, epsilon=8, hashes=2, width=16)
    collected = sketch.aggregator()
    collected.add(sketch.client().report_many(np.full(100, 2**31 - 1)))
    with pytest.raises(ParameterError, match="candidates"):
        collected.estimate()
    assert collected.estimate([2**31 - 1]).high[0] > 0.5


def test_the_largest_whole_numbers_can_be_listed():
    listed = DirectEncoding([2**64 - 1, -(2**63)], epsilon=1)
    assert listed.domain.parse(str(2**64 - 1)) == 2**64 - 1
    assert len(listed.fingerprint) == 4


def test_all_texts_are_numbered_by_their_hash():
    texts = Domain.texts(20)
    expected = int.from_bytes(sha256(b"tea").digest()[:8]) >> 44
    assert texts.indexes(["tea", None, nan, 7, b"tea", "\ud800"]).tolist()[:5] == [expected, -1, -1, -1, -1]
    assert texts.index("tea") == expected
    assert (len(texts), texts.is_open) == (2**20, True)
    with pytest.raises(ParameterError, match="candidates"):
        texts.values()


@pytest.mark.parametrize(
    "wrong",
    [
        1, 0, -1, True, 2**31 + 1, "ab", None, 2.5, [], ["a"], ["a", "a"], ["a", 1.5], ["a", None], ["a", "\ud800"],
        [1, 1 << 64], [1, -1 - (1 << 63)], [1, 10**5000],
    ],
    ids=lambda wrong: str(wrong)[:20] if wrong != [1, 10**5000] else "10^5000",
)  # fmt: skip
def test_wrong_declarations_are_refused(wrong):
    with pytest.raises(ParameterError, match="domain"):
        Domain(wrong)


def test_other_is_listed_and_bits_are_in_range():
    with pytest.raises(ParameterError, match="other"):
        Domain(["a", "b"], other="c")
    for bits in (15, 62, None, 2.5):
        with pytest.raises(ParameterError, match="hash_bits"):
            Domain.texts(bits)


@pytest.mark.parametrize("unknown", [9, "a", None])
def test_a_candidate_outside_is_refused(unknown):
    with pytest.raises(ParameterError, match="candidates"):
        Domain(3).index(unknown)


@pytest.mark.parametrize(
    "domain", [Domain(5), Domain(5, other=2), DRINKS, Domain(["a", "b"], other="a"), Domain.texts()]
)
def test_the_stored_form_is_the_domain(domain):
    assert Domain.from_json(domain.to_json()) == domain


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"size": 1},
        {"size": "3"},
        {"labels": "ab"},
        {"size": 3, "labels": ["a", "b"]},
        {"size": 3, "x": 1},
    ],
)
def test_other_documents_are_refused(document):
    with pytest.raises(ParameterError):
        Domain.from_json(document)


@pytest.mark.parametrize(
    ("text", "value"), [("07", 7), ("12", 12), ("-1", None), ("1.0", None), ("", None), ("٣", None), ("1" * 400, None)]
)
def test_numbers_are_read_from_texts(text, value):
    assert Domain(12).parse(text) == value


def test_labels_are_read_from_texts():
    assert [DRINKS.parse(text) for text in ("tea", "7", "8")] == ["tea", 7, None]
    assert Domain([True, False]).parse("True") is True
    assert Domain.texts().parse("anything") == "anything"
