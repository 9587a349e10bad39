"""Releases come back from JSON as they were, and whatever is no release is refused."""

import json
from copy import deepcopy
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.attacks_on_questions.databases import databases
from tests.attacks_on_questions.questions import QUESTIONS

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.statistics.estimates import AnswerValue, Misrank
from sfumato.session.releases.documents import decode_release, encode_release
from sfumato.session.releases.release import Binned


def votes():
    session = sf.open(
        sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
        budget=sf.PureDP(1),
    )  # fmt: skip
    return session.sql("SELECT sport, COUNT(*) AS n FROM votes GROUP BY sport", epsilon="0.5")


def crossed(release):
    return decode_release(json.loads(json.dumps(encode_release(release), allow_nan=False)))


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.name)
def test_every_kind_of_answer_comes_back(asked):
    for rows in list(databases(asked.open).values())[:2]:
        with asked.open(rows, engine="reference") as session:
            release = asked.of(session).release(epsilon=1, delta="1e-6")
        again = crossed(release)
        assert again == release
        assert repr(again) == repr(release)
        assert again.to_arrow().equals(release.to_arrow())


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.dates(), st.datetimes(),
)  # fmt: skip


@given(VALUES, VALUES, VALUES, st.one_of(st.none(), st.floats(0, allow_nan=False)))
def test_any_value_comes_back_with_its_type(value, low, high, error):
    rank = None if error is None else Misrank(error=error, unit="ranks", size=3, share=Fraction(1, 3))
    estimate = AnswerValue(value=value, low=low, high=high, misrank=rank)
    ((found,),) = crossed(replace(votes(), groups=((value,),), estimates=((estimate,),))).estimates
    assert found == estimate
    assert [type(one) for one in (found.value, found.low, found.high)] == [type(one) for one in (value, low, high)]


def test_what_json_has_no_word_for_comes_back():
    edges = (Fraction(1, 3), date(2026, 1, 31), datetime(2026, 1, 31, 12))  # noqa: DTZ001 # without a zone
    binned = Binned(name="h", value="age", edges=edges, columns=("h_1", "h_2"))
    release = replace(votes(), histograms=(binned,), estimates=((AnswerValue(value=inf, low=-inf, high=inf),),) * 2)
    assert crossed(release) == release


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2}, {"version": None}, {"keys": 5}, {"kinds": ["integer", "colour"]}, {"groups": [[{"date": "x"}]]},
        {"groups": [[{"date": 5}]]}, {"groups": [[[1]]]}, {"estimates": [[[1, 2, 3]]]}, {"confidence": "0.95"},
        {"confidence": None}, {"receipt": {}}, {"reused": 1}, {"notes": [5]}, {"histograms": [{}]}, {"more": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_not_as_it_was_written_is_refused(change):
    document = encode_release(votes())
    with pytest.raises(ParameterError, match="release = "):
        decode_release(document | change)


@pytest.mark.parametrize("part", encode_release(votes()))
def test_nothing_of_it_may_be_missing(part):
    document = deepcopy(encode_release(votes()))
    del document[part]
    with pytest.raises(ParameterError, match="release = "):
        decode_release(document)


@pytest.mark.parametrize("other", [None, 5, [], "release", {}])
def test_something_else_is_no_release(other):
    with pytest.raises(ParameterError, match="release = "):
        decode_release(other)
