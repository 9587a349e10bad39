"""G2. The same question a hundred times: fresh noise averages away, a stored answer does not.

With Laplace noise of scale 1 in every answer, the mean of 1, 10 and 100 of them is nearer than ½ to the truth, which
rounds to the right number, in 39%, 75% and 99.95% of attempts. A session gives the answer that it gave before, and for
another question about the same people it charges, until nothing is left.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.attacks.core.answers import Answer
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.questions.repetition import averaging, repeated

ILL = 42
ATTEMPTS = 1_000
REPEATS = (1, 10, 100)
COUNT = "SELECT COUNT(*) AS n FROM patients WHERE age >= {}"


def fresh() -> Iterator[tuple[Answer, float]]:
    """Curators with noise of their own in each answer: a simulation of what nobody should run."""
    noise = np.random.default_rng()
    for _ in range(ATTEMPTS):
        yield lambda _: ILL + float(noise.laplace(0, 1)), ILL


def against_fresh_noise(times: int) -> Outcome:
    """How often the mean rounds to the truth."""
    return averaging(fresh(), question="how many?", times=times)


def curator() -> sf.Session:
    """A session about 42 people with a budget of 1."""
    table = pa.table({"age": [20 + place for place in range(ILL)]})
    return sf.open(table, name="patients", columns={"age": sf.integer(0, 100)}, budget=sf.PureDP(1))


def ask(patients: sf.Session, epsilon: str, age: int = 0) -> float:
    """How many are at least so old, through the session."""
    return float(patients.sql(COUNT.format(age), epsilon=epsilon)["n"][0].value or 0)


def main() -> None:
    """Average fresh noise, then ask a session again and again, in the same words and in others."""
    print(__doc__)
    print(f"exact {ILL} (owner only); fresh noise, a simulation of {ATTEMPTS:,} attempts:")
    for times in REPEATS:
        print(f"  {against_fresh_noise(times)}")
    with curator() as patients:
        found = repeated(lambda _: ask(patients, "1"), question="how many?", times=100)
        print(
            f"\na session, the same question 100 times at ε = 1: {found.different} private answer, {found.mean:g};",
            end=" ",
        )
        print(f"spent {patients.spent}, left {patients.remaining}")
    with curator() as patients:
        ages = iter(range(100))
        found = repeated(lambda _: ask(patients, "0.1", next(ages)), question="how many?", times=20)
        print(
            f"20 other questions at ε = 0.1 each: {len(found.answers)} private answers, {found.refused} refusals,",
            end=" ",
        )
        print(
            f"mean {found.mean:g}; noise ten times as large in each; spent {patients.spent}, left {patients.remaining}"
        )


if __name__ == "__main__":
    main()
