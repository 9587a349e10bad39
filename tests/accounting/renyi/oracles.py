"""Rényi divergences by their definition, for two laws whose densities are listed."""

import numpy as np


def divergence(log_p, log_q, order, *, step=1.0):
    """ln(Σ p^α q^(1−α)·step)/(α − 1); infinite where p has mass and q has none."""
    with np.errstate(invalid="ignore"):
        exponents = np.where(np.isneginf(log_p), -np.inf, order * log_p + (1 - order) * log_q)
    top = exponents.max()
    return top / (order - 1) + np.log(np.exp(exponents - top).sum() * step) / (order - 1)


def worst(p, q, order, *, step=1.0):
    """Of both orders of a pair of densities."""
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(np.asarray(p, dtype=float)), np.log(np.asarray(q, dtype=float))
    return max(divergence(log_p, log_q, order, step=step), divergence(log_q, log_p, order, step=step))


def gaussian_mixture(shifts, probabilities, z):
    """The logarithm of a mixture of Gaussians of standard deviation 1."""
    exponents = np.array([np.log(w) - (z - s) ** 2 / 2 for s, w in zip(shifts, probabilities, strict=True) if w])
    top = exponents.max(axis=0)
    return top + np.log(np.exp(exponents - top).sum(axis=0)) - np.log(2 * np.pi) / 2
