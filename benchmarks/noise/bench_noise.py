"""How fast is exact noise, beside NumPy's insecure generator and OpenDP's exact samplers?

Everything in one run, best of several repetitions, the same number of draws on both sides. Tables are warm where the
line says "table"; "no table" is the sampler that needs no set-up. OpenDP is an oracle of the tests, so it is installed
with them; its time is that of a whole measurement call, ours that of `release` where a line says so.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import opendp.prelude as dp

from sfumato.mechanisms import (
    Exponential,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
)
from sfumato.noise.laws.discrete_gaussian import gaussian_table, universal_gaussian
from sfumato.noise.laws.discrete_laplace import laplace_table, universal_laplace

MILLION, THOUSANDS, REPEATS = 1_000_000, 10_000, 9
RNG = np.random.default_rng()
TEN, LARGE = Fraction(10), Fraction(10**6)


def seconds(action: Callable[[], object], *, calls: int = 1, repeats: int = REPEATS) -> float:
    """The best time of one call, after a warm-up."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            action()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def line(name: str, ours: float, theirs: float, peer: str, target: str) -> None:
    print(f"{name:<44}{1e6 * ours:>12,.1f} µs {peer:>16}{1e6 * theirs:>14,.1f} µs {theirs / ours:>8.2f}x   {target}")


def against_numpy() -> None:
    laplace = {scale: seconds(partial(RNG.laplace, 0, float(scale), MILLION)) for scale in (TEN, LARGE)}
    normal = {scale: seconds(partial(RNG.normal, 0, float(scale), MILLION)) for scale in (TEN, LARGE)}
    for scale, target in ((TEN, "at least 3x"), (LARGE, "at least 1.1x")):
        ours = seconds(partial(laplace_table(scale).draw, MILLION))
        line(f"discrete Laplace {float(scale):g}, table, 10^6", ours, laplace[scale], "NumPy laplace", target)
        ours = seconds(partial(gaussian_table(scale**2).draw, MILLION))
        line(f"discrete Gaussian {float(scale):g}, table, 10^6", ours, normal[scale], "NumPy normal", target)
    ours = seconds(partial(universal_laplace, TEN, MILLION))
    line("discrete Laplace 10, no table, 10^6", ours, laplace[TEN], "NumPy laplace", "at least 0.67x")
    ours = seconds(partial(universal_gaussian, TEN**2, MILLION))
    line("discrete Gaussian 10, no table, 10^6", ours, normal[TEN], "NumPy normal", "at least 0.25x")
    real = Laplace(l1_sensitivity=1, epsilon="0.1", resolution="0.001", dimension=MILLION, l0_sensitivity=1)
    ours = seconds(partial(real.release, RNG.normal(0, 1000, MILLION)))
    line("Laplace.release of 10^6 floats", ours, laplace[TEN], "NumPy laplace", "at least 0.5x")
    bits = RNG.random(MILLION) < 0.3
    ours, theirs = (
        seconds(partial(RandomizedResponse().release, bits)),
        seconds(lambda: bits ^ (RNG.random(MILLION) < 0.25)),
    )
    line("RandomizedResponse.release of 10^6 bits", ours, theirs, "NumPy random", "above 1x")
    values = RNG.integers(0, 50, MILLION)
    ours = seconds(partial(KaryRandomizedResponse(categories=50, epsilon=1).release, values))
    theirs = seconds(lambda: np.where(RNG.random(MILLION) < 0.05, values, RNG.integers(0, 50, MILLION)))
    line("KaryRandomizedResponse, 50 categories, 10^6", ours, theirs, "NumPy random", "")


def against_opendp() -> None:
    dp.enable_features("contrib")
    integers, number = (
        dp.vector_domain(dp.atom_domain(T="i64")),
        (dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")),
    )
    zeros = [0] * THOUSANDS
    for scale in (TEN, LARGE):
        theirs = seconds(partial(dp.m.make_laplace(integers, dp.l1_distance(T="i64"), float(scale)), zeros), repeats=3)
        ours = seconds(partial(laplace_table(scale).draw, THOUSANDS), calls=20)
        line(f"discrete Laplace {float(scale):g}, table, 10^4", ours, theirs, "OpenDP", "at least 300x")
        theirs = seconds(partial(dp.m.make_gaussian(integers, dp.l2_distance(T="i64"), float(scale)), zeros), repeats=3)
        ours = seconds(partial(gaussian_table(scale**2).draw, THOUSANDS), calls=20)
        line(f"discrete Gaussian {float(scale):g}, table, 10^4", ours, theirs, "OpenDP", "at least 300x")
    vector = dp.m.make_laplace(integers, dp.l1_distance(T="i64"), 10.0)
    theirs, exact = seconds(partial(vector, zeros), repeats=3), np.zeros(THOUSANDS, dtype=np.int64)
    ours = seconds(partial(Laplace(l1_sensitivity=1, epsilon="0.1").release, exact), calls=200)
    line("Laplace(…).release of 10^4 integers", ours, theirs, "OpenDP", "")
    theirs = seconds(partial(dp.m.make_laplace(*number, scale=10.0), 42), calls=1000)
    for name, epsilon in (("table", "0.1"), ("no table", "0.11")):
        ours = seconds(partial(Laplace(l1_sensitivity=1, epsilon=epsilon).release, 42), calls=1000)
        line(f"Laplace(…).release(42), {name}", ours, theirs, "OpenDP", "at most 8 µs")
    theirs = seconds(partial(dp.m.make_gaussian(*number, scale=4.2), 42), calls=1000)
    ours = seconds(partial(Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6").release, 42), calls=1000)
    line("Gaussian(…).release(42)", ours, theirs, "OpenDP", "")


def gumbel(scores: np.ndarray) -> int:
    return int(np.argmax(scores + RNG.gumbel(0, 20, len(scores))))


def selection() -> None:
    for count, calls in ((10, 200), (1000, 100), (100_000, 5)):
        scores = RNG.integers(0, 1000, count)
        theirs = seconds(partial(gumbel, scores), calls=calls)
        for kind in (PermuteAndFlip, Exponential):
            ours = seconds(partial(kind(utility_sensitivity=1, epsilon="0.1").release, scores), calls=calls)
            target = "at most 2,000 µs" if (count, kind) == (100_000, PermuteAndFlip) else ""
            line(f"{kind.__name__} of {count:,} candidates", ours, theirs, "NumPy gumbel", target)


def set_up() -> None:
    print()
    for scale in (1, 10, 128, 10**6, 2**40):
        laplace = seconds(partial(laplace_table, Fraction(scale)), repeats=3)
        gaussian = seconds(partial(gaussian_table, Fraction(scale**2)), repeats=3)
        print(f"set-up of a table, scale {scale:,}: Laplace {1e3 * laplace:.1f} ms, Gaussian {1e3 * gaussian:.1f} ms")


def main() -> None:
    print(f"{'':<44}{'Sfumato':>15}{'':>16} {'peer':>16} {'faster':>9}   target")
    against_numpy()
    against_opendp()
    selection()
    set_up()


if __name__ == "__main__":
    main()
