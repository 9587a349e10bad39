import subprocess
import sys

import pytest
from tests.cli.commands import refusal, run

from sfumato.audit import CAVEAT
from sfumato.cli.audit.commands import audit_app

NAMES = sorted(command.name for command in audit_app.registered_commands)


def test_all_commands_are_listed():
    assert NAMES == ["callable", "command", "mechanism", "sql"]
    shown = run("audit", "--help").stdout
    assert all(name in shown for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_explains_itself(name):
    result = run("audit", name, "--help")
    assert result.exit_code == 0
    assert all(option in result.stdout for option in ("--epsilon", "--samples", "--significance", "--html", "--json"))


def test_the_commands_load_nothing_of_an_audit():
    code = "import sys, sfumato.cli.audit.commands; print(*(n for n in sys.modules if n.startswith('sfumato.audit')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


@pytest.mark.statistical
def test_the_exit_code_says_whether_a_claim_is_refuted():
    """Type-I error 1e-6; half of ε is refuted with a chance above 1 - 1e-9."""
    passed = run("audit", "mechanism", "laplace", "--epsilon", "1", "--samples", "5000")
    assert (passed.exit_code, CAVEAT in passed.stdout) == (0, True), passed.output
    failed = run("audit", "mechanism", "laplace", "--epsilon", "1", "--claim", "0.5", "--samples", "5000")
    assert (failed.exit_code, "privacy violation" in failed.stdout) == (1, True), failed.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mechanism", "laplas", "--epsilon", "1"), "must be one of"),
        (("mechanism", "laplace", "--epsilon", "-1"), "epsilon"),
        (("mechanism", "laplace", "--epsilon", "1", "--significance", "2"), "significance"),
        (("callable", "nowhere", "--epsilon", "1", "--pairs", "none.json"), "cannot be read"),
        (("command", "--epsilon", "1", "--pairs", "none.json", "--", "cat", "-u"), "cannot be read"),
        (("sql", "SELECT", "--epsilon", "1"), "SQL"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(arguments, said):
    assert said in refusal("audit", *arguments)


def test_few_samples_are_refused():
    assert run("audit", "mechanism", "laplace", "--epsilon", "1", "--samples", "99").exit_code == 2
