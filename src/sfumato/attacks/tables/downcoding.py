"""Downcoding: exact values taken back out of intervals, because these were made no wider than needed [Coh22].

k-anonymity says nothing of how a table is made coarser. Methods that keep it useful make intervals as narrow as they
can, and then their ends are the values of somebody.
"""

import numpy as np

from sfumato.attacks.core.classes import Table
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.disclosure.generalization import Generalized, generalized, numbers_of
from sfumato.errors import ParameterError


def downcoding(released: Generalized, people: Table) -> Outcome:
    """Claim of each class that somebody in it has exactly the lower end of each interval, and somebody the upper one.

    Of a class of two people with one quasi-identifier that is everything. A guess without reason is that somebody has
    one whole number of the interval, which is right as often as values of the class are among them.

    Args:
        released: What was given out, with whole numbers as quasi-identifiers.
        people: Those in the table; used only to count.

    Raises:
        ParameterError: A column is missing, or nobody lies in the classes.

    Example:
        >>> from sfumato.attacks.disclosure.generalization import generalize
        >>> table = {"age": [20, 29, 41, 58], "ill": ["a", "b", "c", "d"]}
        >>> print(downcoding(generalize(table, columns=["age"], sensitive="ill", k=2), table))
        downcoding of a 2-anonymous table: right in 4 of 4, 100.0% (39.8% to 100.0%); blind guessing 15.6%

    References:
        [Coh22].
    """
    generalized(released, "released")
    fitting, exact = released.fitting(people), numbers_of(people, released.columns, of="people")
    right, blind = 0, []
    for at, values in enumerate(exact.T):
        for low, high, inside in zip(released.low[:, at], released.high[:, at], fitting.T, strict=True):
            there = set(values[inside].tolist())
            right += (low in there) + (high in there)
            blind.append(len(there) / (high - low + 1))
    if not fitting.any():
        raise ParameterError("people", 0, "must hold those of the released table")
    return Outcome(
        attack=f"downcoding of a {released.k}-anonymous table",
        successes=right,
        trials=2 * len(blind),
        baseline=min(1.0, float(np.mean(blind))),
    )
