"""The sections about the census: people over 50, ages and marital status, and draws by the exponential mechanism."""

from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Final

from sfumato.cli.demo.stage import (
    BINS,
    MARITAL_STATUS,
    OLDEST,
    OVER,
    YOUNGEST,
    People,
    Stage,
    age_bin,
    paid,
    true_counts,
)
from sfumato.errors import ParameterError
from sfumato.mechanisms import Exponential
from sfumato.plots import histogram, save
from sfumato.session.releases.release import Release, shown_estimate
from sfumato.session.session import Session

EPSILONS: Final = ("0.1", "0.001")
SQL: Final = f"SELECT COUNT(*) AS n FROM people WHERE age > {OVER}"


def show_over_fifty(stage: Stage, people: People, curator: Session) -> Release:
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


AGES_EPSILON: Final = "0.01"
PICTURE: Final = "age_histogram.png"
_AGES_SQL: Final = "SELECT age_bin, COUNT(*) AS n FROM people GROUP BY age_bin"


def show_ages(stage: Stage, people: People, curator: Session) -> None:
    """Release the histogram, and draw it beside the true one."""
    stage.section(f"2. The age histogram at ε = {AGES_EPSILON}")
    true = true_counts(people.table["age_bin"].to_pylist(), range(BINS))
    release = curator.sql(_AGES_SQL, epsilon=AGES_EPSILON)
    private = [shown_estimate(estimate) for estimate in release["n"]]
    stage.say(
        f"{BINS} equal bins on the declared range {YOUNGEST}-{OLDEST}, in a column that the owner added. One person "
        f"lies in one bin, so all bins together cost ε {AGES_EPSILON} (paid: {paid(release)})."
    )
    rows = zip(_labels(), (f"{count:,}" for count in true), private, strict=True)
    stage.figures(("age", "true", "private"), rows)
    stage.say(_remark(true, release))
    stage.say(_drawn(stage.output / PICTURE, true, release))


def _labels() -> list[str]:
    """The whole ages of each bin."""
    ages = [[age for age in range(YOUNGEST, OLDEST + 1) if age_bin(age) == index] for index in range(BINS)]
    return [f"{bin_ages[0]}-{bin_ages[-1]}" for bin_ages in ages]


def _remark(true: list[int], release: Release) -> str:
    drowned = [
        label
        for label, count, estimate in zip(_labels(), true, release["n"], strict=True)
        if count <= estimate.half_width
    ]
    stddev = sqrt(2) / float(AGES_EPSILON)
    return (
        f"The noise in every bin has a standard deviation of √2/ε = {stddev:.0f} people, however many the bin holds: "
        f"the smallest bins drown in it ({', '.join(drowned) or 'none here'}), and a private count may be negative. "
        "A figure that is no larger than its error is marked ≲ noise."
    )


def _drawn(path: Path, true: list[int], release: Release) -> str:
    """Draw the picture and say where it is, or why there is none."""
    estimates = release["n"]
    values = [0 if estimate.value is None else estimate.value for estimate in estimates]
    errors = [estimate.half_width for estimate in estimates]
    title = f"People by age, true and private at ε = {AGES_EPSILON}"
    try:
        picture = histogram(_labels(), true, values, errors, title=title, x_label="age in years")
    except ParameterError as error:  # without the extra `plots` the rest of the demo still works
        return f"No picture: {error}"
    try:
        return f"Picture: {save(picture, path)}"
    except OSError:
        raise ParameterError("output", str(path.parent), "must be a folder that can be written") from None


STATUS_EPSILON: Final = "0.1"
_STATUS_SQL: Final = "SELECT marital_status, COUNT(*) AS n FROM everyone GROUP BY marital_status"


def show_marital_status(stage: Stage, people: People, curator: Session) -> None:
    """Count each status."""
    stage.section(f"3. Marital status at ε = {STATUS_EPSILON}")
    true = true_counts(people.everyone["marital_status"].to_pylist(), MARITAL_STATUS)
    release = curator.sql(_STATUS_SQL, epsilon=STATUS_EPSILON)
    stage.say(f"{people.everyone.num_rows:,} rows: {people.everyone_origin} (paid: {paid(release)}).")
    rows = zip(MARITAL_STATUS, (f"{count:,}" for count in true), map(shown_estimate, release["n"]), strict=True)
    stage.figures(("marital status", "true", "private"), rows)
    stage.say(
        "The seven names are public keys, declared by the owner: which of them occur in the data is not told, because "
        "each is answered whether or not it occurs."
    )


DRAWS: Final = 10_000
PEOPLE_A_POINT: Final = 1_000
_MANY: Final = 100  # from here on, one decimal is enough
CLAIMED: Final = Exponential(utility_sensitivity=1, epsilon=1)
"""As the texts have it: utility count/1000, said to have sensitivity 1, at ε = 1."""

TRUE_SENSITIVITY: Final = Fraction(1, PEOPLE_A_POINT)
TRUE_EPSILON: Final = CLAIMED.epsilon * TRUE_SENSITIVITY / CLAIMED.utility_sensitivity
"""The same draws, priced by what one person really moves."""


def show_exponential(stage: Stage, people: People) -> None:
    """Draw, and set the counts beside the expected ones."""
    stage.section(f"4. The exponential mechanism: {DRAWS:,} draws of a marital status")
    stage.say(
        "A simulation of the mechanism, outside any session: no account pays for it, and no analyst sees it. It draws "
        "a status with probability ∝ exp(ε·utility/2), where utility = count/1000 and ε = 1."
    )
    true = true_counts(people.everyone["marital_status"].to_pylist(), MARITAL_STATUS)
    utilities = [Fraction(count, PEOPLE_A_POINT) for count in true]
    drawn = CLAIMED.release_many(utilities, DRAWS).tolist()
    expected = DRAWS * CLAIMED.probabilities(utilities)
    rows = [
        (status, f"{count:,}", _expectation(draws), f"{drawn.count(index):,}")
        for index, (status, count, draws) in enumerate(zip(MARITAL_STATUS, true, expected, strict=True))
    ]
    stage.figures(("marital status", "people", "expected draws", "drawn"), rows)
    stage.say(
        f"Nominal total: ε {int(DRAWS * CLAIMED.epsilon):,}, as the texts claim that one person moves a utility by 1, "
        f"at ε {CLAIMED.epsilon} a draw. True total: one person moves count/1000 by only 1/1000, so a draw really "
        f"costs ε {float(TRUE_EPSILON)}, and all {DRAWS:,} together at most ε {DRAWS * TRUE_EPSILON}."
    )


def _expectation(draws: float) -> str:
    return f"{draws:,.1f}" if draws >= _MANY else f"{draws:.2f}"
