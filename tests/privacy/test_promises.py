"""Promises that are no differential privacy: they add up among themselves, and nothing else takes them."""

from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.ledger.core.prices import admitted
from sfumato.privacy.budgets import as_budget
from sfumato.privacy.events import ComposedEvent, PureEvent
from sfumato.privacy.guarantees import PureDP, as_guarantee
from sfumato.privacy.promises import MetricDP, RandomDP, why_refused


def opened(budget):
    return sf.open(pa.table({"a": [1]}), name="t", columns={"a": sf.integer(0, 1)}, budget=budget)


METRIC, RANDOM = MetricDP("0.01", "meter"), RandomDP(1, 0, "0.05")


def test_promises_under_one_metric_add_up():
    total = MetricDP("0.1", "meter", "0.5") + MetricDP("0.2", "meter", 1)
    assert (total.epsilon, total.offset) == (Fraction(3, 10), Fraction(3, 2))
    assert total.loss(10) == Fraction(9, 2)
    assert MetricDP("0.1", "meter", "0.5").repeated(3) == MetricDP("0.3", "meter", "1.5")


def test_lengths_are_converted_and_other_units_are_not():
    assert MetricDP(3, "kilometer").per("meter") == MetricDP("0.003", "meter")
    assert (MetricDP(1, "meter") + MetricDP(1, "kilometer")).epsilon == Fraction(1001, 1000)
    with pytest.raises(ParameterError, match="kind"):
        MetricDP(1, "meter") + MetricDP(1, "embedding distance")
    assert MetricDP(1, "floor").per("floor").unit == "floor"


def test_a_promise_is_stronger_if_both_of_its_numbers_are():
    assert MetricDP(1, "kilometer") <= MetricDP(1, "meter")
    assert not MetricDP(1, "meter", 1) <= MetricDP(2, "meter")
    assert not MetricDP(3, "meter") <= MetricDP(2, "meter")


REFUSING = {
    "a budget": as_budget,
    "a guarantee": as_guarantee,
    "a charge of a ledger": admitted,
    "a sum": lambda promise: PureDP(1) + promise,
    "a comparison": lambda promise: PureDP(1) <= promise,
    "another promise": lambda promise: METRIC + promise if promise is RANDOM else promise + PureDP(1),
    "an event of a composition": lambda promise: ComposedEvent((PureEvent(1), promise)),
    "basic composition": lambda promise: sf.accounting.BasicAccountant().compose(promise),
    "a PLD": lambda promise: sf.accounting.PLDAccountant().compose(promise),
    "RDP": lambda promise: sf.accounting.RDPAccountant().compose(promise),
    "zCDP": lambda promise: sf.accounting.ZCDPAccountant().compose(promise),
    "an account": opened,
}


@pytest.mark.parametrize("place", REFUSING)
@pytest.mark.parametrize("promise", [METRIC, RANDOM], ids=["metric", "random"])
def test_nothing_of_differential_privacy_takes_them(place, promise):
    with pytest.raises(ParameterError, match=r"metric|typical|MetricDP"):
        REFUSING[place](promise)


def test_the_ledger_refuses_a_charge_before_anything_is_written():
    session = opened(sf.ApproxDP(1, "1e-6"))
    for promise in (METRIC, RANDOM):
        with pytest.raises(ParameterError, match="epsilon"):
            session.sql("SELECT COUNT(*) AS n FROM t", epsilon=promise)
    assert session.spent.epsilon == 0


def test_the_reason_names_what_was_handed_over():
    assert "metric" in why_refused(METRIC)
    assert "typical" in why_refused(RANDOM)
    assert why_refused(PureDP(1)) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: MetricDP(-1, "meter"), "epsilon"), (lambda: MetricDP(1, " "), "unit"), (lambda: MetricDP(1, 5), "unit"),
     (lambda: MetricDP(1, "meter", -1), "offset"), (lambda: METRIC.loss(-1), "distance"),
     (lambda: METRIC.repeated(0), "count"), (lambda: RandomDP(-1, 0, "0.1"), "epsilon"),
     (lambda: RandomDP(1, 2, "0.1"), "delta"), (lambda: RandomDP(1, 0, 0), "gamma"),
     (lambda: METRIC.per("floor"), "unit")],
)  # fmt: skip
def test_promises_out_of_range_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_they_say_what_they_are():
    assert str(MetricDP("0.1", "meter", "0.5")) == "ε 0.1 per meter, offset 0.5"
    assert "not worst-case" in str(RANDOM)
