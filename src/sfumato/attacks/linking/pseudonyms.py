"""People behind pseudonyms, found by a few known ratings [NS08], or by searches for their own name [BZ06].

Netflix published ratings without names. A movie that few people rate weighs much, and hardly anybody rates the same few
rare movies in the same weeks, so a handful of public ratings finds the row. Some of them may be wrong.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.answers import dice
from sfumato.attacks.core.classes import Table, codes, column_of, equal, values_of
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats, of_kind, whole
from sfumato.numeric.rationals import positive_integer

RATING_SCALE: Final = 1.5
"""ρ₀ of [NS08]."""

DAY_SCALE: Final = 30.0
"""d₀ of [NS08], in days."""

ECCENTRICITY: Final = 1.5
"""φ of [NS08]: how far the best score must stand out for a claim, in standard deviations of all scores."""

_HIGHEST_RATING: Final = 5
_MOST_DAYS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an adversary knows of one person.

    Attributes:
        movies: The movies that the person is thought to have rated.
        ratings: The rating of each movie.
        days: The day of each rating.

    Raises:
        ParameterError: They are no lists of numbers, those of movies no whole ones, or they differ in length.
    """

    movies: Sequence[int]
    ratings: Sequence[float]
    days: Sequence[float]

    def __post_init__(self) -> None:
        for name in ("movies", "ratings", "days"):
            values = getattr(self, name)
            if floats(values, name).shape != np.shape(self.movies)[:1]:
                raise ParameterError(name, values, "must be a list of numbers, one for each movie")
        if len(self.movies) and np.asarray(self.movies).dtype.kind not in "iu":
            raise ParameterError("movies", self.movies, "must be whole numbers")


