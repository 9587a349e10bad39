from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from tests.session.opening import COUNT, opened, recorded

import sfumato as sf
from sfumato.errors import ParameterError

GROUPED = "SELECT sex, COUNT(*) AS n, AVG(age) AS m FROM people GROUP BY sex"


def test_cost_error_and_explain_touch_no_data_and_spend_nothing():
    session, engine = recorded(opened())
    question = session.query(GROUPED)
    assert question.cost(epsilon=0.5) == sf.PureDP("0.5")
    assert [forecast.column for forecast in question.error(epsilon="0.5")] == ["n", "m"]
    assert "ε 0.5, charged before data is touched" in question.explain(epsilon="0.5")
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


def test_the_price_is_what_is_asked_hidden_counts_included():
    session = opened()
    question = session.query("SELECT AVG(age), AVG(pay), COUNT(*) FROM people")
    release = question.release(epsilon="0.9")
    assert release.receipt.guarantee == question.cost(epsilon="0.9") == session.spent == sf.PureDP("0.9")
    assert len(release.receipt.event.events) == 5


def test_a_question_does_not_know_its_answer_and_can_be_asked_again():
    question = opened().query(COUNT)
    first, second = question.release(epsilon="0.5"), question.release(epsilon="0.5")
    assert (first["n"], second.reused) == (second["n"], True)


def test_the_receipt_of_a_stored_answer_says_what_is_left_now():
    session = opened()
    session.sql(COUNT, epsilon="0.5")
    session.sql(GROUPED, epsilon="0.2")
    assert session.sql(COUNT, epsilon="0.5").receipt.left == sf.PureDP("0.3")


def test_a_wider_confidence_has_a_wider_interval_of_the_same_answer():
    question = opened().query(COUNT)
    narrow, wide = (question.release(epsilon="0.5", confidence=c)["n"][0] for c in (0.5, 0.999))
    assert narrow.value == wide.value
    assert narrow.half_width < wide.half_width


def test_there_is_no_price_that_nobody_named():
    with pytest.raises(TypeError, match="epsilon"):
        opened().query(COUNT).release()


def test_under_replace_one_the_number_of_rows_is_public():
    session = opened(neighboring_relation=sf.REPLACE_ONE)
    release = session.sql(COUNT, epsilon="0.5")
    assert (release["n"][0].value, release["n"][0].half_width, session.spent) == (4, 0, sf.PureDP(0))


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan"), "nan", "much", Decimal("1e-500"), True])
def test_a_bad_confidence_costs_nothing(confidence):
    session, engine = recorded(opened())
    question = session.query("SELECT AVG(age) AS a FROM people")
    for ask in (question.release, question.error):
        with pytest.raises(ParameterError, match="confidence"):
            ask(epsilon="0.1", confidence=confidence)
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


@pytest.mark.parametrize("confidence", [np.float64(0.95), "0.95", Fraction(19, 20), 1 - 2**-53])
def test_a_confidence_is_any_number_between(confidence):
    release = opened().query("SELECT AVG(age) AS a FROM people").release(epsilon="0.1", confidence=confidence)
    assert release.confidence == float(confidence)
