from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.opened import COUNT, SURE, opened, recorded, shop

import sfumato as sf
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError
from sfumato.query.policy.policy import SourceFacts
from sfumato.session.asking.planning import prepare


def two_tables():
    policy = opened().policy
    people = policy.tables["people"]
    tables = {"people": people, "pets": replace(people, name="pets")}
    sources = dict.fromkeys(tables, SourceFacts(source=policy.sources["people"].source))
    return sf.Session(replace(policy, tables=tables, sources=sources), budget=sf.PureDP(1))


def test_all_tables_are_paid_for_by_one_account():
    session = two_tables()
    session.sql(COUNT, epsilon="0.3")
    session.sql(COUNT.replace("people", "pets"), epsilon="0.4")
    assert session.spent == sf.PureDP("0.7")


def test_a_table_is_named_unless_there_is_one():
    assert opened().table().agg(n=sf.count()).release(epsilon="0.1").statistics == ("n",)
    with pytest.raises(ParameterError, match="people, pets"):
        two_tables().table()
    with pytest.raises(ParameterError, match="people, pets"):
        two_tables().table("nosuch")


WITH_PRICE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.3) COUNT(*) AS n FROM people"


def test_the_price_may_stand_in_the_text():
    session = opened()
    session.sql(WITH_PRICE)
    assert session.spent == sf.PureDP("0.3")
    assert session.sql(COUNT, epsilon="0.3").reused
    assert session.sql(WITH_PRICE, epsilon=0.3).reused


def test_a_price_that_is_stated_twice_is_stated_the_same():
    session, engine = recorded(opened())
    with pytest.raises(ParameterError, match="state it once"):
        session.sql(WITH_PRICE, epsilon="0.4")
    with pytest.raises(ParameterError, match="state it once"):
        session.sql(WITH_PRICE.replace("0.3", "0.3, delta = 1e-9"), delta=0)
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


def test_there_is_no_price_unless_it_is_stated():
    session, engine = recorded(opened())
    with pytest.raises(ParameterError, match="epsilon"):
        session.sql(COUNT)
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


def test_a_question_that_is_not_yet_asked_has_no_price():
    with pytest.raises(ParameterError, match=r"epsilon.*leave it out"):
        opened().query(WITH_PRICE)


@pytest.mark.parametrize(("sql", "parameters"), [("$1", [35]), (":least", {"least": 35})])
def test_parameters_stand_for_constants(sql, parameters):
    session = opened()
    question = session.query(f"{COUNT} WHERE age > {sql}", parameters=parameters)
    assert question.relation == session.query(f"{COUNT} WHERE age > 35").relation
    release = session.sql(f"{COUNT} WHERE age > {sql}", epsilon="0.5", parameters=parameters)
    assert "35" in release.receipt.question
    assert session.sql(f"{COUNT} WHERE age > 35", epsilon="0.5").reused


def test_a_question_in_python_and_in_sql_share_their_answer():
    session = opened()
    people = session.table("people")
    first = people.filter(people.age > 35).group_by("sex").agg(n=sf.count()).release(epsilon="0.5")
    second = session.sql("SELECT sex, COUNT(*) AS n FROM people WHERE 35 < age GROUP BY sex", epsilon=0.5)
    assert (second.reused, second.estimates) == (True, first.estimates)
    assert first.receipt.question == "SELECT sex, COUNT(*) AS n FROM people WHERE age > 35 GROUP BY sex"


VISITS = {"u": sf.text(), "ward": sf.text(values=["A", "B", "C"]), "hours": sf.integer(0, 9)}


def hospital(rows, **changes):
    data = pa.Table.from_pylist(rows, schema=pa.schema({"u": pa.string(), "ward": pa.string(), "hours": pa.int64()}))
    facts = {"name": "visits", "columns": VISITS, "unit": "u", "limits": sf.Limits(max_rows_per_unit=2)}
    return opened(data, **(facts | changes))


