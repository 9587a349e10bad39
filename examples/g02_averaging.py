"""G2. The same query a hundred times: new noise averages out, a stored answer does not.

If every answer has new Laplace noise of scale 1, the mean of 1, 10 and 100 answers lies within ½ of the exact value,
and so rounds to it, in 39%, 75% and 99.95% of attempts. A session returns the stored answer. Another query about the
same people is charged, until no budget remains.
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
    """Curators that draw new noise for each answer: a simulation of what nobody should run."""
    noise = np.random.default_rng()
    for _ in range(ATTEMPTS):
        yield lambda _: ILL + float(noise.laplace(0, 1)), ILL


def against_fresh_noise(times: int) -> Outcome:
    """How often the mean rounds to the exact value."""
    return averaging(fresh(), question="how many?", times=times)


def curator() -> sf.Session:
    """A session about 42 people with a budget of 1."""
    table = pa.table({"age": [20 + place for place in range(ILL)]})
    return sf.open(table, name="patients", columns={"age": sf.integer(0, 100)}, budget=sf.PureDP(1))


def ask(patients: sf.Session, epsilon: str, age: int = 0) -> float:
    """How many patients are at least this old, through the session."""
    return float(patients.sql(COUNT.format(age), epsilon=epsilon)["n"][0].value or 0)


def main() -> None:
    """Average new noise, then send a session the same query many times, and then other queries."""
    print(__doc__)
    print(f"exact {ILL} (owner only); new noise, a simulation of {ATTEMPTS:,} attempts:")
    for times in REPEATS:
        print(f"  {against_fresh_noise(times)}")
    with curator() as patients:
        found = repeated(lambda _: ask(patients, "1"), question="how many?", times=100)
        print(
            f"\na session, the same query 100 times at ε = 1: {found.different} private answer, {found.mean:g};",
            end=" ",
        )
        print(f"spent {patients.spent}, remaining {patients.remaining}")
    with curator() as patients:
        ages = iter(range(100))
        found = repeated(lambda _: ask(patients, "0.1", next(ages)), question="how many?", times=20)
        print(
            f"20 other queries at ε = 0.1 each: {len(found.answers)} private answers, {found.refused} refusals,",
            end=" ",
        )
        print(f"mean {found.mean:g}; each with ten times the noise;", end=" ")
        print(f"spent {patients.spent}, remaining {patients.remaining}")


if __name__ == "__main__":
    main()
