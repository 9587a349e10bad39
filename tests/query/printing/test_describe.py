"""A question as people read it; most of that is a statement that asks the same."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame

import sfumato as sf
from sfumato.query.analysis.sizes import MAX_DEPTH
from sfumato.query.handles.columns import when
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.relations import BoundRows, PeoplePart, RowFunction, RowWindow
from sfumato.query.planning.windows import OrderKey
from sfumato.query.printing.canonical import question_text
from sfumato.query.printing.describe import as_name, block_of, described, relation_sql
from sfumato.query.sql.questions import parse_question

people, visits, bills, wards = map(frame, (PEOPLE, VISITS, BILLS, WARDS))
SOURCES = {name: frame(table).relation for name, table in {"people": PEOPLE, "visits": VISITS, "wards": WARDS}.items()}
TO_WARD = {"ward": "code"}
N = ColumnRef("n")
OVER_FIVE = Compare(Comparison.GREATER, N, Literal(Fraction(5)))
BY_SEX = people.group_by("sex").agg(n=sf.count(), m=sf.mean("age"))

STATEMENTS = [
    (people.agg(n=sf.count()), "SELECT COUNT(*) AS n FROM people"),
    (people.filter(people.age > 50).filter(~(people.sex == "it's")).group_by("sex").agg(m=sf.mean("age")),
     "SELECT sex, AVG(age) AS m FROM people WHERE age > 50 AND NOT sex = 'it''s' GROUP BY sex"),
    (people.group_by(gender="sex", decade=people.age // 10).agg(s=sf.sum(people.age * 2), d=sf.stddev("age")),
     ("SELECT sex AS gender, age / 10 AS decade, SUM(age * 2) AS s, STDDEV_SAMP(age) AS d FROM people "
      "GROUP BY sex, age / 10")),
    (people.group_by(kind=when(people.age < 18, "child").otherwise("adult")).agg(n=sf.count()),
     ("SELECT CASE WHEN age < 18 THEN 'child' ELSE 'adult' END AS kind, COUNT(*) AS n FROM people "
      "GROUP BY CASE WHEN age < 18 THEN 'child' ELSE 'adult' END")),
    (people.group_by("sex", "smoker").rollup().agg(n=sf.count()),
     "SELECT sex, smoker, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex, smoker), (sex), ())"),
    (people.agg(
        p=sf.quantile("age", 0.9), m=sf.median("pay"), c=sf.correlation("age", "pay"), d=sf.count_distinct("age")),
     ("SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) AS p, MEDIAN(pay) AS m, CORR(age, pay) AS c, "
      "COUNT(DISTINCT age) AS d FROM people")),
    (visits.join(wards, on=TO_WARD).agg(b=sf.sum("beds")),
     "SELECT SUM(beds) AS b FROM visits JOIN wards ON ward = code"),
    (visits.distinct().agg(n=sf.count()),
     "SELECT COUNT(*) AS n FROM (SELECT DISTINCT visitor, ward, day, hours FROM visits)"),
    (replace(
        BY_SEX, columns=(("sex", ColumnRef("sex")), ("n", N)), having=OVER_FIVE,
        order=(OrderKey(ColumnRef("m"), descending=True), OrderKey(N)), limit=3, offset=1),
     ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 5 ORDER BY AVG(age) DESC, COUNT(*) "
      "LIMIT 3 OFFSET 1")),
]  # fmt: skip
COMMENTED = [
    (visits.per_unit(rows=3, rows_per_group=1).agg(u=sf.count_units()),
     "SELECT COUNT(DISTINCT /* unit */) AS u FROM visits /* per unit at most 3 rows, 1 rows per group */"),
    (people.agg(h=sf.histogram("age", edges=[0, 18, 65])), "SELECT HISTOGRAM(age, ARRAY[0, 18, 65]) AS h FROM people"),
    (replace(people.agg(h=sf.histogram("age", edges=[0, 18, 65])), order=(OrderKey(ColumnRef("h_2")),)),
     "SELECT HISTOGRAM(age, ARRAY[0, 18, 65]) AS h FROM people ORDER BY HISTOGRAM(age, ARRAY[0, 18, 65])[2]"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "text"), STATEMENTS + COMMENTED, ids=[text for _, text in STATEMENTS + COMMENTED])
def test_a_question_is_written_as_people_write_it(asked, text):
    assert described(asked) == text


@pytest.mark.parametrize(("asked", "text"), STATEMENTS, ids=[text for _, text in STATEMENTS])
def test_what_is_written_asks_the_same(asked, text):
    read = parse_question(text, SOURCES)
    assert question_text(read.child) == question_text(asked.child)
    assert (read.limit, read.offset, len(read.order)) == (asked.limit, asked.offset, len(asked.order))


AGES = people.select("age", "sex")
DAYS, PAID = visits.select("visitor", "day"), bills.select("visitor", "day")
TO_ITS_WARD = {"ward": "code"}
PART = PeoplePart(child=visits.relation, by="day", values=(1, 2), value=2, max_parts_per_unit=1, salt="00")
ALL_VISITS = "visitor, ward, day, hours"

WRITTEN = [
    (AGES.relation, "SELECT age, sex FROM people"),
    (AGES.filter(AGES.age > 50).filter(AGES.sex == "m").relation,
     "SELECT age, sex FROM people WHERE age > 50 AND sex = 'm'"),
    (AGES.select(years="age", next=AGES.age + 1).relation, "SELECT age AS years, age + 1 AS next FROM people"),
    (PART, f"SELECT {ALL_VISITS} FROM visits WHERE day = 2"),
    (visits.join(wards, on=TO_ITS_WARD).select("beds").relation,
     "SELECT beds FROM visits JOIN wards ON ward = code"),
    (visits.join(wards, on=TO_ITS_WARD, how="left").select("beds").relation,
     "SELECT beds FROM visits LEFT JOIN wards ON ward = code"),
    (DAYS.join(PAID.rename(visitor="v", day="d"), on={"visitor": "v"}).select("d").relation,
     "SELECT d FROM (SELECT visitor, day FROM visits) JOIN (SELECT visitor AS v, day AS d FROM bills) ON visitor = v"),
    (DAYS.join(PAID, on=(), suffix="_b").select("day_b").relation,
     ("SELECT day_b FROM (SELECT visitor, day FROM visits) JOIN "
      "(SELECT visitor AS visitor_b, day AS day_b FROM bills) ON TRUE")),
    (visits.join(wards, on=TO_ITS_WARD).join(wards.rename(code="c", beds="b"), on={"ward": "c"}).select("b").relation,
     "SELECT b FROM visits JOIN wards ON ward = code JOIN (SELECT code AS c, beds AS b FROM wards) ON ward = c"),
    (visits.semi_join(bills, on="day").select("day").relation, "SELECT day FROM visits SEMI JOIN bills USING (day)"),
    (visits.anti_join(wards, on=TO_ITS_WARD).select("day").relation,
     "SELECT day FROM visits ANTI JOIN wards ON ward = code"),
    (DAYS.union(PAID).relation, "(SELECT visitor, day FROM visits) UNION ALL (SELECT visitor, day FROM bills)"),
    (DAYS.intersect(PAID).relation, "(SELECT visitor, day FROM visits) INTERSECT ALL (SELECT visitor, day FROM bills)"),
    (DAYS.except_(PAID).relation, "(SELECT visitor, day FROM visits) EXCEPT ALL (SELECT visitor, day FROM bills)"),
    (DAYS.filter(DAYS.day > 1).distinct().relation, "SELECT DISTINCT visitor, day FROM visits WHERE day > 1"),
    (BoundRows(DAYS.relation, 3), "SELECT visitor, day FROM visits LIMIT 3 PER UNIT"),
    (RowWindow(child=DAYS.relation, name="k", function=RowFunction.ROW_NUMBER, order=(("day", True),)),
     "SELECT visitor, day, ROW_NUMBER() OVER (PARTITION BY /* unit */ ORDER BY day DESC) AS k FROM visits"),
    (RowWindow(child=wards.relation, name="k", function=RowFunction.LAG, value="beds", distance=2, within=("code",),
               order=(("beds", False),)),
     "SELECT code, beds, LAG(beds, 2) OVER (PARTITION BY code ORDER BY beds) AS k FROM wards"),
    (visits.group_by("day").fold(n=sf.count(), m=sf.sum("hours")).relation,
     "SELECT day, COUNT(*) AS n, SUM(hours) AS m FROM visits GROUP BY /* unit */, day"),
    (visits.group_by(odd=visits.day % 2).fold(
        a=sf.count("ward"), b=sf.count_distinct("ward"), c=sf.mean("hours"), d=sf.min("day"), e=sf.max("day")).relation,
     ("SELECT day % 2 AS odd, COUNT(ward) AS a, COUNT(DISTINCT ward) AS b, AVG(hours) AS c, MIN(day) AS d, "
      "MAX(day) AS e FROM visits GROUP BY /* unit */, day % 2")),
    (visits.fold(n=sf.count()).relation, "SELECT COUNT(*) AS n FROM visits GROUP BY /* unit */"),
    (people.group_by("sex").fold(n=sf.count()).relation, "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"),
    (wards.fold(b=sf.sum("beds")).relation, "SELECT SUM(beds) AS b FROM wards"),
]  # fmt: skip


@pytest.mark.parametrize(("relation", "text"), WRITTEN, ids=[text for _, text in WRITTEN])
def test_a_relation_is_written_with_as_few_sub_queries_as_it_allows(relation, text):
    assert relation_sql(relation) == text


def test_steps_behind_a_sub_query_stand_around_it():
    totals = visits.fold(n=sf.count())
    text = relation_sql(totals.filter(totals.n > 2).relation)
    assert text == "SELECT n FROM (SELECT COUNT(*) AS n FROM visits GROUP BY /* unit */) WHERE n > 2"
    assert relation_sql(DAYS.union(PAID).select("day").relation).startswith("SELECT day FROM ((SELECT visitor, day")


def test_a_join_on_the_right_of_a_join_stands_in_parentheses():
    joined = bills.rename(visitor="v", day="d").join(wards, on={"v": "code"})
    text = relation_sql(visits.join(joined, on={"visitor": "v"}).select("beds").relation)
    assert " JOIN (SELECT v, d, amount, code, beds FROM " in text


def test_columns_of_columns_do_not_grow_without_limit():
    rows = people
    for _ in range(MAX_DEPTH - 3):
        rows = rows.with_columns(age=rows.age + rows.age)
    assert len(relation_sql(rows.relation)) < 10_000


def test_names_are_said_where_they_differ_from_what_they_stand_for():
    assert as_name("age", "age") == "age"
    assert as_name("age + 1", "x y") == 'age + 1 AS "x y"'
    assert block_of(people.relation).rows == "FROM people"
