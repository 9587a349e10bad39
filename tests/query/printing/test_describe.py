"""A question as people read it; most of that is a statement that asks the same."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame

import sfumato as sf
from sfumato.query.handles.columns import when
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.planning.questions import OrderKey
from sfumato.query.printing.canonical import question_text
from sfumato.query.printing.describe import described
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
