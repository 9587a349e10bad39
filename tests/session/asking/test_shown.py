"""What is checked before anything is asked, and what is noted of an answer."""

from fractions import Fraction

import pytest
from tests.session.opened import COUNT, opened

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.session.asking.shown import asked_by, checked_confidence, checked_size


def test_a_confidence_is_the_rational_that_it_says():
    assert checked_confidence("0.9") == checked_confidence(Fraction(9, 10)) == Fraction(9, 10)


@pytest.mark.parametrize("wrong", [0, 1, -1, "2", None])
def test_a_confidence_lies_between_0_and_1(wrong):
    with pytest.raises(ParameterError, match="confidence"):
        checked_confidence(wrong)


def test_intervals_that_were_bought_are_no_surer_than_they_were_bought_for():
    asked = opened().query("SELECT MEDIAN(age) AS m FROM people", intervals=True).relation
    assert checked_confidence("0.95", asked) == Fraction(19, 20)
    with pytest.raises(ParameterError, match=r"above 0\.95"):
        checked_confidence("0.96", asked)


def test_a_size_is_a_whole_number_or_unknown():
    assert (checked_size(None), checked_size(3)) == (None, 3)
    with pytest.raises(ParameterError, match="size"):
        checked_size(0)


@pytest.mark.parametrize("key", ["", 5, b"k"])
def test_an_idempotency_key_is_a_text(key):
    question = opened().query(COUNT)
    prepared = question._prepared(1, 0, None)
    with pytest.raises(ParameterError, match="idempotency_key"):
        asked_by(question.desk, key, prepared, Fraction(1, 2))
    assert asked_by(question.desk, None, prepared, Fraction(1, 2)).idempotency_key in {"", None}


def test_bounds_that_were_chosen_are_noted():
    note, _ = opened().table("people").agg(s=sf.sum("free", bounds="auto")).release(epsilon=1).notes
    assert note.startswith("bounds of s: ")
