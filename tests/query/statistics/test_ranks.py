"""Chosen values: the error in ranks that is shown with them, the mark of noise, and intervals that are bought."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom
from tests.laws import ALPHA
from tests.query.planned import PEOPLE, VISITS, N, planned, ref
from tests.session.desk import asked, desk, rows

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.mechanisms.quantiles.quantile import Quantile as QuantileMechanism
from sfumato.mechanisms.quantiles.quantile import QuantileEnd
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.expressions import Call, Literal
from sfumato.query.model.functions import Function
from sfumato.query.printing.canonical import question_text
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.measurements import QuantileChoice, estimators
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.ranks import misrank_of, misranked
from sfumato.query.statistics.top_values import TopValues
from sfumato.session.asking.forecast import forecast

CONFIDENCE = Fraction(95, 100)
MEDIAN, BOUGHT = Percentile(ref("age"), Fraction(1, 2)), Percentile(ref("age"), Fraction(1, 2), None, interval=True)
FIVE = rows(PEOPLE, *[{"age": 50, "sex": "m"}] * 5)


def answer(*statistics, data=FIVE, epsilon="0.1", **options):
    clauses = {name: options.pop(name) for name in ("columns", "keys") if name in options}
    return asked(desk((PEOPLE, data)), PEOPLE, statistics=statistics, **clauses).release(epsilon=epsilon, **options)


def test_a_median_of_five_values_shows_its_error_in_ranks():
    (median,) = answer(("m", MEDIAN))["m"]
    assert median.misrank.error == pytest.approx(math.log(101 / 0.05) / 0.1)
    assert not median.is_mostly_noise  # nobody has said how many values there are
    assert "(± 77 ranks)" in repr(answer(("m", MEDIAN)))


def test_a_median_of_five_values_is_marked_where_a_count_of_them_is_released():
    shown = repr(answer(("m", MEDIAN), N, epsilon="0.2"))
    assert "ranks) ≲ noise" in shown


def test_so_it_is_where_somebody_says_how_many_there_are():
    found = answer(("m", MEDIAN), size=5)
    assert found["m"][0].is_mostly_noise
    assert found["m"][0].misrank.size == 5
    assert not answer(("m", MEDIAN), size=1_000)["m"][0].is_mostly_noise


def test_a_released_count_is_taken_before_what_somebody_says():
    many = rows(PEOPLE, *[{"age": 50}] * 2_000)
    assert not answer(("m", MEDIAN), N, data=many, epsilon=1, size=5)["m"][0].is_mostly_noise


def test_a_stated_size_is_a_whole_number_and_changes_no_answer():
    curator = desk((PEOPLE, FIVE))
    question = asked(curator, PEOPLE, statistics=(("m", MEDIAN),))
    first, second = question.release(epsilon=1), question.release(epsilon=1, size=5)
    assert second.reused
    assert first["m"][0].value == second["m"][0].value
    with pytest.raises(ParameterError, match="size"):
        question.release(epsilon=1, size=0)


def test_a_median_of_many_values_is_not_marked():
    many = rows(PEOPLE, *[{"age": i % 100} for i in range(2_000)])
    assert not answer(("m", MEDIAN), N, data=many, epsilon=2)["m"][0].is_mostly_noise


@pytest.mark.parametrize(("quantile", "share"), [("1/2", "1/2"), ("9/10", "9/10"), ("1/10", "9/10"), (0, 1), (1, 1)])
def test_an_error_that_reaches_both_ends_is_noise(quantile, share):
    made = planned(PEOPLE, ("m", Percentile(ref("age"), Fraction(quantile))), N, epsilon=1).sections[0]
    assert misrank_of(made, 0, CONFIDENCE)([(0,), (40,)]).share == Fraction(share)


def test_of_a_largest_value_those_that_it_leaves_above_count_too():
    (choice,) = planned(PEOPLE, ("m", Percentile(ref("age"), Fraction(1))), epsilon=1).sections[0].measurements
    rank = choice.mechanism.rank
    assert misranked(choice, CONFIDENCE) == rank - 1 + choice.mechanism.accuracy(CONFIDENCE)
    (predicted,) = forecast(
        planned(PEOPLE, ("m", Percentile(ref("age"), Fraction(1))), epsilon=1), confidence=CONFIDENCE
    )
    assert predicted.half_width == misranked(choice, CONFIDENCE)


def test_most_frequent_values_show_how_many_rows_they_may_lack():
    found = answer(("t", TopValues(ref("sex"))), N, epsilon="0.2")
    (top,) = found["t"]
    assert (top.misrank.unit, top.is_mostly_noise) == ("rows", True)
    assert f"(± {top.misrank.error:.0f} rows) ≲ noise" in repr(found)


def test_of_epsilon_zero_the_error_is_any():
    (choice,) = planned(PEOPLE, ("m", MEDIAN), epsilon=0).sections[0].measurements
    assert misranked(choice, CONFIDENCE) == math.inf


def test_what_is_computed_of_a_choice_carries_its_error():
    half = Call(Function.DIVIDE, (ref("m"), Literal(Fraction(2))))
    (one,) = answer(("m", MEDIAN), N, columns=(("half", half),), epsilon="0.2")["half"]
    assert one.misrank.unit == "ranks"
    assert one.is_mostly_noise


def test_a_sum_and_a_count_of_units_are_no_counts_of_rows():
    made = planned(VISITS, ("m", Percentile(ref("hours"), Fraction(1, 2))), ("s", Sum(ref("hours"))), epsilon=1)
    assert misrank_of(made.sections[0], 0, CONFIDENCE, size=7)([(0,), (10**6,)]).size == 7


def test_only_choices_have_ranks():
    with pytest.raises(TypeError, match="chosen"):
        misrank_of(planned(PEOPLE, N).sections[0], 0, CONFIDENCE)


# Intervals that are bought


def test_an_interval_takes_two_thirds_of_the_price_and_none_of_anything_else():
    plan = planned(PEOPLE, ("m", BOUGHT), N, epsilon=2)
    near, low, high, count = plan.sections[0].measurements
    assert [type(one.mechanism) for one in (near, low, high)] == [QuantileMechanism, QuantileEnd, QuantileEnd]
    assert [one.mechanism.epsilon for one in (near, low, high, count)] == [Fraction(1, 3)] * 3 + [1]
    assert [one.mechanism.is_upper for one in (low, high)] == [False, True]
    assert plan.charge == PureDP(2)


def test_a_unit_with_several_rows_pays_for_each_of_them():
    plan = planned(VISITS, ("m", Percentile(ref("hours"), Fraction(1, 2), None, interval=True)), epsilon=3)
    for choice in plan.sections[0].measurements:
        assert isinstance(choice, QuantileChoice)
        assert choice.mechanism.epsilon * choice.rows == 1


def test_the_same_question_with_an_interval_is_another_one():
    texts = {question_text(planned(PEOPLE, ("m", one)).question) for one in (MEDIAN, BOUGHT)}
    assert len(texts) == 2
    assert not any("false" in text.lower() for text in texts)  # so that answers stored before are found again


def test_an_interval_runs_from_the_first_step_of_its_lower_bin_to_the_last_of_its_upper():
    wide = planned(PEOPLE, ("m", Percentile(ref("pay"), Fraction(1, 2), (Fraction(0), Fraction(10**5)), interval=True)))
    (own,), bins = estimators(wide.sections[0], CONFIDENCE), wide.sections[0].outputs[0].bins
    (found,) = own([[(50,)], [(20,)], [(70,)]])
    step = float(bins.steps.resolution)
    assert (found.low, found.high) == (
        pytest.approx(20 * bins.width * step),
        pytest.approx((71 * bins.width - 1) * step),
    )
    assert found.low < found.value < found.high


def test_ends_that_have_changed_sides_and_a_value_outside_are_inside():
    (own,) = estimators(planned(PEOPLE, ("m", BOUGHT)).sections[0], CONFIDENCE)
    (found,) = own([[(99,)], [(60,)], [(40,)]])
    assert (found.low, found.value, found.high) == (40, 99, 99)


DATA = {
    "even": np.arange(400) % 101,
    "five": np.full(5, 50),
    "none": np.zeros(0, dtype=int),
    "two": np.repeat([3, 90], 60),
}


def is_held(values, quantile, low, high):
    """Whether some x between the ends has #{v < x} ≤ q·n ≤ #{v ≤ x}."""
    target, points = quantile * len(values), np.arange(101)
    is_one = np.array([np.sum(values < x) <= target <= np.sum(values <= x) for x in points])
    return bool(is_one[(points >= low) & (points <= high)].any())


