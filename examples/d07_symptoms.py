"""D7. How many of a class play football, and which of seven symptoms patients have.

Frequency: a histogram of yes and no has sensitivity 1, as a pupil is in one cell. The frequency is computed from the
noisy cells at no cost. Symptoms: a patient may have all seven, so the vector of seven counts has sensitivity 7 in L1
and √7 in L2. For so short a vector, Laplace noise by L1 is a little smaller than Gaussian noise by L2. For long vectors
it is much larger. To learn only which symptom is the most common, report noisy max needs noise of scale 1/ε, a seventh.
"""

from fractions import Fraction
from math import sqrt

import pyarrow as pa

import sfumato as sf
from sfumato.numeric.rationals import sqrt_up

PLAYERS, PUPILS = 18, 30
SYMPTOMS = tuple(sf.datasets.SYMPTOMS)
L1_SENSITIVITY = len(SYMPTOMS)
L2_SENSITIVITY = sqrt_up(Fraction(len(SYMPTOMS)))
LAPLACE = sf.mechanisms.Laplace(l1_sensitivity=L1_SENSITIVITY, epsilon=1)
NOISY_MAX = sf.mechanisms.NoisyMax(epsilon=1)
DELTA = "1e-6"


def gaussian() -> sf.mechanisms.Gaussian:
    """Noise for the whole vector by its L2 sensitivity; a patient changes up to seven coordinates."""
    return sf.mechanisms.Gaussian(
        l2_sensitivity=L2_SENSITIVITY, l0_sensitivity=len(SYMPTOMS), epsilon=1, delta=DELTA
    )  # fmt: skip


def exact_counts() -> list[int]:
    """How many of a thousand made-up patients have each symptom; only the owner knows it."""
    table = sf.datasets.symptoms()
    return [sum(table.column(symptom).to_pylist()) for symptom in SYMPTOMS]


def football() -> None:
    """Release the frequency of football in a class of thirty."""
    pupils = pa.table({"football": [number < PLAYERS for number in range(PUPILS)]})
    with sf.open(pupils, name="class", columns={"football": sf.boolean()}, budget=sf.PureDP(1)) as session:
        release = session.table().group_by("football").agg(pupils=sf.count()).release(epsilon=1)
        no, yes = (max(0, estimate.value or 0) for estimate in release["pupils"])
        print(f"football: exact {PLAYERS} of {PUPILS}, {PLAYERS / PUPILS:.0%} (owner only)", end="")
        print(f"; private {yes} of {yes + no}, {yes / max(1, yes + no):.0%}")
        print(f"spent {session.spent} of {session.budget}, remaining {session.remaining}\n")


def histogram_by_session() -> list[int]:
    """One query with a column for each symptom: each gets ε/7, so noise of scale 7, like the whole vector."""
    columns = {symptom: sf.integer(0, 1) for symptom in SYMPTOMS}
    with sf.open(sf.datasets.symptoms(), name="patients", columns=columns, budget=sf.PureDP(1)) as session:
        sums = ", ".join(f"SUM({symptom}) AS {symptom}" for symptom in SYMPTOMS)
        release = session.sql(f"SELECT {sums} FROM patients", epsilon=1)
        print(f"histogram by the session: spent {session.spent} of {session.budget}, remaining {session.remaining}")
        return [int(release[symptom][0].value or 0) for symptom in SYMPTOMS]


def main() -> None:
    """Release a frequency, a choice, and two histograms."""
    print(__doc__)
    football()
    exact, by_session = exact_counts(), histogram_by_session()
    by_gauss = gaussian().release(exact)
    chosen = SYMPTOMS[NOISY_MAX.release(exact)]
    print(f"sensitivity of the seven counts: {L1_SENSITIVITY} in L1, {float(L2_SENSITIVITY):.3f} in L2\n")
    print("symptom               exact (owner only)   session, Laplace   vector, Gaussian")
    for row in zip(SYMPTOMS, exact, by_session, by_gauss, strict=True):
        print("{:<20} {:>19} {:>18} {:>18}".format(*row))
    print(f"standard deviations: {sqrt(2) * float(LAPLACE.scale):.1f} for Laplace at ε 1,", end=" ")
    print(f"{float(gaussian().stddev):.1f} for Gauss at ε 1 and δ {DELTA}")
    print(f"the most common, by noisy max at ε 1 with scale {NOISY_MAX.scale}: {chosen}")
    total = sf.PureDP(1) + sf.PureDP(1) + sf.ApproxDP(1, DELTA)
    print(f"all three releases about the patients together cost {total}")


if __name__ == "__main__":
    main()
