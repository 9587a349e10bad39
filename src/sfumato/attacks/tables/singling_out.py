"""Singling out: a description that hardly anybody fits, and exactly one person of a k-anonymous table [CN20b].

The table hides which of k people somebody is. It also tells that the k are there, in a box so narrow that few others
would fit it; and a coin for each person that only their exact values determine picks one of them.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.classes import Table
from sfumato.attacks.core.coin_game import dice
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.disclosure.generalization import Generalized, generalized, numbers_of
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind

Bools = NDArray[np.bool_]

_DIGEST_BYTES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicate:
    """Who lies in a box, and has exact values whose hash is below a share of all hashes.

    Args:
        columns: The columns that the predicate reads.
        low: The lower end for each of them.
        high: The upper end, which belongs to the box.
        share: Of hashes, above 0 and at most 1.
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

    Of m people with different values it fits exactly one with a chance of (1 − 1/m)^(m−1), which is at least 37%.

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

    Anybody can describe people so that by chance one of n fits: with the share w of the population that a predicate
    describes the chance is n·w·(1 − w)^(n−1), which is next to nothing where hardly anybody fits. That is the baseline,
    and it is what an adversary without any answer has.

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
        raise ParameterError("tried", 0, "must hold predicates, at least one")
    count = len(numbers_of(people, tried[0].columns, of="people", are_finite=False))
    others = len(numbers_of(population, tried[0].columns, of="population", are_finite=False))
    weights = np.array([(predicate.fits(population).sum() + 1) / (others + 1) for predicate in tried])
    return Outcome(
        attack="predicate singling out",
        successes=sum(int(predicate.fits(people).sum()) == 1 for predicate in tried),
        trials=len(tried),
        baseline=float((count * weights * (1 - weights) ** (count - 1)).mean()),
        notes=(f"a predicate fits {weights.mean():.2g} of the population, in the mean",),
    )
