"""Exact uniform integers, each below a bound of its own."""

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.noise.uniform.uniform import uniform_one_below


def uniform_below_each(bounds: Integers) -> Integers:
    """Independent integers, the i-th uniform in [0, bounds[i]), exactly: masked rejection, element by element.

    Args:
        bounds: Above 0; int64, or Python integers of any size, which are slower.

    Raises:
        ParameterError: A bound is below 1.

    Example:
        >>> uniform_below_each(np.array([1, 1, 1])).tolist()
        [0, 0, 0]
    """
    if (bounds < 1).any():
        raise ParameterError("bounds", "an array", "must hold numbers of at least 1")
    if bounds.dtype == object:
        return narrow(python_integers(uniform_one_below(int(bound)) for bound in bounds))
    masks = _masks(bounds)
    draws = np.zeros(len(bounds), dtype=np.int64)
    missing = np.arange(len(bounds))
    while len(missing):
        words = entropy.random_words(len(missing)).view(np.int64) & masks[missing]
        fits = words < bounds[missing]
        draws[missing[fits]] = words[fits]
        missing = missing[~fits]
    return draws


def _masks(bounds: Integers) -> Integers:
    """As many ones as bound − 1 has bits."""
    masks = bounds - 1
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> shift
    return masks
