"""Sums that overflow or round, rows in another order, and numbers at the edge of what noise and budgets can be."""

import math
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.attacks_on_questions.clinic import CLINIC, clinic, ordinary, stored, town, townsfolk, visit
from tests.attacks_on_questions.neighbors_of import HEAVY, clinics
from tests.attacks_on_questions.observing import by_place, found_of, multisets, plan_of
from tests.attacks_on_questions.questions import CLINIC_QUESTIONS, by_turns
from tests.session.opened import recorded

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError, SfumatoError
from sfumato.mechanisms.additive.laplace import Laplace

FAR = 2**53
ENOUGH = 1_000
"""So much ε that noise on numbers of so many steps can be drawn."""

SUMMED = "SELECT SUM(512 * x) AS s FROM t"


def numbers(values, *, engine, column=None, **changes):
    """A session on a table of one number a row."""
    column = column or sf.integer(-FAR, FAR)
    data = pa.table({"x": pa.array(values), "u": [f"{i}" for i in range(len(values))]})
    return sf.open(
        data, name="t", columns={"x": column, "u": sf.text()}, budget=sf.NO_GUARANTEE, engine=engine, **changes
    )


def exact_sums(session, sql):
    """The measures of a question without keys."""
    (found,) = by_place(found_of(session, plan_of(session.query(sql), epsilon=ENOUGH))[0][0]).values()
    return found


@pytest.mark.parametrize("sign", [1, -1])
def test_three_values_near_two_to_the_62nd_neither_wrap_nor_saturate(engine, sign):
    """Catalogue 8. A table of 2^53 each, times 512: their sum is beyond 64 bits, in any lattice but the exact one."""
    with numbers([sign * FAR] * 3, engine=engine) as session:
        plan = plan_of(session.query(SUMMED), epsilon=ENOUGH)
        (measurement,), (steps,) = plan.sections[0].measurements, (plan.sections[0].statements[0].measures[0].steps,)
        (total,) = exact_sums(session, SUMMED)
        assert total * steps.resolution == 3 * sign * 2**62
        assert abs(total) == 3 * measurement.sensitivity.l1


@pytest.mark.parametrize("values", [[FAR] * 3, [-FAR] * 3, []])
def test_a_sum_that_64_bits_may_not_hold_is_a_double_whatever_is_in_it(engine, values):
    """Catalogue 8. An answer has one type whatever is in it."""
    with numbers(values, engine=engine) as session:
        release = session.sql(SUMMED, epsilon=1000)
    (found,) = release["s"]
    assert abs(found.value - sum(values) * 2**9) <= 2**62 / 1000 * 40  # which noise passes with 2 e^-40
    assert found.low < found.value < found.high
    assert release.to_arrow().schema.field("s").type == pa.float64()


def test_one_row_moves_sums_of_squares_and_products_of_far_values_by_no_more_than_is_said(engine):
    """Catalogue 8."""
    sql = "SELECT VARIANCE(x) AS v, COVAR_POP(x, -x) AS c FROM t"
    with numbers([FAR, -FAR], engine=engine) as here, numbers([FAR, -FAR, FAR], engine=engine) as there:
        plan = plan_of(here.query(sql))
        before, after = exact_sums(here, sql), exact_sums(there, sql)
        for measurement in plan.sections[0].measurements:
            (place,) = measurement.measures
            assert 0 <= abs(after[place] - before[place]) <= measurement.sensitivity.l1


def test_products_and_sums_of_sub_queries_beyond_64_bits_are_missing_and_do_not_wrap(engine):
    """Catalogue 8."""
    visits = [visit("p", i, beds=9, cost=100.0) for i in range(3)]
    sql = """
        SELECT COUNT(s) AS n, COUNT(t) AS m FROM (
          SELECT patient, SUM(id * 1024) AS s, COUNT(id * id * id) AS t FROM (
            SELECT patient, LEAST(GREATEST(id, 0), 9007199254740992) AS id FROM visits) AS v
          GROUP BY patient) AS each"""
    visits = [row | {"id": FAR - i} for i, row in enumerate(visits)]
    with clinic({**ordinary(), "visits": visits}, engine=engine) as session:
        counted = exact_sums(session, sql)
    assert counted == (0, 1)


