"""D12. A survey of a hundred people on marijuana, by randomized response.

Each person tosses a coin. On heads they tell the truth; on tails they toss again and say yes on heads, no on tails.
With fair coins an answer is true with probability 3/4, which costs each respondent ε = ln 3. If a fraction π would
truly say yes, then 1/4 + π/2 of the answers are yes. Nobody needs to be trusted: there is no curator, no session and no
budget.

Usage: d12_survey.py [OUTPUT_FOLDER]
"""

import sys
from fractions import Fraction
from math import sqrt
from pathlib import Path

import sfumato as sf

COINS = tuple(Fraction(percent, 100) for percent in range(10, 96))
PRINTED = 10  # every tenth of them


def truths() -> list[bool]:
    """The true answers, which only the made-up respondents know."""
    answers: list[bool] = sf.datasets.survey().column("smoked_marijuana").to_pylist()
    return answers


def fraction_of_truths() -> float:
    """The fraction of respondents whose true answer is yes."""
    return sum(truths()) / len(truths())


def expected_yes(heads_probability: float, fraction: float) -> float:
    """The fraction of answers that are yes, (1 - p)p + pπ on average."""
    return (1 - heads_probability) * heads_probability + heads_probability * fraction


def standard_error(heads_probability: float, fraction: float, people: int) -> float:
    """The standard error of the estimate, from the coins and from sampling; for p = 1 only from sampling."""
    said = expected_yes(heads_probability, fraction)
    return sqrt(said * (1 - said) / people) / heads_probability


def tradeoff(people: int = 100) -> list[tuple[Fraction, float, float]]:
    """For each coin, its ε and the standard error of the estimate."""
    epsilons = [float(sf.mechanisms.RandomizedResponse(heads_probability=coin).epsilon) for coin in COINS]
    errors = [standard_error(float(coin), fraction_of_truths(), people) for coin in COINS]
    return list(zip(COINS, epsilons, errors, strict=True))


def main(output: Path = Path("example-output")) -> None:
    """Run the survey once with fair coins, then show utility and privacy for other coins."""
    print(__doc__)
    fair = sf.mechanisms.RandomizedResponse()
    answers = fair.release(truths())
    estimate = fair.estimate(answers)
    expected = expected_yes(0.5, fraction_of_truths())
    print(f"yes among the answers     {sum(answers)} of {len(answers)} (expected {expected:.0%})")
    print(f"true fraction             {fraction_of_truths():.0%} (known to nobody)")
    print(f"estimate                  {estimate.fraction:.0%} ± {estimate.standard_error:.1%} standard error", end="")
    print(f", 95% interval {estimate.low:.0%} to {estimate.high:.0%}")
    print(f"each respondent spent     ε {float(fair.epsilon):.4f} = ln {fair.exp_epsilon}\n")
    print("heads   ε per answer     standard error of the estimate")
    for coin, epsilon, error in tradeoff()[::PRINTED]:
        print(f"{float(coin):>5} {epsilon:>16.3f} {error:>32.1%}")
    _, epsilons, errors = zip(*tradeoff(), strict=True)
    figure = sf.plots.survey_tradeoff(
        epsilons, errors, sampling_error=standard_error(1, fraction_of_truths(), 100),
        marks={"fair coins": float(fair.epsilon)}, title="A survey of 100 people by randomized response",
    )  # fmt: skip
    print(f"picture: {sf.plots.save(figure, output / 'd12_survey.png')}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
