"""Events on outputs, and the search for the one that speaks loudest against a claim.

The search may look wherever it likes, because what it finds is tested on other runs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sfumato.audit.columns import Column, column, columns, picked
from sfumato.audit.roles import Outputs
from sfumato.numeric.rounding import exp_up
from sfumato.privacy.guarantees import ApproxDP

_MAX_COLUMNS: Final = 200
_FEWEST_SEEN: Final = 10  # labels seen less often are one-sided by chance, and unions of them even more so
_LARGEST_FACTOR: Final = 1e100  # of the claim, so that its square stays finite; no sample comes near it
_SHOWN_LABELS: Final = 3
_MAX_SHOWN: Final = 60

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs: in words, and as a function that says of each output whether it lies inside."""

    words: str
    happened: Callable[[Outputs], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """An event that seems too much likelier on one database than on the other; `strength` is in units of log-chance."""

    strength: float
    event: Event
    likelier_on_second: bool


def strongest_event(first: Outputs, second: Outputs, *, claim: ApproxDP) -> Suspicion:
    """The event that tells the two samples apart best, measured against what the claim allows.

    Looked at are, for every column: all thresholds in both directions, every single value, being missing, and for
    labels the unions of those that are most one-sided.

    Args:
        first: Outputs on one database.
        second: As many on its neighbour.
        claim: The claimed ε and δ.
    """
    here, there = columns(first), columns(second)
    found = [
        suspicion
        for name in islice(dict.fromkeys([*here, *there]), _MAX_COLUMNS)
        for suspicion in _on_column(name, picked(here, name, len(first)), picked(there, name, len(second)), claim)
    ]
    return max(found, key=lambda suspicion: suspicion.strength)


def _on_column(name: str, first: Column, second: Column, claim: ApproxDP) -> Iterator[Suspicion]:
    if first.dtype.kind == "U" or second.dtype.kind == "U":
        yield from _on_labels(name, first.astype(str), second.astype(str), claim)
    else:
        yield from _on_numbers(name, first, second, claim)


def _on_numbers(name: str, first: Column, second: Column, claim: ApproxDP) -> Iterator[Suspicion]:
    values, here, there = _tally(first[~np.isnan(first)], second[~np.isnan(second)])
    runs = len(first)
    missing = Event(f"{name} is missing or no number", lambda outputs: np.isnan(column(outputs, name)))
    yield _strongest(
        lambda _: missing, np.array([runs - here.sum()]), np.array([runs - there.sum()]), runs=runs, claim=claim
    )
    if len(values) == 0:
        return
    upward, downward = (here.cumsum(), there.cumsum()), (here[::-1].cumsum()[::-1], there[::-1].cumsum()[::-1])
    yield _strongest(lambda i: _at_most(name, values[i]), *upward, runs=runs, claim=claim)
    yield _strongest(lambda i: _at_least(name, values[i]), *downward, runs=runs, claim=claim)
    yield _strongest(lambda i: _equal(name, values[i]), here, there, runs=runs, claim=claim)


def _on_labels(name: str, first: Column, second: Column, claim: ApproxDP) -> Iterator[Suspicion]:
    labels, here, there = _tally(first, second)
    common = here + there >= _FEWEST_SEEN
    labels, here, there = labels[common], here[common], there[common]
    if len(labels) == 0:
        return
    for sign in (1, -1):
        order = np.argsort(sign * np.log((there + 1) / (here + 1)), kind="stable")
        yield _strongest(
            _prefix(name, labels[order]),
            here[order].cumsum(),
            there[order].cumsum(),
            runs=len(first),
            claim=claim,
        )


def _tally(first: Column, second: Column) -> tuple[Column, Counts, Counts]:
    """The different values of both samples in order, and how often each has them."""
    values, which = np.unique(np.concatenate([first, second]), return_inverse=True)
    here = np.bincount(which[: len(first)], minlength=len(values))
    return values, here, np.bincount(which[len(first) :], minlength=len(values))


def _strongest(event: Callable[[int], Event], here: Counts, there: Counts, *, runs: int, claim: ApproxDP) -> Suspicion:
    """The best of a family of events, in either direction."""
    both = _strength(here, there, runs, claim), _strength(there, here, runs, claim)
    best = [int(strengths.argmax()) for strengths in both]
    on_second = bool(both[1][best[1]] > both[0][best[0]])
    return Suspicion(float(both[on_second][best[on_second]]), event(best[on_second]), on_second)


def _strength(likelier: Counts, other: Counts, runs: int, claim: ApproxDP) -> NDArray[np.float64]:
    """About −ln of the chance of such counts under the claim, or 0 where they agree with it."""
    factor = min(exp_up(claim.epsilon), _LARGEST_FACTOR)
    if claim.delta == 0:  # Chernoff's exponent of the conditional binomial test
        total, share = likelier + other, factor / (1 + factor)
        exponent = xlogy(likelier, likelier / np.maximum(total * share, 1e-300))
        exponent += xlogy(other, other / np.maximum(total * (1 - share), 1e-300))
        return np.where(likelier > total * share, exponent, 0.0)
    p, q = likelier / runs, other / runs
    excess = p - factor * q - float(claim.delta)
    variance = (p * (1 - p) + 1 / runs + factor**2 * (q * (1 - q) + 1 / runs)) / runs
    return np.where(excess > 0, excess**2 / (2 * variance), 0.0)


def _at_most(name: str, bound: float) -> Event:
    return Event(f"{name} ≤ {bound!s}", lambda outputs: column(outputs, name) <= bound)


def _at_least(name: str, bound: float) -> Event:
    return Event(f"{name} ≥ {bound!s}", lambda outputs: column(outputs, name) >= bound)


def _equal(name: str, value: float) -> Event:
    return Event(f"{name} = {value!s}", lambda outputs: column(outputs, name) == value)


def _prefix(name: str, ordered: Column) -> Callable[[int], Event]:
    return lambda last: _one_of(name, ordered[: last + 1])


def _one_of(name: str, labels: Column) -> Event:
    shown = ", ".join(_shortened(str(label)) for label in labels[:_SHOWN_LABELS])
    more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
    words = f"{name} is {shown}" if len(labels) == 1 else f"{name} is one of {shown}{more}"
    return Event(words, lambda outputs: np.isin(column(outputs, name).astype(str), labels))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
