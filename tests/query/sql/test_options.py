from fractions import Fraction

import pytest
from tests.query.asking import ORDERS, PEOPLE

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits
from sfumato.query.sql.options import Options, parse_options

HEADER = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"


def options(text):
    return parse_options(f"{HEADER}({text}) COUNT(*) FROM people")[0]


def test_a_header_is_taken_off():
    found, plain = parse_options(
        """SELECT WITH DIFFERENTIAL_PRIVACY
             OPTIONS(epsilon=10, delta=.01, max_groups_contributed=2, privacy_unit_column=id)
             item, COUNT(*) FROM t GROUP BY item"""
    )
    assert plain.split() == ["SELECT", "item,", "COUNT(*)", "FROM", "t", "GROUP", "BY", "item"]
    assert found == Options(
        epsilon=Fraction(10), delta=Fraction(1, 100), max_groups_contributed=2, privacy_unit_column="id"
    )


def test_a_header_may_stand_behind_with():
    text = f"WITH t AS (SELECT * FROM people) {HEADER.lower()}(epsilon = 1e-1) COUNT(*) FROM t"
    found, plain = parse_options(text)
    assert plain.split() == ["WITH", "t", "AS", "(SELECT", "*", "FROM", "people)", "select", "COUNT(*)", "FROM", "t"]
    assert found.epsilon == Fraction(1, 10)


@pytest.mark.parametrize("text", ["SELECT COUNT(*) FROM people", "SELECT 'SELECT WITH DIFFERENTIAL_PRIVACY' FROM t"])
def test_a_question_without_a_header_stays_as_it_is(text):
    assert parse_options(text) == (Options(), text)


def test_a_header_may_have_no_options():
    found, plain = parse_options("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM t")
    assert (found, plain.split()) == (Options(), ["SELECT", "COUNT(*)", "FROM", "t"])


def test_limits_are_those_of_one_unit():
    assert options("epsilon = 1").limits is None
    assert options("max_groups_contributed = 2").limits == Limits(max_groups_per_unit=2)
    assert options("max_rows_contributed = 3").limits == Limits(max_rows_per_unit=3)


@pytest.mark.parametrize("text", ["kappa = 1", "group_selection_strategy = LAPLACE_THRESHOLD", "noise = 0"])
def test_an_unknown_option_is_refused(text):
    with pytest.raises(NotPrivateError, match=r"unknown.*epsilon, delta"):
        options(text)


@pytest.mark.parametrize(
    "text",
    ["epsilon", "epsilon 1 2", "= 1", "epsilon = one", "epsilon = 1, epsilon = 2", "max_groups_contributed = 0",
     "max_groups_contributed = 1.5", "epsilon = 1 = 2"],
)  # fmt: skip
def test_an_option_that_has_no_meaning_is_refused(text):
    with pytest.raises(ParameterError):
        options(text)


def test_a_header_is_closed_and_stands_once():
    with pytest.raises(ParameterError, match="closed"):
        parse_options(f"{HEADER}(epsilon = 1")
    with pytest.raises(ParameterError, match="one WITH DIFFERENTIAL_PRIVACY"):
        parse_options(f"{HEADER}(epsilon = 1) a FROM ({HEADER}(epsilon = 2) b FROM t)")


def test_a_header_of_a_sub_query_is_none_of_the_question():
    with pytest.raises(ParameterError, match="outermost SELECT"):
        parse_options(f"SELECT COUNT(*) FROM ({HEADER}(max_rows_contributed = 1) * FROM t) AS v")
    assert parse_options(f"WITH v AS (SELECT (1) FROM t) {HEADER}(epsilon = 1) COUNT(*) FROM v")[0].epsilon == 1


def test_the_privacy_unit_is_the_owner_s():
    Options(privacy_unit_column="CUSTOMER_ID").check_unit(Source(ORDERS))
    Options().check_unit(Source(PEOPLE))
    with pytest.raises(NotPrivateError, match="customer_id"):
        Options(privacy_unit_column="order_id").check_unit(Source(ORDERS))
    with pytest.raises(NotPrivateError, match="where rows have owners"):
        Options(privacy_unit_column="age").check_unit(Source(PEOPLE))
