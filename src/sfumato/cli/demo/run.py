"""The demo from its first word to its last."""

from pathlib import Path

from sfumato.cli.demo import ages, closing, diagnosis, exponential, marital_status, opening, over_fifty, payroll, survey
from sfumato.cli.demo.curators import open_curators
from sfumato.cli.demo.people import load_people
from sfumato.cli.demo.stage import Stage


def run(*, output: str, ledger: str | None) -> None:
    """Show everything.

    Args:
        output: The folder for the picture, made if missing.
        ledger: The file that remembers what is spent; None forgets it.

    Raises:
        ParameterError: The data has another content, or the folder cannot be written.
        LedgerError: The ledger cannot be used.
    """
    stage = Stage(output=Path(output), ledger=ledger)
    people = load_people()
    with open_curators(people, ledger=ledger) as curators:
        before = tuple(curator.spent for curator in curators.all)
        opening.show(stage, people, curators)
        first = over_fifty.show(stage, people, curators.people)
        ages.show(stage, people, curators.people)
        marital_status.show(stage, people, curators.people)
        exponential.show(stage, people)
        survey.show(stage)
        payroll.show(stage, curators.company)
        diagnosis.show(stage, curators.patients)
        closing.show_receipt(stage, first)
        closing.show_accounts(stage, curators, before)
