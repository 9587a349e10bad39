from fractions import Fraction

import pytest
from tests.query.asking import VISITS, parsed

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Select, Source
from sfumato.query.statistics.counts import CountRows
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.values.evaluation import evaluate

YEAR = Call(Function.YEAR, (ColumnRef("day"),))
OWN = tuple((name, ColumnRef(name)) for name in VISITS.columns)


def grouped(select, group_by):
    return parsed(f"SELECT {select} FROM visits GROUP BY {group_by}").child.child


@pytest.mark.parametrize(
    ("select", "group_by"),
    [
        ("ward, COUNT(*)", "ward"),
        ("ward, COUNT(*)", "1"),
        ("ward, COUNT(*)", "WARD, visits.ward, (ward), 1"),
        ("ward AS w, COUNT(*)", "w"),
        ("COUNT(*)", "ward"),
    ],
)
def test_columns_are_named_once_by_name_place_or_alias(select, group_by):
    found = grouped(select, group_by)
    assert (found.child, found.keys, found.sets) == (Source(VISITS), ("ward",), ())


def test_a_column_goes_before_an_alias():
    assert grouped("LOWER(ward) AS day, COUNT(*)", "ward, day").keys == ("ward", "day")


@pytest.mark.parametrize("group_by", ["EXTRACT(YEAR FROM day)", "1", "y", "y, (extract(year from visits.day))"])
def test_an_expression_is_a_column_below_the_groups(group_by):
    found = grouped("EXTRACT(YEAR FROM day) AS y, COUNT(*)", group_by)
    assert found.child == Select(Source(VISITS), (*OWN, ("EXTRACT(YEAR FROM day)", YEAR)))
    assert (found.keys, found.labels) == (("EXTRACT(YEAR FROM day)",), ("y",))


def test_an_answer_that_calls_an_expression_otherwise_asks_the_same():
    first, second = (grouped(f"hours > 3 AS {alias}, COUNT(*)", "1") for alias in ("a", "b"))
    assert (first.child, first.keys) == (second.child, second.keys)


@pytest.mark.parametrize(
    ("group_by", "sets"),
    [
        ("ROLLUP (ward, day)", (("ward", "day"), ("ward",), ())),
        ("CUBE (ward, day)", (("ward", "day"), ("ward",), ("day",), ())),
        ("GROUPING SETS ((ward, day), day, ())", (("ward", "day"), ("day",), ())),
        ("GROUPING SETS (ROLLUP (ward), (day))", (("ward",), (), ("day",))),
        ("ROLLUP ((ward, day))", (("ward", "day"), ())),
        ("ward, ROLLUP (day)", (("ward", "day"), ("ward",))),
        ("ROLLUP (ward), CUBE (day)", (("ward", "day"), ("ward",), ("day",), ())),
        ("ROLLUP (1, d)", (("ward", "day"), ("ward",), ())),
    ],
)
def test_grouping_sets_are_written_out(group_by, sets):
    found = grouped("ward, day AS d, COUNT(*)", group_by)
    assert (found.keys, found.sets) == (("ward", "day"), sets)


def test_grouping_by_nothing_is_one_group():
    assert grouped("COUNT(*)", "()").keys == ()


@pytest.mark.parametrize(
    ("group_by", "error", "message"),
    [
        ("3", ParameterError, "from 1 to 2"),
        ("0", ParameterError, "from 1 to 2"),
        ("1.5", ParameterError, "from 1 to 2"),
        ("9" * 5_000, ParameterError, "from 1 to 2"),
        ("'ward'", ParameterError, "must be a column"),
        ("-1", ParameterError, "must be a column"),
        ("2", NotPrivateError, "COUNT.*aggregate"),
        ("n", NotPrivateError, "COUNT.*aggregate"),
        ("nosuch", ParameterError, "nosuch"),
        ("ALL ward", NotPrivateError, "Leave ALL or DISTINCT out"),
        ("DISTINCT ROLLUP (ward)", NotPrivateError, "Leave ALL or DISTINCT out"),
        ("ward, ROLLUP (ward)", ParameterError, "differ|named once"),
        ("CUBE (a, b, c, d, e, f, g)", ParameterError, "at most 64"),
        ("CUBE (a, b), CUBE (c, d), CUBE (e, f, g)", ParameterError, "64"),
        ("(SELECT 1)", NotPrivateError, "sub-query"),
    ],
)
def test_other_keys_are_refused(group_by, error, message):
    with pytest.raises(error, match=message):
        grouped("ward, COUNT(*) AS n", group_by)


def test_numbers_with_fractions_are_no_keys():
    with pytest.raises((NotPrivateError, ParameterError), match=r"GROUP BY.*hours"):
        grouped("COUNT(*)", "hours")


HOURS, N = ColumnRef("hours"), ColumnRef("n")


