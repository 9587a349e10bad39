"""Assertions that a sample follows a law, or does not, with a stated chance of refusing the right one."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from tests.sizes import FULL_SIZE

from sfumato.audit.distributions import ALPHA, Cdf, p_value

__all__ = ["ALPHA", "SAMPLES", "Cdf", "assert_law", "assert_not_law", "cdf_of", "p_value"]

SAMPLES: Final = 1_000_000 if FULL_SIZE else 100_000
"""Enough to refuse a scale that is 10% off with a chance above 1 − 1e-6."""


def assert_law(samples: NDArray, cdf: Cdf, *, hypothesis: str = "the samples follow the law") -> None:
    """Fails on a right sampler with a chance of ALPHA."""
    p = p_value(samples, cdf)
    assert p >= ALPHA, f"{hypothesis}: refused, p = {p:.2e} < {ALPHA} (type-I error) with {len(samples)} samples"


def assert_not_law(samples: NDArray, cdf: Cdf, *, hypothesis: str = "the samples follow the wrong law") -> None:
    """Fails if the test cannot tell the samples from a law that is not theirs."""
    p = p_value(samples, cdf)
    assert p < ALPHA, f"{hypothesis}: not refused, p = {p:.2e} ≥ {ALPHA} with {len(samples)} samples: no power"


def cdf_of(probabilities: NDArray) -> Cdf:
    """The distribution function of the law on 0, 1, …, n − 1 with these probabilities."""
    cumulative = np.concatenate([[0.0], np.cumsum(probabilities)])
    return lambda k: float(cumulative[min(max(k + 1, 0), len(cumulative) - 1)])
