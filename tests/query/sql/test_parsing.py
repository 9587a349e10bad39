import pytest
from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.sql.parsing import FUNCTIONS, MAX_LENGTH, MAX_OPEN, conjuncts, parsed, require_only, shown, unnested


def expression(sql):
    return parsed(f"SELECT {sql} FROM t").expressions[0]


@pytest.mark.parametrize("text", ["SELECT 1", "(SELECT 1)", "WITH a AS (SELECT 1) SELECT 2 FROM a", ";;SELECT 1;;"])
def test_one_query_is_parsed(text):
    assert isinstance(parsed(text), exp.Query)


@pytest.mark.parametrize("text", ["DELETE FROM t", "CREATE TABLE t (a int)", "EXPLAIN SELECT 1", "SET x = 1", "WITH"])
def test_what_is_no_query_is_refused_before_it_is_parsed(text, caplog):
    with pytest.raises((NotPrivateError, ParameterError)):
        parsed(text)
    assert caplog.records == []


def test_an_error_of_syntax_says_where():
    with pytest.raises(ParameterError, match="line 2, column"):
        parsed("SELECT COUNT(*)\nFROM (")


@pytest.mark.parametrize("text", ["SELECT 1 FROM", "SELECT 1 FROM t WHERE", "SELECT 1 FROM t WHERE a = = b"])
def test_an_error_of_syntax_tells_nothing_of_the_parser(text):
    with pytest.raises(ParameterError, match="something is missing") as refused:
        parsed(text)
    assert "sqlglot" not in str(refused.value)
    assert "Token" not in str(refused.value)


@pytest.mark.parametrize("text", [None, b"SELECT 1", 1])
def test_a_question_is_text(text):
    with pytest.raises(ParameterError, match="must be text"):
        parsed(text)


@pytest.mark.parametrize(
    "text",
    ["SELECT 1 AS $1 FROM t", "SELECT 1 FROM t $1", "SELECT 1 FROM t :x", "SELECT 1 FROM t AS v($1)",
     "WITH $a AS (SELECT 1 FROM t) SELECT 2 FROM t", "SELECT 1 FROM t AS v(a integer)"],
)  # fmt: skip
def test_only_names_stand_where_names_belong(text):
    with pytest.raises(ParameterError, match="plain name"):
        parsed(text)


@pytest.mark.parametrize("text", ["SELECT 1 FROM t@other", "SELECT 1 AS @a FROM t", "SELECT a > @1 FROM t"])
def test_an_at_sign_is_neither_a_name_nor_a_parameter(text):
    with pytest.raises(ParameterError, match="@"):
        parsed(text)


@pytest.mark.parametrize(("sql", "fragment"), [("a = :least", "a = :least"), ("COUNT(DISTINCT a, b)",) * 2])
def test_a_fragment_is_shown_as_it_is_written(sql, fragment):
    assert shown(expression(sql)) == fragment


@pytest.mark.parametrize("name", ["", "a\x00b", "a\nb", "\u202eb", "x" * 201])
def test_names_are_short_and_can_be_shown(name):
    with pytest.raises(ParameterError, match=r"name.*printable"):
        parsed(f'SELECT COUNT(*) AS "{name}" FROM t')


def test_comments_are_no_part_of_a_question():
    assert parsed("SELECT 1 -- x\n/* y; */ FROM t").sql(comments=False) == "SELECT 1 FROM t"


@pytest.mark.parametrize("text", ["SELECT '\ud800'", "x" * (MAX_LENGTH + 1), "", "SELECT 'a"])
def test_text_that_holds_no_statement_is_refused(text):
    with pytest.raises(ParameterError, match="sql"):
        parsed(text)


def test_what_a_parser_notes_beside_the_known_arguments_is_refused_and_not_left_out():
    node = expression("a = 1")
    require_only(node, {"this", "expression"})
    node.set("negate_in_some_later_version", value=True)
    with pytest.raises(NotPrivateError, match="NEGATE IN SOME LATER VERSION is not supported"):
        require_only(node, {"this", "expression"})


def test_a_long_fragment_is_shortened():
    assert len(shown(expression("'" + "a" * 500 + "'"))) == 80


def test_parentheses_around_an_expression_mean_nothing():
    assert unnested(expression("((a))")).name == "a"


@pytest.mark.parametrize("sql", ["a AND b AND c", "(a AND b) AND c", "a AND (b AND ((c)))"])
def test_conditions_connected_by_and_stand_side_by_side(sql):
    assert [node.name for node in conjuncts(expression(sql))] == ["a", "b", "c"]


def test_nothing_has_no_conditions():
    assert conjuncts(None) == []


NESTED = {
    "parentheses": lambda depth: "(" * depth + "a" + ")" * depth,
    "functions": lambda depth: "ABS(" * depth + "a" + ")" * depth,
    "brackets": lambda depth: "[" * depth + "1" + "]" * depth,
    "cases": lambda depth: "CASE WHEN a THEN " * depth + "1" + " ELSE 0 END" * depth,
    "conditions of cases": lambda depth: "CASE WHEN " * depth + "a" + " THEN 1 END" * depth,
    "nots": lambda depth: "NOT " * depth + "a",
    "signs": lambda depth: "- " * (depth + 1) + "a",
    "queries": lambda depth: "(SELECT " * depth + "1" + ")" * depth,
}


@pytest.mark.parametrize("deep", NESTED.values(), ids=NESTED)
def test_what_is_nested_more_deeply_than_is_stated_is_refused_and_nothing_else(deep):
    expression(deep(MAX_OPEN))
    for depth in (MAX_OPEN + 1, 200, 5_000):
        with pytest.raises(ParameterError, match=f"nested so deeply: at most {MAX_OPEN}"):
            expression(deep(depth))


def test_what_is_closed_again_is_not_nested():
    one = "NOT (a) AND CASE WHEN a THEN (b) ELSE NOT b END AND NOT a"
    assert len(conjuncts(expression(" AND ".join([one] * 60)))) == 180
    expression("a - (1 - (" * 12 + "b" + "))" * 12)


def test_a_long_chain_is_not_deep():
    assert len(conjuncts(expression(" AND ".join(["a"] * 3_000)))) == 3_000


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
    ways = [("'month'", "a"), ("a",), (), ("'b' IN a",), ("a", "'b'", "'c'"), ("a", "0", "9", "3")]
    assert any(takes(name.lower(), *arguments) for arguments in ways)


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
