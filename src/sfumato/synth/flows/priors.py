"""What synthetic flows cost, and the smallest prior that makes them cost no more than was asked.

Proof: proofs/synth/flows/priors.md.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, whole
from sfumato.numeric.rationals import Number, nonnegative, positive, positive_integer
from sfumato.numeric.rounding import dyadic_up, exp_bounds, log_up
from sfumato.numeric.search import smallest_dyadic
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.synth.flows.tails import tails_are_below

MOST_DRAWS: Final = 100_000
"""How many draws a destination has at most."""

MOST_WITH_DELTA: Final = 10_000
"""How many draws a destination has at most where there is a δ: a tail is a sum of as many terms."""

SMALLEST: Final = Fraction(1, 1 << 20)
"""No prior is smaller, so that urns are of machine integers."""

_BITS: Final = 16  # of a prior: at most a relative 2^-15 above the smallest
_LARGEST_EPSILON: Final = 40  # any larger ε is priced as this one
_PRECISION: Final = 192
_COARSE: Final = 4  # with a δ, draws are rounded up to so many binary digits, so that few priors are solved for
_COARSE_ORIGINS: Final = 5  # and one is for all numbers of origins with the same first digits


def flow_epsilon(prior: Sequence[Number] | Number, *, draws: int) -> Fraction:
    """ε = ln(1 + draws/min prior), rounded up: the cost of the flows of one destination.

    **Guarantee**: draws of Dirichlet-multinomial(counts + prior) are ε-differentially private for counts of which one
    grows or shrinks by 1, and for counts of which one shrinks and another grows by 1. No smaller number will do for
    the second, with any number of counts. A worker who changes destination is in two of them: see `flow_prior`.

    Args:
        prior: What is added to each count, above 0; one number for all, or one for each.
        draws: How many draws there are, from 0 to 100,000.

    Raises:
        ParameterError: A number of the prior is not above 0, or the draws are out of range.

    Example:
        >>> round(float(flow_epsilon([2, 3, 2], draws=5)), 12)
        1.252762968495

    References:
        [MKAGV08]; proofs/synth/flows/priors.md for workers who enter or leave.
    """
    each = (prior,) if isinstance(prior, str) or not isinstance(prior, Sequence) else listed(prior, "prior")
    if not each:
        raise ParameterError("prior", prior, "must have a number for each origin")
    least = min(positive(one, "prior") for one in each)
    return log_up(1 + whole(draws, "draws", most=MOST_DRAWS) / least)


def flow_prior(
    *,
    epsilon: Number,
    draws: int,
    origins: int,
    delta: Number = 0,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> Fraction:
    """The smallest prior of all origins for which the flows of all destinations together cost (ε, δ), nearly.

    **Guarantee**: with this prior, or with it and whole numbers on top of it, for every destination by its draws and
    origins, all flows together are (ε, δ)-differentially private for databases in which each unit is one worker.
    Totals of destinations may change with them, and are not released.

    - Without a δ, draws/prior ≤ e^ε − 1 where workers are added or removed. Where one replaces another, one may leave a
      destination while one enters another: (1 + draws/prior)·(1 + draws/(origins·prior)) ≤ e^ε. Then `origins` has to
      be that of the destination with the fewest.
    - With a δ, the flows of one destination are probabilistically private: but for a chance of δ, they are flows that
      no worker makes more than e^ε times as likely. δ is divided over all origins. That is not closed under
      post-processing, so what is promised and charged is what it implies, (ε, δ)-differential privacy. Where a worker
      replaces another, ε is halved between the destination that one leaves and that which one enters, which needs a
      larger prior than no δ where ε is large.

    Args:
        epsilon: ε, above 0.
        draws: How many draws a destination has at most, from 1 to 100,000; with a δ, to 10,000.
        origins: How many origins a destination has.
        delta: δ, 0 or more and below 1.
        neighboring_relation: How a database may differ from its neighbor.

    Returns:
        A number of 16 binary digits, at least 2^−20. It is at most a relative 2^−15 above the smallest; with a δ,
        draws are rounded up to 4 binary digits first, and it holds for all origins with the same first 5 digits.

    Raises:
        ParameterError: A number is out of range.

    Example:
        >>> round(float(flow_prior(epsilon=1, draws=10, origins=100)), 2)
        5.82
        >>> round(float(flow_prior(epsilon=1, draws=10, origins=100, delta="1e-5")), 2)
        2.91

    References:
        [MKAGV08]; proofs/synth/flows/priors.md for two destinations, and for why the bound holds for all counts.
    """
    relation, asked, chance = (
        as_relation(neighboring_relation),
        positive(epsilon, "epsilon"),
        nonnegative(delta, "delta"),
    )
    if chance >= 1:
        raise ParameterError("delta", delta, "must be below 1")
    positive_integer(draws, "draws", most=MOST_WITH_DELTA if chance else MOST_DRAWS)
    positive_integer(origins, "origins")
    is_replaced = relation is NeighboringRelation.REPLACE_ONE
    if not chance:
        growth = growth_down(asked)
        return max(SMALLEST, dyadic_up(draws / (_shared(growth, origins) if is_replaced else growth), _BITS))
    growth = growth_down(asked / 2 if is_replaced else asked)
    unit, step = 1 << max(0, draws.bit_length() - _COARSE), 1 << max(0, origins.bit_length() - _COARSE_ORIGINS)
    fewest = origins // step * step
    return _with_delta(growth, chance, -(-draws // unit) * unit, (fewest, fewest + step - 1))


def cell_prior(
    growth: Fraction, limit: Fraction, *, draws: int, origins: int, total: int | None = None, least: Fraction = SMALLEST
) -> Fraction:
    """The smallest prior with which one cell is drawn too often with a chance of at most `limit`.

    It is a function of one cell: what is charged divides δ over all of them.

    Args:
        growth: e^ε − 1, rounded down.
        limit: The chance.
        draws: How many draws.
        origins: How many cells.
        total: How many are counted in all cells, where that is public.
        least: No prior below it is tried.
    """

    def holds(prior: Fraction) -> bool:
        return prior >= least and tails_are_below(
            limit, prior=prior, others=(origins - 1) * prior, growth=growth, draws=draws, total=total
        )

    if holds(least):
        return least
    pure = dyadic_up(draws / growth, _BITS)  # beyond it no cell can be drawn too often
    return smallest_dyadic(holds, guess=max(least, pure), bits=_BITS) or pure


def growth_down(epsilon: Fraction) -> Fraction:
    """A number at or below e^ε − 1, and at or above ε where ε is small.

    Example:
        >>> round(float(growth_down(Fraction(1))), 6)
        1.718282
    """
    asked = min(epsilon, Fraction(_LARGEST_EPSILON))
    return max(asked, Fraction(1 << _PRECISION, exp_bounds(asked, _PRECISION)[1]) - 1)


@lru_cache(maxsize=4096)
def _with_delta(growth: Fraction, delta: Fraction, draws: int, origins: tuple[int, int]) -> Fraction:
    """The prior with which no cell is drawn too often, and a worker who enters makes no flows too unlikely.

    It holds for every number of origins from the first to the second.
    """
    fewest, most = origins
    entering = dyadic_up(draws / (growth * fewest), _BITS)
    return cell_prior(growth, delta / most, draws=draws, origins=fewest, least=max(SMALLEST, entering))


def _shared(growth: Fraction, origins: int) -> Fraction:
    """A number x with (1 + x)·(1 + x/origins) ≤ 1 + growth, near the largest."""
    root = Fraction(isqrt(int(((origins + 1) ** 2 + 4 * origins * growth) * (1 << 256))), 1 << 128)
    return max((root - origins - 1) / 2, growth / (1 + (1 + growth) / origins))
