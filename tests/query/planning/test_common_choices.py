"""Quantiles that are chosen at once: which, what they cost, and that each errs less than it would apart."""

import datetime as dt
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from tests.query.planned import PEOPLE, VISITS, N, planned, ref
from tests.query.pricing import price
from tests.session.desk import asked, desk

import sfumato as sf
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.privacy.events import ComposedEvent, ExponentialEvent, PureEvent
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Table, date, integer
from sfumato.query.planning.batch import compile_batch
from sfumato.query.planning.common_choices import _errs_less
from sfumato.query.sql.questions import parse_question
from sfumato.query.statistics.measurements import QuantileChoice
from sfumato.query.statistics.quantiles import Percentile
from sfumato.session.asking.forecast import forecast

AGE, PAY = ref("age"), ref("pay")
CONFIDENCE = Fraction(95, 100)


def of(value, *quantiles, **options):
    """Quantiles of a value, named after both."""
    return [(f"{value.name}{q}", Percentile(value, Fraction(q), **options)) for q in quantiles]


def mechanisms(plan):
    """Of all measurements of the first section."""
    return [one.mechanism for one in plan.sections[0].measurements]


def kinds(*statistics, child=PEOPLE, **options):
    """The quantiles of each choice: a tuple of those chosen at once."""
    found = []
    for one in mechanisms(planned(child, *statistics, **options)):
        match one:
            case JointQuantiles(quantiles=chosen):
                found.append(tuple(map(str, chosen)))
            case Quantile(quantile=q):
                found.append(str(q))
            case _:
                found.append(type(one))
    return found


# Which


def test_quantiles_of_the_same_values_are_chosen_at_once_in_their_own_order():
    plan = planned(PEOPLE, *of(AGE, "3/4", "1/2", "1/4"))
    assert kinds(*of(AGE, "3/4", "1/2", "1/4")) == [("1/4", "1/2", "3/4")]
    assert [(one.measurement, one.coordinate) for one in plan.sections[0].outputs] == [(0, 2), (0, 1), (0, 0)]
    assert plan.event == ComposedEvent((ExponentialEvent(1),))
    assert price(plan, ADD_OR_REMOVE_ONE) == plan.charge.epsilon == 1


def test_those_of_other_values_bounds_or_groups_are_not():
    bounded = Percentile(AGE, Fraction(3, 4), (Fraction(0), Fraction(50)))
    assert kinds(*of(AGE, "1/2"), *of(PAY, "3/4")) == ["1/2", "3/4"]
    assert kinds(*of(AGE, "1/2"), ("b", bounded)) == ["1/2", "3/4"]
    plan = planned(PEOPLE, *of(AGE, "1/2", "3/4"), keys=("sex",), sets=(("sex",), ()))
    assert [len(section.measurements) for section in plan.sections] == [1, 1]
    two = kinds(*of(AGE, "1/2"), *of(PAY, "1/4"), *of(AGE, "1/4"), *of(PAY, "3/4"))
    assert two == [("1/4", "1/2"), ("1/4", "3/4")]


def test_extremes_and_ends_of_intervals_are_choices_of_their_own():
    assert kinds(*of(AGE, "0", "1/2", "3/4", "1")) == [Extreme, ("1/2", "3/4"), Extreme]
    assert kinds(*of(AGE, "1/2", "3/4", interval=True)) == [("1/2", "3/4"), *[QuantileEnd] * 4]
    plan = planned(PEOPLE, *of(AGE, "1/2", "3/4", interval=True))
    assert [(one.measurement, one.coordinate, one.ends) for one in plan.sections[0].outputs] == [
        (0, 0, (1, 2)), (0, 1, (3, 4)),
    ]  # fmt: skip
    assert sum(one.epsilon for one in mechanisms(plan)) == 1


def test_one_that_is_asked_twice_is_one_of_several():
    plan = planned(PEOPLE, *of(AGE, "1/2", "3/4"), ("again", Percentile(AGE, Fraction(1, 2))))
    assert len(plan.sections[0].measurements) == 1
    assert [one.coordinate for one in plan.sections[0].outputs] == [0, 1, 0]


def test_choices_from_public_rows_and_by_the_first_rules_are_apart():
    towns = Table(name="towns", columns={"size": integer(0, 9)}, unit=sf.PUBLIC)
    assert kinds(*of(ref("size"), "1/2", "3/4"), child=towns) == ["1/2", "3/4"]
    assert kinds(*of(AGE, "1/2", "3/4"), edition=Edition.FIRST) == ["1/2", "3/4"]


def test_one_that_weighs_much_more_is_apart():
    statistics = of(AGE, "1/4", "1/2", "3/4")
    assert kinds(*statistics, weights=(Fraction(1), Fraction(20), Fraction(1))) == [("1/4", "3/4"), "1/2"]
    two_by_two = (Fraction(20), Fraction(1), Fraction(20), Fraction(1))
    assert kinds(*of(AGE, "1/5", "2/5", "3/5", "4/5"), weights=two_by_two) == [("1/5", "3/5"), ("2/5", "4/5")]
    assert kinds(*statistics[:2], weights=(Fraction(1), Fraction(9))) == ["1/4", "1/2"]
    assert kinds(*statistics[:2], weights=(Fraction(2), Fraction(3))) == [("1/4", "1/2")]


def test_queries_of_a_batch_choose_theirs_at_once():
    tables = {"people": Source(PEOPLE)}
    first, second = (parse_question(f"SELECT QUANTILE(age, {q}) AS q FROM people", tables) for q in ("0.9", "0.5"))
    plan = compile_batch([first, second], guarantee(1), neighboring_relation=ADD_OR_REMOVE_ONE)
    (section,) = plan.sections
    assert [one.mechanism.quantiles for one in section.measurements] == [(Fraction(1, 2), Fraction(9, 10))]
    assert [own.sections[0].outputs[0].coordinate for own in plan.plans] == [1, 0]


