"""Every mechanism can be audited by its name; what is tried refutes a claim that is too small."""

import inspect

import pytest

from sfumato import mechanisms
from sfumato.audit import audit, check_law
from sfumato.audit.core.adapters import adapted
from sfumato.audit.core.outputs import label, plain
from sfumato.audit.worst_cases import declared_laws, named, names, worst_pairs
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import REPLACE_ONE

APPROXIMATE = [
    "distributed-skellam", "gaussian", "gaussian-threshold", "laplace-threshold", "propose-test-release",
    "stable-histogram", "stable-median", "truncated-geometric-selection", "truncated-laplace",
]  # fmt: skip
AUDITED_ELSEWHERE = {
    "WorkloadMechanism": "it is made of a plan; audited in tests/audits_of_everything",
    "RunningCounter": "what a counter over time starts; audited with these in tests/audits_of_everything",
    "PanPrivateDensityState": "what PanPrivateDensity starts; audited with it in tests/audits_of_everything",
    "SampledSensitivity": "its promise is random differential privacy, which audits of neighbors rightly refute",
}
"""Mechanisms that are made of more than their names."""

CLAIMS_OF_ITS_OWN = {"randomized-response": "1.0987", "gaussian-noise": 1, "distributed-gaussian": 1}


def made(name, epsilon=1, **parameters):
    stated = {"gaussian-noise": {"stddev": 5}, "distributed-gaussian": {"rho": "1/50"}}.get(name, {})
    return named(name, stated | parameters, epsilon=epsilon, delta="1e-3" if name in APPROXIMATE else 0)


def test_every_mechanism_has_a_name():
    audited = {type(made(name)).__name__ for name in names()}
    concrete = {
        one for one in mechanisms.__all__
        if inspect.isclass(kind := getattr(mechanisms, one)) and hasattr(kind, "release")
        and not getattr(kind, "_is_protocol", False)
    }  # fmt: skip
    assert audited == concrete - set(AUDITED_ELSEWHERE)


@pytest.mark.parametrize("name", names())
def test_what_is_tried_can_be_released_and_differs(name):
    mechanism = made(name)
    pairs = worst_pairs(name, mechanism)
    assert pairs
    for pair in pairs:
        assert label(plain(pair.database)) != label(plain(pair.neighbor)), pair.description
        outputs = adapted(mechanism)(pair.database, 2) + adapted(mechanism)(pair.neighbor, 2)
        assert not any(str(output).startswith(("ParameterError", "TypeError")) for output in outputs), outputs
    assert len({pair.description for pair in pairs}) == len(pairs)


@pytest.mark.parametrize(
    "name", ["laplace-threshold", "matrix-mechanism", "noisy-max", "posterior-sampling", "quantile"]
)
def test_neighbors_are_of_the_relation_that_the_mechanism_is_for(name):
    mechanism = made(name, neighboring_relation=REPLACE_ONE)
    for pair in worst_pairs(name, mechanism):
        sizes = [sum(one.values()) if isinstance(one, dict) else len(one) for one in (pair.database, pair.neighbor)]
        assert sizes[0] == sizes[1], pair.description


def test_a_name_may_be_that_of_the_class():
    assert type(named("NoisyMax", {}, epsilon=1)) is type(named("noisy_max", {}, epsilon=1)) is mechanisms.NoisyMax
    assert type(named("NoisyTopK", {"k": 3}, epsilon=1)) is mechanisms.NoisyTopK


def test_stated_parameters_replace_those_that_are_chosen():
    assert named("laplace", {"l1_sensitivity": 3, "epsilon": "0.5"}, epsilon=1).scale == 6


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("uniform", {}, "must be one of: distributed-gaussian"),
        ("laplace", {"scale": 1}, "must be a parameter of laplace: l1_sensitivity"),
        ("laplace", {"l1_sensitivity": -1}, "l1_sensitivity"),
        ("gaussian", {}, "= 'delta': must be given for gaussian"),
        ("gaussian-noise", {}, "= 'stddev': must be given"),
    ],
)
def test_what_cannot_be_made_is_refused(name, parameters, said):
    with pytest.raises(ParameterError) as caught:
        named(name, parameters, epsilon=1)
    assert said in str(caught.value)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("laplace", {"resolution": "0.5"}),
        ("laplace", {"dimension": 2, "resolution": 1}),
        ("distributed-laplace", {}),
        ("gaussian", {}),
        ("gaussian-noise", {}),
    ],
)
def test_additive_noise_follows_the_law_that_is_declared_for_it(name, parameters):
    """Type-I error 1e-6 each; noise of half the width misses that law with a chance below 1e-9."""
    (law,) = declared_laws(made(name, **parameters))
    assert check_law(law, samples=4000).verdict == "nothing found"
    narrower = made(name, epsilon=2, **({"stddev": "2.5"} if name == "gaussian-noise" else {}), **parameters)
    assert check_law(type(law)(law.name, declared_laws(narrower)[0].noise, law.cdf), samples=4000).verdict != (
        "nothing found"
    )


@pytest.mark.parametrize("name", ["geometric", "noisy-max", "staircase", "distributed-skellam"])
def test_no_law_is_declared_for_other_noise(name):
    assert declared_laws(made(name)) == ()


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["laplace", "geometric", "randomized-response"])
def test_a_claim_of_half_the_price_is_refuted_and_the_price_is_not(name):
    """Type-I error 1e-6 each; the pairs are the worst ones, so 10,000 samples refute half of ε with near certainty."""
    mechanism = made(name)
    claim = CLAIMS_OF_ITS_OWN.get(name, 1)
    pairs = worst_pairs(name, mechanism)
    assert not audit(adapted(mechanism), pairs, epsilon=claim, samples=2000).is_refuted
    assert audit(adapted(mechanism), pairs, epsilon="0.5", samples=6000).violations
