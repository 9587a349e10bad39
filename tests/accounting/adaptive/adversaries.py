"""The worst adaptive analyst against a filter or an odometer, by exhaustion: every mechanism after every answer.

What an analyst gains is a sum over the transcripts at which she stops, so the best strategy is found from its end:
after each answer, the best of stopping and of every move that is still granted. Laws are exact where the moves' are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf
from typing import Any

from sfumato.numeric.rounding import exp_down, log_up
from sfumato.privacy.events import ApproxEvent, Event, FiniteEvent, PureEvent


@dataclass(frozen=True)
class Move:
    """An event, and the laws of its answer on two neighbors."""

    event: Event
    p: tuple[Any, ...]
    q: tuple[Any, ...]


def response(weight: str | int) -> Move:
    """Randomized response with e^ε = `weight`: the worst pure mechanism."""
    truth = Fraction(weight) / (1 + Fraction(weight))
    return Move(PureEvent(log_up(Fraction(weight))), (truth, 1 - truth), (1 - truth, truth))


def leaky_response(weight: str | int, delta: str) -> Move:
    """As `response`, but with probability δ it tells the database: the worst (ε, δ) mechanism."""
    pure, leak = response(weight), Fraction(delta)
    p = (leak, Fraction(0), *((1 - leak) * mass for mass in pure.p))
    q = (Fraction(0), leak, *((1 - leak) * mass for mass in pure.q))
    return Move(ApproxEvent(pure.event.epsilon, leak), p, q)


def finite(*p_and_q: str) -> Move:
    """Two outcomes, of which the first has probability p on one database and q on the other."""
    p, q = map(Fraction, p_and_q)
    laws = (p, 1 - p), (q, 1 - q)
    return Move(FiniteEvent(*laws), *laws)


def swapped(move: Move) -> Move:
    """The same mechanism on the two databases the other way round."""
    return Move(move.event, move.q, move.p)


def worst_laws(account, moves, *, depth: int, gain: Callable) -> tuple[tuple, tuple]:
    """The laws on two neighbors of all that the best analyst gets: of the transcripts at which she stops.

    `gain(p, q)` is what a transcript with these probabilities is worth to her; it must grow in proportion to both.
    """

    @cache
    def best(share, account, depth):
        strategies = [((share, 1 - share),)]
        for move in moves if depth else ():
            if account.can_spend(move.event):
                after = account.spend(move.event)
                strategies.append(tuple(played(share, move, lambda s, after=after: best(s, after, depth - 1))))
        return max(strategies, key=lambda leaves: sum(gain(p, q) for p, q in leaves))

    leaves = best(Fraction(1, 2), account, depth)
    return tuple(2 * p for p, _ in leaves), tuple(2 * q for _, q in leaves)


def played(share, move, afterwards):
    for p, q in zip(move.p, move.q, strict=True):
        total = share * p + (1 - share) * q
        if total:
            yield from ((total * a, total * b) for a, b in afterwards(share * p / total))


def all_laws(account, moves, *, depth: int):
    """The laws of every strategy, written out: slow, to check `worst_laws` against."""
    yield (1,), (1,)
    for move in moves if depth else ():
        if account.can_spend(move.event):
            after = tuple(all_laws(account.spend(move.event), moves, depth=depth - 1))
            for plan in product(after, repeat=len(move.p)):
                yield (
                    tuple(mass * rest for mass, (law, _) in zip(move.p, plan, strict=True) for rest in law),
                    tuple(mass * rest for mass, (_, law) in zip(move.q, plan, strict=True) for rest in law),
                )


def crossing_probability(odometer, moves, *, depth: int) -> Fraction:
    """With which probability the worst analyst makes the privacy loss pass the reading at any time."""

    @cache
    def worst(share, odometer, depth):
        if odometer.epsilon < inf and share > (1 - share) * Fraction(exp_down(odometer.epsilon)):
            return share
        chances = [Fraction(0)]
        for move in moves if depth else ():
            after = odometer.compose(move.event)
            totals = ((share * p, share * p + (1 - share) * q) for p, q in zip(move.p, move.q, strict=True))
            chances.append(sum(total * worst(p / total, after, depth - 1) for p, total in totals if total))
        return max(chances)

    return 2 * worst(Fraction(1, 2), odometer, depth)


def moment(p, q, order: int) -> Fraction:
    """Σ p^α q^(1 − α), for whole orders exactly."""
    return sum(Fraction(a) ** order / Fraction(b) ** (order - 1) for a, b in zip(p, q, strict=True) if a)
