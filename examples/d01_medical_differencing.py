"""D1. The differencing attack on a medical table, and how noise stops it.

Q(i) is the number of ill people among the first i rows. Each answer alone is a harmless sum, but Q(5) - Q(4) is the
diagnosis of person 5. With exact answers the attack always succeeds. Through a session with ε = 0.1 per answer, it is
hardly better than a coin flip, and the budget ends before it can be repeated.
"""

from math import exp
from typing import Any, Literal

import numpy as np
import pyarrow as pa

import sfumato as sf

EPSILON = "0.1"
RUNS = 20_000
VICTIMS: tuple[tuple[Literal["en", "ru"], int], ...] = (("en", 5), ("ru", 4))


def prefix_sum(table: Any, i: int) -> int:
    """Q(i), exactly: how many of the first i people are ill."""
    diagnoses: list[int] = table.column(1).to_pylist()
    return sum(diagnoses[:i])


def differencing(table: Any, person: int) -> int:
    """The diagnosis of one person from two exact sums."""
    return prefix_sum(table, person) - prefix_sum(table, person - 1)


def curator(table: Any, budget: str) -> sf.Session:
    """A session on the table, to which the owner adds the public number of each row."""
    numbered = table.append_column("position", pa.array(range(1, table.num_rows + 1)))
    columns = {"position": sf.integer(1, table.num_rows), table.column_names[1]: sf.integer(0, 1)}
    return sf.open(numbered, name="patients", columns=columns, budget=sf.PureDP(budget))


def question(diagnosis: str, i: int) -> str:
    """Q(i) in SQL."""
    return f"SELECT SUM({diagnosis}) AS ill FROM patients WHERE position <= {i}"


def success_rate(epsilon: str, runs: int) -> float:
    """How often "ill if the noisy difference is at least 1" is right of an ill person: a simulation, not a session."""
    noise = sf.mechanisms.Laplace(l1_sensitivity=1, epsilon=epsilon)
    longer, shorter = (noise.release(np.full(runs, exact)) for exact in (3, 2))
    return float(np.mean(longer - shorter >= 1))


def largest_success_rate(epsilon: float) -> float:
    """e^(2ε) / (1 + e^(2ε)): the limit for any attacker on a coin-flip secret, after two answers of ε each."""
    return exp(2 * epsilon) / (1 + exp(2 * epsilon))


def attack(language: Literal["en", "ru"], person: int) -> None:
    """Print the attack on one table, with exact answers and through a session."""
    table = sf.datasets.medical_table(language)
    name, diagnosis = table.column("name")[person - 1].as_py(), table.column_names[1]
    print(f"\n{diagnosis}: is {name}, person {person}, ill?")
    with curator(table, budget="0.2") as patients:
        answers = [private_sum(patients, table, i) for i in (person, person - 1)]
        print(f"  Q({person}) - Q({person - 1})  exact {differencing(table, person)} (owner only)", end="")
        print(f"   private {answers[0] - answers[1]:>4}")
        try:
            patients.sql(question(diagnosis, person - 2), epsilon=EPSILON)
        except sf.errors.BudgetExceededError as refusal:
            print(f"  one more query is refused: {refusal}")


def private_sum(patients: sf.Session, table: Any, i: int) -> int:
    """Q(i) through the session, printed beside the exact value."""
    answer = int(patients.sql(question(table.column_names[1], i), epsilon=EPSILON)["ill"][0].value or 0)
    print(f"  Q({i})         exact {prefix_sum(table, i)} (owner only)   private {answer:>4}", end="")
    print(f"   spent {patients.spent} of {patients.budget}, remaining {patients.remaining}")
    return answer


def main() -> None:
    """Attack both tables once, then simulate many attacks."""
    print(__doc__)
    for language, person in VICTIMS:
        attack(language, person)
    print(f"\nsimulation outside any session, {RUNS:,} attacks at each ε:")
    print("  ε per answer  attacker is right   limit for any attack")
    for epsilon in ("0.01", "0.1", "1", "5"):
        print(f"  {epsilon:>11}   {success_rate(epsilon, RUNS):17.1%}   {largest_success_rate(float(epsilon)):20.1%}")


if __name__ == "__main__":
    main()
