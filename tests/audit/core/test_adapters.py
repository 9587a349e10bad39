"""Mechanisms of other libraries are recognized by what they can do, ours too, and functions of one database."""

import numpy as np
import opendp.prelude as dp
import pytest

from sfumato.audit import NeighborPair, audit
from sfumato.audit.core.adapters import METHODS, adapted
from sfumato.errors import ParameterError
from sfumato.mechanisms import Gaussian, GaussianNoise, Geometric, Laplace, RandomizedResponse

PAIR = NeighborPair(0, 1, "one more")


class Recorder:
    """Keeps what it is called with; its one method is named when a subclass is made."""

    def __init__(self):
        self.asked = []

    def answer(self, value):
        self.asked.append(value)
        return len(self.asked)


def shaped(method):
    """An object of another library's shape."""
    return type("Shaped", (Recorder,), {method: Recorder.answer})()


@pytest.mark.parametrize("method", METHODS)
def test_an_object_is_asked_once_for_each_run_by_the_method_that_it_has(method):
    thing = shaped(method)
    assert adapted(thing)("database", 3) == (1, 2, 3)
    assert thing.asked == ["database"] * 3


def test_a_method_that_is_named_is_the_one_that_is_called():
    thing = shaped("release")
    thing.perturb = lambda value: -value
    assert adapted(thing, method="perturb")(5, 2) == (-5, -5)
    assert thing.asked == []


def test_a_function_of_one_database_is_a_mechanism():
    assert adapted(sum)((1, 2), 2) == (3, 3)


def test_an_error_of_a_run_is_an_output():
    assert adapted(lambda database: 1 // database)(0, 1) == ("ZeroDivisionError: integer division or modulo by zero",)
    assert adapted(Laplace(l1_sensitivity=1, epsilon=1))("many", 1)[0].startswith("ParameterError")


@pytest.mark.parametrize("thing", [5, None, "laplace", object()])
def test_what_cannot_be_asked_is_refused(thing):
    with pytest.raises(ParameterError, match="release, randomise"):
        adapted(thing)


def test_a_class_is_no_mechanism():
    with pytest.raises(ParameterError, match="an object, not its class"):
        adapted(Laplace)


@pytest.mark.parametrize("method", ["", "fit", "asked"])
def test_a_method_that_is_not_there_is_refused(method):
    with pytest.raises(ParameterError, match="must have a method"):
        adapted(shaped("release"), method=method)


@pytest.mark.parametrize(
    ("mechanism", "exact"),
    [
        (Laplace(l1_sensitivity=1, epsilon=1), 5),
        (Laplace(l1_sensitivity=1, epsilon=1), 2**80),
        (Laplace(l1_sensitivity=1, epsilon=1, resolution="0.5"), 5),
        (Laplace(l1_sensitivity=2, epsilon=1, dimension=2), [5, 6]),
        (Geometric(lower=0, upper=9, epsilon=1, l1_sensitivity=1), 5),
        (GaussianNoise(l2_sensitivity=1, stddev=5), 5),
        (Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-5"), 5),
        (RandomizedResponse(), [True, False]),
    ],
)
def test_ours_give_what_they_release(mechanism, exact):
    outputs = adapted(mechanism)(exact, 50)
    assert len(outputs) == 50
    single = mechanism.release(exact)
    assert {type(output) for output in outputs} == {type(single)}
    assert len({str(output) for output in outputs}) > 1


def test_runs_at_once_call_release_once():
    class Counted(Laplace):
        pass

    assert type(adapted(Laplace(l1_sensitivity=1, epsilon=1))(0, 3)) is list
    assert type(adapted(Counted(l1_sensitivity=1, epsilon=1))(0, 3)) is tuple  # who knows what it draws


@pytest.mark.statistical
def test_a_measurement_of_opendp_is_audited():
    """Type-I error 1e-6 for the claim that it keeps; a tenth of it is refuted with a chance above 1 - 1e-9."""
    dp.enable_features("contrib")
    measurement = dp.space_of(int) >> dp.m.then_laplace(1.0)
    assert not audit(adapted(measurement), [PAIR], epsilon=1, samples=2000).is_refuted
    assert audit(adapted(measurement), [PAIR], epsilon="0.1", samples=2000).violations
    assert audit(adapted(measurement, method="invoke"), [PAIR], epsilon="0.1", samples=2000).violations


@pytest.mark.statistical
def test_a_broken_mechanism_of_another_shape_is_refuted():
    """Noise of half the scale that ε = 1 needs, with the shape of diffprivlib; missed with a chance below 1e-9."""

    class HalfLaplace:
        def __init__(self):
            self._noise = np.random.default_rng(7)

        def randomise(self, value):
            return value + self._noise.laplace(0, 0.5)

    assert audit(adapted(HalfLaplace()), [PAIR], epsilon=1, samples=10_000).violations
