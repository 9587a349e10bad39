"""Marital status: a histogram over public keys, true and private."""

from typing import Final

from sfumato.cli.demo.curators import MARITAL_STATUS
from sfumato.cli.demo.people import People, true_counts
from sfumato.cli.demo.stage import Stage, paid
from sfumato.session.releases.release import shown_estimate
from sfumato.session.session import Session

EPSILON: Final = "0.1"
_SQL: Final = "SELECT marital_status, COUNT(*) AS n FROM everyone GROUP BY marital_status"


def show(stage: Stage, people: People, curator: Session) -> None:
    """Count each status."""
    stage.section(f"3. Marital status at ε = {EPSILON}")
    true = true_counts(people.everyone["marital_status"].to_pylist(), MARITAL_STATUS)
    release = curator.sql(_SQL, epsilon=EPSILON)
    stage.say(f"{people.everyone.num_rows:,} rows: {people.everyone_origin} (paid: {paid(release)}).")
    rows = zip(MARITAL_STATUS, (f"{count:,}" for count in true), map(shown_estimate, release["n"]), strict=True)
    stage.figures(("marital status", "true", "private"), rows)
    stage.say(
        "The seven names are public keys, declared by the owner: which of them occur in the data is not told, because "
        "each is answered whether or not it occurs."
    )
