"""What is sent is exact, and what cannot be is refused before anything is sent."""

from decimal import Decimal
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.client.asked import Inquiry
from sfumato.errors import ParameterError

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": "a"}, {"epsilon": 1, "mechanism": "uniform"}, {"epsilon": 1, "size": 0}, {"error": 3},
        {"error": {1: 2}}, {"epsilon": 1, "idempotency_key": ""}, {"epsilon": 1, "idempotency_key": "é"},
        {"epsilon": 1, "idempotency_key": 7}, {},
    ],
)  # fmt: skip
def test_terms_that_cannot_be_are_refused_as_at_hand(remote, terms):
    with pytest.raises(ParameterError):
        remote.query(BY_SEX).release(**terms)
    assert remote.spent == sf.PureDP(0)


def test_what_cannot_be_sent_is_refused_here(remote):
    for values in ([None], [object()], 7, "ab", {1: 2}, [float("inf")]):
        with pytest.raises(sf.errors.SfumatoError):
            remote.query("SELECT COUNT(*) AS n FROM people WHERE age > $1", parameters=values)
    with pytest.raises(ParameterError, match="text"):
        remote.query(7)


def test_numbers_are_sent_as_they_are_meant():
    call = Inquiry.sql("people", BY_SEX).release(
        {"epsilon": 0.1, "delta": "1e-6", "error": {"n": Fraction(1, 3)}}, "monday"
    )
    assert call.body == {"sql": BY_SEX, "epsilon": "1/10", "delta": "1/1000000", "error": {"n": "1/3"}}
    assert call.key == "monday"


def test_each_release_has_a_key_of_its_own_unless_one_is_given():
    asked = Inquiry.sql("people", BY_SEX)
    keys = {asked.release({"epsilon": 1}, None).key for _ in range(20)}
    assert len(keys) == 20
    assert all(len(key) == 32 for key in keys)
    assert asked.cost({"epsilon": 1}).key is None


def test_parameters_are_numbers_texts_and_truths():
    body = Inquiry.sql("people", BY_SEX, parameters=[1, 0.5, "a", True, Decimal("0.1"), Fraction(1, 4)]).bodies[0]
    assert body["parameters"] == [1, 0.5, "a", True, 0.1, 0.25]
    assert Inquiry.sql("people", BY_SEX, parameters={"n": 1}, intervals=True).bodies[0]["intervals"] is True
    with pytest.raises(ParameterError, match="up to 15 digits"):
        Inquiry.sql("people", BY_SEX, parameters=[Fraction(1, 3)])