def exact(session, question, salt="0123456789abcdef" * 2):
    """The number that a question counts, before noise."""
    plan = prepare(session._desk, question.relation.child, text="", total=sf.PureDP(1)).plan
    found = session._desk.engine.run(plan.sections[0].statements[0], salt=salt).open_for_noise()
    return sum(map(int, found.amounts[0]))


ROWS = [{"u": u, "ward": ward, "hours": 1} for u in "ab" for ward in "ABC"]
QUESTION = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.parametrize(("most", "spent"), [(1, "0.3"), (2, "0.5"), (3, "0.6")])
def test_the_most_expensive_parts_are_charged(most, spent):
    session = hospital(ROWS)
    with session.partition("visits", by="ward", max_parts_per_unit=most) as wards:
        for ward, epsilon in {"A": "0.1", "B": "0.2", "C": "0.3"}.items():
            wards[ward].sql(QUESTION, epsilon=epsilon)
    assert session.spent == sf.PureDP(spent)


def test_where_a_unit_is_replaced_it_may_leave_one_part_for_another():
    session = hospital(ROWS, neighboring_relation=sf.REPLACE_ONE)
    with session.partition("visits", by="ward") as wards:
        for ward, epsilon in {"A": "0.1", "B": "0.2", "C": "0.3"}.items():
            wards[ward].sql(QUESTION, epsilon=epsilon)
    assert session.spent == sf.PureDP("0.5")


def test_a_second_partition_is_paid_for_on_top_of_the_first():
    session = hospital(ROWS)
    for _ in range(2):
        with session.partition("visits", by="ward") as wards:
            wards["A"].sql(QUESTION, epsilon="0.3")
    assert session.spent == sf.PureDP("0.6")


def test_a_part_that_the_budget_cannot_pay_is_refused_before_data_is_touched():
    session, engine = recorded(hospital(ROWS))
    with session.partition("visits", by="ward") as wards, pytest.raises(BudgetExceededError):
        wards["A"].sql(QUESTION, epsilon="1.1")
    assert engine.statements == []


def test_the_same_question_to_another_part_is_another_question():
    session = hospital(ROWS)
    with session.partition("visits", by="ward") as wards:
        first, again, other = (wards[ward].sql(QUESTION, epsilon="0.1") for ward in ("A", "A", "B"))
    assert (first.reused, again.reused, other.reused) == (False, True, False)


MIXED = {
    "union": lambda part, whole: part.union(whole),
    "join": lambda part, whole: part.join(whole, on=(), suffix="_right"),
    "semi_join": lambda part, whole: part.semi_join(whole, on=()),
    "except_": lambda part, whole: part.except_(whole),
}


@pytest.mark.parametrize("mixed", MIXED.values(), ids=MIXED)
@pytest.mark.parametrize("outside", ["all", "another part", "another partition"])
def test_a_question_to_a_part_reads_nobody_outside_of_it(mixed, outside):
    """Else each part would tell about everyone, for the price of one of them."""
    session, engine = recorded(hospital(ROWS))
    with session.partition("visits", by="ward") as wards, session.partition("visits", by="ward") as others:
        whole = {"all": session, "another part": wards["B"], "another partition": others["A"]}[outside].table("visits")
        part = wards["A"].table("visits")
        with pytest.raises(NotPrivateError, match="outside of that part"):
            mixed(part, whole).agg(n=sf.count()).release(epsilon="0.1")
        mixed(part, part.filter(part.hours > 0)).agg(n=sf.count()).cost(epsilon="0.1")
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


units = st.sampled_from(["a", "b", "c", None])
visits = st.fixed_dictionaries(
    {"u": units, "ward": st.sampled_from(["A", "B", "C", "?", None]), "hours": st.integers(-5, 12)}
)


@given(st.lists(visits, max_size=20), st.integers(1, 3), st.sampled_from(["reference", "duckdb"]))
def test_over_separate_questions_a_unit_has_rows_in_at_most_so_many_parts(rows, most, engine):
    session = hospital(rows, engine=engine)
    with session.partition("visits", by="ward", max_parts_per_unit=most) as wards:
        for unit in "abc":
            counts = [exact(session, view.query(f"{QUESTION} WHERE u = '{unit}'")) for view in wards.values()]
            lies_in = {row["ward"] for row in rows if row["u"] == unit} & set("ABC")
            assert sum(1 for count in counts if count) == min(most, len(lies_in))


