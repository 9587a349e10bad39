"""The mean absolute deviation: its bounds, its value and interval, and what one unit moves of it, by brute force."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import pyarrow as pa
import pytest
from tests.query.asking import parsed
from tests.query.brute_force import assert_pairs_within, sums_of
from tests.query.planned import planned
from tests.query.recipes import AGE, lowered, measures, steps
from tests.session.goldens import cases, shown

import sfumato as sf
from sfumato.engines.sources.sources import ArrowData
from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.schema import Limits, Table, integer, real, text
from sfumato.query.model.statement import StepSum, ValueCount
from sfumato.query.statistics.deviations import AbsoluteDeviation
from sfumato.query.statistics.means import Mean, MeanOutput
from sfumato.query.statistics.measurements import estimators

CONFIDENCE = Fraction(95, 100)
VALUES = (None, 1, 4, 6)
ROWS = Table(name="t", columns={"x": integer(1, 6)}, keeps_rows=True)
OWNED = Table(
    name="t", columns={"who": text(), "x": integer(1, 6)}, unit=UnitColumn("who"), limits=Limits(max_rows_per_unit=2)
)
TYPES = {"x": pa.int64(), "who": pa.string()}


def deviation(around=3):
    return AbsoluteDeviation(ColumnRef("x"), Fraction(around))


def main(table, around=3):
    return planned(table, deviation(around)).sections[0].statements[0]


def found(statement, rows):
    names = statement.rows.table.columns
    data = pa.table({name: pa.array([row[name] for row in rows], TYPES[name]) for name in names})
    return sums_of(statement, {"t": ArrowData(data, tuple(names))}, "reference")


def distances(values, around):
    return [abs(value - around) for value in values if value is not None]


@pytest.mark.parametrize(("around", "ends"), [(40, (0, 60)), (0, (0, 100)), (-10, (10, 110)), (100, (0, 100))])
def test_its_bounds_follow_from_those_of_the_values(around, ends):
    """A step of |age − around| is 1, and the middle of the bounds is its 0."""
    lattice = steps(AbsoluteDeviation(AGE, Fraction(around)))
    assert (lattice.lower, lattice.upper, lattice.resolution) == (*ends, 1)
    assert lattice.offset == sum(ends) // 2


def test_it_is_a_count_and_a_sum_as_a_mean_is():
    count, total = measures(AbsoluteDeviation(AGE, Fraction(40)))
    assert isinstance(count, ValueCount)
    assert isinstance(total, StepSum)
    (output,) = lowered(AbsoluteDeviation(AGE, Fraction(40))).outputs((3, 4))
    assert (type(output), output.count, output.total, output.steps) == (MeanOutput, 3, 4, total.steps)


def test_nothing_bounds_it_where_nothing_bounds_the_values():
    with pytest.raises(UnboundedSensitivityError, match="Declare bounds"):
        planned(Table(name="t", columns={"x": integer()}), deviation())


@pytest.mark.parametrize("around", [3, Fraction(7, 2), 0])
def test_no_row_moves_its_parts_further_than_is_claimed_and_some_row_as_far(around):
    """All databases of up to three rows, and each with one row less, or with another one in its place."""
    statement = main(ROWS, around)
    answers = {
        rows: found(statement, [{"x": value} for value in rows])
        for count in range(4) for rows in combinations_with_replacement(range(4), count)
        for rows in [tuple(VALUES[place] for place in rows)]
    }  # fmt: skip
    removed = [(rows, rows[:at] + rows[at + 1 :]) for rows in answers for at in range(len(rows))]
    pairs = [(answers[rows], answers[fewer]) for rows, fewer in removed if fewer in answers]
    assert_pairs_within(statement, pairs, ADD_OR_REMOVE_ONE)
    of_one_size = [
        (answers[one], answers[other]) for one, other in combinations(answers, 2)
        if len(one) == len(other) and len(set(one) ^ set(other)) <= 2 and sum(map(same, one, other)) >= len(one) - 1
    ]  # fmt: skip
    assert_pairs_within(statement, of_one_size, REPLACE_ONE)
    (additive,) = [one for one in planned(ROWS, deviation(around)).sections[0].measurements if one.measures == (1,)]
    furthest = max(abs(one.get((), (0, 0))[1] - other.get((), (0, 0))[1]) for one, other in pairs)
    assert furthest == additive.sensitivity.l1


def same(one, other):
    return one == other


def test_no_person_moves_its_parts_further_than_is_claimed():
    """All databases of two people with up to three rows each, of which two are kept; and without one of them."""
    statement = main(OWNED)
    has = [rows for count in range(4) for rows in combinations_with_replacement((1, 4, 6), count)]
    for mine in has:
        others = [{"who": "b", "x": 6}]
        with_me = found(statement, others + [{"who": "a", "x": value} for value in mine])
        assert_pairs_within(statement, [(with_me, found(statement, others))], ADD_OR_REMOVE_ONE, str(mine))


@pytest.mark.parametrize("values", [(1, 4, 6, None), (3,), (6, 6, 6), (1,)])
@pytest.mark.parametrize("around", [3, Fraction(7, 2), 40])
def test_without_noise_it_is_the_mean_of_distances(values, around):
    table = Table(name="t", columns={"x": real(1, 6, resolution="0.5")}, keeps_rows=True)
    section = planned(table, deviation(around), epsilon=10**6).sections[0]
    ((count, total),) = found(section.statements[0], [{"x": value} for value in values]).values()
    (estimate,) = estimators(section, CONFIDENCE)[0]([[(count,)], [(total,)]])
    own = distances(values, around)
    assert estimate.value == pytest.approx(float(sum(own) / len(own)))
    assert estimate.low <= estimate.value <= estimate.high


def test_its_interval_and_forecast_are_those_of_a_mean_between_its_bounds():
    around = planned(ROWS, deviation(3)).sections[0]
    table = Table(name="t", columns={"x": integer(0, 3)}, keeps_rows=True)  # |x − 3| of 1 to 6
    mean = planned(table, Mean(ColumnRef("x"))).sections[0]
    measured = [[(40,)], [(9,)]]
    assert estimators(around, CONFIDENCE)[0](measured) == estimators(mean, CONFIDENCE)[0](measured)
    predicted = [one.outputs[0].forecast(one, CONFIDENCE, size=200) for one in (around, mean)]
    assert predicted[0] == predicted[1]


@pytest.mark.parametrize("around", ["40.5", 40.5, Fraction(81, 2)])
def test_sql_and_python_ask_the_same(around):
    ((_, asked),) = parsed("SELECT AVG_ABS_DEV(total, 40.5) AS d FROM orders").child.statistics
    assert asked == sf.avg_abs_dev("total", around=around)
    assert asked.sql(["total"]) == "AVG_ABS_DEV(total, 40.5)"


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("AVG_ABS_DEV(total)", ParameterError, "must have 2"),
        ("AVG_ABS_DEV(total, total)", NotPrivateError, "only a constant"),
        ("AVG_ABS_DEV(total, 'x')", ParameterError, "a constant number"),
        ("AVG_ABS_DEV(status, 1)", ParameterError, "of numbers"),
    ],
)
def test_what_means_nothing_is_refused(sql, error, message):
    with pytest.raises(error, match=message):
        parsed(f"SELECT {sql} AS d FROM orders")


@pytest.mark.parametrize("around", ["much", float("inf"), None])
def test_the_constant_is_a_number(around):
    with pytest.raises(ParameterError, match="around"):
        sf.avg_abs_dev("x", around=around)


@pytest.mark.parametrize("case", [case for case in cases() if "AVG_ABS_DEV" in case["sql"]])
def test_answers_are_printed_as_before(case):
    asked = {name: value for name, value in case.items() if name != "shown"}
    assert shown(**asked) == case["shown"]
