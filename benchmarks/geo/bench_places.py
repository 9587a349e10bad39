"""How many places a second get exact planar noise, beside NumPy's floats, which are no release?

Samples a second of `planar_laplace` for scales of 1, 10, 1,000 and a million cells, and of the textbook's sampler in
NumPy: a Gamma radius and an angle. Then whole reports, in degrees: many at once, and one by one. Times are of the
processor, the best of three.
"""

import time

import numpy as np

from sfumato.geo import Grid, PlanarLaplace, TileMemory
from sfumato.noise.laws.planar_laplace import planar_laplace
from sfumato.numeric.rationals import exact

SAMPLES, ONE_BY_ONE, REPEATS = 1_000_000, 2_000, 3
SCALES = (1, 10, 1_000, 1_000_000)


def seconds(function):
    """Of the processor, the best of three, after one call that fills caches."""
    function()
    best = float("inf")
    for _ in range(REPEATS):
        begun = time.process_time()
        function()
        best = min(best, time.process_time() - begun)
    return best


def textbook(scale, size, draws):
    radius, angle = draws.gamma(2, scale, size), draws.uniform(0, 2 * np.pi, size)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def main():
    draws = np.random.default_rng(1)
    floats = seconds(lambda: textbook(10.0, SAMPLES, draws))
    print(f"NumPy floats: {SAMPLES / floats:,.0f} samples/s")
    for scale in SCALES:
        taken = seconds(lambda scale=scale: planar_laplace(exact(scale, "scale"), SAMPLES))
        print(f"exact, scale {scale:,}: {SAMPLES / taken:,.0f} samples/s, {taken / floats:.2f} times NumPy's time")
    grid = Grid.around("48.8566", "2.3522", width=20_000, height=20_000, cell=50)
    noisy, device = PlanarLaplace(grid, level="low"), TileMemory(PlanarLaplace(grid, level="low"))
    latitudes, longitudes = np.full(SAMPLES, 48.8606), np.full(SAMPLES, 2.3376)
    taken = seconds(lambda: noisy.release_many(latitudes, longitudes))
    print(f"reports in degrees, many at once: {SAMPLES / taken:,.0f} a second")
    for name, release in (("fresh", noisy.release), ("remembered", device.release)):
        taken = seconds(lambda release=release: [release((48.8606, 2.3376)) for _ in range(ONE_BY_ONE)])
        print(f"reports one by one, {name}: {taken / ONE_BY_ONE * 1e6:.0f} µs each")


if __name__ == "__main__":
    main()
