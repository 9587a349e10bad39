"""Running the command in process, and what its answers look like."""

from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.ledger.locations import open_ledger

QUERY = ("query", "--column", "hours=float")
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refusal(*arguments):
    """The one line that a refused command prints; anything else fails here."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("sfumato: ")
    return line


def spent(ledger, account="people"):
    with open_ledger(ledger, must_exist=True) as opened:
        return str(opened.spent(account))


def in_one_line(text):
    return " ".join(text.split())
