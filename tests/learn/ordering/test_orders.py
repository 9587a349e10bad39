"""Orders say what an estimator is, to the last argument; what nobody could have written is refused by checked steps."""

import json
from decimal import Decimal
from fractions import Fraction
from inspect import isclass

import numpy as np
import pytest
from tests.learn.ordering.ordered import CASES

from sfumato import learn
from sfumato.errors import ParameterError
from sfumato.learn.ordering.orders import ESTIMATORS, MAX_CHARACTERS, NOT_SENT, estimator_of, order_of
from sfumato.session.training.ordered import FitOrder


def test_every_estimator_can_be_ordered_or_has_a_reason_and_nothing_else():
    public = {name for name in learn.__all__ if isclass(getattr(learn, name)) and hasattr(getattr(learn, name), "fit")}
    assert public - set(NOT_SENT) == set(ESTIMATORS) == set(CASES)
    assert set(NOT_SENT) < public
    assert all(ESTIMATORS[name] is getattr(learn, name) for name in ESTIMATORS)


@pytest.mark.parametrize("around", [lambda one: one, learn.ConformalClassifier], ids=["alone", "inside"])
def test_what_stays_here_is_refused_with_its_reason(around):
    with pytest.raises(ParameterError, match="cannot be sent to a server: its teachers"):
        order_of(around(learn.PATEClassifier(epsilon=1, delta="1e-6", public=[[1]])))
    for name in NOT_SENT:
        with pytest.raises(ParameterError):
            estimator_of(FitOrder(estimator=name, arguments='{"epsilon": 1}'))


@pytest.mark.parametrize("name", CASES)
def test_an_order_says_what_the_estimator_is(name):
    estimator = CASES[name][0]
    order = order_of(estimator)
    again = estimator_of(order)
    assert type(again) is type(estimator)
    assert order_of(again) == order
    assert repr(again) == repr(estimator)


@pytest.mark.parametrize(
    "epsilon", [1, 0.1, "0.1", Fraction(1, 3), Decimal("0.25"), np.float64(0.5), np.int64(2)], ids=repr
)
def test_numbers_stay_what_they_are(epsilon):
    sent = estimator_of(order_of(learn.GaussianNB(epsilon=epsilon))).epsilon
    assert sent == epsilon
    assert isinstance(sent, int | float | str | Fraction)


def test_arguments_that_are_defaults_are_not_sent():
    assert json.loads(order_of(learn.RandomForestClassifier(epsilon=1, max_depth=8)).arguments) == {"epsilon": 1}


class OfSomebody(learn.GaussianNB):
    """Another estimator."""


OfSomebody.__name__ = "GaussianNB"


@pytest.mark.parametrize(
    "estimator",
    [
        OfSomebody(epsilon=1), object(), learn.GaussianNB(epsilon=float("inf")), learn.GaussianNB(epsilon=1j),
        learn.GaussianNB(epsilon=1, classes={"f", "m"}), learn.ConformalClassifier(object()),
    ],
    ids=["a subclass", "an object", "infinity", "complex", "a set", "inside"],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused_here(estimator):
    with pytest.raises(ParameterError):
        order_of(estimator)


def nested(depth):
    """Estimators in one another."""
    found = {"estimator": "GaussianNB", "arguments": {"epsilon": 1}}
    for _ in range(depth):
        found = {"estimator": "ConformalClassifier", "arguments": {"estimator": found}}
    return found["estimator"], found["arguments"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("PrivateEstimator", {}),
        ("expected_accuracy", {}),
        ("__class__", {}),
        ("GaussianNB", {"fit": 1}),
        ("GaussianNB", {"self": 1}),
        ("GaussianNB", {"epsilon": {"rational": "1", "more": 1}}),
        ("GaussianNB", {"epsilon": {"rational": "1" * 2_000}}),
        ("GaussianNB", {"epsilon": {"rational": "one"}}),
        ("GaussianNB", {"epsilon": {"eval": "1"}}),
        ("GaussianNB", {"epsilon": 10**12}),
        ("GaussianNB", {"epsilon": "1" * 2_000}),
        ("GaussianNB", {"classes": ["x"] * 1_001}),
        ("GaussianNB", {"classes": [[[[[1]]]]]}),
        ("GaussianNB", {"bounds": {"tuple": "ab"}}),
        ("ConformalClassifier", {}),
        ("ConformalClassifier", {"estimator": {"estimator": "os", "arguments": {}}}),
        ("ConformalClassifier", {"estimator": {"estimator": "GaussianNB", "arguments": [1]}}),
        nested(9),
    ],
)
def test_hostile_orders_are_refused(name, arguments):
    with pytest.raises(ParameterError):
        estimator_of(FitOrder(estimator=name, arguments=json.dumps(arguments)))


@pytest.mark.parametrize("text", ["", "[]", "1", "null", "{", "NaN", "[" * 999, '{"epsilon": 1e999}', "{}" * 60_000])
def test_arguments_that_are_no_object_of_a_bounded_size_are_refused(text):
    assert len("{}" * 60_000) > MAX_CHARACTERS
    with pytest.raises(ParameterError):
        estimator_of(FitOrder(estimator="GaussianNB", arguments=text))
