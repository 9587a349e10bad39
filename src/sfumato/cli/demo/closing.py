"""The last words: the receipt of one answer, and what each account has spent."""

from collections.abc import Sequence

from sfumato.cli.demo.curators import Curators
from sfumato.cli.demo.stage import Stage
from sfumato.privacy.budgets import Budget
from sfumato.session.releases.release import Release


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