@given(st.lists(visits, max_size=12), st.lists(visits, max_size=8), st.integers(1, 3))
def test_a_unit_moves_all_parts_together_by_at_most_its_limit_in_each_of_so_many(rows, own, most):
    others = [row for row in rows if row["u"] != "a"]
    session = hospital(others + [row | {"u": "a"} for row in own], engine="reference")
    without = hospital(others, engine="reference")
    with session.partition("visits", by="ward", max_parts_per_unit=most) as wards:
        questions = [view.query(QUESTION) for view in wards.values()]
    moved = [abs(exact(session, question) - exact(without, question)) for question in questions]
    assert sum(1 for step in moved if step) <= most
    assert all(step <= 2 for step in moved)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": "nosuch", "by": "ward"}, "visits"),
        ({"table": "visits", "by": "nosuch"}, "u, ward, hours"),
        ({"table": "visits", "by": "hours"}, "public values of hours"),
        ({"table": "visits", "by": "ward", "values": []}, "at least one"),
        ({"table": "visits", "by": "ward", "values": ["A", "A"]}, "once"),
        ({"table": "visits", "by": "ward", "values": [1]}, "cannot be a key"),
        ({"table": "visits", "by": "ward", "max_parts_per_unit": 0}, "at least 1"),
    ],
)
def test_a_partition_of_nothing_public_is_refused(arguments, message):
    session = hospital(ROWS)
    with pytest.raises(ParameterError, match=message), session.partition(**arguments):
        pass


def test_values_may_be_listed_that_the_policy_does_not_list():
    session = hospital(ROWS)
    with session.partition("visits", by="hours", values=[1, 2]) as parts:
        assert (list(parts), len(parts)) == ([1, 2], 2)
        parts[1].sql(QUESTION, epsilon="0.1")


def test_a_part_that_is_not_there_is_refused_with_those_that_are():
    session = hospital(ROWS)
    with session.partition("visits", by="ward") as wards, pytest.raises(ParameterError, match="'A', 'B', 'C'"):
        wards["D"]


def test_where_each_row_is_a_unit_it_lies_in_one_part():
    session = opened()
    with (
        pytest.raises(ParameterError, match="each row is a unit"),
        session.partition("people", by="sex", max_parts_per_unit=2),
    ):
        pass
    with session.partition("people", by="sex") as parts:
        for part in parts.values():
            part.sql(COUNT, epsilon=1)
    assert session.spent == sf.PureDP(1)


def test_a_public_table_has_no_people_to_be_parted():
    with (
        shop() as session,
        pytest.raises(ParameterError, match="public"),
        session.partition("nations", by="region"),
    ):
        pass


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_a_part_is_asked_beside_public_tables_and_no_others(engine):
    sql = "SELECT SUM(amount) AS a FROM lines JOIN nations ON nation = code WHERE region = 'west'"
    with shop(engine=engine) as session, session.partition("lines", by="nation", max_parts_per_unit=2) as parts:
        assert [view.sql(sql, epsilon=SURE)["a"][0].value for view in parts.values()] == [0, 11]
        assert parts["x"].sql("SELECT COUNT(*) AS n FROM nations", epsilon=1).receipt.guarantee == sf.PureDP(0)
        with pytest.raises(ParameterError, match="orders"):
            parts["x"].query("SELECT COUNT(*) AS n FROM orders")


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_who_owns_rows_by_a_path_lies_in_so_many_parts_too(engine):
    with shop(engine=engine) as session, session.partition("lines", by="nation") as parts:
        counts = [view.sql("SELECT COUNT(*) AS n FROM lines", epsilon=SURE)["n"][0].value for view in parts.values()]
    assert sum(counts) in {3, 4}  # customer 1 has two lines in one part and one in the other, 2 and 3 one each
