"""What learning pays: ε at δ = 1e-6 of groups and exchanges in samples, beside what it was before.

Before: the bounds of the release of 2026-11-27, of which all of a group entered a sample together and an exchange took
the worse of two one-sided bounds. "plain" is the plain rule of groups. No figure depends on the machine, but seconds.
"""

import math
import time
from dataclasses import dataclass
from fractions import Fraction

from sfumato.accounting.core.matrix_events import matrix_event
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    GroupEvent,
    PoissonSampledEvent,
    PureEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

DELTA = Fraction(1, 10**6)
TENTH, HUNDREDTH = Fraction(1, 10), Fraction(1, 100)
LITTLE, MUCH = GaussianEvent(1), GaussianEvent(4)


@dataclass(frozen=True)
class Case:
    """An event, and the ε that it had before."""

    name: str
    event: Event
    relation: NeighboringRelation
    before: float
    group: int = 1
    count: int = 1


CASES = (
    Case("10 of 1000, σ 4", SampledWithoutReplacementEvent(10, 1000, MUCH), ADD_OR_REMOVE_ONE, 0.09525, 2),
    Case("10 of 1000, σ 4", SampledWithoutReplacementEvent(10, 1000, MUCH), REPLACE_ONE, 7.36944, 8),
    Case("10 of 1000, σ 4", SampledWithoutReplacementEvent(10, 1000, MUCH), REPLACE_ONE, 66.2113, 32),
    Case("Poisson 1%, σ 4", PoissonSampledEvent(HUNDREDTH, MUCH), REPLACE_ONE, 0.38233, 2),
    Case("Poisson 1%, σ 4", PoissonSampledEvent(HUNDREDTH, MUCH), REPLACE_ONE, 19.07507, 8),
    Case("Poisson 1%, ε 1", PoissonSampledEvent(HUNDREDTH, PureEvent(1)), ADD_OR_REMOVE_ONE, 5.44335, 8),
    Case(
        "4 answers of σ 2", PoissonSampledEvent(HUNDREDTH, SelfComposedEvent(GaussianEvent(2), 4)), REPLACE_ONE, 1.73346
    ),
    Case(
        "4 answers of σ 2",
        PoissonSampledEvent(HUNDREDTH, SelfComposedEvent(GaussianEvent(2), 4)),
        REPLACE_ONE,
        6.60722,
        count=1000,
    ),
    Case("half of a tenth, σ 1", PoissonSampledEvent(TENTH, PoissonSampledEvent("0.5", LITTLE)), REPLACE_ONE, 1.66547),
    Case("discrete σ 1", PoissonSampledEvent(HUNDREDTH, DiscreteGaussianEvent(1, 1)), REPLACE_ONE, 1.55454),
    Case("discrete σ 1", PoissonSampledEvent(HUNDREDTH, DiscreteGaussianEvent(1, 1)), REPLACE_ONE, 6.61846, count=1000),
    Case("vector σ 100/100", PoissonSampledEvent(TENTH, DiscreteGaussianEvent(100, 100)), REPLACE_ONE, 6.57659),
    Case("discrete Laplace 1", PoissonSampledEvent(TENTH, DiscreteLaplaceEvent(1, 1)), REPLACE_ONE, 0.494),
)


def plain_rule(case: Case) -> float:
    """The least ε at which the steps of one unit each stay within δ."""
    single = PLDAccountant(neighboring_relation=case.relation).compose(case.event, count=case.count)
    low, high = 0.0, 1000.0
    for _ in range(40):
        middle = (low + high) / 2
        step = middle / case.group
        chained = float(single.delta(Fraction(step))) * sum(math.exp(i * step) for i in range(case.group))
        low, high = (middle, high) if chained > DELTA else (low, middle)
    return high


def main() -> None:
    """Print the table."""
    print(
        f"{'':22}{'relation':19}{'group':>6}{'count':>6}{'before':>10}{'now':>10}{'at least':>10}{'plain':>10}{'s':>6}"
    )
    for case in CASES:
        start = time.process_time()
        event = GroupEvent(case.event, case.group) if case.group > 1 else case.event
        found = PLDAccountant(neighboring_relation=case.relation).compose(event, count=case.count).interval(DELTA)
        seconds = time.process_time() - start
        plain = f"{plain_rule(case):10.5f}" if case.group > 1 else f"{'':10}"
        print(
            f"{case.name:22}{case.relation:19}{case.group:6}{case.count:6}{case.before:10.5f}"
            f"{float(found.upper):10.5f}{float(found.lower):10.5f}{plain}{seconds:6.1f}"
        )
    band = [[int(0 <= row - column < 4) for column in range(64)] for row in range(64)]
    before, now = (
        1 / float(matrix_event(band, 1, participations=8, min_separation=gap).noise_multiplier) for gap in (1, 8)
    )
    print(f"band of 4, 8 participations: sensitivity {before:.3f} anywhere, {now:.3f} eight steps apart")


if __name__ == "__main__":
    main()
