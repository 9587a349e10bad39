from fractions import Fraction

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.bounding import limits_of
from sfumato.query.handles.columns import when
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Fold, Grouped, Select
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import presented
from sfumato.query.printing.canonical import question_text
from sfumato.query.sql.questions import parse_question

people, visits, bills, wards = map(frame, (PEOPLE, VISITS, BILLS, WARDS))
SOURCES = {table.name: frame(table).relation for table in (PEOPLE, VISITS, BILLS, WARDS)}
DECADE = people.age // 10


def names(rows):
    return list(rows.shape.columns)


def test_statistics_of_all_rows_and_of_groups_are_questions():
    assert people.agg(n=sf.count()) == presented(people.relation, statistics=(("n", sf.count()),))
    grouped = people.group_by("sex", people.smoker).agg(n=sf.count(), m=sf.mean(people.age + 1))
    statistics = (("n", sf.count()), ("m", sf.mean(people.age + 1)))
    assert grouped == presented(people.relation, keys=("sex", "smoker"), statistics=statistics)


def test_a_question_goes_to_whoever_answers():
    assert type(people)(people.relation, lambda question: len(question.child.statistics)).agg(n=sf.count()) == 1


def test_keys_are_renamed_and_computed():
    group_by = people.group_by("sex", gender="smoker", decade=DECADE)
    question = group_by.agg(n=sf.count()).child.child
    assert question.keys == ("sex", "smoker", "decade")
    assert question.labels == ("sex", "gender", "decade")
    assert question.child.columns[-1] == ("decade", DECADE.expression)


def test_a_computed_key_may_have_the_name_of_a_column_that_statistics_still_read():
    question = people.group_by(age=DECADE).agg(mean=sf.mean("age")).child
    assert question.child.keys == ("age_2",)
    assert question.child.labels == ("age",)
    assert question.statistics[0][1].value == ColumnRef("age")


def test_keys_by_their_own_names_need_no_labels():
    assert people.group_by("sex", smoker="smoker").agg(n=sf.count()).child.child.labels == ()


