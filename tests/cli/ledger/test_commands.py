import subprocess
import sys

import pytest
from tests.cli.commands import run

from sfumato.cli.ledger.commands import ledger_app

NAMES = sorted(command.name for command in ledger_app.registered_commands)


def test_all_commands_are_listed():
    shown = run("ledger", "--help").stdout
    assert NAMES == [
        "budget", "checkpoint", "close", "export", "history", "label", "migrate", "open", "restored", "resume",
        "rotate-key",
        "show", "sweep", "verify",
    ]  # fmt: skip
    assert all(name in shown for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_explains_itself(name):
    result = run("ledger", name, "--help")
    assert result.exit_code == 0
    assert "LEDGER" in result.stdout


def test_the_commands_load_nothing_of_the_ledger():
    code = "import sys, sfumato.cli.ledger.commands; print(*(n for n in sys.modules if n.startswith('sfumato.ledger')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
