"""D3. How many people of the Adult census are over 50?

The exact value is 6,460 of 32,561. At ε = 0.1 the private answer has a standard deviation of about 14 people, which is
negligible. At ε = 0.001 the standard deviation is about 1,414 people: a very strong guarantee costs accuracy.
"""

from math import sqrt

import sfumato as sf

AGE = 50
QUESTION = f"SELECT COUNT(*) AS n FROM adult WHERE age > {AGE}"
EPSILONS = ("0.1", "0.001")


def exact_count() -> int:
    """What only the owner knows."""
    ages: list[int] = sf.datasets.load_adult().column("age").to_pylist()
    return sum(age > AGE for age in ages)


def curator() -> sf.Session:
    """A session on adult.data, in which analysts may query ages."""
    columns = {"age": sf.integer(17, 90)}
    return sf.open(sf.datasets.load_adult(), name="adult", columns=columns, budget=sf.PureDP(1))


def main() -> None:
    """Ask the same query at two costs."""
    print(__doc__)
    print(f"exact          {exact_count():,} (owner only)")
    with curator() as adult:
        for epsilon in EPSILONS:
            answer = adult.sql(QUESTION, epsilon=epsilon)["n"][0]
            print(f"ε = {epsilon:<10} {answer.value:,} ± {answer.half_width:,.0f} (95%)", end="")
            print(f", standard deviation {sqrt(2) / float(epsilon):,.1f}")
        print(f"spent {adult.spent} of {adult.budget}, remaining {adult.remaining}")


if __name__ == "__main__":
    main()
