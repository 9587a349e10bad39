"""E4. Composition: the cost of many releases depends on the accountant.

One count with Laplace noise at ε = 0.1 costs 0.1. A hundred of them cost 10 by basic composition, which needs no δ.
With δ = 1e-6 the same hundred cost less than half of that. The more an accountant knows about the noise, the less it
charges: only (ε, δ), a curve of Rényi divergences, or the whole distribution of the privacy loss. The noise is the same
in every row.

All of this is for batches declared in advance. A session answers queries one by one and charges them by basic
composition. That stays sound if each query depends on the last answer.

Usage: e04_composition.py
"""

from fractions import Fraction

import sfumato as sf
from sfumato.accounting.comparison import ACCOUNTANTS, best
from sfumato.privacy.events import Event, GaussianEvent, LaplaceEvent, PoissonSampledEvent, PureEvent

DELTA = "1e-6"
COUNTS = (1, 10, 100, 1_000)
RELEASES: dict[str, Event] = {
    "any mechanism with ε = 0.1": PureEvent(Fraction(1, 10)),
    "Laplace noise, scale 10": LaplaceEvent(Fraction(10)),
    "Gaussian noise, standard deviation 10": GaussianEvent(Fraction(10)),
    "Gaussian noise, standard deviation 1, on samples of 1%": PoissonSampledEvent(
        Fraction(1, 100), GaussianEvent(Fraction(1))
    ),
}
QUESTION = "SELECT COUNT(*) AS yes FROM survey WHERE smoked_marijuana"


def figures(event: Event) -> dict[str, list[float | None]]:
    """For each accountant what it charges for 1, 10, 100 and 1,000 releases; None where it has no cost."""
    found: dict[str, list[float | None]] = {kind.__name__: [] for kind in ACCOUNTANTS.values()}
    for count in COUNTS:
        for figure in best([(event, count)], delta=DELTA).figures:
            found[figure.accountant].append(None if figure.cost is None else float(figure.cost))
    return found


def table(event: Event) -> str:
    """What every accountant charges, with four digits; the smallest figure of each column is marked."""
    rows = {name: [cost for cost in costs if cost is not None] for name, costs in figures(event).items()}
    rows = {name: costs for name, costs in rows.items() if costs}
    least = [f"{min(column):.4g}" for column in zip(*rows.values(), strict=True)]
    lines = [f"  {'accountant':<20}" + "".join(f"{count:>10,} " for count in COUNTS)]
    for name, costs in rows.items():
        words = [f"{cost:.4g}" for cost in costs]
        marked = (f"{word:>10}{'*' if word == small else ' '}" for word, small in zip(words, least, strict=True))
        lines.append(f"  {name:<20}" + "".join(marked).rstrip())
    return "\n".join(lines)


def main() -> None:
    """Release one of these counts, then compare what many of them would cost."""
    print(__doc__)
    exact = sum(sf.datasets.survey().column("smoked_marijuana").to_pylist())
    columns = {"smoked_marijuana": sf.boolean()}
    with sf.open(sf.datasets.survey(), name="survey", columns=columns, budget=sf.PureDP(1)) as survey:
        answer = survey.sql(QUESTION, epsilon="0.1")["yes"][0]
        print(f"one count: exact {exact} (owner only), private {answer.value}; spent {survey.spent}\n")
    for name, event in RELEASES.items():
        print(f"{name}: ε of so many releases at δ = {DELTA}, * marks the best")
        print(table(event), end="\n\n")


if __name__ == "__main__":
    main()