# What for


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("child", [PEOPLE, VISITS])
def test_every_certified_error_is_smaller_at_the_same_price(child, relation):
    value = AGE if child is PEOPLE else ref("beds")
    plans = [
        planned(child, *of(value, "1/10", "1/2", "9/10"), N, relation=relation, edition=edition) for edition in Edition
    ]
    assert [plan.charge for plan in plans] == [guarantee(1)] * 2
    before, after = (forecast(plan, confidence=CONFIDENCE, size=1_000) for plan in plans)
    assert before[3].half_width == after[3].half_width  # of the count, which has its share still
    assert all(new.half_width < old.half_width for old, new in zip(before[:3], after[:3], strict=True))
    assert after[0].half_width == after[2].half_width > after[1].half_width


def test_a_unit_with_several_rows_pays_for_each():
    (choice,) = planned(VISITS, *of(ref("beds"), "1/4", "1/2")).sections[0].measurements
    assert isinstance(choice, QuantileChoice)
    assert (choice.rows, choice.mechanism.epsilon, choice.event) == (4, Fraction(1, 4), PureEvent(1))


@pytest.mark.parametrize("bins", [1, 2, 3, 101, 2**16])
@pytest.mark.parametrize("weights", [*product((1, 2, 5), repeat=2), *product((1, 2, 5), repeat=3), (1,) * 9])
def test_what_is_chosen_at_once_errs_less_by_the_bounds_of_the_mechanisms(weights, bins):
    shares = sorted(Fraction(weight, sum(weights)) for weight in weights)
    quantiles = [Fraction(k + 1, len(shares) + 1) for k in range(len(shares))]
    together = JointQuantiles(quantiles=quantiles, lower=0, upper=bins - 1, epsilon=1).accuracies()
    apart = [
        Quantile(quantile=q, lower=0, upper=bins - 1, epsilon=share).accuracy()
        for q, share in zip(quantiles, shares, strict=True)
    ]
    if _errs_less(shares, bins):
        assert all(one < other for one, other in zip(together, apart, strict=True))
    if len(set(weights)) == 1:
        assert _errs_less(shares, bins)
    if bins == 2**16 and max(shares) > Fraction(2, 3):
        assert not _errs_less(shares, bins)


def test_so_many_that_they_would_take_long_are_not_chosen_at_once():
    assert _errs_less([Fraction(1)] * 16, 2**16)
    assert not _errs_less([Fraction(1)] * 17, 2**16)
    assert _errs_less([Fraction(1)] * 200, 2)
    assert not _errs_less([Fraction(1)] * 501, 2)
    wide = Table(name="t", columns={"x": integer(0, 10**6)})
    first, second = kinds(*of(ref("x"), *(f"{k}/21" for k in range(1, 21))), child=wide)
    assert (len(first), len(second)) == (16, 4)


# The answer


def test_each_column_shows_its_own_quantile():
    table = Table(name="t", columns={"x": integer(0, 1000), "g": integer(values=[1, 2])})
    data = pa.table({"x": [*range(1001)] * 4, "g": [1] * 2002 + [2] * 2002})
    statistics = (*of(ref("x"), "3/4", "1/4", "1/2"), *of(ref("x"), "9/10", interval=True), N)
    found = asked(desk((table, data)), table, statistics=statistics, keys=("g",)).release(epsilon=1_000)
    for q in ("1/4", "1/2", "3/4", "9/10"):
        for value in found[f"x{q}"]:
            assert value.value == pytest.approx(1000 * float(Fraction(q)), abs=5)
            assert value.misrank.error < 1
    shares = [found[f"x{q}"][0].misrank.share for q in ("1/4", "1/2", "3/4")]
    assert shares == [Fraction(3, 4), Fraction(1, 2), Fraction(3, 4)]


def test_so_do_columns_of_dates_with_and_without_an_interval():
    table = Table(name="t", columns={"d": date("2026-01-01", "2026-12-31")})
    days = pa.table({"d": [dt.date(2026, 1, 1) + dt.timedelta(days=day) for day in range(365)] * 9})
    for interval in (False, True):
        statistics = of(ref("d"), "4/5", "1/5", interval=interval)
        found = asked(desk((table, days)), table, statistics=statistics).release(epsilon=1_000)
        for q, day in (("1/5", 73), ("4/5", 292)):
            (value,) = found[f"d{q}"]
            assert abs((value.value - dt.date(2026, 1, 1)).days - day) <= 2
            assert not interval or value.low <= value.value <= value.high


@pytest.mark.statistical
def test_the_errors_of_nine_deciles_are_less_than_two_thirds_of_what_they_were():
    table = Table(name="t", columns={"x": integer(0, 100)})
    values = np.arange(5_000) % 101
    data, ranks = pa.table({"x": values}), np.sort(values)
    statistics = of(ref("x"), *(f"{k}/10" for k in range(1, 10)))

    def error(edition):
        off = []
        (section,) = planned(table, *statistics, edition=edition, epsilon="0.1").sections
        for _ in range(20):
            points = [int(x) for one in section.measurements for x in np.atleast_1d(one.mechanism.release(values))]
            for k, point in enumerate(points, 1):
                below, up_to = np.searchsorted(ranks, point), np.searchsorted(ranks, point, side="right")
                off.append(max(0, below - k * 500, k * 500 - up_to))
        return np.mean(off)

    assert data.num_rows == len(ranks)
    assert error(Edition.LATEST) < error(Edition.FIRST) * 2 / 3
