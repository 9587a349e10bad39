"""D2. Mallory joins a company, and two published means reveal the new salary.

In January 100 employees earn $55,000 on average, in February 101 earn $56,000: 56,000 · 101 - 55,000 · 100 = $156,000.
A session releases the private means, with one ledger for both months, because they are about the same people. The
bounds $0 to $290,000 are public; they are not read from the data. The session subtracts the middle of the bounds from
each salary, adds noise to their sum (three fifths of ε) and to their count (two fifths), and divides.
"""

from fractions import Fraction
from math import hypot, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import sfumato as sf

Month = Literal["january", "february"]
TOP_SALARY = 290_000
CENTER = TOP_SALARY // 2
HEADCOUNT = {"january": 100, "february": 101}


def exact_mean(month: Month) -> float:
    """What only the owner knows."""
    salaries: list[int] = sf.datasets.company(month).column("salary").to_pylist()
    return sum(salaries) / len(salaries)


def differencing(january_mean: float, february_mean: float) -> float:
    """The salary of the new employee, from two means and two public headcounts."""
    return february_mean * HEADCOUNT["february"] - january_mean * HEADCOUNT["january"]


def private_mean(month: Month, epsilon: str, ledger: Path) -> float:
    """One private answer; each month is a new version of the data under the same account."""
    with sf.open(
        sf.datasets.company(month), name="company", columns={"salary": sf.integer(0, TOP_SALARY)},
        budget=sf.PureDP(2), version=month, ledger=ledger,
    ) as company:  # fmt: skip
        mean = company.sql("SELECT AVG(salary) AS mean FROM company", epsilon=epsilon)["mean"][0].value or 0.0
        print(f"  {month:<9} exact ${exact_mean(month):>9,.2f} (owner only)   private ${mean:>11,.2f}", end="")
        print(f"   spent {company.spent}, remaining {company.remaining}")
        return mean


def noise_of_mean(epsilon: float, *, people: int = 100, mean: float = 55_000) -> tuple[float, float]:
    """Standard deviations of a mean from the noisy sum, at 3ε/5, and from the noisy count, at 2ε/5, in dollars.

    The noise of the count is multiplied by the distance of the mean from the center.
    """
    of_sum, of_count = (sqrt(2) / (epsilon * part) for part in (0.6, 0.4))
    return of_sum * CENTER / people, of_count * abs(mean - CENTER) / people


def texts_means(scale: Fraction, runs: int) -> list[tuple[float, float]]:
    """The means of January and February with Laplace noise of this scale in dollars: a simulation, not a session.

    If there may be only one person, the sensitivity of a mean is the top salary, so ε = 290,000 / scale.
    """
    noise = sf.mechanisms.Laplace(l1_sensitivity=TOP_SALARY, epsilon=TOP_SALARY / scale, resolution="0.01")
    means = (exact_mean("january"), exact_mean("february"))
    return [(float(noise.release(means[0])), float(noise.release(means[1]))) for _ in range(runs)]


def dollars(amount: float) -> str:
    """An amount with its sign before the dollar sign."""
    return f"{'-' if amount < 0 else ''}${abs(amount):,.2f}"


def show_noise() -> None:
    """Print the standard deviations of private means and of the attack on them, from the distribution of the noise."""
    print("standard deviation of a private mean of 100 salaries, from the distribution of the noise:")
    for epsilon in (1, 8):
        total, count = noise_of_mean(epsilon)
        print(f"  ε = {epsilon}: ${total:,.0f} from the sum, ${count:,.0f} from the count", end="")
        print(f", ${hypot(total, count):,.0f} from both; the attack multiplies it by {hypot(*HEADCOUNT.values()):.0f}")


def show_failures() -> None:
    """Print the two wrong amounts of noise."""
    print("two failures, simulated outside any session:")
    for size, scale in (("too little", Fraction(1, 10)), ("too much", Fraction(TOP_SALARY))):
        ((january, february),) = texts_means(scale, 1)
        attack = dollars(differencing(january, february))
        print(f"  {size}, scale {dollars(float(scale))} on a mean, ε = {int(TOP_SALARY / scale):,}:", end=" ")
        print(f"means {dollars(january)} and {dollars(february)}, attack {attack}")


def main() -> None:
    """Attack exact means, private means, and means with the two wrong amounts of noise."""
    print(__doc__)
    print(f"exact means: {dollars(differencing(exact_mean('january'), exact_mean('february')))} is Mallory's salary\n")
    print("through a session, ε = 1 per month:")
    with TemporaryDirectory() as folder:
        means = [private_mean(month, "1", Path(folder) / "ledger.db") for month in ("january", "february")]
    print(f"  the attack now gives {dollars(differencing(*means))}\n")
    show_noise()
    print()
    show_failures()


if __name__ == "__main__":
    main()