def test_an_aggregate_that_is_asked_twice_is_released_once():
    asked = parsed("SELECT COUNT(*) AS n, COUNT(*) AS again, SUM(hours) / COUNT(*) AS m, AVG(hours) FROM visits")
    assert asked.child.statistics == (("n", CountRows()), ("avg", Mean(HOURS)), ("sum", Sum(HOURS)))
    mean = Call(Function.DIVIDE, (ColumnRef("sum"), N))
    assert asked.columns == (("n", N), ("again", N), ("m", mean), ("avg", ColumnRef("avg")))


def test_a_hidden_aggregate_does_not_take_the_name_of_another_column():
    asked = parsed("SELECT COUNT(*) + 1 AS count, MIN(hours) AS count_2 FROM visits")
    assert [name for name, _ in asked.child.statistics] == ["count_2", "count_3"]


@pytest.mark.parametrize("clause", ["HAVING COUNT(*) > 5", "ORDER BY COUNT(*)"])
def test_an_aggregate_of_having_or_order_by_alone_is_released_and_not_shown(clause):
    asked = parsed(f"SELECT ward, AVG(hours) AS a FROM visits GROUP BY ward {clause}")
    assert asked.child.statistics == (("a", Mean(HOURS)), ("count", CountRows()))
    assert [name for name, _ in asked.columns] == ["ward", "a"]


def test_expressions_of_keys_read_their_labels():
    asked = parsed("SELECT UPPER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY ward")
    assert asked.columns == (("w", Call(Function.UPPER, (ColumnRef("ward"),))), ("n", N))


def test_a_key_that_is_an_expression_is_known_inside_of_others():
    key = "EXTRACT(YEAR FROM day)"
    asked = parsed(f"SELECT ({key} + 1) AS next, COUNT(*) AS n FROM visits GROUP BY {key.lower()}")
    assert asked.child.child.labels == ("extract",)
    assert asked.columns[0] == ("next", Call(Function.ADD, (ColumnRef("extract"), Literal(Fraction(1)))))


def test_released_values_are_computed_with_like_others():
    asked = parsed("SELECT CASE WHEN COUNT(*) > 9 THEN 'many' ELSE 'few' END AS size, COUNT(*) AS n FROM visits")
    many = Compare(Comparison.GREATER, N, Literal(Fraction(9)))
    assert asked.columns[0] == ("size", Case(((many, Literal("many")),), Literal("few")))


@pytest.mark.parametrize("clause", ["HAVING n > 3", "HAVING N > 3 AND m > 2", "ORDER BY n * 2"])
def test_having_and_order_by_may_use_aliases(clause):
    assert parsed(f"SELECT COUNT(*) AS n, AVG(hours) AS m FROM visits {clause}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT hours, COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT(*) FROM visits GROUP BY ward HAVING hours > 3",
        "SELECT COUNT(*) FROM visits GROUP BY ward ORDER BY visits.hours",
        "SELECT hours + COUNT(*) FROM visits",
        "SELECT EXTRACT(MONTH FROM day), COUNT(*) FROM visits GROUP BY EXTRACT(YEAR FROM day)",
    ],
)
def test_a_column_that_is_no_key_is_never_shown(sql):
    with pytest.raises(NotPrivateError, match=r"(hours|day).*never released.*GROUP BY, or write AVG"):
        parsed(sql)


def test_a_column_goes_before_an_alias_in_having():
    with pytest.raises(NotPrivateError, match="hours"):
        parsed("SELECT COUNT(*) AS hours FROM visits HAVING hours > 3")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, day, COUNT(*) AS n FROM visits GROUP BY {}",
        "SELECT COUNT(*) AS n, LOWER(ward) AS w, 1 AS one, SUM(COUNT(*)) OVER () AS s FROM visits GROUP BY {}",
    ],
)
def test_group_by_all_is_by_all_columns_without_an_aggregate(sql):
    listed = "ward, day" if "day" in sql else "LOWER(ward)"
    assert parsed(sql.format("ALL")) == parsed(sql.format(listed))


def test_grouping_tells_totals_from_groups():
    selected = "SELECT GROUPING(ward) AS g, GROUPING(region, ward) AS h, COUNT(*) AS n"
    question = parsed(f"{selected} FROM visits JOIN wards ON ward = code GROUP BY CUBE (ward, region)")
    by_name = dict(question.columns)
    values = [[evaluate(by_name[name], {"ward": ward, "region": region}) for name in "gh"]
              for ward in ("A", None) for region in ("north", None)]  # fmt: skip
    assert values == [[0, 0], [0, 2], [1, 1], [1, 3]]
    assert dict(parsed("SELECT ward, GROUPING(ward) AS g, COUNT(*) AS n FROM visits GROUP BY ward").columns)[
        "g"
    ] == Literal(Fraction(0))
    with pytest.raises(ParameterError, match="must be a key"):
        parsed("SELECT GROUPING(hours), COUNT(*) FROM visits GROUP BY ROLLUP (ward)")
