"""How long do releases of vectors take, beside each other and beside NumPy's insecure noise?

Ratios in one run: what is compared takes turns, and the least CPU time of each counts, so that other work on the
machine moves both sides alike. Tables are warm where a law is drawn often enough to have one.
"""

import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from sfumato.mechanisms import Geometric, Laplace
from sfumato.noise.laws.poisson import skellam

MILLION, FEW, TURNS = 1_000_000, 100_000, 9
RNG = np.random.default_rng()


def least_times(actions: Mapping[str, Callable[[], object]], turns: int = TURNS) -> dict[str, float]:
    """The least seconds of CPU of each action, of several turns after a first one that does not count."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(turns + 1):
        for name, action in actions.items():
            start = time.process_time()
            action()
            times[name].append(time.process_time() - start)
    return {name: min(measured[1:]) for name, measured in times.items()}


def compare(title: str, target: str, actions: Mapping[str, Callable[[], object]]) -> None:
    """The first action is what the others are measured by."""
    times = least_times(actions)
    first = next(iter(times.values()))
    print(f"\n{title}; target {target}")
    for name, seconds in times.items():
        print(f"  {name:<52}{1e3 * seconds:>10.2f} ms {seconds / first:>8.2f} of the first {first / seconds:>8.2f}x")


def main() -> None:
    counts = RNG.integers(0, 1000, MILLION)
    laplace = Laplace(l1_sensitivity=1, epsilon="0.1")
    clamped = Geometric(lower=0, upper=1000, epsilon="0.1", l1_sensitivity=1)
    compare(
        "10^6 integers, scale 10",
        "Laplace at least 3x NumPy, Geometric at most twice Laplace",
        {
            "NumPy x + laplace": lambda: counts + RNG.laplace(0, 10, MILLION),
            "Laplace.release": partial(laplace.release, counts),
            "Geometric.release": partial(clamped.release, counts),
        },
    )
    few = counts[:FEW]
    for count, scale, name in ((FEW, 30, "10^5 integers, with a table"), (FEW // 5, 29, "20,000, without one")):
        own = few[:count]
        compare(
            f"{name}, ε out of a division",
            "at most 3 times NumPy",
            {
                "NumPy x + laplace": lambda own=own: own + RNG.laplace(0, 30, len(own)),
                f"ε = {1 / scale}": partial(Laplace(l1_sensitivity=1, epsilon=1 / scale).release, own),
                f"ε = 1/{scale}": partial(Laplace(l1_sensitivity=1, epsilon=f"1/{scale}").release, own),
            },
        )
    on_lattice = partial(Laplace, l1_sensitivity=1, epsilon="0.1", dimension=FEW, l0_sensitivity=1)
    real, sevenths = on_lattice(resolution="0.001"), on_lattice(resolution="7/1000")
    floats, bits = RNG.normal(0, 1000, FEW), few > 500
    compare(
        "10^5 numbers on a lattice",
        "at most twice an array of floats",
        {
            "floats": partial(real.release, floats),
            "whole numbers": partial(real.release, few),
            "whole numbers, resolution 7/1000": partial(sevenths.release, few),
            "bits": partial(real.release, bits),
            "a list of floats": partial(real.release, floats.tolist()),
            "a list of whole numbers": partial(real.release, few.tolist()),
            "a list of bits": partial(real.release, bits.tolist()),
        },
    )
    print("\nSkellam; target at most 1 µs a draw")
    for mean in (1, 15, 1000, 10**5, 10**6, 10**7, 2**24):
        seconds = least_times({"": partial(skellam, Fraction(mean), FEW)}, 3)[""]
        print(f"  mean {mean:>12,}{1e6 * seconds / FEW:>10.3f} µs a draw")


if __name__ == "__main__":
    main()
