"""D9. Sequential composition: the costs of several answers about the same people add up.

F1 answers a count at ε = 0.1, F2 the same count at 0.2, F3 at 0.3. F1 and F2 together cost exactly 0.3, like F3, and
their average costs nothing more. They are not equally accurate: the average has standard deviation 7.9, F3 has 4.7. To
spend 0.3 on one query, ask it once.

Usage: d09_sequential_composition.py [OUTPUT_FOLDER]
"""

import sys
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.numeric.distributions import discrete_laplace_variance

QUESTION = "SELECT COUNT(*) AS yes FROM survey WHERE smoked_marijuana"
EPSILONS = {"F1": "0.1", "F2": "0.2", "F3": "0.3"}
DRAWS = 100_000


def exact_count() -> int:
    """What only the owner knows."""
    answers: list[bool] = sf.datasets.survey().column("smoked_marijuana").to_pylist()
    return sum(answers)


def curator() -> sf.Session:
    """A session on a survey of a hundred people."""
    columns = {"smoked_marijuana": sf.boolean()}
    return sf.open(sf.datasets.survey(), name="survey", columns=columns, budget=sf.PureDP("0.6"))


def mechanism(name: str) -> sf.mechanisms.Laplace:
    """The noise of F1, F2 or F3: a person changes a count by 1."""
    return sf.mechanisms.Laplace(l1_sensitivity=1, epsilon=EPSILONS[name])


def stddevs() -> tuple[float, float]:
    """The standard deviations of the average of F1 and F2, and of F3, from the distribution of the noise."""
    first, second, third = (discrete_laplace_variance(mechanism(name).scale) for name in EPSILONS)
    return sqrt(first + second) / 2, sqrt(third)


def simulated(draws: int) -> dict[str, NDArray[np.float64]]:
    """Many outputs of both: a simulation outside any session."""
    first, second, third = (mechanism(name).release(np.full(draws, exact_count())) for name in EPSILONS)
    return {"average of F1 and F2": (first + second) / 2, "F3": third.astype(np.float64)}


def main(output: Path = Path("example-output")) -> None:
    """Ask F1, F2 and F3, then simulate their outputs and draw them."""
    print(__doc__)
    print(f"exact {exact_count()} (owner only)")
    answers = {}
    with curator() as survey:
        for name, epsilon in EPSILONS.items():
            answers[name] = survey.sql(QUESTION, epsilon=epsilon)["yes"][0].value or 0
            print(f"{name} at ε {epsilon}: private {answers[name]:>4}", end="")
            print(f"   spent {survey.spent}, remaining {survey.remaining}")
    print(f"average of F1 and F2: {(answers['F1'] + answers['F2']) / 2}, at no further cost\n")
    samples = simulated(DRAWS)
    print(f"standard deviation     exact    in {DRAWS:,} outputs simulated outside any session")
    for (name, outputs), stddev in zip(samples.items(), stddevs(), strict=True):
        print(f"{name:<21} {stddev:>6.2f} {np.std(outputs):>6.2f}")
    figure = sf.plots.composition(
        {name: outputs.tolist() for name, outputs in samples.items()},
        title="Two ways to spend ε = 0.3 on one count (simulated)",
        x_label="people who said yes",
    )
    print(f"picture: {sf.plots.save(figure, output / 'd09_sequential_composition.png')}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
