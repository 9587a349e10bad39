"""D11. Group privacy: k scientists who share a secret are protected by kε, not by ε.

At ε = 0.1 for one person, a group of 1/ε = 10 still has a meaningful guarantee. For a group of 100/ε = 1,000 the
guarantee is almost nothing. That is intended: a statistic that hid a thousand people would be useless.

Usage: d11_group_privacy.py [OUTPUT_FOLDER]
"""

import sys
from fractions import Fraction
from math import exp
from pathlib import Path

import pyarrow as pa

import sfumato as sf
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.privacy.events import GroupEvent, PureEvent

EPSILON = Fraction(1, 10)
STAFF = 2_000
SIZES = (1, 10, 100, 1_000)


def group_epsilon(size: int) -> Fraction | float:
    """The ε of a group of this size: kε."""
    return BasicAccountant().compose(GroupEvent(PureEvent(EPSILON), size)).epsilon()


def largest_belief(epsilon: float) -> float:
    """e^ε / (1 + e^ε): the largest belief of an adversary who started from 50%."""
    return 1 / (1 + exp(-epsilon))


def private_count(secret_holders: int) -> str:
    """How many of 2,000 made-up scientists share the secret, through a new session."""
    scientists = pa.table({"shares_secret": [number < secret_holders for number in range(STAFF)]})
    columns = {"shares_secret": sf.boolean()}
    with sf.open(scientists, name="scientists", columns=columns, budget=sf.PureDP(EPSILON)) as session:
        count = session.sql("SELECT COUNT(*) AS n FROM scientists WHERE shares_secret", epsilon=EPSILON)["n"][0]
        return f"{count.value:>6,} ± {count.half_width:.0f}   spent {session.spent}, remaining {session.remaining}"


def main(output: Path = Path("example-output")) -> None:
    """Show the guarantee of groups of several sizes, and what a count reveals about them."""
    print(__doc__)
    print("    k   kε     belief from 50% up to   exact (owner only)   private count at ε 0.1")
    for size in SIZES:
        epsilon = float(group_epsilon(size))
        print(f"{size:>5,}  {epsilon:<6g} {largest_belief(epsilon):>21.4%} {size:>20,}   {private_count(size)}")
    sizes = [10 ** (exponent / 20) for exponent in range(81)]
    figure = sf.plots.group_privacy(float(EPSILON), sizes)
    print(f"picture: {sf.plots.save(figure, output / 'd11_group_privacy.png')}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
