import pytest
from sqlglot import exp

from sfumato.errors import ParameterError
from sfumato.query.sql.grammar import FUNCTIONS
from sfumato.query.sql.parsing import parsed


def call(sql):
    return parsed(f"SELECT {sql} FROM t").expressions[0]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_argument_is_left_out(name):
    given = [f"a{number}" for number in range(9)]
    for count in range(len(given)):
        try:
            node = call(f"{name}({', '.join(given[:count])})")
        except ParameterError:
            continue
        assert {column.name for column in node.find_all(exp.Column)} == set(given[:count])


@pytest.mark.parametrize("sql", ["DATE_TRUNC(month, a)", "DATE_PART(month, a)", "DATE_TRUNC('month', a, 'UTC')"])
def test_a_unit_of_time_is_constant_text(sql):
    with pytest.raises(ParameterError, match="must have 2, the first of them text"):
        call(sql)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_can_be_called_in_any_case(name):
    assert takes(name.lower(), "'month'", "a") or takes(name.lower(), "a") or takes(name.lower())


def takes(name, *arguments):
    try:
        return not isinstance(call(f"{name}({', '.join(arguments)})"), exp.Anonymous)
    except ParameterError:
        return False


@pytest.mark.parametrize("name", ["TS_OR_DS_TO_DATE_STR", "JSON_OBJECT", "MD5", "RANDOM", "pg_sleep", "STRING_AGG"])
def test_functions_that_are_not_listed_stay_unknown(name):
    assert isinstance(call(f"{name}(a, 1)"), exp.Anonymous)


@pytest.mark.parametrize(("sql", "wanted"), [("ABS()", "1"), ("LOG10(a, 2)", "1"), ("ROUND(a, 1, 2)", "1 to 2")])
def test_another_number_of_arguments_is_refused(sql, wanted):
    with pytest.raises(ParameterError, match=f"must have {wanted}"):
        call(sql)


def test_a_function_of_any_number_of_arguments_has_one():
    with pytest.raises(ParameterError, match="at least one"):
        call("COALESCE()")