def test_a_key_may_be_a_choice():
    kind = when(people.age < 18, "child").otherwise("adult")
    groups = people.group_by(kind=kind)
    assert groups.frame.kind.facts.values == ("child", "adult")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (people.agg, "statistics = 'none'"),
        (lambda: people.agg(n=sf.sum("nosuch")), r"nosuch.*age, sex"),
        (lambda: people.agg(n="age"), "must be a statistic"),
        (lambda: people.group_by("nosuch").agg(n=sf.count()), "nosuch"),
        (lambda: people.group_by("sex", "sex").agg(n=sf.count()), "each column once"),
        (lambda: people.group_by("sex").agg(sex=sf.count()), "differ"),
        (lambda: people.group_by(DECADE), "must have a name"),
        (lambda: people.group_by(3), "name of a column"),
        (lambda: people.agg(n=sf.count(), n_low=sf.count("age")), "_low"),
        (lambda: people.agg(**{"\ud800": sf.count()}), "Unicode"),
        (lambda: people.agg(n=sf.count(), weights={"m": 1}), "must be one of the statistics: n"),
        (lambda: people.agg(n=sf.count(), weights={"n": 0}), "above 0"),
        (lambda: people.per_unit(rows=1), "have owners"),
        (visits.per_unit, "at least one"),
        (lambda: visits.per_unit(rows=0), "at least 1"),
        (lambda: visits.group_by("day").rollup().fold(n=sf.count()), "must come after"),
        (lambda: visits.per_unit(rows=1).fold(n=sf.count()), "must come after"),
        (lambda: visits.group_by("day").grouping_sets(("ward",)), "one of the keys: day"),
        (lambda: visits.group_by("day").grouping_sets(()).agg(n=sf.count()), "every key"),
        (lambda: visits.fold(day="day"), "must be a statistic"),
        (lambda: visits.group_by("day").fold(day=sf.count()), "differ"),
    ],
)
def test_a_wrong_step_is_refused_at_once_with_what_to_write(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_weights_are_1_where_nothing_is_said():
    question = people.agg(a=sf.count(), b=sf.sum("pay"), weights={"b": "0.5"})
    assert question.child.weights == (1, Fraction(1, 2))
    assert people.agg(a=sf.count()).child.weights == ()


def test_limits_are_those_of_the_question_and_only_get_narrower():
    question = visits.per_unit(rows=3, groups=4).per_unit(rows=5, rows_per_group=2).agg(n=sf.count())
    limits = Limits(max_rows_per_unit=3, max_groups_per_unit=4, max_rows_per_group_per_unit=2)
    assert question.child.limits == limits
    assert visits.agg(n=sf.count()).child.limits is None


def test_totals_are_grouping_sets():
    groups = people.group_by("sex", decade=DECADE)
    assert groups.rollup().agg(n=sf.count()).child.child.sets == (("sex", "decade"), ("sex",), ())
    assert groups.cube().agg(n=sf.count()).child.child.sets == (("sex", "decade"), ("sex",), ("decade",), ())
    chosen = groups.grouping_sets(("decade",), ("sex",), consistent=True).agg(n=sf.count())
    assert chosen.child.child.sets == (("decade",), ("sex",))
    assert chosen.consistent
    assert not groups.rollup().agg(n=sf.count()).consistent


def test_sets_are_said_by_the_names_of_the_answer():
    groups = people.group_by(age=DECADE).grouping_sets(("age",), ())
    assert groups.agg(n=sf.count()).child.child.sets == (("age_2",), ())


def test_a_fold_is_a_frame_of_exact_statistics():
    per_day = visits.group_by("day").fold(n=sf.count(), long=sf.max("hours"))
    assert isinstance(per_day.relation, Grouped)
    assert [column.fold for column in per_day.relation.columns] == [Fold.COUNT_ROWS, Fold.MAX]
    assert names(per_day) == ["day", "n", "long"]
    assert per_day.n.facts.interval.upper == 10
    assert per_day.filter(per_day.n > 2).agg(days=sf.count()).child.statistics == (("days", sf.count()),)


def test_a_fold_without_keys_has_one_row_a_unit():
    each = visits.fold(total=sf.sum("hours"))
    assert each.relation.keys == ()
    assert each.total.facts.interval.upper == 1000


def test_a_key_that_holds_the_unit_makes_no_more_than_one_row_a_unit():
    each = visits.group_by("visitor").fold(n=sf.count())
    assert each.relation.keys == ()
    assert limits_of(each.relation).max_rows_per_unit == 1
    assert names(visits.group_by("visitor", date="day").fold(n=sf.count())) == ["visitor", "date", "n"]


def test_keys_of_a_fold_are_renamed_behind_it():
    folded = people.group_by(gender="sex", age=DECADE).fold(n=sf.count())
    assert names(folded) == ["gender", "age", "n"]
    assert isinstance(folded.relation, Select)


def test_other_statistics_are_no_folds():
    with pytest.raises(NotPrivateError, match="sub-query"):
        visits.fold(m=sf.median("hours"))


def test_folds_of_two_tables_meet_within_a_unit():
    per_visitor = visits.group_by("visitor").fold(n=sf.count())
    paid = bills.group_by("visitor").fold(paid=sf.sum("amount"))
    assert names(per_visitor.join(paid, on="visitor", how="left")) == ["visitor", "n", "paid"]


def test_frames_are_not_changed_by_their_steps():
    people.filter(people.age > 3).group_by("sex").rollup()
    assert people.agg(n=sf.count()) == frame(PEOPLE).agg(n=sf.count())


BOTH_FACES = [
    ("SELECT COUNT(*) FROM people", people.agg(n=sf.count())),
    ("SELECT COUNT(age), SUM(pay), AVG(age) FROM people",
     people.agg(a=sf.count("age"), b=sf.sum("pay"), c=sf.mean("age"))),
    ("SELECT COUNT(*) FROM people WHERE age > 50 AND NOT sex = 'm'",
     people.filter((people.age > 50) & ~(people["sex"] == "m")).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE age > 50 AND NOT sex = 'm'",
     people.filter(people.sex != "m").filter(people.age > 50).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE age BETWEEN 1 AND 2.5 OR smoker",
     people.filter(people.age.between(1, 2.5) | people.smoker).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE sex IN ('f', 'm') AND pay IS NOT NULL",
     people.filter(people.sex.is_in(["m", "f"]) & ~people.pay.is_null()).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE age <= pay OR age < 3",
     people.filter((people.pay >= people.age) | (people.age < 3)).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people GROUP BY sex, smoker", people.group_by("sex", "smoker").agg(n=sf.count())),
    ("SELECT age / 10 AS decade, MEDIAN(pay * 2) FROM people GROUP BY decade",
     people.group_by(d=DECADE).agg(m=sf.median(people.pay * 2))),
    ("SELECT COUNT(*) FROM (SELECT age AS a FROM people WHERE smoker) AS s WHERE a > 3",
     people.filter(people.smoker, people.age > 3).agg(n=sf.count())),
    ("SELECT beds, AVG(hours) FROM visits JOIN wards ON ward = code GROUP BY beds",
     visits.join(wards, on={"ward": "code"}).group_by("beds").agg(m=sf.mean("hours"))),
    ("SELECT sex, smoker, COUNT(*) FROM people GROUP BY ROLLUP (sex, smoker)",
     people.group_by("sex", "smoker").rollup().agg(n=sf.count())),
    ("SELECT AVG(n) FROM (SELECT visitor, COUNT(*) AS n FROM visits GROUP BY visitor) AS v",
     visits.group_by("visitor").fold(n=sf.count()).agg(m=sf.mean("n"))),
    ("SELECT COUNT(*) FROM (SELECT visitor AS v, day FROM visits GROUP BY 1, 2) AS d JOIN bills ON v = visitor",
     visits.group_by("visitor", "day").fold().rename(visitor="v", day="d").join(bills, on={"v": "visitor"})
     .agg(n=sf.count())),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "question"), BOTH_FACES)
def test_sql_and_python_are_two_faces_of_one_question(sql, question):
    assert question_text(parse_question(sql, SOURCES).child) == question_text(question.child)