def test_a_row_moves_a_sum_by_its_own_value_however_many_small_ones_there_are(engine):
    """Catalogue 9. In doubles, 2^53 + n·(1 + 2^−30) rounds n times; on the lattice it is exact."""
    small, large = [1 + 2**-30] * 1001, FAR - 2
    column = sf.real(0, large, resolution=1)
    orders = [*small, float(large)], [float(large), *small], small
    sums = []
    for values in orders:
        with numbers(values, engine=engine, column=column) as session:
            sums += exact_sums(session, "SELECT SUM(x) AS s FROM t")
    assert sums == [large + 1001, large + 1001, 1001]


def test_sums_and_means_of_one_patient_in_a_sub_query_do_not_depend_on_the_order_of_her_visits(engine):
    """Catalogue 9, 10."""
    costs = [0.1 * i + 2**-20 for i in range(300)] + [99.99, 1e-9]
    folds = "SELECT patient, SUM(cost) AS s, AVG(cost) AS m FROM visits GROUP BY patient"
    sql = f"SELECT SUM(s) AS s, SUM(m) AS m FROM ({folds}) AS each"
    found = []
    for order in (costs, costs[::-1], sorted(costs, key=str)):
        visits = [visit("p", None, cost=cost) for cost in order]
        with clinic({**ordinary(), "visits": visits}, engine=engine) as session:
            found.append(exact_sums(session, sql))
    assert found[0] == found[1] == found[2]


def as_parquet(table, rows, folder):
    """The rows in a file of many row groups."""
    path = folder / f"{table.name}.parquet"
    pq.write_table(stored(table, rows), path, row_group_size=7)
    return path


def as_chunks(table, rows, size):
    """The rows as Arrow holds them in many pieces."""
    whole = stored(table, rows)
    return pa.concat_tables([whole.slice(at, size) for at in range(0, max(1, len(whole)), size)])


ORDERS = {
    "turned": lambda _, rows, __: rows[::-1],
    "sorted by text": lambda _, rows, __: sorted(rows, key=str),
    "in pieces": lambda table, rows, _: as_chunks(table, rows, 5),
    "in a file of pieces": as_parquet,
}


@pytest.mark.parametrize("order", ORDERS)
def test_exact_halves_are_the_same_however_rows_are_stored(engine, order, tmp_path):
    """Catalogue 10."""
    first = 2 * list(ORDERS).index(order)
    for turn, name in list(enumerate(HEAVY))[first : first + 2]:
        _, whole = clinics(name)
        stored_so = {table.name: ORDERS[order](table, whole[table.name], tmp_path) for table in CLINIC}
        with clinic(whole, engine=engine) as here, clinic(stored_so, engine=engine) as there:
            for asked in by_turns(CLINIC_QUESTIONS, engine, turn):
                plan = plan_of(asked.of(here))
                assert multisets(found_of(here, plan)) == multisets(found_of(there, plan)), asked.name


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 4}, {"buckets": 7}, {"buckets": 2, "threads": 3}])
def test_exact_halves_are_the_same_with_any_number_of_threads_and_buckets(options):
    """Catalogue 10."""
    _, whole = clinics("many rows in many groups")
    settings = options | {"sampling": "md5"}  # as the reference
    with clinic(whole, engine="reference") as here, clinic(whole, engine="duckdb", options=settings) as there:
        for asked in by_turns(CLINIC_QUESTIONS, "duckdb", len(options)):
            plan = plan_of(asked.of(here))
            assert multisets(found_of(here, plan)) == multisets(found_of(there, plan)), asked.name


def test_exact_halves_are_the_same_before_and_after_tables_are_prepared(engine):
    """Catalogue 10."""
    _, whole = clinics("poison")
    questions = by_turns(CLINIC_QUESTIONS, "duckdb", 7)
    with clinic(whole, engine=engine) as session:
        plans = [plan_of(asked.of(session)) for asked in questions]
        before = [multisets(found_of(session, plan)) for plan in plans]
        session.prepare()
        assert [multisets(found_of(session, plan)) for plan in plans] == before


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-15", "1e-9", 1, 1000, 10**12, "1e300"])
@pytest.mark.parametrize("delta", [0, "1e-300", "1e-12", "0.5"])
def test_noise_is_never_nothing_unless_nobody_moves_the_answer(engine, epsilon, delta):
    """Catalogue 11. A price is refused by type, or each number that somebody moves has noise of a positive scale."""
    del engine
    with town(townsfolk(), engine="reference") as session:
        question = session.query("SELECT COUNT(*) AS n, SUM(pay) AS p, AVG(age) AS a, SUM(0 * age) AS z FROM people")
        try:
            (section,) = plan_of(question, epsilon=epsilon, delta=delta).sections
        except ParameterError:
            return
    for measurement in section.measurements:
        mechanism = measurement.mechanism
        width = mechanism.scale if isinstance(mechanism, Laplace) else mechanism.stddev
        assert (width > 0) == (measurement.sensitivity.l1 > 0)


