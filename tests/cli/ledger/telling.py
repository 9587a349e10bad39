"""What the commands print, read."""

from tests.cli.commands import run


def told(*arguments):
    """What a command of the ledger prints; anything but success fails here."""
    result = run("ledger", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def row(printed, name):
    """What stands behind a name at the beginning of a line, with single spaces."""
    words = [line.split() for line in printed.splitlines() if "protects" not in line]
    (found,) = [" ".join(rest) for first, *rest in filter(None, words) if first == name]
    return found
