"""Attacks on tables made k-anonymous or ℓ-diverse: skewness, similarity, downcoding and singling out.

ℓ-diversity counts different values in a class; it asks neither how rare they are elsewhere nor how alike [LLV07].
k-anonymity says nothing about how a table is made coarser. Methods that keep it useful make intervals as narrow as they
can, so their ends are somebody's values [Coh22]. And a table that hides which of k people somebody is still shows that
the k are in a box so narrow that few others fit it: a random choice by exact values then picks one of them [CN20b].
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.answers import dice
from sfumato.attacks.core.classes import Table, column_of, equal
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.disclosure.generalization import Disclosure, Generalized, generalized, homogeneity, numbers_of
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed, of_kind

Bools = NDArray[np.bool_]
_DIGEST_BYTES: Final = 8


def skewness(released: Generalized, people: Table, *, sensitive: str, value: Any) -> Outcome:
    """Say of everybody in the class with the largest share of a value that they have it.

    A class of which half have what one in a hundred has elsewhere is 2-diverse, and its people are fifty times as
    likely to have it as before. The baseline is that share of everybody.

    Args:
        released: The released table, which contains these people.
        people: People whose quasi-identifiers the adversary knows; the sensitive column is used only to count.
        sensitive: The column to infer.
        value: The value of the sensitive column to infer.

    Raises:
        ParameterError: A column is missing, nobody in the table has the value, or nobody known is in that class.

    Example:
        >>> from sfumato.attacks.disclosure.generalization import generalize
        >>> table = {"age": [20, 21, 40, 41], "ill": ["flu", "HIV", "flu", "asthma"]}
        >>> made = generalize(table, columns=["age"], sensitive="ill", k=2)
        >>> found = skewness(made, table, sensitive="ill", value="HIV")
        >>> made.diversity, found.baseline, found.success
        (2, 0.25, 0.5)

    References:
        [LLV07], section 3.1.
    """
    generalized(released, "released")
    counts = [sum(one is value or equal(one, value) for one in values) for values in released.sensitive]
    people_of = [len(values) for values in released.sensitive]
    shares = np.array(counts) / people_of
    if not shares.any():
        raise ParameterError("value", value, "must be a value in the released table")
    known = np.flatnonzero(released.fitting(people)[:, int(shares.argmax())])
    if len(known) == 0:
        raise ParameterError("people", 0, "must have a person in the class with the largest share of the value")
    truth = column_of(people, sensitive, parameter="sensitive", of="people")
    return Outcome(
        attack=f"skewness of a {released.diversity}-diverse table",
        successes=sum(equal(truth[row], value) for row in known.tolist()),
        trials=len(known),
        baseline=sum(counts) / sum(people_of),
    )


def similarity(released: Generalized, people: Table, *, sensitive: str, alike: Callable[[Any], Any]) -> Disclosure:
    """Guess what kind of value a person has: certain wherever the different values of a class are of one kind.

    Gastritis, an ulcer and cancer of the stomach are three values, so a class of them is 3-diverse; and everybody in it
    is ill in the stomach.

    Args:
        released: The released table, which contains these people.
        people: People whose quasi-identifiers the adversary knows; the sensitive column is used only to count.
        sensitive: The column to infer.
        alike: The kind of a value, equal for those that are alike.

    Raises:
        ParameterError: A column is missing, or there are no people.

    Example:
        >>> from sfumato.attacks.disclosure.generalization import generalize
        >>> table = {"age": [20, 21, 40, 41], "ill": ["ulcer", "gastritis", "flu", "ulcer"]}
        >>> made = generalize(table, columns=["age"], sensitive="ill", k=2)
        >>> found = similarity(made, table, sensitive="ill", alike=lambda ill: "lung" if ill == "flu" else "stomach")
        >>> made.diversity, found.certain
        (2, 2)

    References:
        [LLV07], section 3.1.
    """
    generalized(released, "released")
    called(alike, "alike", "a function of a sensitive value")
    kinds = tuple(tuple(sorted(map(alike, values), key=str)) for values in released.sensitive)
    known = {name: column_of(people, name, of="people") for name in released.columns}
    known[sensitive] = [alike(value) for value in column_of(people, sensitive, parameter="sensitive", of="people")]
    found = homogeneity(replace(released, sensitive=kinds), known, sensitive=sensitive)
    named = replace(found.outcome, attack=f"similarity in a {released.diversity}-diverse table")
    return Disclosure(outcome=named, certain=found.certain)


def downcoding(released: Generalized, people: Table) -> Outcome:
    """Claim of each class that somebody in it has exactly the lower end of each interval, and somebody the upper one.

    Of a class of two people with one quasi-identifier that is everything. A guess without reason is that somebody has
    one whole number of the interval, which is right as often as values of the class are among them.

    Args:
        released: The released table, with whole numbers as quasi-identifiers.
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
        raise ParameterError("people", 0, "must have the people of the released table")
    return Outcome(
        attack=f"downcoding of a {released.k}-anonymous table",
        successes=right,
        trials=2 * len(blind),
        baseline=min(1.0, float(np.mean(blind))),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicate:
    """Who lies in a box, and has exact values whose hash is below a share of all hashes.

    Args:
        columns: The columns that the predicate reads.
        low: The lower end for each of them.
        high: The upper end, which belongs to the box.
        share: The share of all hashes, above 0 and at most 1.
        salt: Makes the hash another function.

    Raises:
        ParameterError: The share is none.
    """

    columns: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    share: float
    salt: bytes

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ParameterError("share", self.share, "must lie above 0, and be at most 1")

    def fits(self, table: Table) -> Bools:
        """For each row whether it fits.

        Raises:
            ParameterError: A column is missing.
        """
        exact = numbers_of(table, self.columns, are_finite=False)
        inside = np.asarray(((self.low <= exact) & (exact <= self.high)).all(axis=1), dtype=np.bool_)
        for row in np.flatnonzero(inside):
            inside[row] = self._hash(exact[row].tobytes()) < self.share
        return inside

    def _hash(self, values: bytes) -> float:
        digest = blake2b(values, digest_size=_DIGEST_BYTES, key=self.salt).digest()
        return int.from_bytes(digest, "big") / 2.0 ** (8 * _DIGEST_BYTES)


def predicates(released: Generalized) -> list[Predicate]:
    """A predicate for each class: its box, and one hash in as many as the class has people.

    Of m people with different values it fits exactly one with probability (1 − 1/m)^(m−1), which is at least 37%.

    Example:
        >>> from sfumato.attacks.disclosure.generalization import generalize
        >>> made = generalize({"age": [20, 21, 40, 41], "ill": [1, 2, 3, 4]}, columns=["age"], sensitive="ill", k=2)
        >>> [(one.low.tolist(), one.share) for one in predicates(made)]
        [([20.0], 0.5), ([40.0], 0.5)]
    """
    generalized(released, "released")
    boxes = zip(released.low, released.high, released.sensitive, strict=True)
    return [
        Predicate(columns=released.columns, low=low, high=high, share=1 / len(values), salt=dice().bytes(16))
        for low, high, values in boxes
    ]


def singling_out(tried: list[Predicate], people: Table, *, population: Table) -> Outcome:
    """How many predicates fit exactly one person of a table.

    Anybody can describe people so that by chance one of n fits: if a predicate describes a share w of the population,
    the probability is n·w·(1 − w)^(n−1), which is small if hardly anybody fits. That is the baseline, which an
    adversary reaches without any answer.

    Args:
        tried: Made without the table of people, of `predicates` or otherwise.
        people: The table; used only to count.
        population: Others like them, from whom w is measured, as (fitting + 1)/(rows + 1).

    Raises:
        ParameterError: There are no predicates, or a column is missing.

    Example:
        >>> from sfumato.attacks.disclosure.generalization import generalize
        >>> names = tuple("abcdefgh")
        >>> draws = np.random.default_rng(1).integers(0, 10**6, (8, 4_000))
        >>> table = {name: values[:400] for name, values in zip(names, draws, strict=True)}
        >>> others = {name: values[400:] for name, values in zip(names, draws, strict=True)}
        >>> made = generalize(table | {"ill": [0] * 400}, columns=names, sensitive="ill", k=3)
        >>> found = singling_out(predicates(made), table, population=others)
        >>> found.success > 0.2 > found.baseline
        True

    References:
        [CN20b] for predicate singling out, and its attack on k-anonymity.
    """
    tried = [
        of_kind(one, "tried", Predicate, "a list of predicates, as predicates(…) gives")
        for one in listed(tried, "tried")
    ]
    if not tried:
        raise ParameterError("tried", 0, "must have at least one predicate")
    count = len(numbers_of(people, tried[0].columns, of="people", are_finite=False))
    others = len(numbers_of(population, tried[0].columns, of="population", are_finite=False))
    weights = np.array([(predicate.fits(population).sum() + 1) / (others + 1) for predicate in tried])
    return Outcome(
        attack="predicate singling out",
        successes=sum(int(predicate.fits(people).sum()) == 1 for predicate in tried),
        trials=len(tried),
        baseline=float((count * weights * (1 - weights) ** (count - 1)).mean()),
        notes=(f"on average, a predicate holds for {weights.mean():.2g} of the population",),
    )
