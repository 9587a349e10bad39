"""The demo from its first word, who may see what and spend what, to its last, a receipt and the accounts."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.cli.demo.attacks import show_diagnosis, show_payroll, show_survey
from sfumato.cli.demo.census import show_ages, show_exponential, show_marital_status, show_over_fifty
from sfumato.cli.demo.stage import Curators, People, Stage, load_people, open_curators
from sfumato.privacy.budgets import Budget
from sfumato.session.releases.release import Release


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
        show_opening(stage, people, curators)
        first = show_over_fifty(stage, people, curators.people)
        show_ages(stage, people, curators.people)
        show_marital_status(stage, people, curators.people)
        show_exponential(stage, people)
        show_survey(stage)
        show_payroll(stage, curators.company)
        show_diagnosis(stage, curators.patients)
        show_receipt(stage, first)
        show_accounts(stage, curators, before)


def show_opening(stage: Stage, people: People, curators: Curators) -> None:
    """Say what follows, and what a ledger already holds."""
    stage.section("Sfumato: a curator you can trust with a database of people")
    stage.say(f"Data: {people.origin}, {people.table.num_rows:,} rows, one a person.")
    stage.say(
        'The demo owns this data. Where it says "true" it has looked at the raw rows, as only an owner may; an analyst '
        "sees the private figures alone. Each comes with its 95% error bar."
    )
    stage.say(
        f"All questions about these people share one budget, {curators.people.budget}. The smaller ε is, the less an "
        "answer can tell about any one person."
    )
    if stage.ledger is None:
        stage.say("No --ledger was named, so what is spent here is forgotten when the demo ends.")
        return
    spent = ", ".join(f"{curator.policy.dataset} {curator.spent}" for curator in curators.all)
    stage.say(f"Ledger {stage.ledger}. Spent before this run: {spent}.")


def show_receipt(stage: Stage, release: Release) -> None:
    """The receipt as JSON."""
    stage.section("10. The receipt of the first answer")
    stage.say(
        "What was asked, which noise was added (event), what it cost (guarantee), for whom it holds (privacy_unit, "
        "neighboring_relation), and which entry of the ledger paid for it (request):"
    )
    stage.console.print(release.receipt.to_json(), soft_wrap=True)


def show_accounts(stage: Stage, curators: Curators, before: Sequence[Budget]) -> None:
    """Every account, before this run and after."""
    stage.section("11. The accounts")
    rows = [
        (curator.policy.dataset, *map(str, (curator.budget, spent_before, curator.spent, curator.remaining)))
        for curator, spent_before in zip(curators.all, before, strict=True)
    ]
    stage.figures(("account", "budget", "spent before", "spent after", "left"), rows)
    if stage.ledger is None:
        stage.say("Forgotten now. With --ledger FILE a second run answers from the file and spends nothing more.")
    else:
        stage.say(
            f"Kept in {stage.ledger}: run the demo again and it spends nothing more. Check the file with: sfumato "
            f"ledger verify {stage.ledger}"
        )
