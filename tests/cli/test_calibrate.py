import json
from fractions import Fraction

import pytest
from tests.cli.commands import refusal, run

from sfumato.accounting.comparison import BestAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.privacy.codec import decode_event
from sfumato.privacy.events import GaussianEvent, LaplaceEvent, PoissonSampledEvent

COMMAND = ("calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-6")


def found(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_noise_of_many_sampled_releases_is_private_and_not_much_too_large():
    answer = found(*COMMAND, "--compositions", "1000", "--sampling-probability", "0.01")
    noise = Fraction(answer["value"])
    event = PoissonSampledEvent(Fraction(1, 100), GaussianEvent(noise))
    assert BestAccountant().compose(event, count=1000).epsilon("1e-6") <= answer["epsilon"] <= 1
    less = PoissonSampledEvent(Fraction(1, 100), GaussianEvent(noise * Fraction(999, 1000)))
    assert PLDAccountant().compose(less, count=1000).epsilon("1e-6") > 1


def test_the_answer_is_the_value_and_what_it_costs():
    result = run("calibrate", "laplace", "--epsilon", "0.1", "--compositions", "5", "--accountant", "basic")
    assert result.stdout.splitlines() == [
        "noise, scale over L1 sensitivity: 50",
        "all releases together cost ε 0.1 at δ 0, by the accountant basic, under add_or_remove_one",
    ]


def test_the_event_is_one_that_the_other_command_reads(tmp_path):
    answer = found(*COMMAND, "--compositions", "10", "--tolerance", "1e-2")
    path = tmp_path / "releases.json"
    path.write_text(json.dumps(answer["event"]), "utf-8")
    assert decode_event(answer["event"]).count == 10
    priced = json.loads(run("account", path, "--delta", "1e-6", "--json").stdout)
    assert priced["epsilon"] == pytest.approx(answer["epsilon"])


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "discrete-gaussian", "discrete-laplace"])
def test_every_mechanism_is_calibrated(mechanism):
    answer = found("calibrate", mechanism, "--epsilon", "1", "--delta", "1e-6", "--tolerance", "1e-2")
    assert 0.9 < Fraction(answer["value"]) < 5
    assert answer["epsilon"] <= 1


def test_a_count_is_found():
    answer = found("calibrate", "laplace", "--epsilon", "1", "--noise", "10", "--find", "count")
    assert (answer["parameter"], answer["value"]) == ("count", "10")


def test_a_sampling_probability_is_found():
    options = ("--noise", "2", "--compositions", "100", "--find", "probability", "--accountant", "pld")
    share = Fraction(found(*COMMAND, *options)["value"])
    event = PoissonSampledEvent(share, GaussianEvent(2))
    assert PLDAccountant().compose(event, count=100).epsilon("1e-6") <= 1
    assert 0 < share < 1


def test_the_relation_counts():
    one, two = (
        Fraction(found(*COMMAND, "--sampling-probability", "0.5", "--relation", relation)["value"])
        for relation in ("add_or_remove_one", "replace_one")
    )
    assert one < two


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("calibrate", "cauchy", "--epsilon", "1"), "discrete-laplace"),
        ((*COMMAND, "--accountant", "worst"), "accountant"),
        ((*COMMAND, "--find", "epsilon"), "find"),
        ((*COMMAND, "--noise", "2"), "leave it out"),
        ((*COMMAND, "--find", "count", "--compositions", "2", "--noise", "2"), "leave it out"),
        ((*COMMAND, "--find", "count"), "--noise"),
        ((*COMMAND, "--relation", "friends"), "neighboring_relation"),
        ((*COMMAND, "--sampling-probability", "2"), "sampling_probability"),
        ((*COMMAND, "--tolerance", "0"), "tolerance"),
        (("calibrate", "gaussian", "--epsilon", "1"), "allow δ above 0"),
        (("calibrate", "laplace", "--epsilon", "1", "--noise", "0.5", "--find", "count"), "even one release"),
        (("calibrate", "laplace", "--epsilon", "none"), "epsilon"),
    ],
)
def test_what_cannot_be_found_is_refused_in_one_line(arguments, words):
    assert words in refusal(*arguments)


def test_a_laplace_event_is_relative_to_its_sensitivity():
    answer = found("calibrate", "laplace", "--epsilon", "0.25")
    assert decode_event(answer["event"]).event == LaplaceEvent(4)
