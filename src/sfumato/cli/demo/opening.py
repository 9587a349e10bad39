"""The first words: who the people are, who may see what, and what may be spent."""

from sfumato.cli.demo.curators import Curators
from sfumato.cli.demo.people import People
from sfumato.cli.demo.stage import Stage


def show(stage: Stage, people: People, curators: Curators) -> None:
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
