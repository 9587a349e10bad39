"""B4. The price of an auction: noise on the price ruins the revenue, a choice among prices does not.

A seller has one copy for each bidder. A bidder buys if the price is at most the bid: revenue(p) = p · #{bids ≥ p}. 400
of 500 bidders offer exactly $5. So the best price is $5.00, with a revenue of $2,500; $5.01 earns a fifth of that. One
bidder changes the revenue of a price by at most that price, so the sensitivity is the largest price, $10. The
exponential mechanism chooses among 40 prices, with revenue as utility.
"""

from bisect import bisect_left
from fractions import Fraction
from math import exp

import numpy as np

import sfumato as sf
from sfumato.numeric.distributions import discrete_laplace_log_pmf

BIDS = (500,) * 400 + (800,) * 100  # sorted
PRICES = tuple(range(25, 1_001, 25))
BEST = 500
CENTS_OF_NOISE = (1, 5, 25)
CHOICE = sf.mechanisms.Exponential(utility_sensitivity=max(PRICES), epsilon=1)


def revenue(price: int) -> int:
    """The revenue in cents; a price below 0 earns nothing."""
    return max(0, price) * (len(BIDS) - bisect_left(BIDS, price))


def expected_revenue_of_choice() -> float:
    """The expected revenue of the exponential mechanism at ε = 1, exactly; only the owner can compute it."""
    revenues = [revenue(price) for price in PRICES]
    return float(CHOICE.probabilities(revenues) @ np.array(revenues, dtype=np.float64))


def expected_revenue_with_noise(scale: int) -> float:
    """The expected revenue of the best price plus Laplace noise of this scale, in cents; known to the owner only."""
    noise = np.arange(-60 * scale, 60 * scale + 1)
    masses = np.exp(discrete_laplace_log_pmf(Fraction(scale), noise))
    return float(masses @ np.array([revenue(BEST + int(cents)) for cents in noise], dtype=np.float64))


def main() -> None:
    """Choose a price, and compare with noise on the best price."""
    print(__doc__)
    price = PRICES[CHOICE.release([revenue(price) for price in PRICES])]
    print(f"best price ${BEST / 100:.2f}, revenue ${revenue(BEST) / 100:,.2f} (owner only)")
    print(f"chosen     ${price / 100:.2f}, revenue ${revenue(price) / 100:,.2f} (owner only)", end="")
    print(f"; spent {sf.PureDP(1)} of {sf.PureDP(1)}, remaining {sf.PureDP(0)}\n")
    print("expected revenue, computed from the distributions and not by a session:")
    print(f"  exponential mechanism, ε = 1         ${expected_revenue_of_choice() / 100:>8,.2f}")
    for cents in (*CENTS_OF_NOISE, max(PRICES)):
        note = "  which is ε = 1: one bidder can change the best price by $10" if cents == max(PRICES) else ""
        expected = expected_revenue_with_noise(cents) / 100
        print(f"  best price + noise of scale ${cents / 100:>5.2f}    ${expected:>8,.2f}{note}")
    factor = exp(float(CHOICE.epsilon))
    print(f"\nno bidder changes the probability of any price by more than a factor e^ε = {factor:.2f}")


if __name__ == "__main__":
    main()
