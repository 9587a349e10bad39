"""What a section of the demo told."""

from io import StringIO

from rich.console import Console

from sfumato.cli.demo.stage import Stage


def quiet_stage(output, ledger=None):
    console = Console(file=StringIO(), width=200, highlight=False, markup=False, emoji=False)
    return Stage(output=output, ledger=ledger, console=console)


def told(stage):
    return stage.console.file.getvalue()


def sentences(stage):
    """All in one line, however it was wrapped."""
    return " ".join(told(stage).split())


def row(stage, name):
    """The cells of the table's row that starts so."""
    (line,) = [line.strip() for line in told(stage).splitlines() if line.strip().startswith(name)]
    return [cell.strip() for cell in line.split("   ") if cell.strip()]
