"""The laws that libraries declare for their noise, cut into integers for the law test."""

from math import exp, floor

import numpy as np
from scipy.special import ndtr

from sfumato.audit import AuditedMechanism, DeclaredLaw

STEPS = 1 << 20
"""Into how many steps a unit of continuous noise is cut."""


def discrete_laplace(scale):
    """Of whole numbers that are added to 0."""

    def law(mechanism: AuditedMechanism) -> DeclaredLaw:
        return DeclaredLaw(
            f"discrete Laplace of scale {scale}",
            lambda n: np.array(mechanism(0, n), dtype=np.int64),
            lambda k: _discrete_laplace_cdf(k, exp(-1 / scale)),
        )

    return law


def _discrete_laplace_cdf(k, q):
    return 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)


def laplace(scale):
    """Of a number that is added to 0."""
    return _continuous(f"Laplace of scale {scale}", lambda x: _laplace_cdf(x / scale))


def gaussian(stddev):
    """Of a number that is added to 0."""
    return _continuous(f"Gaussian of standard deviation {stddev}", lambda x: float(ndtr(x / stddev)))


def _laplace_cdf(x):
    return 1 - exp(-x) / 2 if x >= 0 else exp(x) / 2


def _continuous(name, cdf):
    def law(mechanism: AuditedMechanism) -> DeclaredLaw:
        return DeclaredLaw(
            name,
            lambda n: np.array([floor(x * STEPS) for x in mechanism(0, n)], dtype=np.int64),
            lambda k: cdf((k + 1) / STEPS),
        )

    return law
