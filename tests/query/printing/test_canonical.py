"""Other words for the same question are the same question; and whatever is the same has the same exact answers."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS, frame
from tests.query.rewordings import changed, reworded
from tests.relations_of import Growing, columns, private
from tests.strategies import database, pick, policy, stored

import sfumato as sf
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import ArrowData
from sfumato.errors import SfumatoError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.analysis.sizes import MAX_DEPTH
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.relations import BoundRows, GroupBy, PeoplePart, Source, tables_of
from sfumato.query.model.schema import integer, text
from sfumato.query.planning.questions import Aggregate
from sfumato.query.planning.sections import draft
from sfumato.query.printing.canonical import question_hash, question_text

people, visits, bills, wards = map(frame, (PEOPLE, VISITS, BILLS, WARDS))
MANY = settings(suppress_health_check=list(HealthCheck))


def hashed(question):
    return question_hash(question_text(question.child))


def count(rows):
    return rows.agg(n=sf.count())


def asked_of(random, relation):
    """A question by some column, with sums and counts of others."""
    own = columns(relation)
    keyed = [name for name, kind in own.items() if kind is not Kind.FLOAT]
    statistics = {"n": sf.count()}
    for place, (name, kind) in enumerate(own.items()):
        bounded = sf.sum(name, bounds=(-2, 3)) if kind in NUMBERS else sf.count_distinct(name)
        statistics[f"s{place}"] = pick(random, (bounded, sf.count(name)))
    keys = (pick(random, keyed),) if keyed and pick(random, (True, False)) else ()
    return Aggregate(GroupBy(relation, keys), tuple(statistics.items()))


def over(question, relation):
    return replace(question, child=replace(question.child, child=relation))


def exact_answers(question, engine, salt):
    """The limits and the exact answers of all its statements, in order; or the type of the refusal."""
    try:
        made = draft(question, question.child.keys, neighboring_relation=ADD_OR_REMOVE_ONE)
    except SfumatoError as refused:
        return type(refused)
    return [(one.limits, one.measures and _found(engine.run(one, salt=salt))) for one in made.statements]


def _found(secret):
    """Cells and amounts by group, in an order of their own."""
    found = secret.open_for_noise()
    columns = [*found.keys, *(() if found.cells is None else (found.cells,)), *(one.tolist() for one in found.amounts)]
    return sorted(zip(*columns, strict=True), key=repr)


def alike(first, second, drawn, random):
    """Whether two questions have the same exact answers on some database."""
    tables = [table for table in drawn.tables if table.name in {own.name for own in tables_of(first.child.child)}]
    rows, salt = database(random, drawn, tables=tables), pick(random, ("0" * 32, "f" * 32))
    storage = {name: (stored(own, drawn.storage[name]), tuple(drawn.storage[name])) for name, own in rows.items()}
    engine = ReferenceEngine({name: ArrowData(*own) for name, own in storage.items()})
    return exact_answers(first, engine, salt) == exact_answers(second, engine, salt)


def drawn_question(random, least):
    """A policy, and a question to a relation over it."""
    drawn = policy(random)
    try:
        return drawn, asked_of(random, private(Growing(random, drawn), pick(random, range(least, 5))))
    except SfumatoError:  # of a join that nothing bounds
        return None


def same_text(question, other):
    """Whether two questions, the second of which may mean nothing, have the same text."""
    try:
        return question_text(other) == question_text(question)
    except SfumatoError:
        return False


@given(st.randoms(use_true_random=False))
@MANY
def test_other_words_for_the_same_rows_are_the_same_question_with_the_same_answers(random):
    drawn, question = drawn_question(random, 0) or reject()
    again = over(question, reworded(random, question.child.child))
    assert question_text(again) == question_text(question)
    assert alike(question, again, drawn, random)


@given(st.randoms(use_true_random=False))
@MANY
def test_whatever_has_the_same_text_has_the_same_answers(random):
    drawn, question = drawn_question(random, 1) or reject()
    other = over(question, changed(random, question.child.child))
    if same_text(question, other):
        assert alike(question, other, drawn, random)


def test_changes_that_may_matter_often_do_not_and_often_do():
    found = {True: 0, False: 0}
    for seed in range(200):
        random = Random(seed)  # noqa: S311 # it draws tests
        made = drawn_question(random, 1)
        if made is not None:
            other = over(made[1], changed(random, made[1].child.child))
            found[same_text(made[1], other)] += other != made[1]
    assert min(found.values()) > 30


SAME = [
    (count(people.filter(people.age > 50, people.smoker)), count(people.filter(people.smoker).filter(people.age > 50))),
    (count(people.filter(people.age.between(1, 2))), count(people.filter(~((people.age < 1) | (people.age > 2))))),
    (count(people.filter(people.sex.is_in(["m"]))), count(people.filter(people.sex == "m"))),
    (count(people.with_columns(x=people.age + 1)), count(people)),
    (count(people.select("sex").filter(people.sex == "m")), count(people.filter(people.sex == "m").drop("pay"))),
    (people.agg(a=sf.sum("age")), people.rename(age="years").agg(b=sf.sum("years"))),
    (people.agg(a=sf.sum(people.age * 2)), people.with_columns(x=2 * people.age).agg(b=sf.sum("x"))),
    (people.group_by("sex").agg(n=sf.count()), people.group_by(gender="sex").agg(n=sf.count())),
    (people.group_by(d=people.age // 10).agg(n=sf.count()),
     people.select(x=people.age // 10).group_by("x").agg(n=sf.count())),
    (count(people.distinct()), count(people.select(*reversed(PEOPLE.columns)).distinct())),
    (people.agg(a=sf.sum("pay"), b=sf.mean("pay"), weights={"a": 2, "b": 2}),
     people.agg(a=sf.sum("pay"), b=sf.mean("pay"))),
    (people.agg(a=sf.sum("pay"), b=sf.mean("pay"), weights={"a": 2, "b": 4}),
     people.agg(a=sf.sum("pay"), b=sf.mean("pay"), weights={"a": "0.5", "b": 1})),
    (count(visits.join(wards, on={"ward": "code"})), count(visits.join(wards.rename(code="c"), on={"ward": "c"}))),
    (count(visits.join(wards, on={"ward": "code"})), count(visits.drop("day").join(wards, on={"ward": "code"}))),
    (visits.group_by("day", "ward").fold(n=sf.count(), m=sf.max("hours")).agg(x=sf.sum("n")),
     visits.group_by("ward", "day").fold(k=sf.count()).agg(y=sf.sum("k"))),
    (count(visits.semi_join(bills, on="day")), count(visits.semi_join(bills.select(d="day"), on={"day": "d"}))),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SAME)
def test_names_places_and_columns_that_nothing_reads_make_no_difference(first, second):
    assert question_text(first.child) == question_text(second.child)


def part(value, salt, most=1):
    relation = PeoplePart(
        child=visits.relation, by="day", values=(1, 2), value=value, max_parts_per_unit=most, salt=salt
    )
    return count(type(visits)(relation, visits.ask))


def bounded(rows, most):
    return count(type(visits)(BoundRows(rows.relation, most), visits.ask))


def on_other_table(**columns):
    return frame(replace(PEOPLE, columns={**PEOPLE.columns, **columns}))


PAIR = {"a": sf.sum("pay"), "b": sf.sum("age")}
DAYS, PAID = visits.select("visitor", "day"), bills.select("visitor", "day")
JOINED = visits.join(bills, on=["visitor", "day"])
PER_DAY = visits.group_by("day").fold(n=sf.count(), long=sf.max("hours"), short=sf.min("hours"))
TO_WARD = {"ward": "code"}
SHARED = frame(replace(WARDS, name="shared", matches={("code",): 2}))
ROWS = [
    people, visits, bills, wards,
    people.filter(people.age > 50), people.filter(people.age >= 50), people.filter(people.age > 51),
    people.filter(people.sex == "1"), people.filter(people.age == 1), people.filter(people.smoker),
    people.distinct(), people.select("sex").distinct(), people.select("age").distinct(),
    DAYS.union(PAID), DAYS.intersect(PAID), DAYS.except_(PAID), PAID.except_(DAYS), PAID.union(DAYS),
    JOINED, visits.join(bills, on=["visitor", "day"], how="left"), visits.join(bills, on="visitor", suffix="_b"),
    visits.drop("ward").join(bills, on=["visitor", "day"]),  # within units rows are sampled by all their columns
    visits.join(wards, on=TO_WARD), visits.join(wards, on=TO_WARD, how="left"),
    visits.join(SHARED, on=TO_WARD), visits.drop("day").join(SHARED, on=TO_WARD),  # as above, if many may match
    visits.semi_join(bills, on="day"), visits.anti_join(bills, on="day"), visits.semi_join(bills, on="visitor"),
    PER_DAY, visits.fold(n=sf.count()), visits.per_unit(rows=1), visits.per_unit(rows=2), visits.per_unit(groups=1),
]  # fmt: skip
STATISTICS = [
    sf.sum("pay"), sf.sum("pay", bounds=(0, 1)), sf.sum("pay", bounds=(0, 2)), sf.sum("pay", bounds="auto"),
    sf.sum("age"), sf.mean("pay"), sf.variance("pay"), sf.stddev("pay"), sf.variance("pay", population=True),
    sf.median("pay"), sf.min("pay"), sf.max("pay"), sf.histogram("pay", edges=[0, 1]),
    sf.histogram("pay", edges=[0, 2]), sf.count("pay"), sf.count_units(), sf.count_distinct("pay"),
    sf.count_distinct("pay", max_values_per_unit=1), sf.mode("sex"), sf.top_k("sex", 2), sf.covariance("pay", "age"),
    sf.correlation("pay", "age"), sf.vector_sum("pay", "age"),
]  # fmt: skip
BOTH = people.group_by("sex", "smoker")
TURNED = on_other_table(sex=text(values=["f", "m"]))
DIFFERENT = [
    *map(count, ROWS),
    *(people.agg(a=statistic) for statistic in STATISTICS),
    *(part(value, salt) for value in (1, 2) for salt in ("00", "11")),
    part(1, "00", most=2),
    *(bounded(rows, 2) for rows in (visits, visits.drop("day"), visits.select(*reversed(VISITS.columns)))),
    bounded(visits, 1),
    *(JOINED.agg(a=sf.sum(name)) for name in ("hours", "amount", "day")),
    *(PER_DAY.agg(a=sf.sum(name)) for name in ("n", "long", "short")),
    visits.fold(n=sf.count()).agg(a=sf.sum("n")),
    visits.fold(n=sf.count("hours")).agg(a=sf.sum("n")),
    *(groups.agg(n=sf.count()) for groups in (people.group_by("sex"), BOTH, BOTH.rollup(), BOTH.cube())),
    people.group_by("smoker", "sex").agg(n=sf.count()),
    people.agg(**PAIR),
    people.agg(b=PAIR["b"], a=PAIR["a"]),
    people.agg(**PAIR, weights={"a": 2}),
    *(on_other_table(pay=integer(0, most)).agg(a=sf.sum("pay")) for most in (10, 11)),
    TURNED.group_by("sex").agg(n=sf.count()),
    TURNED.agg(a=sf.mode("sex")),
    *(rows.group_by("age").agg(n=sf.count()) for rows in (people, on_other_table(age=integer(0, 9)))),
    *(count(rows.filter(rows.sex.like("f%"))) for rows in (on_other_table(sex=text(max_length=n)) for n in (8, 9))),
]


def test_whatever_changes_an_exact_answer_makes_another_question():
    hashes = {}
    for question in DIFFERENT:
        assert hashes.setdefault(hashed(question), question) == question
    assert len(hashes) == len(DIFFERENT)


def test_the_presentation_is_no_part_of_a_question():
    question = people.group_by("sex").agg(n=sf.count())
    assert hashed(replace(question, limit=1, offset=2)) == hashed(question)


def test_the_canonical_text_is_one_line_and_names_the_unit():
    written = question_text(count(visits.filter(visits.hours > 3)).child)
    assert "\n" not in written
    assert '"unit":"visitor"' in written


def test_a_question_is_the_same_whoever_makes_it():
    assert question_text(Aggregate(GroupBy(Source(PEOPLE)), (("n", sf.count()),))) == question_text(count(people).child)


def test_columns_of_columns_do_not_grow_without_limit():
    rows = people
    for _ in range(MAX_DEPTH - 3):
        rows = rows.with_columns(pay=rows.pay + rows.pay)
    written = question_text(rows.agg(s=sf.sum("pay", bounds=(0, 1))).child)
    other = question_text(rows.agg(s=sf.sum(rows.pay + 1, bounds=(0, 1))).child)
    assert len(written) < 3_000
    assert written != other


def test_shares_are_what_counts_of_weights():
    assert question_text(replace(count(people).child, weights=(Fraction(7),))) == question_text(count(people).child)


KNOWN = {
    "da22c9d610c83452": people.group_by("sex").agg(n=sf.count(), m=sf.mean("pay")),
    "b735188c638b7855": people.agg(s=sf.sum(people.pay * 1.5 + people.age / 3, bounds=(0, 10))),
    "993ae0e9b3823212": count(people.filter((people.pay.exp() > 2) & (people.pay**2 < 100000))),
    "2ef10340d5ddf392": people.agg(s=sf.sum(people.pay / people.age, bounds=("-1e100", "1e100"))),
    "bd47a209be00f6f8": people.agg(s=sf.sum(people.pay * people.pay)),
}
"""Questions by the beginnings of the hashes under which ledgers have stored their answers."""


@pytest.mark.parametrize("known", KNOWN)
def test_questions_keep_the_hashes_under_which_their_answers_are_stored(known):
    assert hashed(KNOWN[known]).startswith(known)
