"""G1. Two harmless queries that differ in one person: differencing against exact answers and against a curator.

Q(5) - Q(4) of the medical table is Chandler's diagnosis, and 56,000 · 101 - 55,000 · 100 is Mallory's salary. Then the
script plays the game that the guarantee is about. In each of some thousand worlds a fair coin decides whether the fifth
person is ill. The adversary knows the other four, and guesses. All worlds are in one table and no two share a person,
so one query asks about all of them, and each person is charged ε once.
"""

from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa

import sfumato as sf
from sfumato.attacks.core.answers import Answer
from sfumato.attacks.questions.differences import MeanOf, difference, difference_of_means, differencing

TRIALS = 5_000
OTHERS = (1, 1, 0, 0)
"""The diagnoses of the four people before Chandler, which the adversary knows."""


def exact_sums(language: str = "en") -> Answer:
    """Q(i) of a medical table, exactly; only the owner knows it."""
    table = sf.datasets.medical_table("ru" if language == "ru" else "en")
    ill: list[int] = table.column(1).to_pylist()
    return lambda first: sum(ill[:first])


def exact_payroll(question: tuple[str, str]) -> float:
    """The number of employees of a month, or their mean salary."""
    statistic, month = question
    salaries: list[int] = sf.datasets.company("january" if month == "january" else "february")["salary"].to_pylist()
    return len(salaries) if statistic == "count" else sum(salaries) / len(salaries)


def mallory() -> float:
    """Mallory's salary, from two counts and two means."""
    january, february = (MeanOf(count=("count", month), mean=("mean", month)) for month in ("january", "february"))
    return difference_of_means(exact_payroll, larger=february, smaller=january)


def always(count: float) -> Answer:
    """A function that gives this answer to every query."""
    return lambda _: count


def exact_worlds(coins: Sequence[bool]) -> Iterable[Answer]:
    """The number of ill people in each world, without noise."""
    return [always(sum(OTHERS) + coin) for coin in coins]


def private_worlds(epsilon: str) -> Callable[[Sequence[bool]], Iterable[Answer]]:
    """The noisy number of ill people in each world, through a session."""

    def worlds(coins: Sequence[bool]) -> Iterable[Answer]:
        people = [(world, bit) for world, coin in enumerate(coins) for bit in (*OTHERS, int(coin))]
        table = pa.table({"world": [world for world, _ in people], "ill": [bit for _, bit in people]})
        columns = {"world": sf.integer(values=range(len(coins))), "ill": sf.integer(0, 1)}
        with sf.open(table, name="patients", columns=columns, budget=sf.PureDP(epsilon)) as patients:
            answers = patients.sql("SELECT world, SUM(ill) AS ill FROM patients GROUP BY world", epsilon=epsilon)
            print(f"  spent {patients.spent}, remaining {patients.remaining}")
            ill: list[int] = answers.to_arrow()["ill"].to_pylist()
        return [always(count) for count in ill]

    return worlds


def main() -> None:
    """Attack exact answers, then play the game."""
    print(__doc__)
    print(
        f"exact (owner only): Q(5) - Q(4) = {difference(exact_sums('en'), larger=5, smaller=4):g} for Chandler,",
        end=" ",
    )
    print(f"Q(4) - Q(3) = {difference(exact_sums('ru'), larger=4, smaller=3):g} for Михаил")
    print(f"exact (owner only): {mallory():,.0f} dollars for Mallory\n")
    print("the game (the guarantee limits the long-run share; one run may be slightly above it)\n")
    print(f"without noise\n{differencing(exact_worlds, larger='ill', known=sum(OTHERS), trials=TRIALS)}\n")
    for epsilon in ("0.1", "1", "3"):
        print(f"through a session at ε = {epsilon}, {TRIALS:,} worlds in one query")
        worlds = private_worlds(epsilon)
        print(differencing(worlds, larger="ill", known=sum(OTHERS), trials=TRIALS, epsilon=float(epsilon)))


if __name__ == "__main__":
    main()
