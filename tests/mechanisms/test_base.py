"""The roles of mechanisms, and the opening of secrets."""

import importlib
import inspect
import pkgutil

import pytest

import sfumato.mechanisms
import sfumato.noise
from sfumato.mechanisms import (
    AdditiveMechanism,
    Exponential,
    Gaussian,
    Laplace,
    Mechanism,
    NoisyMax,
    RandomizedResponse,
)
from sfumato.mechanisms.base import opened
from sfumato.privacy.events import Event
from sfumato.privacy.secret import Secret

ADDITIVE: list[AdditiveMechanism] = [
    Laplace(l1_sensitivity=1, epsilon=1),
    Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6"),
]
ALL: list[Mechanism] = [
    *ADDITIVE,
    Exponential(utility_sensitivity=1, epsilon=1),
    NoisyMax(epsilon=1),
    RandomizedResponse(),
]


@pytest.mark.parametrize("mechanism", ALL, ids=lambda mechanism: type(mechanism).__name__)
def test_every_mechanism_has_an_event_and_takes_secrets(mechanism):
    assert isinstance(mechanism.event, Event)
    assert mechanism.release(Secret([1, 0, 1])) is not None


@pytest.mark.parametrize("mechanism", ALL, ids=lambda mechanism: type(mechanism).__name__)
def test_mechanisms_are_frozen_values(mechanism):
    with pytest.raises((AttributeError, TypeError)):
        mechanism.epsilon = 0


def test_equal_parameters_make_equal_mechanisms():
    assert Laplace(l1_sensitivity=1, epsilon=0.1) == Laplace(l1_sensitivity="1", epsilon="1/10")
    assert len({NoisyMax(epsilon=1), NoisyMax(epsilon="1.0")}) == 1


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=lambda mechanism: type(mechanism).__name__)
def test_a_higher_confidence_has_a_wider_error(mechanism):
    widths = [mechanism.accuracy(confidence) for confidence in (0.5, 0.9, 0.95, 0.999)]
    assert widths == sorted(set(widths))


def test_opened_takes_values_with_and_without_a_wrapper():
    assert opened(Secret(3)) == opened(3) == 3


@pytest.mark.parametrize("package", [sfumato.noise, sfumato.mechanisms], ids=lambda package: package.__name__)
def test_no_signature_has_a_seed(package):
    modules = [
        importlib.import_module(found.name) for found in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    ]
    callables = [
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isfunction(value) or inspect.isclass(value)
    ]
    callables += [
        method
        for value in callables
        if inspect.isclass(value) and value.__module__.startswith("sfumato")
        for method in vars(value).values()
        if inspect.isfunction(method)
    ]
    names = {name for value in callables if inspect.isfunction(value) for name in inspect.signature(value).parameters}
    assert len(callables) > 20
    assert names.isdisjoint({"seed", "rng", "random_state", "generator", "entropy"})
