import json

import pytest
from tests.cli.commands import refusal, run

from sfumato.audit import NeighborPair
from sfumato.cli.audit.mechanism import pair_of, parameters_of
from sfumato.errors import ParameterError


def test_parameters_keep_every_digit():
    words = ["k=3", "epsilon=0.1", "largest=False", "calibration=analytic", 'workload=[[1,0.5],["1/3",2]]', "x=-2"]
    assert parameters_of(words) == {
        "k": 3, "epsilon": "0.1", "largest": False, "calibration": "analytic", "workload": [[1, "0.5"], ["1/3", 2]],
        "x": -2,
    }  # fmt: skip


@pytest.mark.parametrize("words", [["k"], ["=3"], ["k="], ["1k=3"], ["k=3", "k=3"], ["q=[1"], ["a b=1"]])
def test_what_is_no_parameter_is_refused(words):
    with pytest.raises(ParameterError, match="NAME=VALUE"):
        parameters_of(words)


def test_a_pair_is_two_answers_in_json():
    assert pair_of([]) == ()
    assert pair_of(["[1, 2]", '{"a": 1.5}']) == (NeighborPair([1, 2], {"a": 1.5}, '[1, 2] and {"a": 1.5}'),)


@pytest.mark.parametrize("texts", [["1"], ["1", "2", "3"], ["1", "two"]])
def test_what_is_no_pair_is_refused(texts):
    with pytest.raises(ParameterError, match="--pair"):
        pair_of(texts)


def audited(*arguments):
    result = run("audit", "mechanism", *arguments, "--samples", "1000", "--json")
    return result.exit_code, json.loads(result.stdout)


@pytest.mark.statistical
def test_a_stated_pair_is_the_one_that_is_tried():
    """Three steps at ε = 1 are ε = 3: refuted with a chance above 1 - 1e-9; one step is not, type-I error 1e-6."""
    code, report = audited("laplace", "--epsilon", "1", "--pair", "0", "--pair", "3")
    assert (code, report["refuted"], report["events"][0]["pair"]) == (1, True, "0 and 3")
    code, report = audited("laplace", "l1_sensitivity=3", "--epsilon", "1", "--pair", "0", "--pair", "3")
    assert (code, report["title"]) == (0, "Laplace(epsilon=1, l1_sensitivity=3)")


def test_the_law_of_the_noise_is_tested_where_it_is_declared():
    _, report = audited("gaussian", "--epsilon", "1", "--delta", "1e-5")
    assert [law["verdict"] for law in report["laws"]] == ["nothing found"]
    assert report["events"][0]["claim"] == {"epsilon": "1", "delta": "1/100000"}


def test_a_missing_parameter_is_named():
    assert "stddev" in refusal("audit", "mechanism", "gaussian-noise", "--epsilon", "1")
