"""Each noisy number is measured once, for all that need it, with the part of the budget with which all err least."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, VISITS, N, planned, ref
from tests.query.planning.test_plan import questions
from tests.query.pricing import price

from sfumato.errors import SfumatoError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.privacy.guarantees import PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.expressions import Call, Case, Compare, Comparison, Literal, Null
from sfumato.query.model.facts import Edition
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Table, integer, real
from sfumato.query.model.statement import AUTO, RowCount, ValueCount
from sfumato.query.planning.allocation import Choice, Noise, Weight
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.sharing import apart, shared
from sfumato.query.statistics.counts import CountDistinct, CountValues
from sfumato.query.statistics.deviations import AbsoluteDeviation
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import Additive, CenteredOutput, LinearOutput
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.recipes import CenteredSum, NoisyMeasures, Recipe
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.session.asking.forecast import forecast

KIDS, AGE, HOURS, X, Y = ref("kids"), ref("age"), ref("hours"), ref("x"), ref("y")
TABLE = Table(name="t", columns={
    "x": integer(0, 100, nullable=False), "y": integer(20, 60, nullable=False), "maybe": integer(0, 100),
    "around": integer(-5, 5, nullable=False), "wide": real(0, 10**6, nullable=False),
    "high": integer(1_000, 1_002, nullable=False),
})  # fmt: skip
TENS = (Fraction(0), Fraction(10), Fraction(20))
MOMENTS = (("m", Mean(X)), ("d", Variance(X, root=True)), ("v", Variance(X)))


def measured(plan):
    """What is measured of the first section, in order."""
    (section, *_) = plan.sections
    return [
        tuple(section.statements[one.statement].measures[place] for place in one.measures)
        for one in section.measurements
    ]


def count(*statistics, child=TABLE, **options):
    """How many noisy numbers a question takes, by the latest rules and by the first."""
    named = [(f"s{index}", one) for index, one in enumerate(statistics)]
    found = (planned(child, *named, edition=edition, **options) for edition in (Edition.LATEST, Edition.FIRST))
    return tuple(len(plan.sections[0].measurements) for plan in found)


def only_where(value, comparison, limit):
    """A value of rows in which x is on one side of a limit."""
    return Case(((Compare(comparison, X, Literal(Fraction(limit))), value),), Null(Kind.INTEGER))


# What is shared


def test_a_mean_a_deviation_and_a_variance_take_three_numbers_not_eight():
    assert count(Mean(X), Variance(X, root=True), Variance(X)) == (3, 8)


def test_a_count_a_sum_a_mean_and_a_correlation_share_all_they_can():
    assert count(N[1], CountValues(X), Sum(X), Sum(Y), Mean(X), Covariance(X, Y, normalized=True)) == (6, 12)


def test_rows_are_the_values_of_a_column_that_is_never_null_and_of_no_other():
    assert count(N[1], CountValues(X)) == (1, 2)
    assert count(N[1], CountValues(ref("maybe"))) == (2, 2)
    assert count(CountValues(ref("maybe")), Mean(ref("maybe"))) == (2, 3)


def test_nothing_is_shared_across_filters_values_or_bounds():
    adults, children = (only_where(X, side, 18) for side in (Comparison.GREATER_EQUAL, Comparison.LESS))
    assert count(Mean(adults), Mean(children)) == (4, 4)
    assert count(CountValues(adults), CountValues(children), N[1]) == (3, 3)
    assert count(Mean(X), Mean(Y)) == (3, 4)  # the count of rows alone
    assert count(Mean(X), Mean(X, (Fraction(0), Fraction(50)))) == (3, 4)
    assert count(Histogram(X, TENS), Histogram(X, (*TENS[:2], Fraction(30))), Histogram(Y, TENS)) == (3, 3)
    assert count(TopValues(ref("sex")), TopValues(ref("sex"), 2), child=PEOPLE) == (2, 2)


def test_equal_choices_and_cells_are_made_once():
    twice = [
        Percentile(X, Fraction(1, 2)),
        Histogram(X, TENS),
        CountDistinct(X),
        AbsoluteDeviation(X, Fraction(3)),
    ]
    assert count(*twice, *twice) == (5, 10)
    assert count(Percentile(X, Fraction(1, 2)), Percentile(X, Fraction(1, 2), interval=True)) == (3, 4)


def test_ways_to_group_share_nothing():
    plan = planned(PEOPLE, N, ("c", CountValues(KIDS)), keys=("sex", "smokes"), sets=(("sex", "smokes"), ("sex",), ()))
    assert [len(section.measurements) for section in plan.sections] == [1, 1, 1]
    assert price(plan, ADD_OR_REMOVE_ONE) == 1


def test_a_statistic_that_needs_a_number_twice_has_a_noise_of_its_own_each_time():
    """Its intervals take the noises of its parts for independent."""
    itself = Covariance(X, X, normalized=True)
    (output,) = planned(TABLE, itself).sections[0].outputs
    assert output.parts == (0, 1, 2, 3, 4, 5)
    assert count(itself, itself, Mean(X)) == (6, 14)


def test_histograms_that_bounds_are_chosen_from_are_bought_once_too():
    automatic = (("s", Sum(X, AUTO)), ("m", Mean(X, AUTO)), ("y", Mean(Y, AUTO)))
    plan, before = (planned(TABLE, *automatic, edition=edition) for edition in (Edition.LATEST, Edition.FIRST))
    first, second = plan.bounds.section.measurements
    assert first.mechanism.epsilon == pytest.approx(2 * second.mechanism.epsilon)
    assert [output.measurement for output in plan.bounds.section.outputs] == [0, 0, 1]
    assert len(before.bounds.section.measurements) == 3
    assert plan.bounds.rest == before.bounds.rest
    assert price(plan, ADD_OR_REMOVE_ONE) == 1


# What each number gets


def epsilons(*statistics, child=TABLE, **options):
    named = [(f"s{index}", one) for index, one in enumerate(statistics)]
    return [one.mechanism.epsilon for one in planned(child, *named, **options).sections[0].measurements]


def test_statistics_that_share_nothing_get_their_weights_and_divide_them():
    assert epsilons(N[1], Percentile(X, Fraction(1, 2))) == [Fraction(1, 2)] * 2
    assert epsilons(Mean(X)) == [Fraction(2, 5), Fraction(3, 5)]
    assert epsilons(Variance(X)) == [Fraction(2, 9), Fraction(3, 9), Fraction(4, 9)]
    assert epsilons(Mean(ref("maybe")), N[1], weights=(Fraction(1), Fraction(3))) == [
        Fraction(1, 10), Fraction(3, 20), Fraction(3, 4),
    ]  # fmt: skip


def test_a_number_that_several_need_gets_the_cube_root_of_their_cubes():
    shares = epsilons(N[1], CountValues(X), Percentile(X, Fraction(1, 2)))
    assert float(shares[0] / shares[1]) == pytest.approx(2 ** (1 / 3), rel=2**-9)
    assert sum(shares) == 1
    twice = epsilons(Mean(X), Mean(X))
    assert list(map(float, twice)) == pytest.approx([0.4, 0.6], rel=2**-8)


def test_no_number_gets_less_than_a_statistic_gave_it_when_nothing_was_shared():
    statistics = (N[1], Sum(ref("around")), Mean(X), Variance(X), Covariance(X, Y), Mean(Y), CountValues(X))
    named = [(f"s{index}", one) for index, one in enumerate(statistics)]
    plan = planned(TABLE, *named)
    given = {}
    for name, statistic in named:
        alone = planned(TABLE, (name, statistic))
        for what, one in zip(measured(alone), alone.sections[0].measurements, strict=True):
            given[what] = max(given.get(what, 0), one.mechanism.epsilon / len(statistics))
    for what, one in zip(measured(plan), plan.sections[0].measurements, strict=True):
        assert one.mechanism.epsilon > given[what]


def total_error(shares, statistics):
    """Σ over statistics of w³ · Σ p³/ε², from its definition; each statistic is a weight and its parts by number."""
    return sum(
        float(weight) ** 3 * sum(float(part) ** 3 / float(shares[number]) ** 2 for number, part in parts.items())
        for weight, parts in statistics
    )


def noise(width):
    return Noise(Sensitivity(l1=width, l2=Fraction(width), l0=1))


def test_no_other_shares_err_less_in_total():
    """The definition is tried with a little moved from each number to each other one, and with random shares."""
    plan = planned(TABLE, *MOMENTS, N, ("y", Mean(Y)), weights=tuple(map(Fraction, (1, 2, 1, 3, 1))))
    shares = dict(enumerate(one.mechanism.epsilon for one in plan.sections[0].measurements))
    two, three = {0: Fraction(2, 5), 1: Fraction(3, 5)}, {i: Fraction(i + 2, 9) for i in range(3)}
    statistics = [(1, two), (2, three), (1, three), (3, {0: 1}), (1, {0: Fraction(2, 5), 3: Fraction(3, 5)})]
    least = total_error(shares, statistics)
    for first, second in permutations(shares, 2):
        step = shares[first] / 100
        moved = shares | {first: shares[first] - step, second: shares[second] + step}
        assert total_error(moved, statistics) > least * (1 - 1e-5)
    generator = np.random.default_rng(3)
    for _ in range(200):
        drawn = generator.dirichlet([4] * len(shares))
        assert total_error(dict(enumerate(drawn)), statistics) > least * (1 - 1e-5)


def test_of_joint_gaussian_noise_squares_are_taken():
    plan = planned(TABLE, N, ("c", CountValues(X)), ("a", Sum(ref("around"))), delta="1e-6", law="gaussian")
    first, second = (one.mechanism for one in plan.sections[0].measurements)
    ratio = (second.stddev / second.l2_sensitivity / (first.stddev / first.l2_sensitivity)) ** 2
    assert float(ratio) == pytest.approx(2**0.5, rel=2**-8)
    assert price(plan, ADD_OR_REMOVE_ONE) <= 1


# Sums around the middle


def outputs(*statistics, **options):
    named = [(f"s{index}", one) for index, one in enumerate(statistics)]
    return [type(one) for one in planned(TABLE, *named, **options).sections[0].outputs]


CENTERED, PLAIN = CenteredOutput, LinearOutput


def test_a_sum_alone_is_plain_and_beside_a_count_it_is_centered():
    assert outputs(Sum(X)) == [PLAIN]
    assert outputs(Sum(X), N[1]) == [CENTERED, PLAIN]
    assert outputs(Sum(ref("around")), N[1]) == [PLAIN, PLAIN]  # it is centered as it is


def test_where_rows_are_units_a_null_is_a_zero_around_the_middle_and_the_count_is_that_of_all_rows():
    assert outputs(Sum(ref("maybe")), N[1]) == [CENTERED, PLAIN]
    assert count(Sum(ref("maybe")), N[1], CountValues(X)) == (2, 3)
    above_0 = Sum(ref("maybe"), (Fraction(1), Fraction(50)))
    assert outputs(above_0, N[1]) == [PLAIN, PLAIN]
    assert outputs(above_0, CountValues(ref("maybe"))) == [CENTERED, PLAIN]
    visits = planned(VISITS, ("s", Sum(ref("beds"))), N)  # a NULL counts for the limit on rows
    assert isinstance(visits.sections[0].outputs[0], PLAIN)


def test_several_sums_pay_for_a_count_together():
    assert outputs(Sum(X), Sum(ref("wide"))) == [PLAIN, PLAIN]
    assert outputs(Sum(X), Sum(Y), Sum(ref("high"))) == [CENTERED] * 3


def test_a_sum_that_matters_much_more_than_the_count_is_plain():
    assert outputs(Sum(X), N[1], weights=(Fraction(20), Fraction(1))) == [PLAIN, PLAIN]


def test_a_sum_beside_the_mean_is_made_of_its_numbers_whatever_it_weighs():
    for weights in ((Fraction(1), Fraction(1)), (Fraction(20), Fraction(1)), (Fraction(1), Fraction(20))):
        for value in (X, ref("maybe"), ref("high"), ref("wide")):
            assert outputs(Sum(value), Mean(value), weights=weights)[0] is CENTERED
            assert count(Sum(value), Mean(value), weights=weights)[0] == 2


def test_equal_sums_are_measured_alike():
    for weights in permutations(map(Fraction, (1, 5, 1, 30))):
        first, second, *_ = outputs(Sum(X), Sum(X), N[1], Sum(Y), weights=weights)
        assert first is second


def test_where_nobody_moves_a_count_sums_stay_as_they_are():
    table = Table(name="t", columns={"x": integer(0, 100, nullable=False)}, keeps_rows=True)
    plan = planned(table, N, ("s", Sum(X)), relation=REPLACE_ONE)
    assert isinstance(plan.sections[0].outputs[1], LinearOutput)
    assert plan.charge == PureDP(1)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_way_of_each_sum_is_the_one_with_the_least_total_error(law):
    """All ways of five sums are tried, each total from its definition."""
    degree = 3 if law == "laplace" else 2
    generator = np.random.default_rng(11)
    for _ in range(40):
        widths, middles = generator.integers(1, 40, 5).tolist(), generator.integers(1, 40, 5).tolist()
        weights = [Fraction(int(weight), 4) for weight in generator.integers(1, 9, 6)]
        recipes, needs = _sums(widths, middles)
        found = shared(recipes, weights, needs.__getitem__, law=law)
        best = min(
            _total(set(ways), widths, middles, weights, degree)
            for size in range(6)
            for ways in combinations(range(5), size)
        )
        chosen = {index for index in range(5) if len(found.places[index + 1]) == 2}
        assert _total(chosen, widths, middles, weights, degree) <= best * 1.05


def _sums(widths, middles):
    """A count, and sums of values that are at most a width away from a middle."""
    rows = NoisyMeasures((RowCount(),))
    recipes, needs = [Recipe((rows,), lambda _: ())], {rows: noise(1)}
    for index, (width, middle) in enumerate(zip(widths, middles, strict=True)):
        plain, around = NoisyMeasures((f"plain {index}",)), NoisyMeasures((f"around {index}",))
        needs |= {plain: noise(width + middle), around: noise(width)}
        recipes.append(Recipe((plain,), lambda _: (), centered=(CenteredSum(rows, around, middle, lambda _: ()),)))
    return recipes, needs


def _total(centered, widths, middles, weights, degree):
    powers = Counter({"n": float(weights[0]) ** degree})
    for index, (width, middle) in enumerate(zip(widths, middles, strict=True)):
        power = float(weights[index + 1]) ** degree
        if index in centered:
            powers[index, "around"] += power * (width / (width + middle)) ** 2
            powers["n"] += power * (middle / (width + middle)) ** 2
        else:
            powers[index, "plain"] += power
    return sum(power ** (1 / degree) for power in powers.values())


def test_apart_every_statistic_has_equal_parts_of_its_weight():
    a, b, free = (NoisyMeasures((name,)) for name in "abc")
    needs = {a: noise(1), b: noise(5), free: noise(0)}
    recipes = [Recipe((a, b, free), lambda _: (), parts=(1, 2, 3)), Recipe((a,), lambda _: ())]
    found = apart(recipes, [Fraction(3), Fraction(1)], needs.__getitem__)
    half = Weight(Fraction(3, 2), Fraction(3, 2))
    assert (found.places, found.weights) == (((0, 1, 2), (3,)), (half, half, half, Weight(Fraction(1), Fraction(1))))


@pytest.mark.parametrize("law", [None, "gaussian"])
@pytest.mark.parametrize("weight", [Fraction(1), Fraction(7, 3), Fraction(1, 1000)])
@pytest.mark.parametrize("measure", [RowCount(), ValueCount(())])
def test_a_number_alone_is_measured_as_it_is_beside_others(measure, weight, law):
    every_row, other = NoisyMeasures((RowCount(),)), NoisyMeasures(("other",))
    needs = {every_row: noise(1), other: noise(5)}
    recipes = [Recipe((NoisyMeasures((measure,)),), lambda places: places), Recipe((other,), lambda _: ())]
    alone = shared(recipes[:1], [weight], needs.__getitem__, law=law)
    both = shared(recipes, [weight, Fraction(2)], needs.__getitem__, law=law)
    assert alone.components == (every_row,)
    assert alone.weights == (Weight(weight, weight),)
    for field in ("components", "needs", "weights", "places", "outputs"):
        assert getattr(alone, field) == getattr(both, field)[:1]


def test_what_costs_nothing_leaves_its_part_to_the_others():
    a, free = NoisyMeasures(("a",)), NoisyMeasures(("free",))
    needs = {a: noise(1), free: Choice(is_free=True)}
    found = shared([Recipe((a, free), lambda _: (), parts=(1, 4))], [Fraction(1)], needs.__getitem__, law=None)
    assert found.weights[0] == Weight(Fraction(1), Fraction(1))


# Targets


LINE = Table(name="lineitem", columns={
    "quantity": integer(1, 50, nullable=False), "price": real(900, 105_000, nullable=False),
    "discount": real(0, "0.1", nullable=False), "tax": real(0, "0.08", nullable=False), "who": integer(),
})  # fmt: skip
ONE = Literal(Fraction(1))


def times(first, second):
    return Call(Function.MULTIPLY, (first, second))


def test_every_column_of_tpch_q1_errs_by_at_most_55_percent_of_what_it_did():
    less = times(ref("price"), Call(Function.SUBTRACT, (ONE, ref("discount"))))
    statistics = (
        ("sum_qty", Sum(ref("quantity"))), ("sum_base_price", Sum(ref("price"))), ("sum_disc_price", Sum(less)),
        ("sum_charge", Sum(times(less, Call(Function.ADD, (ONE, ref("tax")))))), ("avg_qty", Mean(ref("quantity"))),
        ("avg_price", Mean(ref("price"))), ("avg_disc", Mean(ref("discount"))), ("count_order", N[1]),
    )  # fmt: skip
    before, after = (
        forecast(planned(LINE, *statistics, edition=edition), confidence=Fraction(95, 100), size=1_000)
        for edition in (Edition.FIRST, Edition.LATEST)
    )
    ratios = {old.column: new.half_width / old.half_width for old, new in zip(before, after, strict=True)}
    assert len(planned(LINE, *statistics).sections[0].measurements) == 6
    assert max(ratios.values()) <= 0.55, ratios


# All kinds of questions


@given(
    questions(), st.sampled_from([0, "1e-6"]), st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE]),
    st.sampled_from([None, "laplace"]),
)  # fmt: skip
@settings(suppress_health_check=list(HealthCheck))
def test_a_plan_measures_each_number_once_and_tells_of_each_measurement(asked, delta, relation, law):
    try:
        plan = compile_plan(asked, guarantee(1, delta), neighboring_relation=relation, law=law)
    except SfumatoError:
        return
    needed_twice = any(isinstance(one, Covariance) and one.first == one.second for _, one in asked.statistics)
    for section in plan.sections:
        numbers = [(one.statement, one.measures) for one in section.measurements if isinstance(one, Additive)]
        assert needed_twice or len(set(numbers)) == len(numbers)
        used = {place for output in section.outputs for place in places_of(output)}
        assert used == set(range(len(section.measurements)))
    if plan.bounds is None:
        chosen = sum(section.selection is not None for section in plan.sections)
        assert len(plan.event.events) == chosen + sum(len(section.measurements) for section in plan.sections)
        pure = [one.mechanism for section in plan.sections for one in section.measurements if isinstance(one, Additive)]
        if all(isinstance(one, Laplace) for one in pure) and not chosen and len(pure) == len(plan.event.events):
            told = sum((one.l1_sensitivity / one.scale for one in pure if one.l1_sensitivity), start=Fraction(0))
            assert told == price(plan, relation) == plan.charge.epsilon


def places_of(output):
    """The measurements that an output is made of."""
    if hasattr(output, "terms"):
        return [measurement for (measurement, _), _ in output.terms]
    if hasattr(output, "parts"):
        return output.parts
    if hasattr(output, "ends"):
        return [output.measurement, *output.ends]
    return [output.measurement] if hasattr(output, "measurement") else [output.count, output.total]
