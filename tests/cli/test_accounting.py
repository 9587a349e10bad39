import json
from fractions import Fraction

import pytest
from tests.cli.commands import refusal, run

from sfumato.accounting.comparison import ACCOUNTANTS, BestAccountant, best
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.privacy.codec import decode_event, encode_event
from sfumato.privacy.events import GaussianEvent, LaplaceEvent, PoissonSampledEvent, PureEvent, SelfComposedEvent

EVENT = {"type": "GaussianEvent", "noise_multiplier": 10}


def nested(depth):
    """An event inside so many others."""
    return '{"type":"GroupEvent","size":1,"event":' * depth + json.dumps(EVENT) + "}" * depth


@pytest.fixture
def written(tmp_path):
    def write(document):
        path = tmp_path / "releases.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
        return path

    return write


def figures(path, *options):
    result = run("account", path, *options, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_table_is_that_of_the_package(written):
    path = written([{"event": encode_event(GaussianEvent(10)), "count": 100}])
    result = run("account", path, "--delta", "1e-6")
    assert result.exit_code == 0
    assert result.stdout == f"{best([(GaussianEvent(10), 100)], delta='1e-6')}\n"
    assert all(kind.__name__ in result.stdout for kind in ACCOUNTANTS.values())


@pytest.mark.parametrize(
    "document",
    [
        [{"event": EVENT, "count": 2}],
        [{"event": EVENT}, {"event": EVENT}],
        [EVENT, EVENT],
        [{"event": {"version": 1, "event": EVENT}, "count": 2}],
        [{"version": 1, "event": EVENT, "count": 2}],
        {"version": 1, "event": EVENT, "count": 2},
        {**EVENT, "count": 2},
        encode_event(SelfComposedEvent(GaussianEvent(10), 2)),
        {"type": "SelfComposedEvent", "event": EVENT, "count": 2},
        [{"event": {"type": "SelfComposedEvent", "event": EVENT, "count": 2}, "count": 1}],
    ],
)
def test_every_way_to_write_two_releases_costs_the_same(written, document):
    found = figures(written(document), "--delta", "1e-6")
    assert found["epsilon"] == float(best([(GaussianEvent(10), 2)], delta="1e-6").epsilon)


def test_decimals_are_taken_as_written(written):
    path = written('[{"event": {"type": "PureEvent", "epsilon": 0.1}, "count": 10}]')
    assert figures(path, "--delta", "0")["epsilon"] == 1


def test_json_has_the_interval_the_winner_and_every_figure(written):
    found = figures(written([{"event": EVENT, "count": 100}]), "--delta", "1e-6", "--relation", "replace_one")
    assert found["neighboring_relation"] == "replace_one"
    assert found["lower_epsilon"] <= found["epsilon"] == found["figures"][found["accountant"]]
    assert (found["solves_for"], found["delta"]) == ("epsilon", pytest.approx(1e-6))
    assert set(found["figures"]) == {kind.__name__ for kind in ACCOUNTANTS.values()}
    assert found["figures"]["OptimalAccountant"] is None


def test_delta_is_found_at_an_epsilon(written):
    found = figures(written([{"event": EVENT, "count": 100}]), "--epsilon", "4.8866")
    assert found["solves_for"] == "delta"
    assert found["delta"] == pytest.approx(1e-6, rel=1e-3)


def test_an_exact_answer_costs_infinity(written):
    found = figures(written([{"type": "NonPrivateEvent"}]), "--delta", "1e-6")
    assert found["epsilon"] == "infinite"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{", "must be JSON"),
        ("[" * 100_000, "must be JSON"),
        ("[5]", "entry 1"),
        ([{"event": EVENT, "count": 0}], "entry 1, count"),
        ([EVENT, {"event": EVENT, "count": "many"}], "entry 2, count"),
        ([{"event": {"type": "Magic"}}], "entry 1"),
        ([{"event": {"type": "PureEvent", "epsilon": -1}}], "entry 1"),
        ([{"version": 99, "event": EVENT}], "version"),
        ([{"event": EVENT, "counts": 100}], "may only have count"),
        (nested(101), "entry 1, event = 'an event': is nested too deeply: at most 100"),
        (nested(400), "nested more than 250 deep"),
        ('{"event": {"type": "PureEvent", "epsilon": 1}, "count": 100, "count": 1}', "each name once"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_place(written, document, words):
    line = refusal("account", written(document), "--delta", "1e-6")
    assert words in line


def test_a_missing_file_is_named(tmp_path):
    assert "none.json" in refusal("account", tmp_path / "none.json", "--delta", "1e-6")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "exactly one"),
        (("--delta", "1e-6", "--epsilon", "1"), "exactly one"),
        (("--delta", "2"), "delta"),
        (("--delta", "much"), "delta"),
        (("--delta", "0", "--relation", "friends"), "neighboring_relation"),
    ],
)
def test_options_are_checked(written, options, words):
    assert words in refusal("account", written([LAPLACE]), *options)


@pytest.mark.parametrize("epsilon", ["1/10", "1/3", "1e-320", "1e350"])
def test_the_lower_end_is_rounded_down_in_json(written, epsilon):
    found = figures(written(encode_event(PureEvent(epsilon))), "--delta", "0")
    assert Fraction(found["lower_epsilon"]) <= Fraction(epsilon)
    assert found["epsilon"] == "infinite" or Fraction(found["epsilon"]) >= Fraction(epsilon)


LAPLACE = encode_event(LaplaceEvent(1))


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
        "total cost of all releases: ε 0.1 at δ 0 (accountant basic, neighboring relation add_or_remove_one)",
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
