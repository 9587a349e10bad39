"""G3. Too many answers that are too accurate: 512 sums over subsets reveal 128 secret bits.

Each sum covers about half of the people and is harmless alone [DN03]. Least squares recovers the bits from all of them,
even if each answer is rounded to a multiple of 5, or is wrong by a few. A session adds noise of scale 512 to each of
the 512 sums, at ε = 1 in total. Then the attack is right about as often as random guesses.
"""

import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.attacks.core.outcome import Outcome, curve
from sfumato.attacks.reconstruction import (
    accuracy_over,
    exact_sums,
    noisy_sums,
    random_bits,
    reconstruct,
    rounded_sums,
)
from sfumato.attacks.reconstruction.problem import AnswerOfMask, Bits, Masks

PEOPLE, QUESTIONS = 128, 512
PRIME, STEP = 131, 16
"""Subset i uses a factor and a shift: the two digits of i · 16 in base 131."""
SCALES = (0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def without_proof(secret: Bits, masks: Masks) -> dict[str, Outcome]:
    """The attack on answers without a privacy guarantee."""
    curators = {
        "exact": exact_sums(secret),
        "rounded to 5": rounded_sums(secret),
        "within 2": noisy_sums(secret, scale=2, distribution="uniform"),
        "within √n / 2": noisy_sums(secret, scale=sqrt(PEOPLE) / 2, distribution="uniform"),
    }
    return {name: reconstruct(answer, secret=secret, masks=masks).outcome for name, answer in curators.items()}


def subset(place: int) -> str:
    """One of the subsets as a condition of SQL: arithmetic on the number of a person, which looks harmless."""
    factor, shift = divmod(place * STEP, PRIME)
    return f"(person * {factor + 1} + {shift}) % {PRIME} < {PRIME // 2}"


def subsets() -> Masks:
    """All subsets as masks: which people are in each."""
    factors, shifts = np.divmod(np.arange(QUESTIONS) * STEP, PRIME)
    masks: Masks = (np.outer(factors + 1, np.arange(PEOPLE)) + shifts[:, None]) % PRIME < PRIME // 2
    return masks


def private_sums(secret: Bits, epsilon: int) -> AnswerOfMask:
    """All sums through a session, in two queries of 256 sums."""
    table = pa.table({"person": range(PEOPLE), "ill": secret.astype(int)})
    columns = {"person": sf.integer(0, PEOPLE - 1), "ill": sf.integer(0, 1)}
    answers: list[int] = []
    with sf.open(table, name="people", columns=columns, budget=sf.PureDP(epsilon)) as people:
        for part in (range(QUESTIONS // 2), range(QUESTIONS // 2, QUESTIONS)):
            sums = ", ".join(f"SUM(CASE WHEN {subset(place)} THEN ill ELSE 0 END) AS a{place}" for place in part)
            (record,) = people.sql(f"SELECT {sums} FROM people", epsilon=f"{epsilon}/2").to_arrow().to_pylist()
            answers += [record[f"a{place}"] for place in part]
        print(f"  spent {people.spent}, remaining {people.remaining}")
    shown = {mask.tobytes(): float(answer) for mask, answer in zip(subsets(), answers, strict=True)}
    return lambda mask: shown[mask.tobytes()]


def error_curve() -> dict[float, Outcome]:
    """The share of right bits for each scale of Laplace noise: a simulation with two databases at each scale."""
    found = accuracy_over(
        SCALES, lambda secret, scale: noisy_sums(secret, scale=scale), people=PEOPLE, questions=QUESTIONS, databases=2
    )
    return {float(scale): outcome for scale, outcome in found.items()}


def main(output: Path = Path("example-output")) -> None:
    """Attack answers without a guarantee, then a session, then draw the curve."""
    print(__doc__)
    secret, masks = random_bits(PEOPLE), subsets()
    print(f"{PEOPLE} secret bits (owner only), {QUESTIONS} sums")
    for name, outcome in without_proof(secret, masks).items():
        print(f"  {name:<14} {outcome}")
    print("through a session at ε = 1 in total")
    print(f"  {reconstruct(private_sums(secret, 1), secret=secret, masks=masks, epsilon=1).outcome}")
    figure = curve(error_curve(), x_label="scale of Laplace noise in each of 512 answers")
    print(f"picture: {sf.plots.save(figure, output / 'g03_reconstruction.png')}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
