"""Errors of counters beside those of the field, and how many ticks a second they release.

    python benchmarks/streams/bench_continual.py

Prints the largest standard deviation in units of 1/√(2ρ), its ratio to the square root's, and ticks a second: in one
block, one by one, and for many keys side by side.
"""

import time
from math import log, pi

import numpy as np

from sfumato.mechanisms import BinaryTree, BufferedToeplitz, Contribution, HybridTree, SquareRoot

POWERS = (10, 12, 14, 16, 20, 24)
THOUSANDS = Contribution.clamped(0, 1000)
"""Beside which rounding to whole numbers is little."""
KEYS = Contribution.one_of()
"""What an event of many keys adds."""
EULER = 0.5772156649015329


def square_root(ticks):
    """‖c‖² of the square root."""
    return (EULER + log(16 * ticks)) / pi - 1 / (4 * pi * ticks)


def errors():
    """A row for each horizon."""
    print("ticks   tree    online  root    " + "".join(f"B={buffers}     " for buffers in range(1, 7)))
    for power in POWERS:
        facts = {"horizon": 1 << power, "rho": "0.5", "contribution": THOUSANDS}
        trees = [BinaryTree(**facts, online=online).largest_stddev / 1000 for online in (False, True)]
        root = square_root(1 << power)
        ratios = [BufferedToeplitz(**facts, buffers=buffers).largest_stddev / 1000 / root for buffers in range(1, 7)]
        print(f"2^{power:<5} {trees[0]:<7.3f} {trees[1]:<7.3f} {root:<7.4f} " + " ".join(f"{x:.5f}" for x in ratios))


def rate(counter, *, block, numbers=1, seconds=1.0):
    """Ticks a second; of a fresh counter where one is over."""
    running, increments = counter.start(numbers), np.ones((block, numbers), dtype=np.int64)
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        if counter.horizon is not None and running.step + block > counter.horizon:
            running = counter.start(numbers)
        running.release_block(increments)
        done += block
    return done / spent


def speeds():
    """Each counter in blocks, by single ticks, and for 10,000 keys."""
    horizon = 1 << 16
    counters = {
        "tree, Laplace": BinaryTree(horizon=horizon, epsilon=1, contribution=KEYS),
        "tree, Gaussian": BinaryTree(horizon=horizon, rho=1, contribution=KEYS),
        "online tree": BinaryTree(horizon=horizon, rho=1, online=True, contribution=KEYS),
        "hybrid tree": HybridTree(rho=1, contribution=KEYS),
        "buffers, B=3": BufferedToeplitz(horizon=horizon, rho=1, buffers=3, contribution=KEYS),
        "buffers, B=4": BufferedToeplitz(horizon=horizon, rho=1, contribution=KEYS),
        "square root": SquareRoot(horizon=horizon, rho=1, contribution=KEYS),
    }
    print("\ncounter           blocks of 4,096 /s   single ticks /s   numbers of 10,000 keys /s")
    for name, counter in counters.items():
        keys = 0.0 if name == "square root" else rate(counter, block=4, numbers=10_000) * 10_000
        print(f"{name:17s} {rate(counter, block=4096):>18,.0f} {rate(counter, block=1):>17,.0f} {keys:>27,.0f}")


if __name__ == "__main__":
    errors()
    speeds()
