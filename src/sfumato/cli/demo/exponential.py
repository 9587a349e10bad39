"""The exponential mechanism: ten thousand draws of a marital status, and what they really cost."""

from fractions import Fraction
from typing import Final

from sfumato.cli.demo.curators import MARITAL_STATUS
from sfumato.cli.demo.people import People, true_counts
from sfumato.cli.demo.stage import Stage
from sfumato.mechanisms import Exponential

DRAWS: Final = 10_000
PEOPLE_A_POINT: Final = 1_000
_MANY: Final = 100  # from here on, one decimal is enough
CLAIMED: Final = Exponential(utility_sensitivity=1, epsilon=1)
"""As the texts have it: utility count/1000, said to have sensitivity 1, at ε = 1."""

TRUE_SENSITIVITY: Final = Fraction(1, PEOPLE_A_POINT)
TRUE_EPSILON: Final = CLAIMED.epsilon * TRUE_SENSITIVITY / CLAIMED.utility_sensitivity
"""The same draws, priced by what one person really moves."""


def show(stage: Stage, people: People) -> None:
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