class Scoreboard:
    """Ratings that were published without names, prepared for Scoreboard-RH.

    The score of a row r' is Σ wᵢ·(e^(−|ρᵢ − ρ'ᵢ|/1.5) + e^(−|dᵢ − d'ᵢ|/30)) over the known movies i that it rates, with
    wᵢ = 1/log |supp(i)|, where supp(i) are all who rate i. A movie that one person rates would weigh infinitely much,
    and weighs as one that two rate.

    Args:
        released: Columns subscriber and movie (numbers from 0 on), rating and day.

    Raises:
        ParameterError: A column is missing or holds something else, or there are no ratings.

    Example:
        >>> rows = {"subscriber": [0, 1, 2], "movie": [0, 0, 1], "rating": [5, 1, 4], "day": [10, 90, 50]}
        >>> Scoreboard(rows).scores(Known(movies=[0], ratings=[5], days=[10])).round(2).tolist()
        [2.89, 0.2, 0.0]

    References:
        [NS08], section 4 and 5.
    """

    def __init__(self, released: Table) -> None:
        rows = len(column_of(released, "subscriber", parameter="released", of="released"))
        if rows == 0:
            raise ParameterError("released", "a table without rows", "must hold ratings")
        columns = {name: _numbers(released, name, rows) for name in ("subscriber", "movie", "rating", "day")}
        by_movie = np.argsort(columns["movie"], kind="stable")
        self.people, self.movies, self.ratings, self.days = (column[by_movie] for column in columns.values())
        self._ends = np.searchsorted(self.movies, np.arange(self.movies[-1] + 2))
        self.size = int(self.people.max()) + 1

    def scores(self, known: Known) -> NDArray[np.float64]:
        """The score of each subscriber."""
        of_kind(known, "known", Known, "what is known of one person, such as Known(movies=[0], ratings=[5], days=[10])")
        found = np.zeros(self.size)
        for movie, rating, day in zip(known.movies, known.ratings, known.days, strict=True):
            if not 0 <= movie < len(self._ends) - 1:
                continue  # a movie that nobody rates in what was released
            rows = slice(self._ends[movie], self._ends[movie + 1])
            raters = rows.stop - rows.start
            if raters:
                near = np.exp(-np.abs(self.ratings[rows] - rating) / RATING_SCALE)
                near += np.exp(-np.abs(self.days[rows] - day) / DAY_SCALE)
                found[self.people[rows]] += near / log(max(raters, 2))
        return found

    def claim(self, known: Known) -> int | None:
        """The subscriber with the largest score, if (max − max₂)/σ of all scores is at least 1.5."""
        scores = self.scores(known)
        if len(scores) == 1:
            return 0
        second, best = np.partition(scores, -2)[-2:]
        spread = scores.std()
        stands_out = spread > 0 and (best - second) / spread >= ECCENTRICITY
        return int(scores.argmax()) if stands_out else None

    @cached_property
    def _by_person(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        order = np.argsort(self.people, kind="stable")
        return order, np.searchsorted(self.people[order], np.arange(self.size + 1))

    def known_of(self, person: int, *, entries: int, wrong: int, days: int) -> Known:
        """A few ratings of a person drawn at random, each dated up to `days` too early or too late.

        The wrong ones are of other movies, drawn evenly from all that the person has not rated, with any rating on any
        day. Of a person with fewer ratings all are known.
        """
        draw = dice()
        order, ends = self._by_person
        own = order[ends[person] : ends[person + 1]]
        right = draw.permutation(own)[: max(entries - wrong, 0)]
        others = np.setdiff1d(np.arange(self.movies[-1] + 1), self.movies[own])
        invented = draw.permutation(others)[:wrong]
        first, last = self.days.min(), self.days.max()
        return Known(
            movies=[*self.movies[right], *invented],
            ratings=[*self.ratings[right], *draw.integers(1, _HIGHEST_RATING + 1, len(invented))],
            days=[
                *(self.days[right] + draw.integers(-days, days + 1, len(right))),
                *draw.integers(first, last + 1, len(invented)),
            ],
        )


def sparse_linkage(
    released: Table, *, entries: int = 8, wrong: int = 2, days: int = 14, people: int = 500
) -> Outcome:  # fmt: skip
    """Draw people, learn a few of their ratings with errors, and claim a row for each by Scoreboard-RH.

    In the literature, of 500,000 subscribers: 99% with 8 ratings of which 2 may be wrong and dates within 14 days, and
    68% with 2 ratings and dates within 3 days. Fewer subscribers are easier to tell apart, fewer movies harder.

    Args:
        released: Columns subscriber and movie (numbers from 0 on), rating and day.
        entries: The number of known ratings per person, including wrong ones.
        wrong: The number of known ratings of movies that the person never rated.
        days: The largest error of a date, in days.
        people: The number of people drawn, without repetition; at most all.

    Returns:
        Rows claimed rightly, out of the people drawn; a note states how many claims were wrong.

    Raises:
        ParameterError: A column is missing or empty, there are not more entries than wrong ones, or no people.

    Example:
        >>> from sfumato.datasets.pseudonyms import ratings
        >>> sparse_linkage(ratings(60, 100), entries=6, wrong=0, days=0, people=20).success > 0.5
        True

    References:
        [NS08].
    """
    entries, wrong, days = (
        whole(entries, "entries", least=1),
        whole(wrong, "wrong"),
        whole(days, "days", most=_MOST_DAYS),
    )
    if wrong >= entries:
        raise ParameterError("entries", f"{entries}, {wrong} of them wrong", "must be more than the wrong ones")
    positive_integer(people, "people")
    board = Scoreboard(released)
    drawn = dice().permutation(np.unique(board.people))[:people]
    claims: list[tuple[int, int | None]] = [
        (person, board.claim(board.known_of(person, entries=entries, wrong=wrong, days=days)))
        for person in drawn.tolist()
    ]
    right = sum(claimed == person for person, claimed in claims)
    made = sum(claimed is not None for _, claimed in claims)
    return Outcome(
        attack=f"{entries} ratings, {wrong} of them wrong, dates within {days} days",
        successes=right,
        trials=len(drawn),
        baseline=1 / board.size,
        notes=(f"{made:,} rows were claimed, {made - right:,} of them wrongly",),
    )


def _numbers(released: Table, name: str, rows: int) -> NDArray[Any]:
    """A column of numbers; those of subscribers and movies are places in a list."""
    values = column_of(released, name, rows=rows, parameter="released", of="released")
    is_place = name in {"subscriber", "movie"}
    try:
        column = np.asarray(values)
    except ValueError:  # lists of several lengths
        column = np.asarray(values, dtype=object)
    if column.ndim != 1 or column.dtype.kind not in ("iu" if is_place else "iuf") or (is_place and column.min() < 0):
        requirement = "must be a column of whole numbers from 0 on" if is_place else "must be a column of numbers"
        raise ParameterError(name, column.dtype, requirement)
    return column


def vanity_search(
    log: Table,
    directory: Iterable[str],
    *,
    truth: Mapping[Any, str],
    user: str = "user",
    query: str = "query",
    least: int = 2,
) -> Outcome:
    """Gather each pseudonym's searches, and claim the name of the telephone book that is searched for most.

    A claim needs `least` searches for that name, and more than for any other; searches for other people are rarer.

    Args:
        log: One row a search.
        directory: The names that people have.
        truth: The person of each pseudonym; used only to count right claims.
        user: The column of pseudonyms.
        query: The column of what was searched for.
        least: The fewest searches for one name that make a claim.

    Returns:
        Right claims out of all pseudonyms in the log; a note states how many claims were wrong.

    Raises:
        ParameterError: A column is missing, there are no searches or names, or a pseudonym is nobody's.

    Example:
        >>> log = {"user": [7, 7, 7, 8], "query": ["weather", "ann lee", "ann lee", "ann lee"]}
        >>> vanity_search(log, ["ann lee", "bob ray"], truth={7: "ann lee", 8: "bob ray"}).successes
        1

    References:
        [BZ06].
    """
    book = values_of(directory, "directory")
    codes(book, name="directory")
    names = set(book)
    of_kind(truth, "truth", Mapping, "names by pseudonym")
    whole(least, "least", least=1)
    found: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    pseudonyms = column_of(log, user, parameter="user", of="log")
    codes(pseudonyms, name="log")
    searches = column_of(log, query, rows=len(pseudonyms), parameter="query", of="log")
    codes(searches, name="log")
    for who, what in zip(pseudonyms, searches, strict=True):
        found[who].update([what] if what in names else [])
    if not names or not found or not found.keys() <= truth.keys():
        raise ParameterError("truth", f"{len(truth)} names", "must have one for each pseudonym of a log with searches")
    claims = {who: _foremost(searched, least) for who, searched in found.items()}
    made = sum(name is not None for name in claims.values())
    right = sum(equal(name, truth[who]) for who, name in claims.items())
    return Outcome(
        attack="vanity searches",
        successes=right,
        trials=len(claims),
        baseline=1 / len(names),
        notes=(f"{made:,} names were claimed, {made - right:,} of them wrongly",),
    )


def _foremost(searched: Counter[str], least: int) -> str | None:
    """The name that is searched for most, if often enough and by itself."""
    match searched.most_common(2):
        case [(name, times), *others] if times >= least and all(times > fewer for _, fewer in others):
            return name
        case _:
            return None
