"""G9. Membership: the exact means of many attributes reveal who was in a study; noisy means do not.

A study of 8 people publishes the share of people with each of 160 traits. Each share is harmless. An adversary knows
one person's traits, and how common they are in the population. So they can score how much the shares lean toward that
person, and are nearly always right about membership. Through a session that spends ε = 1 on all 160 shares, the score
reveals almost nothing.
"""

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.attacks.members.means import Membership, membership

PEOPLE, TRAITS = 8, 160
EPSILON = "1"
FREQUENCIES = np.linspace(0.2, 0.8, TRAITS)


def drawn(people: int, numbers: np.random.Generator) -> np.ndarray:
    """Made-up people with independent traits: a simulation, no real ones."""
    return (numbers.random((people, TRAITS)) < FREQUENCIES).astype(np.int64)


def private_means(study: np.ndarray) -> tuple[np.ndarray, sf.Session]:
    """All shares by one query; the number of people is public."""
    names = [f"t{trait}" for trait in range(TRAITS)]
    table = pa.table({name: study[:, at] for at, name in enumerate(names)})
    columns = {name: sf.integer(0, 1) for name in names}
    people = sf.open(table, name="study", unit=sf.EACH_ROW, columns=columns, budget=sf.PureDP(EPSILON))
    sums = ", ".join(f"SUM({name}) AS {name}" for name in names)
    answer = people.sql(f"SELECT {sums} FROM study", epsilon=EPSILON)
    return np.array([float(answer[name][0].value or 0) for name in names]) / len(study), people


def attack(released: np.ndarray, groups: tuple[np.ndarray, np.ndarray, np.ndarray], *, private: bool) -> Membership:
    """Score all members, as many outsiders, and a thousand others for the threshold."""
    members, outsiders, reference = groups
    return membership(
        released,
        members=members,
        outsiders=outsiders,
        reference=reference,
        epsilon=EPSILON if private else None,
    )


def main() -> None:
    """Attack the exact shares and the private ones."""
    print(__doc__)
    numbers = np.random.default_rng()
    groups = drawn(PEOPLE, numbers), drawn(PEOPLE, numbers), drawn(1_000, numbers)
    exact = groups[0].mean(axis=0)
    print("exact shares (owner only):")
    print(attack(exact, groups, private=False))
    released, people = private_means(groups[0])
    print(f"\nprivate shares, spent {people.spent}, remaining {people.remaining}:")
    print(attack(released, groups, private=True))
    people.close()
    print(
        f"\nthe first share: exact {exact[0]:.2f} (owner only), private {released[0]:.2f}: noise of {TRAITS} shares "
        f"exceeds what {PEOPLE} people contribute. Query fewer shares, or more people."
    )


if __name__ == "__main__":
    main()
