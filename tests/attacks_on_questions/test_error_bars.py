"""Intervals of whole answers: they hold the exact answer as often as they say, and are hardly wider than needed."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom
from tests.attacks_on_questions.clinic import clinic, ordinary, visit
from tests.attacks_on_questions.observing import plan_of
from tests.attacks_on_questions.releasing import released_often

import sfumato as sf
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.query.statistics.measurements import estimators
from sfumato.session.asking.forecast import forecast
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import Released

ALPHA = 1e-6
CONFIDENCE = Fraction(95, 100)
SURE = 10**8
"""So much ε that noise moves nothing."""
pytestmark = pytest.mark.statistical


def within(mechanism, width):
    """P(|noise| ≤ width), summed over all whole numbers."""
    steps = np.arange(-width, width + 1, dtype=float)
    if isinstance(mechanism, Laplace):
        scale = float(mechanism.scale)
        return float((np.exp(-np.abs(steps) / scale) * math.tanh(1 / (2 * scale))).sum())
    stddev = float(mechanism.stddev)
    beyond = np.arange(-30 * math.ceil(stddev) - 30, 30 * math.ceil(stddev) + 31, dtype=float)
    return float(np.exp(-((steps / stddev) ** 2) / 2).sum() / np.exp(-((beyond / stddev) ** 2) / 2).sum())


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("epsilon", ["0.05", "0.3", 1, 2, 5])
@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.95", "0.999"])
def test_the_interval_of_a_count_is_the_narrowest_that_holds_it_so_often_or_one_step_more(law, epsilon, confidence):
    """Catalogue 83. By the exact law of the noise: integer noise at ε = 1 covers 97.3% at best."""
    with clinic(ordinary(), engine="reference") as session:
        question = session.query("SELECT COUNT(*) AS n FROM visits")
        delta = "1e-6" if law == "gaussian" else 0
        (measurement,) = plan_of(question, epsilon=epsilon, delta=delta, law=law).sections[0].measurements
        release = question.release(epsilon=epsilon, delta=delta, mechanism=law, confidence=confidence)
    (estimate,) = release["n"]
    width = estimate.high - estimate.value
    assert width == estimate.value - estimate.low
    assert within(measurement.mechanism, width) >= float(confidence) - 1e-12
    assert width < 2 or within(measurement.mechanism, width - 2) < float(confidence)


STATISTICS = {
    "n": "COUNT(*)", "v": "COUNT(cost)", "u": "COUNT(DISTINCT patient)", "d": "COUNT(DISTINCT ill)", "s": "SUM(cost)",
    "b": "SUM(beds)", "a": "AVG(cost)", "h": "AVG(hours)", "w": "VAR_POP(beds)", "q": "STDDEV(cost)",
    "r": "CORR(cost, beds)", "c": "COVAR_SAMP(cost, hours)", "e": "SUM(cost) / COUNT(*)",
    "f": "2 * COUNT(*) - SUM(beds)",
}  # fmt: skip


RUNS = 600


def estimates(question, plan, released):
    """The estimates of the one row of an answer."""
    (row,) = present(question.relation, plan, [released], CONFIDENCE).estimates
    return row


@pytest.mark.parametrize("name", STATISTICS)
def test_intervals_hold_the_exact_answer_of_the_bounded_data_at_least_as_often_as_they_say(name):
    """Catalogue 83. Fewer of so many runs would happen once in a million tests if 95% is true."""
    visits = [dict(row, patient=f"{row['patient']} {i}") for i in range(6) for row in ordinary()["visits"]]
    with clinic({**ordinary(), "visits": visits}, engine="reference") as session:
        question = session.query(f"SELECT {STATISTICS[name]} AS x FROM visits")
        (exact,) = question.release(epsilon=SURE)["x"]
        plan = plan_of(question, epsilon=5, delta=0)
        found = [estimates(question, plan, released)[0] for released in released_often(session, plan, RUNS)]
    held = sum(one.low <= exact.high and exact.low <= one.high for one in found)
    assert exact.high - exact.low <= 1e-5
    assert binom.cdf(held, RUNS, 0.95) > ALPHA


SHARED = """
    COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, STDDEV(x) AS d, VAR_POP(x) AS v, SUM(y) AS t, CORR(x, y) AS r,
    COVAR_POP(x, y) AS c, SUM(x) / COUNT(*) AS q, SUM(x) - 3 * SUM(y) AS f, AVG(x) - SUM(y) / COUNT(*) AS u
