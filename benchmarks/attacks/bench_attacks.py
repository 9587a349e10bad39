"""How often do attacks succeed on exact answers, and through a session at several ε in all?

Each figure is of many databases, all of which one release answers by parallel composition. The last one has ε = 10^5,
which leaves no noise to speak of. Right guesses are of fair coins, but for reconstruction, where they are bits. The
last column tells how many guesses each share is of, from which docs/images/draw.py has its intervals.
"""

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.attacks_through_curators import test_linkage as linkage
from tests.attacks_through_curators import test_membership as membership
from tests.attacks_through_curators import test_reconstruction as reconstruction
from tests.attacks_through_curators import test_unicity as unicity
from tests.attacks_through_curators.disjoint_worlds import OTHERS, looked_up, released, with_and_without

import sfumato as sf
from sfumato.attacks.core.membership_game import play
from sfumato.attacks.core.outcome import Outcome, largest_success
from sfumato.attacks.members.means import estimate
from sfumato.attacks.questions.differences import differencing
from sfumato.attacks.reconstruction import least_squares, together

EPSILONS = ("0.1", "0.3", "1", "3", "10", "100000")
TRIALS = 10_000


def known_others(epsilon: str) -> Outcome:
    """The count of all, where the count of the others is known."""
    worlds = with_and_without(epsilon, statistics="COUNT(*) AS everybody")
    return differencing(worlds, larger="everybody", known=OTHERS, trials=TRIALS, epsilon=epsilon).outcome


def two_counts(epsilon: str) -> Outcome:
    """Both counts are asked, so that each gets half of ε."""
    counts = "COUNT(*) AS everybody, COUNT(CASE WHEN person > 0 THEN 1 END) AS others"
    worlds = with_and_without(epsilon, statistics=counts)
    return differencing(worlds, larger="everybody", smaller="others", trials=TRIALS, epsilon=epsilon).outcome


def tracing(epsilon: str) -> Outcome:
    """Who was averaged, from the sums of sixty attributes of ten people."""

    def worlds(coins):
        of, bits = membership.databases(coins)
        rows = {"world": of, **{name: bits[:, at] for at, name in enumerate(membership.NAMES)}}
        columns = {name: sf.integer(0, 1) for name in membership.NAMES}
        sums = ", ".join(f"SUM({name}) AS {name}" for name in membership.NAMES)
        answers = released(rows, columns, f"SELECT world, {sums} FROM people GROUP BY world", epsilon)
        return [lambda name, one=one: one(name) / (membership.OTHERS + 1) for one in looked_up(answers)]

    guessing = estimate(membership.RECORD, population=membership.POPULATION, questions=membership.NAMES)
    threshold = membership.THRESHOLD[membership.tracing]
    return play(worlds, guessing, trials=2_000, threshold=threshold, epsilon=epsilon).outcome


def four_points(epsilon: str) -> Outcome:
    """Whether somebody has four points of a trace."""
    hits, alarms = unicity.rates(unicity.private(epsilon))
    half = unicity.WORLDS // 2
    return Outcome(attack="unicity", successes=hits + half - alarms, trials=2 * half, baseline=0.5)


def diagnosis(epsilon: str) -> Outcome:
    """Whether the voter of a cell has HIV."""
    return linkage.attack("diagnosis", linkage.private(epsilon))


def bits(epsilon: str) -> Outcome:
    """128 bits from 512 sums, 40 databases."""
    secrets = np.random.default_rng().random((40, reconstruction.PEOPLE)) < 0.5
    answers = reconstruction.answered(secrets, Fraction(epsilon))
    pairs = zip(secrets, answers, strict=True)
    return together(reconstruction.attacked(secret, found, least_squares) for secret, found in pairs)


def each_bit(epsilon: str) -> Outcome:
    """The same bits from one count for each person alone, 40 databases."""
    secrets = np.random.default_rng().random((40, reconstruction.PEOPLE)) < 0.5
    counts = reconstruction.one_by_one(secrets, epsilon)
    return together(reconstruction.guessed(*pair, epsilon) for pair in zip(secrets, counts, strict=True))


ATTACKS: dict[str, Callable[[str], Outcome]] = {
    "differencing, all others known": known_others,
    "differencing, two counts": two_counts,
    "membership in means": tracing,
    "diagnosis of a voter": diagnosis,
    "four points of a trace": four_points,
    "bits, one count per person": each_bit,
    "bits, 512 sums of random halves": bits,
}

if __name__ == "__main__":
    shown = [f"ε = {epsilon}" if float(epsilon) < 1e3 else "hardly any noise" for epsilon in EPSILONS]
    print(f"| attack | {' | '.join(shown)} | guesses |\n|---|{'---|' * (len(EPSILONS) + 1)}")
    for name, attack in ATTACKS.items():
        found = [attack(epsilon) for epsilon in EPSILONS]
        shares = " | ".join(f"{outcome.success:.1%}" for outcome in found)
        print(f"| {name} | {shares} | {found[0].trials:,} |", flush=True)
    limits = (f"{largest_success(epsilon=epsilon):.1%}" for epsilon in EPSILONS)
    print(f"| limit of the guarantee | {' | '.join(limits)} | |")
