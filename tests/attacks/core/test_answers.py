from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sfumato.attacks.core.answers import asked, groups
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


@pytest.mark.parametrize("values", [[1], [(1,)], [(1, 2, 3)], [(1, 2), None]], ids=repr)
def test_a_group_of_another_size_is_refused(values):
    with pytest.raises(ParameterError, match=r"^targets = .*: must be a list of tuples, each of two numbers$"):
        list(groups(values, "targets", size=2, of="two numbers"))