@pytest.mark.statistical
@pytest.mark.parametrize("quantile", ["1/2", "9/10"])
@pytest.mark.parametrize("epsilon", ["0.3", 6])
@pytest.mark.parametrize("name", DATA)
def test_bought_intervals_hold_the_quantile_as_often_as_they_say(name, epsilon, quantile):
    statistic = Percentile(ref("age"), Fraction(quantile), None, interval=True)
    section = planned(PEOPLE, ("m", statistic), epsilon=epsilon).sections[0]
    (own,), runs = estimators(section, CONFIDENCE), 400
    draws = [[(int(m.mechanism.release(DATA[name])),) for _ in range(runs)] for m in section.measurements]
    found = own(draws)
    held = sum(is_held(DATA[name], Fraction(quantile), one.low, one.high) for one in found)
    assert binom.cdf(held, runs, 0.95) >= ALPHA


def test_of_many_values_a_bought_interval_is_narrow():
    many = rows(PEOPLE, *[{"age": i % 101} for i in range(20_000)])
    (found,) = answer(("m", BOUGHT), data=many, epsilon=3)["m"]
    assert found.low <= 50 <= found.high
    assert found.high - found.low <= 4
    assert "ranks" not in repr(answer(("m", BOUGHT), data=many, epsilon=3))