@pytest.mark.parametrize(
    "bounds", [(0, 5e-324), (-1e-300, 1e-300), (5, 5), (7, 3), (0, 1e308), (-(10**300), 10**300), (0, "1e-400")]
)
def test_bounds_that_are_equal_turned_or_hardly_apart_are_answered_or_refused_by_type(engine, bounds):
    """Catalogue 11."""
    values = [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 2.5]
    with numbers(values, engine=engine, column=sf.real()) as session:
        try:
            release = session.table("t").agg(s=sf.sum("x", bounds=bounds)).release(epsilon=1)
        except SfumatoError as error:
            assert "2.5" not in str(error)  # noqa: PT017 # what is refused shows no value
        else:
            assert math.isfinite(release["s"][0].value)


def test_minus_zero_is_never_released(engine):
    """Catalogue 11."""
    with numbers([-0.0] * 5, engine=engine, column=sf.real(-1, 1, resolution="0.5")) as session:
        values = [
            session.sql(f"SELECT SUM(x) AS s FROM t WHERE u <> '{i}'", epsilon=5)["s"][0].value for i in range(40)
        ]
    assert 0.0 in values
    assert all(math.copysign(1, value) > 0 for value in values if value == 0)


PRICES = [
    float("nan"), float("inf"), float("-inf"), -1, "-1e-9", 1e-320, 1e308, "1e-99999", "nan", "inf", "0x1", "1e", "",
    "٣", True, None, Decimal("NaN"), Decimal("1e-99999"), "9" * 5000, b"1", [1],
]  # fmt: skip


@pytest.mark.parametrize("number", PRICES, ids=lambda number: str(number)[:9])
@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_a_price_that_is_no_number_is_refused_before_data_and_for_nothing(engine, name, number):
    """Catalogue 12."""
    session, recording = recorded(town(townsfolk(), engine=engine, budget=sf.ApproxDP(1, "1e-6")))
    price = {"epsilon": 1, "delta": "1e-7"} | {name: number}
    if name == "delta" and number is None:
        return
    with session:
        with pytest.raises(ParameterError):
            session.query("SELECT COUNT(*) AS n FROM people").release(**price)
        assert session.spent == sf.PureDP(0)
    assert recording.statements == []


@pytest.mark.parametrize(
    "price", [{"epsilon": 1, "delta": 1}, {"epsilon": 1, "delta": "1.000001"}, {"epsilon": 1, "delta": 2}]
)
def test_a_delta_of_one_or_more_is_refused(engine, price):
    """Catalogue 12."""
    with town(townsfolk(), engine=engine) as session, pytest.raises(ParameterError, match="delta"):
        session.sql("SELECT COUNT(*) AS n FROM people", **price)


@pytest.mark.parametrize(
    "prices",
    [
        [0.1] * 10,
        ["0.1"] * 10,
        [0.1, 0.2, 0.3, 0.4],
        ["1e-1", Decimal("0.2"), Fraction(7, 10)],
        [1e-12, 1 - 1e-12],
        [1],
    ],
    ids=str,
)
def test_a_budget_is_spent_to_the_last_digit_and_not_beyond(engine, prices):
    """Catalogue 12, 27."""
    with town(townsfolk(), engine=engine, budget=sf.PureDP(1)) as session:
        for place, price in enumerate(prices):
            session.sql(f"SELECT COUNT(*) AS n FROM people WHERE age > {place}", epsilon=price)
        assert session.remaining == sf.PureDP(0)
        with pytest.raises(BudgetExceededError):
            session.sql("SELECT COUNT(*) AS n FROM people WHERE age > 99", epsilon="1e-12")
