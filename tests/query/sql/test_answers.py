from fractions import Fraction

import pytest
from tests.query.asking import PEOPLE, VISITS, parsed, text_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.relations import Aggregate as Asked
from sfumato.query.model.relations import CountRows, GroupBy, OrderKey, Presented, Source, Sum

WARD, N = ColumnRef("ward"), ColumnRef("n")


def test_a_simple_question_is_simple():
    assert parsed("SELECT Sex, COUNT(*) AS n FROM people GROUP BY Sex") == Presented(
        Asked(GroupBy(Source(PEOPLE), ("Sex",)), (("n", CountRows()),))
    )


def test_names_of_answers_keep_their_case():
    asked = parsed('SELECT COUNT(*) AS Total, SUM(age) AS "Sum of age" FROM people')
    assert [name for name, _ in asked.child.statistics] == ["Total", "Sum of age"]


def test_statistics_without_an_alias_are_called_as_postgresql_calls_them():
    asked = parsed("SELECT COUNT(*), SUM(age), SUM(pay), AVG(age) FROM people")
    assert [name for name, _ in asked.child.statistics] == ["count", "sum", "sum_2", "avg"]
    assert asked.columns == ()


def test_an_answer_calls_a_key_by_its_alias():
    groups = parsed("SELECT sex AS Gender, smoker, COUNT(*) FROM people GROUP BY smoker, sex").child.child
    assert groups.keys == ("smoker", "Sex")
    assert groups.labels == ("smoker", "Gender")


def test_a_key_may_be_shown_twice():
    asked = parsed("SELECT sex AS a, sex AS b, COUNT(*) AS n FROM people GROUP BY sex")
    assert asked.child.child.labels == ("a",)
    assert asked.columns == (("a", ColumnRef("a")), ("b", ColumnRef("a")), ("n", N))


def test_keys_that_share_a_name_are_told_apart():
    asked = parsed(
        "SELECT COUNT(*) AS n FROM orders o JOIN orders p USING (customer_id) GROUP BY o.status, p.status"
    ).child.child
    assert asked.keys == ("o.status", "p.status")
    assert asked.labels == ("status", "status_2")


def test_columns_stand_as_they_are_asked():
    asked = parsed("SELECT COUNT(*) AS n, ward FROM visits GROUP BY ward")
    assert asked.columns == (("n", N), ("ward", WARD))


def test_a_key_that_is_not_selected_is_not_shown():
    asked = parsed("SELECT COUNT(*) AS ward FROM visits GROUP BY ward")
    assert asked.child.child.labels == ("ward_2",)
    assert asked.columns == (("ward", WARD),)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT ward FROM visits",
        "SELECT DISTINCT visits.ward FROM visits",
        "SELECT ward FROM visits GROUP BY ward",
    ],
)
def test_keys_alone_are_counted_and_the_counts_not_shown(sql):
    asked = parsed(sql)
    assert asked.child == Asked(GroupBy(Source(VISITS), ("ward",)), (("count", CountRows()),))
    assert asked.columns == (("ward", WARD),)


def test_an_answer_is_filtered_sorted_and_cut_for_nothing():
    asked = parsed(
        "SELECT ward, SUM(hours) AS s FROM visits GROUP BY ward HAVING SUM(hours) > 3 AND ward <> 'B' "
        "ORDER BY s DESC, 1, ward || 'x' LIMIT 2 OFFSET 1"
    )
    assert asked.child.statistics == (("s", Sum(ColumnRef("hours"))),)
    assert asked.having.conditions[0] == Compare(Comparison.GREATER, ColumnRef("s"), Literal(Fraction(3)))
    assert asked.order[:2] == (OrderKey(ColumnRef("s"), descending=True), OrderKey(WARD))
    assert (asked.limit, asked.offset) == (2, 1)


@pytest.mark.parametrize(
    ("clause", "limit", "offset"),
    [
        ("LIMIT 5", 5, 0),
        ("LIMIT ALL OFFSET 2 ROWS", None, 2),
        ("FETCH FIRST 5 ROWS ONLY", 5, 0),
        ("FETCH NEXT ROW ONLY", 1, 0),
        ("LIMIT :most", 7, 0),
    ],
)
def test_the_number_of_rows_shown(clause, limit, offset):
    asked = parsed(f"SELECT COUNT(*) FROM visits {clause}", **({"most": 7} if ":" in clause else {}))
    assert (asked.limit, asked.offset) == (limit, offset)


def test_parentheses_around_a_question_mean_nothing():
    assert parsed("((SELECT COUNT(*) FROM visits))") == parsed("SELECT COUNT(*) FROM visits")


def test_a_question_reads_as_it_was_asked():
    sql = (
        "SELECT ward, SUM(hours) / COUNT(*) AS mean FROM visits WHERE hours > 1 GROUP BY ward "
        "HAVING COUNT(*) > 5 ORDER BY ward DESC LIMIT 3"
    )
    assert text_of(sql) == sql


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("SELECT ward FROM visits", NotPrivateError, "ward.*GROUP BY"),
        ("SELECT 'x' FROM visits", NotPrivateError, "'x'.*never released"),
        ("FROM visits", NotPrivateError, r"\*"),
        ("SELECT COUNT(*) FROM visits GROUP BY ward HAVING SUM(hours)", ParameterError, "true or false"),
        ("SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ward NULLS FIRST", NotPrivateError, "NULLS"),
        ("SELECT COUNT(*) FROM visits ORDER BY 2", ParameterError, "from 1 to 1"),
        ("SELECT COUNT(*) FROM visits ORDER BY nosuch", ParameterError, "nosuch"),
        ("SELECT COUNT(*) FROM visits LIMIT -1", ParameterError, "LIMIT"),
        ("SELECT COUNT(*) FROM visits LIMIT 1.5", ParameterError, "LIMIT"),
        ("SELECT COUNT(*) FROM visits LIMIT 9999999999", ParameterError, "LIMIT"),
        ("SELECT COUNT(*) FROM visits FETCH FIRST 5 ROWS WITH TIES", NotPrivateError, "WITH TIES"),
        ("SELECT COUNT(*) FROM visits FETCH FIRST 5 PERCENT ROWS ONLY", NotPrivateError, "PERCENT"),
        ("SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward", NotPrivateError, "DISTINCT"),
        ("SELECT DISTINCT * FROM visits", NotPrivateError, r"\*"),
        ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits", NotPrivateError, "UNION.*FROM"),
        ("SELECT COUNT(*) AS n, AVG(hours) AS n FROM visits", ParameterError, "differ"),
        ("SELECT COUNT(*) AS n, AVG(hours) AS n_low FROM visits", ParameterError, "_low"),
        ("SELECT ward + 1, COUNT(*) FROM visits GROUP BY ward", ParameterError, r"ward \+ 1"),
    ],
)
def test_other_questions_are_refused(sql, error, message):
    with pytest.raises(error, match=message):
        parsed(sql)
