"""The discrete Gaussian's privacy by sums over lattices and by convolution, in floats: right to about 1e-12."""

from itertools import product

import numpy as np


def masses(stddev: float, reach: int) -> np.ndarray:
    """The law on -reach, …, reach."""
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * stddev**2))
    return weights / weights.sum()


def moves(square: int, coordinates: int) -> list[tuple[int, ...]]:
    """All ordered integer vectors above 0 of at most this squared length and so many coordinates, up to symmetry."""
    steps = range(1, int(square**0.5) + 1)
    shapes = (shape for count in range(1, coordinates + 1) for shape in product(steps, repeat=count))
    return [shape for shape in shapes if sum(step**2 for step in shape) <= square and list(shape) == sorted(shape)]


def moved_delta(stddev: float, move: tuple[int, ...], epsilon: float) -> float:
    """Σ over the lattice of max(P(x) - e^ε P(x - move), 0), by the definition."""
    reach = int(9 * stddev) + max(move)
    here = there = np.ones(())
    for step in move:
        law = masses(stddev, reach + step)
        here = np.multiply.outer(here, law[step:-step])
        there = np.multiply.outer(there, law[2 * step :])
    return float(np.maximum(here - np.exp(epsilon) * there, 0).sum())


def composed_delta(stddev: float, shifts: tuple[int, ...], epsilon: float) -> float:
    """δ of one release for each shift, one after the other: the privacy losses (2kx + k²)/2σ² added up."""
    law, place = np.ones(1), 0
    for shift in shifts:
        single = masses(stddev, int(10 * stddev))
        spread = np.zeros((len(single) - 1) * shift + 1)
        spread[::shift] = single
        law, place = np.convolve(law, spread), place - shift * (len(single) // 2)
    sums = np.arange(len(law)) + place
    losses = (2 * sums + sum(shift**2 for shift in shifts)) / (2 * stddev**2)
    return float((law * -np.expm1(np.minimum(epsilon - losses, 0))).sum())
