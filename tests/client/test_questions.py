"""Queries of a server have the faces of those at hand."""

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import ParameterError

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def test_a_question_has_the_face_of_one_at_hand(remote):
    asked = remote.query("SELECT COUNT(*) AS n FROM people WHERE age > $1", parameters=[30])
    assert "cost" in asked.explain(epsilon=1)
    assert "cost" in asked.explain()
    least = asked.epsilon_for({"n": 25})
    assert isinstance(least, Fraction)
    assert asked.error(epsilon=least)[0].half_width <= 25
    answer = asked.release(error={"n": 25}, confidence="0.9")
    assert answer.confidence == 0.9
    assert repr(asked) == "<RemoteQuestion: SELECT COUNT(*) AS n FROM people WHERE age > $1>"
    with pytest.raises(ParameterError, match="must be used"):
        remote.query("SELECT COUNT(*) AS n FROM people", parameters={"least": 3}).cost(epsilon=1)


def test_several_queries_are_answered_for_one_cost(remote):
    batch = remote.queries([BY_SEX, remote.query("SELECT COUNT(*) AS n FROM people")])
    assert len(batch) == 2
    assert batch.cost(epsilon=1) == sf.PureDP(1)
    assert [len(one) for one in batch.error(epsilon=1)] == [1, 1]
    assert "query" in batch.explain()
    by_sex, all_people = batch.release(epsilon=1)
    assert (len(by_sex), len(all_people)) == (2, 1)
    again = remote.batch(f"{BY_SEX}; SELECT COUNT(*) AS n FROM people;", epsilon=1)
    assert [one.reused for one in again] == [True, True]
    for wrong in ([], [1], [batch], 7):
        with pytest.raises(ParameterError):
            remote.queries(wrong)
