"""What others wrote: modules of the folder where the command is called, and programs that answer over a pipe."""

import json
import sys

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


pytestmark = pytest.mark.usefixtures("folder")

MODULE = """
import numpy as np

RNG = np.random.default_rng(3)

def noisy(database):
    return len(database) + int(RNG.geometric(0.632) - RNG.geometric(0.632))

def many(database, runs):
    return len(database) + RNG.geometric(0.632, runs) - RNG.geometric(0.632, runs)

class Foreign:
    def randomise(self, value):
        return noisy(value)

    def exact(self, value):
        return len(value)

foreign = Foreign()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "noisy_of_others.py").write_text(MODULE, "utf-8")
    (tmp_path / "pairs.json").write_text(json.dumps([{"database": [1, 2], "neighbor": [1]}]), "utf-8")
    yield
    sys.modules.pop("noisy_of_others", None)


def audit_of_others(*arguments, claim="1"):
    return run(
        "audit", *arguments[:1], "--pairs", "pairs.json", "--epsilon", claim, "--samples", "2000", *arguments[1:]
    )


@pytest.mark.statistical
@pytest.mark.parametrize("options", [["noisy"], ["many", "--batch"], ["foreign"], ["foreign", "--method", "randomise"]])
def test_functions_and_objects_are_found_by_their_name(options):
    """The claim is about true, type-I error 1e-6; a fifth of it is refuted with a chance above 1 - 1e-9."""
    name, *more = options
    assert audit_of_others("callable", f"noisy_of_others:{name}", *more, claim="1.001").exit_code == 0
    assert audit_of_others("callable", f"noisy_of_others:{name}", *more, claim="0.2").exit_code == 1


def test_a_method_without_noise_is_refuted():
    result = audit_of_others("callable", "noisy_of_others:foreign", "--method", "exact")
    assert (result.exit_code, "privacy violation" in result.stdout) == (1, True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("noisy_of_others", "must look like"),
        ("noisy_of_others:none", "cannot be imported"),
        ("no_such_module:f", "cannot be imported"),
        ("noisy_of_others:Foreign", "an object, not its class"),
        ("noisy_of_others:MISSING.deep", "cannot be imported"),
    ],
)
def test_what_cannot_be_called_is_refused(name, said):
    assert said in refusal("audit", "callable", name, "--pairs", "pairs.json", "--epsilon", "1")


def test_a_batch_needs_a_function():
    said = refusal("audit", "callable", "noisy_of_others:foreign", "--batch", "--pairs", "pairs.json", "--epsilon", "1")
    assert "--batch" in said


@pytest.mark.parametrize("ending", ["import sys; sys.exit(0)", "raise RuntimeError('no')", "def f(:"])
def test_a_module_that_cannot_be_imported_is_wrong_use_and_no_verdict(tmp_path, ending):
    (tmp_path / "ending_of_others.py").write_text(f"print('hello')\n{ending}", "utf-8")
    assert "cannot be imported" in refusal_after("ending_of_others:f")


@pytest.mark.parametrize("error", ["RuntimeError('no')", "SystemExit(0)", "SystemExit(1)"])
def test_a_batch_that_fails_is_wrong_use_and_no_verdict(tmp_path, error):
    (tmp_path / "ending_of_others.py").write_text(f"def f(database, runs):\n    raise {error}", "utf-8")
    assert "failed with" in refusal_after("ending_of_others:f", "--batch")
    assert "cannot be combined with --batch" in refusal_after("ending_of_others:f", "--batch", "--method", "f")


def refusal_after(name, *options):
    """The last line of the error stream, after what the module printed there."""
    result = run("audit", "callable", name, *options, "--pairs", "pairs.json", "--epsilon", "1", "--samples", "100")
    sys.modules.pop("ending_of_others", None)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return result.stderr.splitlines()[-1]


EXACT = "import json\nwhile True: a = json.loads(input()); print([len(a['database'])] * a['runs'], flush=True)"


def test_a_program_is_audited_over_its_pipes():
    result = audit_of_others("command", "--json", "--", sys.executable, "-c", EXACT)
    report = json.loads(result.stdout)
    assert (result.exit_code, report["refuted"]) == (1, True)
    assert report["events"][0]["epsilon_lower_bound"] > 4


def test_a_program_that_was_audited_ends_by_itself(tmp_path):
    answers = "import json, sys\nfor line in sys.stdin: print([0] * json.loads(line)['runs'], flush=True)\n"
    code = f"{answers}open({str(tmp_path / 'bye')!r}, 'w').close()"
    assert audit_of_others("command", "--", sys.executable, "-c", code).exit_code == 0
    assert (tmp_path / "bye").exists()


def test_a_program_that_misbehaves_is_wrong_use():
    line = refusal("audit", "command", "--pairs", "pairs.json", "--epsilon", "1", "--", sys.executable, "-c", "1/0")
    assert "ended with exit code 1" in line
    assert "ZeroDivisionError" in line
