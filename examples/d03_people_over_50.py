"""D3. How many people of the Adult census are over 50?

The exact answer is 6,460 of 32,561. At ε = 0.1 the private one is off by about 14, which nobody minds. At ε = 0.001 it
is off by about 1,414, which is the price of a very strong promise.
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
    """A session on adult.data, of which analysts may ask about ages."""
    columns = {"age": sf.integer(17, 90)}
    return sf.open(sf.datasets.load_adult(), name="adult", columns=columns, budget=sf.PureDP(1))


def main() -> None:
    """Ask the same question at two prices."""
    print(__doc__)
    print(f"exact          {exact_count():,} (owner only)")
    with curator() as adult:
        for epsilon in EPSILONS:
            answer = adult.sql(QUESTION, epsilon=epsilon)["n"][0]
            print(f"ε = {epsilon:<10} {answer.value:,} ± {answer.half_width:,.0f} (95%)", end="")
            print(f", standard deviation {sqrt(2) / float(epsilon):,.1f}")
        print(f"spent {adult.spent} of {adult.budget}, left {adult.remaining}")


if __name__ == "__main__":
    main()
