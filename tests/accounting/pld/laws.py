"""What a law says by its definition, and the pairs on which the engine is tested."""

from fractions import Fraction

import numpy as np

from sfumato.accounting.profiles.finite import FinitePair
from sfumato.accounting.profiles.profile import DominatingPair, GaussianProfile, LaplaceProfile


def symmetric(profile):
    return DominatingPair(profile, profile)


def finite(p, q):
    p, q = tuple(map(Fraction, p)), tuple(map(Fraction, q))
    return DominatingPair(FinitePair(p, q), FinitePair(q, p))


PAIRS = {
    "gaussian": symmetric(GaussianProfile(Fraction(2))),
    "laplace": symmetric(LaplaceProfile(Fraction(3, 2))),
    "response": finite(("3/4", "1/4"), ("1/4", "3/4")),
    "certain": finite(("1/2", "3/8", "1/8", 0), ("1/4", "1/2", 0, "1/4")),
}


def delta_of_law(law, epsilon):
    """δ at one ε of either sign, by the definition."""
    gains = -np.expm1(np.minimum(epsilon - law.losses, 0.0))
    return float((gains * law.masses).sum()) + law.infinite_mass


def delta_of_pair(pair, epsilon):
    """δ at one ε of either sign, to 1e-12."""
    if epsilon >= 0:
        return float(pair.forward.delta_up(np.array([epsilon]))[0])
    return float(-np.expm1(epsilon) + np.exp(epsilon) * pair.backward.delta_up(np.array([-epsilon]))[0])


EPSILONS = np.linspace(-4, 4, 161) + 1e-3
