"""The Skellam law by its definition, as a difference of Poisson variables, in 50 digits: slow, and sure."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache


@cache
def masses(mean: Fraction, last: int) -> list[Decimal]:
    """P(X = k) for k = 0, …, last: Σ_j P(Y = j) P(Y = j + k) for Poisson Y."""
    with localcontext(prec=50):
        rate = Decimal(mean.numerator) / Decimal(mean.denominator)
        terms = int(rate + 40 * rate.sqrt()) + 100
        poisson = [(-rate).exp()]
        for k in range(1, terms + last + 1):
            poisson.append(poisson[-1] * rate / k)
        return [sum(poisson[j] * poisson[j + k] for j in range(terms)) for k in range(last + 1)]


def hockey_stick(mean: Fraction, shift: int, epsilon: Fraction) -> Decimal:
    """Σ max(0, P(X = k) − e^ε P(X = k + shift)) over all integers that matter."""
    last = int(20 * (2 * mean) ** Fraction(1, 2)) + 50
    with localcontext(prec=50):
        mass, weight = masses(mean, last + shift), (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        return sum(max(Decimal(0), mass[abs(k)] - weight * mass[abs(k + shift)]) for k in range(-last, last + 1))
