"""Tables made k-anonymous by intervals [LDR06], and two attacks that they do not withstand.

k-anonymity is the weaker alternative to differential privacy: a table that has it may still say what everybody in a
class has, and two such tables about the same people say together what neither says alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.classes import Table, codes, column_of, equal, names_of
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import positive_integer

Floats = NDArray[np.float64]

_TIE: Final = 1e-9  # by so little is a commoner value likelier where all else is even


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Generalized:
    """A generalized table: classes of people, each with an interval for every quasi-identifier.

    Attributes:
        columns: The quasi-identifiers, which are numbers.
        low: The lower bounds: one row per class, one column per quasi-identifier.
        high: The upper bounds, which belong to the intervals.
        sensitive: The sensitive values of each class, in no order of its people.
    """

    columns: tuple[str, ...]
    low: Floats
    high: Floats
    sensitive: tuple[tuple[object, ...], ...]

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return min(map(len, self.sensitive))

    @property
    def diversity(self) -> int:
        """Distinct ℓ-diversity: the fewest different sensitive values of any class."""
        return min(len(set(values)) for values in self.sensitive)

    def fitting(self, people: Table) -> NDArray[np.bool_]:
        """For each person, in rows, the classes, in columns, whose intervals hold all quasi-identifiers."""
        exact = numbers_of(people, self.columns, of="people")[:, np.newaxis, :]
        return np.asarray(((self.low <= exact) & (exact <= self.high)).all(axis=2), dtype=np.bool_)


def generalize(table: Table, *, columns: Sequence[str], sensitive: str, k: int) -> Generalized:
    """Mondrian: halve classes at the median of their widest column as long as both halves keep k people.

    Widths are relative to the whole column's. People with equal values stay together, so that a class may stay large.

    Args:
        table: One row a person.
        columns: The quasi-identifiers, which are numbers.
        sensitive: The column that is given out as it is.
        k: The fewest people in a class.

    Raises:
        ParameterError: A column is missing or holds no numbers, no columns are named, or there are fewer than k rows.

    Example:
        >>> table = {"age": [20, 21, 40, 41], "ill": ["a", "b", "c", "c"]}
        >>> made = generalize(table, columns=["age"], sensitive="ill", k=2)
        >>> made.low.tolist(), made.sensitive
        ([[20.0], [40.0]], (('a', 'b'), ('c', 'c')))

    References:
        [LDR06]; [Swe02] for k-anonymity.
    """
    columns = names_of(columns)
    exact = numbers_of(table, columns)
    values = column_of(table, sensitive, rows=len(exact), parameter="sensitive")
    if len(exact) < positive_integer(k, "k"):
        raise ParameterError("k", k, f"must be at most the number of rows, {len(exact)}")
    width = np.ptp(exact, axis=0)
    parts = _halved(exact / np.where(width > 0, width, 1), k)
    return Generalized(
        columns=columns,
        low=np.array([exact[part].min(axis=0) for part in parts]),
        high=np.array([exact[part].max(axis=0) for part in parts]),
        sensitive=tuple(tuple(sorted((values[row] for row in part), key=str)) for part in parts),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """What tables without noise reveal about people's sensitive values.

    Attributes:
        outcome: The success of the best guess, beside guessing the most common value for everybody.
        certain: The number of people for whom the tables leave a single value.
    """

    outcome: Outcome
    certain: int

    def __str__(self) -> str:
        return f"{self.outcome}\n  certain of {self.certain:,} people"


def homogeneity(released: Generalized, people: Table, *, sensitive: str) -> Disclosure:
    """Guess a person's sensitive value from the class: certain wherever all of the class have the same.

    Args:
        released: The released table, which contains these people.
        people: People whose quasi-identifiers the adversary knows; the sensitive column is used only to count.
        sensitive: The column to infer.

    Raises:
        ParameterError: A column is missing, or there are no people.

    Example:
        >>> table = {"age": [20, 21, 40, 41], "ill": ["a", "b", "c", "c"]}
        >>> homogeneity(generalize(table, columns=["age"], sensitive="ill", k=2), table, sensitive="ill").certain
        2

    References:
        [MKGV07], section 2.1.
    """
    generalized(released, "released")
    return _disclosed([released], people, sensitive, attack=f"homogeneity of a {released.k}-anonymous table")


def intersection(first: Generalized, second: Generalized, people: Table, *, sensitive: str) -> Disclosure:
    """Guess a person's sensitive value from two tables: certain wherever their classes have one value in common.

    Both hold the person: somebody who was a patient of two hospitals, which give out tables without asking each other.
    Where several values remain, the guess is the one with the largest product of shares in the two classes.

    Args:
        first: The first released table.
        second: The second released table.
        people: People in both, whose quasi-identifiers the adversary knows; the sensitive column is used only to count.
        sensitive: The column to infer.

    Raises:
        ParameterError: A column is missing, or there are no people.

    Example:
        >>> one = {"age": [30, 31], "ill": ["a", "b"]}
        >>> two = {"age": [30, 33], "ill": ["a", "c"]}
        >>> given = (generalize(table, columns=["age"], sensitive="ill", k=2) for table in (one, two))
        >>> intersection(*given, {"age": [30], "ill": ["a"]}, sensitive="ill").certain
        1

    References:
        [GKS08].
    """
    generalized(first, "first"), generalized(second, "second")
    k = min(first.k, second.k)
    return _disclosed([first, second], people, sensitive, attack=f"intersection of two {k}-anonymous tables")


def generalized(released: object, name: str) -> Generalized:
    """Checked to be a table that `generalize` made.

    Raises:
        ParameterError: It is something else.
    """
    return of_kind(released, name, Generalized, "a table made by generalize")


def _disclosed(releases: Sequence[Generalized], people: Table, sensitive: str, *, attack: str) -> Disclosure:
    """Keep for each person the values that every release leaves open, and guess the likeliest."""
    rows = len(column_of(people, releases[0].columns[0], of="people"))
    truth = column_of(people, sensitive, rows=rows, parameter="sensitive", of="people")
    if not truth:
        raise ParameterError("people", "a table without rows", "must hold at least one")
    given = [value for release in releases for values in release.sensitive for value in values]
    names = list(dict.fromkeys(given))
    common = np.bincount(codes(given))
    likely = np.ones((len(truth), len(names)))
    for release in releases:
        likely *= release.fitting(people) @ _shares(release, names)
    certain = int(((likely > 0).sum(axis=1) == 1).sum())
    likely[likely.max(axis=1) == 0] = 1  # of somebody whom the tables do not hold
    guesses = (likely * (1 + _TIE * common / common.sum())).argmax(axis=1)
    commonest = names[int(common.argmax())]
    outcome = Outcome(
        attack=attack,
        successes=sum(equal(names[guess], value) for guess, value in zip(guesses.tolist(), truth, strict=True)),
        trials=len(truth),
        baseline=sum(equal(value, commonest) for value in truth) / len(truth),
    )
    return Disclosure(outcome=outcome, certain=certain)


def _shares(release: Generalized, names: Sequence[object]) -> Floats:
    """For each class, in rows, the shares of the sensitive values, in columns."""
    place = {name: number for number, name in enumerate(names)}
    counts = np.zeros((len(release.sensitive), len(names)))
    for row, values in enumerate(release.sensitive):
        np.add.at(counts[row], [place[value] for value in values], 1)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _halved(scaled: Floats, k: int) -> list[NDArray[np.intp]]:
    """The rows of each class that cannot be halved any more."""
    waiting, done = [np.arange(len(scaled))], []
    while waiting:
        rows = waiting.pop()
        widest_first = np.argsort(-np.ptp(scaled[rows], axis=0), kind="stable")
        halves = next(filter(None, (_halves(scaled, rows, int(column), k) for column in widest_first)), None)
        if halves is None:
            done.append(rows)
        else:
            waiting += reversed(halves)
    return done


def _halves(
    scaled: Floats, rows: NDArray[np.intp], column: int, k: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """The rows up to the median of a column and those above, if there are k of each."""
    values = scaled[rows, column]
    below = values <= np.median(values)
    if below.all():  # many share the largest value
        below = values < values.max()
    low, high = rows[below], rows[~below]
    return (low, high) if min(len(low), len(high)) >= k else None


def numbers_of(table: Table, columns: Sequence[str], *, of: str = "table", are_finite: bool = True) -> Floats:
    """Columns of numbers beside each other, one row a person.

    Args:
        table: The table that is read.
        columns: Their names.
        of: By which parameter the table came, for the error.
        are_finite: Whether a number that is missing or infinite is refused.

    Raises:
        ParameterError: A column is missing, or holds something else.
    """
    rows = len(column_of(table, columns[0], of=of))
    values = [column_of(table, column, rows=rows, of=of) for column in columns]
    try:
        exact = np.array(values, dtype=np.float64).reshape(len(columns), rows).T
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("columns", tuple(columns), "must have numbers") from None
    if are_finite and not np.isfinite(exact).all():
        raise ParameterError("columns", tuple(columns), "must have a finite number in each row")
    return exact