def test_no_interval_is_called_surer_than_it_was_bought_for():
    question = asked(desk((PEOPLE, FIVE)), PEOPLE, statistics=(("m", BOUGHT),))
    with pytest.raises(ParameterError, match=r"0\.95"):
        question.release(epsilon=1, confidence="0.99")
    assert question.release(epsilon=1, confidence="0.9").confidence == 0.9


@pytest.mark.parametrize("quantile", [0, 1])
def test_extremes_have_no_interval(quantile):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        planned(PEOPLE, ("m", Percentile(ref("age"), Fraction(quantile), None, interval=True)))


@pytest.fixture(scope="module")
def people():
    data = pa.table({"age": [30 + i % 40 for i in range(3_000)]})
    columns = {"age": sf.integer(0, 120)}
    with sf.open(data, name="people", columns=columns, budget=sf.NO_GUARANTEE, engine="reference") as session:
        yield session


def test_frames_and_sql_buy_the_same_interval(people):
    frame = people.table().agg(m=sf.median("age", interval=True))
    query = people.query("SELECT MEDIAN(age) AS m FROM people", intervals=True)
    assert question_text(frame.relation.child) == question_text(query.relation.child)
    (first,) = frame.release(epsilon=3)["m"]
    (second,) = people.sql("SELECT MEDIAN(age) AS m FROM people", epsilon=3, intervals=True)["m"]
    assert first == second
    assert first.low <= 50 <= first.high
    assert "with an interval" in query.release(epsilon=3).receipt.question


def test_in_sql_extremes_stay_as_they_are_and_without_a_quantile_nothing_is_bought(people):
    query = people.query("SELECT MEDIAN(age) AS m, MAX(age) AS x FROM people", intervals=True)
    bought = {name: one.interval for name, one in query.relation.child.statistics}
    assert bought == {"m": True, "x": False}
    with pytest.raises(ParameterError, match="intervals"):
        people.query("SELECT MAX(age) AS x FROM people", intervals=True)


def test_the_plan_says_how_sure_each_end_is(people):
    explained = people.table().agg(m=sf.quantile("age", "0.9", interval=True)).explain(epsilon=3)
    assert "lower end of the interval of quantile 0.9, right with probability 97.5%: exponential mechanism" in explained
    assert "upper end of the interval of quantile 0.9" in explained
