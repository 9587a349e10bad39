"""Accuracy first: the smallest ε, from public facts alone."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, N, planned, ref

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.relations import Mean, Quantile, Sum
from sfumato.query.model.schema import Table, integer
from sfumato.session.asking.forecast import Forecast, forecast
from sfumato.session.asking.targets import LARGEST, STEP, least_epsilon

CONFIDENCE = Fraction(95, 100)


def errors_of(*statistics, table=PEOPLE, **options):
    """What would be predicted at an ε."""
    return lambda epsilon: forecast(planned(table, *statistics, epsilon=epsilon, **options), confidence=CONFIDENCE)


def inverse(*shares):
    """Columns whose errors fall like share/ε."""
    return lambda epsilon: tuple(
        Forecast(column=f"c{index}", half_width=float(share / epsilon)) for index, share in enumerate(shares)
    )


@given(st.fractions(Fraction(1, 10**5), Fraction(1000), max_denominator=10**6), st.sampled_from([1, 7, "0.01"]))
def test_it_is_the_smallest_multiple_that_is_enough(share, target):
    limit = Fraction(target)
    found = least_epsilon(inverse(share), {"c0": target})
    assert (found / STEP).denominator == 1
    assert float(share / found) <= limit
    assert found == STEP or float(share / (found - STEP)) > limit


def test_every_target_is_met_and_one_of_them_just_so():
    assert least_epsilon(inverse(1, 5, 100), {"c0": 1, "c1": "0.5"}) == 10
    assert least_epsilon(inverse(1, 5, 100), {"c2": 1, "c1": "0.5"}) == 100


@pytest.mark.parametrize(
    ("statistics", "target"),
    [((N,), {"n": 25}), ((N, ("m", Mean(ref("age")))), {"n": 10, "m": 2}), ((("s", Sum(ref("age"))), N), {"s": 500})],
)
def test_of_real_plans_the_step_below_is_not_enough(statistics, target):
    predicted = errors_of(*statistics)
    found = least_epsilon(predicted, target)
    for epsilon, is_enough in ((found, True), (found - STEP, False)):
        errors = {one.column: one.half_width for one in predicted(epsilon)}
        assert all(errors[name] <= limit for name, limit in target.items()) is is_enough


def test_of_a_count_it_is_found_by_hand():
    """P(|X| > 25) = 2q^26/(1 + q) ≤ 1/20 for q = e^−ε."""
    assert least_epsilon(errors_of(N), {"n": 25}) == pytest.approx(Fraction("0.1164"), rel=0.01)


def test_a_target_that_noise_too_wide_to_be_drawn_misses_is_met_by_a_larger_epsilon():
    wide = Table(name="t", columns={"v": integer(0, 2**52)})
    predicted = errors_of(("s", Sum(ref("v"))), table=wide)
    with pytest.raises(ParameterError, match="2\\^50"):
        predicted(Fraction(1))
    found = least_epsilon(predicted, {"s": 10**15})
    assert 10 < found < 20
    assert least_epsilon(predicted, {"s": 10**40}) < found


@pytest.mark.parametrize("law", ["laplace", "gaussian", None])
def test_with_delta_the_step_below_is_not_enough_either(law):
    predicted = errors_of(("s", Sum(ref("age"))), delta="1e-6", law=law)
    found = least_epsilon(predicted, {"s": 1000})
    assert predicted(found)[0].half_width <= 1000 < predicted(found - STEP)[0].half_width


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({}, "must state the largest error"), ({"x": 1}, "released, not computed of others: c0, c1"),
        (25, "such as {'n': 25}"), ({"c0": 0}, "above 0"), ({"c0": -1}, "above 0"),
        ({"c0": "much"}, "finite number"), ({"c0": "1e-12"}, "smaller than any noise"),
    ],
)  # fmt: skip
def test_targets_that_mean_nothing_are_refused(targets, message):
    with pytest.raises(ParameterError, match=message):
        least_epsilon(inverse(1, 2), targets)


def test_a_question_without_an_answer_says_why():
    with pytest.raises(NotPrivateError, match="δ"):
        least_epsilon(errors_of(N, keys=("town",)), {"n": 1})
    with pytest.raises(ParameterError, match="laplace, gaussian"):
        least_epsilon(errors_of(N, law="none"), {"n": 1})


def test_errors_that_no_epsilon_lessens_are_refused():
    flat = lambda _: (Forecast(column="c0", half_width=5.0),)  # noqa: E731 # a constant
    with pytest.raises(ParameterError, match="smaller than any noise"):
        least_epsilon(flat, {"c0": 4})
    assert least_epsilon(flat, {"c0": 6}) == STEP


def test_ranks_are_errors_too():
    predicted = errors_of(("q", Quantile(ref("age"), Fraction(1, 2))))
    found = least_epsilon(predicted, {"q": 10})
    assert predicted(found)[0].half_width <= 10 < predicted(found - STEP)[0].half_width


def test_few_plans_are_made():
    asked = []

    def predicted(epsilon):
        asked.append(epsilon)
        return inverse(1)(epsilon)

    least_epsilon(predicted, {"c0": 25})
    assert len(asked) < 30
    assert max(asked) <= LARGEST
