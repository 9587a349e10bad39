"""How many people are over 50: one count at two strengths of protection."""

from typing import Final

from sfumato.cli.demo.people import OVER, People
from sfumato.cli.demo.stage import Stage, paid
from sfumato.session.releases.release import Release, shown_estimate
from sfumato.session.session import Session

EPSILONS: Final = ("0.1", "0.001")
SQL: Final = f"SELECT COUNT(*) AS n FROM people WHERE age > {OVER}"


def show(stage: Stage, people: People, curator: Session) -> Release:
    """Ask at both ε and return the first answer, whose receipt is shown later."""
    stage.section(f"1. How many people are over {OVER}?")
    true = sum(age > OVER for age in people.table["age"].to_pylist())
    releases = [curator.sql(SQL, epsilon=epsilon) for epsilon in EPSILONS]
    stage.say(SQL)
    stage.figures(
        ("ε", "true", "private", "paid"),
        [
            (epsilon, f"{true:,}", shown_estimate(release["n"][0]), paid(release))
            for epsilon, release in zip(EPSILONS, releases, strict=True)
        ],
    )
    stage.say("The error bar follows from ε alone, so it was known before anything was spent.")
    return releases[0]
