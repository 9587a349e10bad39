"""The roles of mechanisms: what every one of them does, whatever it releases."""

import inspect
from math import inf

import numpy as np
import pandas as pd
import pytest
from tests.laws import SAMPLES
from tests.mechanisms.contract import ADDITIVE, CASES

from sfumato import mechanisms
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.errors import ParameterError
from sfumato.mechanisms import (
    DistributedLaplace,
    DistributedSkellam,
    Gaussian,
    GaussianNoise,
    Laplace,
    MatrixMechanism,
    NoisyMax,
    Staircase,
)
from sfumato.mechanisms.base import opened
from sfumato.privacy.codec import decode_event, encode_event
from sfumato.privacy.events import Event
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret

RELATED = [
    value
    for value in (getattr(mechanisms, name) for name in mechanisms.__all__)
    if inspect.isclass(value) and "neighboring_relation" in inspect.signature(value).parameters
]


def title(case):
    return type(getattr(case, "mechanism", case)).__name__


def test_every_mechanism_has_its_case():
    released = {name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "release")}
    assert released - {type(case.mechanism).__name__ for case in CASES} == {"Mechanism", "AdditiveMechanism"}


@pytest.mark.parametrize("case", CASES, ids=title)
def test_its_event_has_a_price_and_is_kept_as_text(case):
    event = case.mechanism.event
    assert isinstance(event, Event)
    assert decode_event(encode_event(event)) == event
    assert BasicAccountant().compose(event).epsilon(delta="1e-5") < inf


@pytest.mark.parametrize("case", CASES, ids=title)
def test_it_takes_secrets(case):
    case.mechanism.release(Secret(case.exact))


@pytest.mark.parametrize("case", CASES, ids=title)
def test_no_data_value_is_an_error(case):
    for exact in case.odd:
        case.mechanism.release(exact)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_no_answer_carries_the_container_of_the_data(case):
    for exact in case.odd:
        assert not isinstance(case.mechanism.release(exact), np.ma.MaskedArray | pd.Series)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_what_it_is_given_stays_as_it_was(case):
    for exact in (case.exact, *case.odd):
        before = repr(exact)
        case.mechanism.release(exact)
        assert repr(exact) == before


@pytest.mark.parametrize("case", CASES, ids=title)
def test_it_is_a_frozen_value_that_remembers_nothing(case):
    before = repr(case.mechanism)
    with pytest.raises((AttributeError, TypeError)):
        case.mechanism.epsilon = 0
    case.mechanism.release(case.exact)
    assert repr(case.mechanism) == before
    assert hash(case.mechanism) == hash(case.mechanism)
    assert case.mechanism == case.mechanism


@pytest.mark.parametrize("case", CASES, ids=title)
def test_its_docstring_states_guarantee_and_edge_cases(case):
    text = inspect.getdoc(type(case.mechanism))
    assert "**Guarantee**" in text
    assert "dge case" in text
    assert ">>>" in text


@pytest.mark.parametrize("kind", RELATED, ids=lambda kind: kind.__name__)
def test_a_relation_that_is_unknown_is_refused_and_a_name_is_as_good_as_the_relation(kind):
    others = next(
        {
            name: getattr(case.mechanism, name)
            for name in inspect.signature(kind).parameters
            if name != "neighboring_relation" and hasattr(case.mechanism, name)
        }
        for case in CASES
        if type(case.mechanism) is kind
    )
    positional = [others.pop(name) for name in list(others) if name in {"workload", "model"}]
    named = kind(*positional, **others, neighboring_relation="replace_one")
    assert named == kind(*positional, **others, neighboring_relation=REPLACE_ONE)
    with pytest.raises(ParameterError, match="neighboring_relation"):
        kind(*positional, **others, neighboring_relation="replace one")


def test_equal_parameters_make_equal_mechanisms():
    assert Laplace(l1_sensitivity=1, epsilon=0.1) == Laplace(l1_sensitivity="1", epsilon="1/10")
    assert len({NoisyMax(epsilon=1), NoisyMax(epsilon="1.0")}) == 1
    assert MatrixMechanism([[1, 0]], epsilon=1) == MatrixMechanism([[1, 0]], epsilon="1")


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=title)
def test_a_higher_confidence_has_a_wider_error(mechanism):
    widths = [mechanism.accuracy(confidence) for confidence in (0.5, 0.9, 0.95, 0.999)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.parametrize("mechanism", ADDITIVE, ids=title)
def test_the_standard_deviation_is_the_root_of_the_variance(mechanism):
    assert float(mechanism.stddev) == pytest.approx(mechanism.variance**0.5)
    assert 0 < mechanism.stddev < mechanism.accuracy("0.999")


VECTORS = [
    Laplace(l1_sensitivity=1, epsilon="0.4"),
    Gaussian(l2_sensitivity=1, epsilon=2, delta="1e-3", l0_sensitivity=1),
    GaussianNoise(l2_sensitivity=1, stddev="0.5"),
    Staircase(linf_sensitivity=10, epsilon=1, l0_sensitivity=1),
    DistributedLaplace(parties=3, l1_sensitivity=2, epsilon=1, max_dropouts=1),
    DistributedSkellam(parties=3, linf_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=1, max_dropouts=1),
]


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", VECTORS, ids=title)
def test_releases_vary_as_much_as_is_said(mechanism):
    noise = mechanism.release(np.full(SAMPLES, 7)) - 7
    assert noise.var() == pytest.approx(mechanism.variance, rel=0.06)  # 6 standard errors and more
    assert noise.var() != pytest.approx(mechanism.variance * 1.2, rel=0.06)


def test_where_nothing_is_told_the_variance_is_infinite_and_without_noise_it_is_zero():
    for kind, sensitivity in ((Laplace, "l1_sensitivity"), (Staircase, "linf_sensitivity")):
        assert kind(**{sensitivity: 1}, epsilon=0).variance == kind(**{sensitivity: 1}, epsilon=0).stddev == inf
        assert kind(**{sensitivity: 0}, epsilon=1).variance == kind(**{sensitivity: 0}, epsilon=1).stddev == 0
    assert DistributedLaplace(parties=2, l1_sensitivity=1, epsilon=0).variance == inf
    assert DistributedLaplace(parties=2, l1_sensitivity=0, epsilon=1).variance == 0
    assert Gaussian(l2_sensitivity=0, epsilon=1, delta="1e-6").variance == 0
    assert DistributedSkellam(parties=2, linf_sensitivity=0, epsilon=1, delta="1e-6").variance == 0


def test_opened_takes_values_with_and_without_a_wrapper():
    assert opened(Secret(3)) == opened(3) == 3
