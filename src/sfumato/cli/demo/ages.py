"""The age histogram: ten bins at a small ε, as a table and as a picture."""

from math import sqrt
from pathlib import Path
from typing import Final

from sfumato.cli.demo.people import BINS, OLDEST, YOUNGEST, People, age_bin, true_counts
from sfumato.cli.demo.stage import Stage, paid
from sfumato.errors import ParameterError
from sfumato.plots import histogram, save
from sfumato.session.releases.release import Release, shown_estimate
from sfumato.session.session import Session

EPSILON: Final = "0.01"
PICTURE: Final = "age_histogram.png"
_SQL: Final = "SELECT age_bin, COUNT(*) AS n FROM people GROUP BY age_bin"


def show(stage: Stage, people: People, curator: Session) -> None:
    """Release the histogram, and draw it beside the true one."""
    stage.section(f"2. The age histogram at ε = {EPSILON}")
    true = true_counts(people.table["age_bin"].to_pylist(), range(BINS))
    release = curator.sql(_SQL, epsilon=EPSILON)
    private = [shown_estimate(estimate) for estimate in release["n"]]
    stage.say(
        f"{BINS} equal bins on the declared range {YOUNGEST}-{OLDEST}, in a column that the owner added. One person "
        f"lies in one bin, so all bins together cost ε {EPSILON} (paid: {paid(release)})."
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
    stddev = sqrt(2) / float(EPSILON)
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
    title = f"People by age, true and private at ε = {EPSILON}"
    try:
        picture = histogram(_labels(), true, values, errors, title=title, x_label="age in years")
    except ParameterError as error:  # without the extra `plots` the rest of the demo still works
        return f"No picture: {error}"
    try:
        return f"Picture: {save(picture, path)}"
    except OSError:
        raise ParameterError("output", str(path.parent), "must be a folder that can be written") from None