"""
"""Columns of which none has noise of its own."""


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(("size", "epsilon"), [(40, 2), (400, 1)])
def test_intervals_of_columns_that_share_their_noise_hold_each_for_itself(law, size, epsilon):
    """Catalogue 83. Each of 600 groups is a run; of formulas, too, in which one noise stands several times."""
    generator = np.random.default_rng(size)
    x = generator.integers(0, 101, RUNS * size)
    y = np.clip((x + generator.integers(0, 101, RUNS * size)) // 2, 0, 100)
    data = pa.table({"k": np.repeat(np.arange(RUNS), size), "x": x, "y": y})
    columns = {"k": sf.integer(values=range(RUNS)), **{name: sf.integer(0, 100, nullable=False) for name in "xy"}}
    with sf.open(data, name="t", columns=columns, budget=sf.NO_GUARANTEE) as session:
        question = session.query(f"SELECT k, {SHARED} FROM t GROUP BY k")
        exact = question.release(epsilon=SURE).estimates
        price = {"epsilon": epsilon, "delta": "1e-6" if law == "gaussian" else 0}
        found = question.release(**price, mechanism=law)
        numbers = len(plan_of(question, **price, law=law).sections[0].measurements)
    assert numbers == 6
    for place, name in enumerate(found.statistics):
        pairs = [(row[place], sure[place]) for row, sure in zip(found.estimates, exact, strict=True)]
        held = sum(
            (one.low is None or one.low <= sure.high) and (one.high is None or sure.low <= one.high)
            for one, sure in pairs
        )
        assert binom.cdf(held, RUNS, 0.945) > ALPHA, name


def test_several_columns_of_one_row_hold_each_for_itself():
    """Catalogue 83."""
    with clinic(ordinary(), engine="reference") as session:
        question = session.query("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits")
        exact = question.release(epsilon=SURE).estimates[0]
        plan = plan_of(question, epsilon=1, delta=0)
        found = [estimates(question, plan, released) for released in released_often(session, plan, RUNS)]
    for place, one in enumerate(exact):
        held = sum(row[place].low <= one.value <= row[place].high for row in found)
        assert binom.cdf(held, RUNS, 0.95) > ALPHA
        assert held < RUNS


def test_what_clamping_and_bounding_take_away_is_said_and_is_no_part_of_the_interval():
    """Catalogue 83. A hundred visits at a cost of 1,000 count as four at 100, however sure the answer is."""
    visits = [visit("heavy", i, cost=1000.0) for i in range(100)]
    with clinic({**ordinary(), "visits": visits}, engine="reference") as session:
        question = session.query("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits")
        (count, total) = question.release(epsilon=SURE).estimates[0]
        explained = question.explain()
    assert (count.low, count.value, count.high) == (4, 4, 4)
    assert (total.low, total.value, total.high) == (400.0, 400.0, 400.0)
    assert "at most 4 rows" in explained
    assert "clamped to 0…100;" in explained


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95"])
def test_the_predicted_error_is_within_a_twentieth_of_what_is_measured(law, confidence):
    """Catalogue 83. Of 10,000 empty groups three times; the measured quantile is within 1% of its law by chance."""
    columns = {"k": sf.integer(values=range(10_000)), "x": sf.real(0, 50, resolution="0.5")}
    empty = pa.table({"k": pa.array([], pa.int64()), "x": pa.array([], pa.float64())})
    price = {"epsilon": "0.02", "delta": "1e-6" if law == "gaussian" else 0, "mechanism": law}
    with sf.open(empty, name="t", columns=columns, budget=sf.NO_GUARANTEE, engine="reference") as session:
        question = session.query("SELECT k, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY k")
        forecasts = {one.column: one.half_width for one in question.error(**price, confidence=confidence)}
        plan = plan_of(question, epsilon="0.02", delta=price["delta"], law=law)
        released = released_often(session, plan, 3)
    for name, estimate in zip("ns", estimators(plan.sections[0], CONFIDENCE), strict=True):
        noise = np.abs([found.value for one in released for found in estimate(one.measured)])
        assert forecasts[name] == pytest.approx(np.quantile(noise, float(confidence)), rel=0.05)


COLUMNS = {"k": sf.integer(values=range(10_000)), "x": sf.real(0, 50, resolution="0.5")}
SIZE = 10_000


def averages(law, steps):
    """A question for averages, its plan at ε = 0.02, and what it releases of groups of that size and centered mean."""
    empty = pa.table({"k": pa.array([], pa.int64()), "x": pa.array([], pa.float64())})
    with sf.open(empty, name="t", columns=COLUMNS, budget=sf.NO_GUARANTEE, engine="reference") as session:
        question = session.query("SELECT k, AVG(x) AS m FROM t GROUP BY k")
        plan = plan_of(question, epsilon="0.02", delta="1e-6" if law == "gaussian" else 0, law=law)
        released = released_often(session, plan, 3)
    counts, totals = ([row[0] for one in released for row in one.measured[place]] for place in range(2))
    measured = [[(n + SIZE,) for n in counts], [(s + SIZE * steps,) for s in totals]]
    return (
        question,
        plan,
        Released(groups=tuple((k,) for k in range(len(counts))), measured=tuple(map(tuple, measured))),
    )


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("steps", [0, 40])
def test_the_interval_of_an_average_holds_it_as_often_as_it_says_and_hardly_more(law, steps):
    """Catalogue 83. Two intervals at 97.5%, of the sum and the count, would hold it in 98% of cases."""
    question, plan, released = averages(law, steps)
    rows = present(question.relation, plan, [released], CONFIDENCE).estimates
    exact = 25 + steps / 2
    held = sum(one.low <= exact <= one.high for (one,) in rows)
    assert binom.cdf(held, len(rows), 0.95) > ALPHA
    assert binom.sf(held, len(rows), 0.952) > ALPHA


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95"])
def test_the_predicted_error_of_an_average_is_within_a_twentieth_of_what_is_measured(law, confidence):
    """Catalogue 83."""
    _, plan, released = averages(law, 0)
    (prediction,) = forecast(plan, confidence=Fraction(confidence), size=SIZE)
    (counts,), (totals,) = (np.array(numbers).T for numbers in released.measured)
    assert prediction.half_width == pytest.approx(np.quantile(np.abs(totals / counts) / 2, float(confidence)), rel=0.05)
