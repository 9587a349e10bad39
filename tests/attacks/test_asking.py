from decimal import Decimal
from fractions import Fraction
from itertools import count, islice

import numpy as np
import pytest

from sfumato.attacks.asking import asked, groups, several
from sfumato.errors import NotPrivateError, ParameterError


@pytest.mark.parametrize("number", [1, 1.5, True, Decimal(1), Fraction(1, 3), np.int64(1), np.float32(1), np.array(1)])
def test_an_answer_is_a_number_of_any_type(number):
    assert asked(lambda _: number, "how many?") is number


@pytest.mark.parametrize("answer", [None, "1", [1], np.ones(2), 1j, np.datetime64("2026-01-01")], ids=repr)
def test_other_answers_are_refused_without_being_shown(answer):
    with pytest.raises(ParameterError, match=r"^count = 'an answer of type \w+': must be a function that answers"):
        asked(lambda _: answer, "how many?", name="count")


def test_who_cannot_be_asked_is_named():
    with pytest.raises(ParameterError, match=r"^answer = 3: must be a function that answers"):
        asked(3, "how many?")


def test_a_refusal_stays_one():
    def refuse(question):
        raise NotPrivateError(question, "is refused", "Ask another.")

    with pytest.raises(NotPrivateError):
        asked(refuse, "how many?")


def test_several_may_be_without_an_end():
    assert list(islice(several(count(), "candidates", "conditions"), 2)) == [0, 1]


@pytest.mark.parametrize("values", [None, 1, "ab", np.array(1)], ids=repr)
def test_one_thing_is_not_several(values):
    with pytest.raises(ParameterError, match=r"^candidates = .*: must be a list of conditions$"):
        several(values, "candidates", "conditions")


@pytest.mark.parametrize("values", [[1], [(1,)], [(1, 2, 3)], [(1, 2), None]], ids=repr)
def test_a_group_of_another_size_is_refused(values):
    with pytest.raises(ParameterError, match=r"^targets = .*: must be a list of tuples, each of two numbers$"):
        list(groups(values, "targets", size=2, of="two numbers"))
