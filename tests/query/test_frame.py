import pytest
from tests.query.asking import frame, hashed

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.canonical import question_hash
from sfumato.query.frame import MAX_DEPTH, Frame
from sfumato.query.relations import Source
from sfumato.query.schema import Table, text

people = frame()

BOTH_FACES = [
    ("SELECT COUNT(*) FROM people", people.agg(n=sf.count())),
    ("SELECT COUNT(age), SUM(pay), AVG(age) FROM people",
     people.agg(a=sf.count("age"), b=sf.sum("pay"), c=sf.mean("age"))),
    ("SELECT COUNT(*) FROM people WHERE age > 50 AND NOT Sex = 'm'",
     people.filter((people.age > 50) & ~(people["Sex"] == "m")).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE age > 50 AND NOT Sex = 'm'",
     people.filter(people.Sex != "m").filter(people.age > 50).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE age BETWEEN 1 AND 2.5 OR smoker",
     people.filter(people.age.between(1, 2.5) | people.smoker.is_true()).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE Sex IN ('f', 'm') AND pay IS NOT NULL",
     people.filter(people.Sex.is_in(["m", "f"]) & ~people.pay.is_null()).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people WHERE age <= pay OR age < 3",
     people.filter((people.pay >= people.age) | (people.age < 3)).agg(n=sf.count())),
    ("SELECT COUNT(*) FROM people GROUP BY Sex, smoker", people.group_by("Sex", "smoker").agg(n=sf.count())),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "relation"), BOTH_FACES, ids=lambda value: value if isinstance(value, str) else "")
def test_sql_and_python_are_two_faces_of_one_question(sql, relation):
    assert question_hash(relation) == hashed(sql)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (people.agg, "statistics = 'none'"),
        (lambda: people.agg(n=sf.sum("nosuch")), "nosuch.*age, Sex"),
        (lambda: people.group_by("nosuch"), "nosuch.*age, Sex"),
        (lambda: people.group_by("Sex", "Sex"), "each column once"),
        (lambda: people.group_by("Sex").agg(Sex=sf.count()), "differ"),
        (lambda: people.filter("age > 5"), "must be a condition"),
        (lambda: people["nosuch"], "nosuch"),
        (lambda: people.age > "x", "number > text"),
        (lambda: people.age == [1], "literal = 'list'"),
        (lambda: people.age.is_in([]), "at least one"),
        (people.age.is_true, "compare"),
        (lambda: people.age.is_in([float("nan")]), "finite"),
        (lambda: people.Sex == "\ud800", "Unicode"),
        (lambda: people.agg(**{"\ud800": sf.count()}), "Unicode"),
        (lambda: bool(people.age > 5), "combined with &"),
        (lambda: people.age > 5 and people.age < 9, "combined with &"),
    ],
)
def test_a_wrong_step_is_refused_at_once_with_what_to_write(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_a_null_is_compared_by_its_own_method():
    with pytest.raises(sf.errors.NotPrivateError, match="is_null"):
        people.age == None  # noqa: B015, E711 # what an analyst may write


def test_an_unknown_attribute_is_an_attribute_error_with_the_columns():
    with pytest.raises(AttributeError, match="age, Sex"):
        _ = people.nosuch
    assert {"age", "smoker"} <= set(dir(people))


def test_frames_are_not_changed_by_their_steps():
    people.filter(people.age > 3).group_by("Sex")
    assert question_hash(people.agg(n=sf.count())) == hashed("SELECT COUNT(*) FROM people")


def test_a_long_chain_is_wide_and_not_deep():
    where = people.age > 0
    for number in range(2_000):
        where = where & (people.age > -number)
    assert people.filter(where).agg(n=sf.count()).child.child.condition.conditions[0].left.name == "age"


@pytest.mark.parametrize("nested", ["filters", "conditions"])
def test_what_is_nested_too_deeply_is_refused_before_it_costs_anything(nested):
    asked, where = people, people.age > 0

    def nest():
        deeper = asked, where
        for _ in range(100 * MAX_DEPTH):
            deeper = (deeper[0].filter(where), where) if nested == "filters" else (asked, ~deeper[1])
        return deeper[0].filter(deeper[1])

    with pytest.raises(ParameterError, match=r"levels.*at most"):
        nest()


def test_a_condition_of_another_table_is_held_against_this_one():
    other = Frame(Source(Table(name="o", columns={"age": text(), "pay": text(), "x": text()})), lambda asked: asked)
    for where in (other.x == other.age, other.x.is_null(), ~(other.age == "a"), other.age.is_in(["a"])):
        with pytest.raises(ParameterError, match=r"must be a column|one type"):
            people.filter(where)


def test_a_column_is_no_key_of_a_dictionary():
    with pytest.raises(TypeError):
        hash(people.age)


def test_names_leave_room_for_the_ends_of_intervals():
    with pytest.raises(ParameterError, match="_low"):
        people.agg(n=sf.count(), n_low=sf.count("age"))
