"""Questions that are answered: the answer is the exact bounded one, and plain SQL's where no limit binds."""

import pytest
from tests.query.worked.answers import ANSWERS
from tests.query.worked.cases import shown
from tests.query.worked.oracles import (
    answered,
    exact_answer,
    fresh_view,
    is_certain,
    plain_rows,
    plan_of,
    question_of,
    rows_of,
)
from tests.query.worked.schema import database

ENGINES = ("reference", "duckdb")
TIGHT = {"shop": "tight messy shop", "messy shop": "tight messy shop", "restaurant": "tight restaurant"}
"""Where limits bind; the census has none, as each row is a person."""

MOST_ROWS = """
    SELECT 'orders' AS name, MAX(n) AS rows FROM (SELECT COUNT(*) AS n FROM orders GROUP BY customer_id) UNION ALL
    SELECT 'lineitem', MAX(n) FROM
      (SELECT COUNT(*) AS n FROM orders JOIN lineitem USING (order_id) GROUP BY customer_id)"""
GROUPING_SETS = ("ROLLUP", "CUBE", "GROUPING SETS")


def test_there_are_at_least_85_and_no_two_are_alike():
    assert len({(case.on, case.sql, str(case.parameters)) for case in ANSWERS}) == len(ANSWERS) >= 85


@pytest.mark.essential
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", ANSWERS, ids=shown)
def test_where_no_limit_binds_the_answer_is_that_of_plain_sql(case, engine):
    view = fresh_view(case.on, engine)
    assert is_certain(plan_of(*question_of(view, case)))
    release = answered(view, case)
    found, expected = rows_of(release), plain_rows(case.on, case.truth, case.parameters)
    if not any(word in case.sql for word in GROUPING_SETS):  # rows with a NULL key are in no group
        expected = [row for row in expected if None not in [row[key] for key in release.keys]]
    assert expected
    if not case.is_sorted:
        expected = by_keys(with_empty_groups(expected, found, release.keys), release.keys)
        found = by_keys(found, release.keys)
    check_ranks(case, found, release.keys)
    assert unranked(case, found) == near(unranked(case, expected), case.tolerance)


@pytest.mark.essential
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", ANSWERS, ids=shown)
def test_where_limits_bind_the_answer_is_the_exact_bounded_one(case, engine):
    view = fresh_view(TIGHT.get(case.on, case.on), engine)
    question, total = question_of(view, case)
    plan = plan_of(question, total)
    assert is_certain(plan)
    release = question.release(epsilon=total.epsilon, delta=total.delta)
    (salt,) = set(view._desk.engine.salts)
    expected = exact_answer(question, plan, salt)
    assert (release.keys, release.statistics) == (expected.keys, expected.statistics)
    assert unranked(case, rows_of(release)) == unranked(case, rows_of(expected))
    last = exact_answer(question, plan, salt, last=True)
    for name in case.ranked:
        ends = zip(rows_of(expected), rows_of(release), rows_of(last), strict=True)
        assert all(low[name] <= found[name] <= high[name] for low, found, high in ends)


def test_nobody_has_more_than_the_loose_limits_and_some_have_more_than_the_tight_ones():
    for row in plain_rows("shop", MOST_ROWS):
        limits = [database(name).policy.tables[row["name"]].limits for name in ("shop", "tight shop")]
        assert limits[0].max_rows_per_unit >= row["rows"] > limits[1].max_rows_per_unit


def unranked(case, rows):
    """The rows without columns that are quantiles."""
    return [{name: value for name, value in row.items() if name not in case.ranked} for row in rows]


def near(rows, tolerance):
    """The rows, with some tolerance for each FLOAT."""
    return [
        {
            name: pytest.approx(value, rel=tolerance, abs=1e-12) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in rows
    ]


def by_keys(rows, keys):
    return sorted(rows, key=lambda row: [repr(row[key]) for key in keys])


def with_empty_groups(expected, found, keys):
    """Listed groups without rows are in the answer, too: their counts and sums are 0."""
    present = {tuple(row[key] for key in keys) for row in expected}
    empty = [row for row in found if keys and tuple(row[key] for key in keys) not in present]
    return expected + [{name: value if name in keys else 0 for name, value in row.items()} for row in empty]


def check_ranks(case, rows, keys):
    """Of n values v a quantile q is some x with #{v < x} ≤ q·n ≤ #{v ≤ x}."""
    for name, ranked in case.ranked.items():
        for row in rows:
            values = [list(one.values()) for one in plain_rows(case.on, ranked.values)]
            own = [v for *group, v in values if v is not None and group == [row[key] for key in keys]]
            below, up_to = sum(v < row[name] for v in own), sum(v <= row[name] for v in own)
            assert below <= ranked.share * len(own) <= up_to
