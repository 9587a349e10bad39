"""Formulas over answers: what has an interval of its own, and where ends go through roots, logarithms and powers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA
from tests.query.planned import PEOPLE, N, ref, relation_of

from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import ANYTHING, Interval
from sfumato.query.model.kinds import Kind
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import presented
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import LinearOutput
from sfumato.session.releases.formulas import Linear, Quotient, formula_facts, intervals_of, parts_of
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import Released

CONFIDENCE = Fraction(95, 100)
FACTS = {
    "n": Facts(kind=Kind.INTEGER),
    "k": Facts(kind=Kind.INTEGER),
    "p": Facts(kind=Kind.FLOAT),
    "m": Facts(kind=Kind.FLOAT),
}
OUTPUTS = {
    name: LinearOutput(name=name, measurement=place, resolution=step)
    for place, (name, step) in enumerate({"n": Fraction(1), "k": Fraction(1), "p": Fraction(1, 100)}.items())
}
A, B, C = (0, 0), (1, 0), (2, 0)
_PLACES = {"a": A, "b": B, "c": C}


def call(function, *arguments):
    return Call(function, tuple(a if not isinstance(a, int | str) else number(a) for a in arguments))


def number(value):
    return Literal(Fraction(value))


def parts(expression):
    whole, found = parts_of(expression, OUTPUTS, FACTS)
    return whole, [part for _, part in found.values()]


def linear(constant, **factors):
    return Linear(Fraction(constant), tuple((_PLACES[name], Fraction(f)) for name, f in factors.items()))


N_, K_, P_ = ref("n"), ref("k"), ref("p")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (call(Function.SUBTRACT, N_, K_), [linear(0, a=1, b=-1)]),
        (call(Function.ADD, call(Function.MULTIPLY, 3, N_), 7), [linear(7, a=3)]),
        (call(Function.DIVIDE, P_, 4), [linear(0, c="1/400")]),
        (call(Function.NEGATE, call(Function.TO_FLOAT, N_)), [linear(0, a=-1)]),
        (call(Function.DIVIDE, P_, call(Function.NULL_IF, N_, 0)), [Quotient(linear(0, c="1/100"), linear(0, a=1))]),
        (call(Function.DIVIDE, N_, call(Function.ADD, N_, K_)), [Quotient(linear(0, a=1), linear(0, a=1, b=1))]),
        (call(Function.SQRT, call(Function.SUBTRACT, N_, K_)), [linear(0, a=1, b=-1)]),
        (call(Function.MULTIPLY, N_, K_), []),
        (call(Function.ADD, ref("m"), call(Function.ADD, N_, K_)), [linear(0, a=1, b=1)]),
        (call(Function.SUBTRACT, N_, N_), []),
        (N_, []),
    ],
)  # fmt: skip
def test_sums_and_quotients_of_noisy_numbers_are_parts_as_large_as_there_are(expression, expected):
    assert parts(expression)[1] == expected


def test_whole_numbers_divided_by_a_constant_are_a_quotient_toward_zero_and_no_part_of_a_sum():
    halves = call(Function.DIVIDE, N_, 2)
    assert parts(call(Function.ADD, halves, K_))[1] == []


def test_one_part_that_stands_twice_is_one():
    difference = call(Function.SUBTRACT, N_, K_)
    whole, found = parts(call(Function.MULTIPLY, difference, difference))
    assert len(found) == 1
    assert whole.arguments[0] == whole.arguments[1]


def test_parts_are_found_in_the_values_of_a_case_and_not_in_its_conditions():
    both = call(Function.ADD, N_, K_)
    _, found = parts(
        Case(((Compare(Comparison.GREATER, both, number(0)), call(Function.SUBTRACT, N_, K_)),), number(0))
    )
    assert found == [linear(0, a=1, b=-1)]


def noise(_):
    return IntegerNoise("laplace", Fraction(100))


def test_the_interval_of_a_difference_is_narrower_than_two_intervals():
    (found,) = intervals_of(linear(0, a=1, b=-1), [{A: 900, B: 100}], noise, Fraction(1, 20))
    width = float(found.upper) - 800
    assert float(found.lower) == pytest.approx(800 - width)
    assert 400 < width < 2 * 300  # and two at 97.5% are 738


def test_a_quotient_by_what_may_be_0_has_no_ends_and_another_one_has():
    quotient = Quotient(linear(0, a=1), linear(0, b=1))
    found = intervals_of(quotient, [{A: 5_000, B: 10_000}, {A: 5_000, B: 100}, {A: 5, B: 0}], noise, Fraction(1, 20))
    assert found[1:] == [ANYTHING, ANYTHING]
    assert 0.45 < found[0].lower < 0.5 < found[0].upper < 0.55


BOUNDED = Interval(Fraction(2), Fraction(50))


@pytest.mark.parametrize(
    ("expression", "interval", "expected"),
    [
        (call(Function.SQRT, ref("m")), BOUNDED, (math.sqrt(2), math.sqrt(50))),
        (call(Function.SQRT, ref("m")), Interval(Fraction(-3), Fraction(9)), (0, 3)),
        (call(Function.LN, ref("m")), BOUNDED, (math.log(2), math.log(50))),
        (call(Function.LN, ref("m")), Interval(Fraction(-1), Fraction(50)), (None, math.log(50))),
        (call(Function.LN, ref("m")), Interval(Fraction(-5), Fraction(-1)), (None, None)),
        (call(Function.LOG10, ref("m")), Interval(Fraction(10), None), (1, None)),
        (call(Function.EXP, ref("m")), Interval(Fraction(0), Fraction(2)), (1, math.exp(2))),
        (call(Function.EXP, ref("m")), Interval(None, Fraction(10_000)), (0, None)),
        (call(Function.POWER, ref("m"), 2), Interval(Fraction(-3), Fraction(2)), (0, 9)),
        (call(Function.POWER, ref("m"), 3), Interval(Fraction(-3), Fraction(2)), (-27, 8)),
        (call(Function.POWER, ref("m"), 3), Interval(Fraction(-3), Fraction(-2)), (-27, -8)),
        (call(Function.POWER, ref("m"), "1/2"), Interval(Fraction(4), Fraction(9)), (2, 3)),
        (call(Function.POWER, ref("m"), -1), Interval(Fraction(4), Fraction(5)), ("1/5", "1/4")),
        (call(Function.POWER, ref("m"), -1), Interval(Fraction(-5), Fraction(-4)), ("-1/4", "-1/5")),
        (call(Function.POWER, ref("m"), -1), Interval(Fraction(-4), Fraction(5)), (None, None)),
        (call(Function.POWER, ref("m"), -2), Interval(Fraction(-4), Fraction(2)), ("1/16", None)),
        (call(Function.POWER, ref("m"), 0), BOUNDED, (1, 1)),
        (call(Function.MULTIPLY, 2, call(Function.SQRT, ref("m"))), Interval(Fraction(4), Fraction(9)), (4, 6)),
    ],
)  # fmt: skip
def test_ends_go_through_functions_that_only_rise_or_fall(expression, interval, expected):
    found = formula_facts(expression, {"m": Facts(kind=Kind.FLOAT, interval=interval)}).interval
    for end, value, side in ((found.lower, expected[0], -1), (found.upper, expected[1], 1)):
        assert (end is None) == (value is None)
        if value is not None:
            assert float(end) == pytest.approx(float(Fraction(value)), rel=1e-12, abs=1e-12)
            assert side * (end - Fraction(value)) >= -Fraction(1, 10**15)


# Whether one part is all, and its interval is left as it is: that of the logarithm is open where b may be 0.
CASES = {
    "difference": (call(Function.SUBTRACT, ref("a"), ref("b")), lambda a, b: a - b, True),
    "share": (call(Function.DIVIDE, ref("a"), call(Function.ADD, ref("a"), ref("b"))), lambda a, b: a / (a + b), True),
    "quotient": (call(Function.DIVIDE, ref("a"), ref("b")), lambda a, b: a / b, True),
    "log": (call(Function.LN, call(Function.DIVIDE, ref("a"), ref("b"))), lambda a, b: math.log(a / b), False),
    "root": (call(Function.SQRT, ref("a")), lambda a, _: math.sqrt(a), True),
    "power": (call(Function.POWER, call(Function.DIVIDE, ref("a"), ref("b")), 3), lambda a, b: (a / b) ** 3, True),
    "product": (call(Function.MULTIPLY, ref("a"), ref("b")), lambda a, b: a * b, False),
}  # fmt: skip
TRUE, SURER = (30_050, 2_025), 12


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.3", SURER])
@pytest.mark.parametrize("name", CASES)
def test_they_hold_as_often_as_they_say_and_where_one_part_is_all_hardly_more_often(name, epsilon):
    """Of two sums of pay, 300.5 and 20.25: at an ε of 0.3 the noise of the lesser is larger than itself."""
    expression, exact, is_one_part = CASES[name]
    a, b = (Sum(ref("pay"), (Fraction(cents, 100), Fraction(10))) for cents in (1, 2))  # which share nothing
    statistics, runs = (("a", a), ("b", b)), 2_000
    made = presented(relation_of(PEOPLE), statistics=statistics, columns=(("x", expression),), keys=("kids",))
    plan = compile_plan(made.child, guarantee(epsilon), neighboring_relation=ADD_OR_REMOVE_ONE)
    draws = [
        m.mechanism.release(np.full(runs, part)).tolist()
        for m, part in zip(plan.sections[0].measurements, TRUE, strict=True)
    ]
    released = Released(
        groups=tuple((i,) for i in range(runs)), measured=tuple(tuple((n,) for n in draw) for draw in draws)
    )
    rows = present(made, plan, [released], CONFIDENCE).estimates
    true = exact(TRUE[0] / 100, TRUE[1] / 100)
    held = sum((one.low is None or one.low <= true) and (one.high is None or true <= one.high) for (one,) in rows)
    assert binom.cdf(held, runs, 0.95) >= ALPHA
    if is_one_part and epsilon == SURER:  # with more noise, a set that leaves a gap is shown as a whole
        assert binom.sf(held, runs, 0.96) >= ALPHA


def test_a_formula_of_a_mean_has_the_intervals_of_all_that_it_is_made_of():
    made = presented(
        relation_of(PEOPLE), statistics=(N, ("m", Mean(ref("age")))),
        columns=(("x", call(Function.MULTIPLY, ref("m"), ref("n"))), ("m", ref("m"))),
    )  # fmt: skip
    plan = compile_plan(made.child, guarantee(3), neighboring_relation=ADD_OR_REMOVE_ONE)
    released = Released(groups=((),), measured=(((1_000,),), ((1_000,),), ((0,),)))
    product, mean = present(made, plan, [released], CONFIDENCE).estimates[0]
    assert product.low < mean.low * 1_000 < mean.high * 1_000 < product.high


def test_names_of_parts_are_no_names_of_columns():
    whole, _ = parts(call(Function.SUBTRACT, N_, K_))
    assert isinstance(whole, ColumnRef)
    assert "\0" in whole.name
