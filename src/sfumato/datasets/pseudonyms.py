"""Made-up records under pseudonyms: ratings of movies, searches, and sightings of phones, shaped as published data was.

Ratings are sparse and long-tailed as in the Netflix Prize data [NS08]. Searches are as in the log that AOL published in
2006 with a number in place of each name; a newspaper found number 4417749 by the searches for people of one surname and
for landscapers in one town [BZ06]. Sightings say which antenna saw a phone in which hour [MHVB13].
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import Floats, uniforms
from sfumato.numeric.rationals import Number, positive_integer, probability

DAYS: Final = 2_200
"""From the first possible rating to the last: 1999 to the end of 2005, as in the Netflix Prize data."""

_MOST_RATINGS: Final = 50_000_000  # subscribers times movies
_ACTIVITY: Final = (0, 0.1, 0.5, 0.8, 0.95, 1), (10, 20, 60, 130, 250, 500)
_TASTE: Final = 0.5  # how much a taste moves a rating
_LOWEST, _HIGHEST, _MIDDLE = 1, 5, 3.6
_FLATNESS: Final = 4  # the first movies of the ranking are about as popular as each other

COMMON_QUERIES: Final = (
    "google", "weather", "maps", "yahoo mail", "ebay", "lottery numbers", "horoscope", "movie times", "song lyrics",
    "white pages", "cheap flights", "recipes", "dictionary", "bank login", "world cup", "used cars", "job openings",
    "crossword", "free games", "tax forms", "baby names", "dog breeds", "home remedies", "numb fingers",
    "school closings", "library hours", "train schedule", "wedding songs", "garden plants", "back pain",
)  # fmt: skip
"""What many people ask, the most common first."""

_FIRST: Final = (
    "thelma", "walter", "rosa", "harold", "edna", "victor", "mabel", "oscar", "hazel", "leroy", "olive", "clyde",
    "doris", "ernest", "ruth", "homer", "viola", "amos", "nora", "floyd",
)  # fmt: skip
_ONSETS: Final = ("ar", "ber", "cal", "dor", "el", "far", "gan", "hol", "jen", "kel", "lan", "mor", "nor", "par", "ros")
_ENDINGS: Final = ("aby", "der", "fast", "gan", "hart", "ison", "kin", "low", "mont", "nett", "old", "quist", "wick")
_TOWNS: Final = (
    "elmford", "oak hollow", "millbury", "cedar falls", "stonebridge", "fairmead", "ashby", "riverton", "lowgate",
    "pine grove",
)  # fmt: skip
_TRADES: Final = ("landscapers in {}", "homes sold in {}", "dentist {}", "plumber near {}")
_STRIDE: Final = 7_919  # a prime, so that neighbors have other names
_MOST_USERS: Final = len(_FIRST) * len(_ONSETS) * len(_ENDINGS)
_SEARCHES: Final = (0, 0.2, 0.6, 0.9, 1), (4, 8, 20, 60, 120)
_OWN, _FRIEND, _TOWN = 0.08, 0.12, 0.3  # where shares end: of the own name, of somebody else's, of the town
_FIRST_PSEUDONYM: Final = 4_000_000
HOURS_A_DAY: Final = 24
_MOST_PEOPLE: Final = 200_000
_MOST_DAYS: Final = 365
_SIGHTINGS_A_DAY: Final = (0, 0.1, 0.5, 0.9, 1), (1.5, 2.0, 3.5, 6.5, 9.0)  # 114 a month in the literature
_FIRST_HOUR, _LAST_HOUR = 7, 24
_WORK: Final = range(9, 18)
_WORK_DAYS, _WEEK = 5, 7
_AT_ANCHOR: Final = 0.7  # else somewhere about
_CENTER_SPREAD, _ABOUT = 0.22, 0.1  # of the length of the city
_BELL: Final = (
    (0, 0.001, 0.023, 0.159, 0.309, 0.5, 0.691, 0.841, 0.977, 0.999, 1),
    (-3.7, -3.1, -2, -1, -0.5, 0, 0.5, 1, 2, 3.1, 3.7),
)


def ratings(subscribers: int = 3_000, movies: int = 800, *, seed: int = 2006) -> pa.Table:
    """Columns subscriber, movie, rating (1 to 5) and day, one row a rating; nobody rates a movie twice.

    A movie's chance to be chosen falls about as 1/(rank + 4) of its popularity; its number is its rank. Half of the
    subscribers rate 60 movies or fewer and one in 25 more than 300 (never more than half of all movies), chosen without
    repetition. A rating is 3.6 plus what the movie is worth, plus the subscriber's taste, plus chance, rounded into 1
    to 5. Each subscriber joins on some day of the first nine tenths of the time, and rates on days drawn evenly from
    then on.

    Args:
        subscribers: The number of subscribers.
        movies: The number of movies; subscribers times movies must be at most 50 million.
        seed: The same seed gives the same ratings, on every platform.

    Raises:
        ParameterError: A number is not whole, not at least 1, or both are too large.

    Example:
        >>> ratings(20, 50).column_names
        ['subscriber', 'movie', 'rating', 'day']

    References:
        [NS08].
    """
    positive_integer(subscribers, "subscribers", most=_MOST_RATINGS)
    positive_integer(movies, "movies", most=_MOST_RATINGS // subscribers)
    person, movie = _chosen(subscribers, movies, seed)
    many = len(person)
    worth = 1.4 * (uniforms(seed, "worth", movies) - 0.5)
    taste = 2 * _TASTE * (uniforms(seed, "taste", subscribers) - 0.5)
    chance = 4 * (uniforms(seed, "chance", many) - 0.5)
    rating = np.clip(np.rint(_MIDDLE + worth[movie] + taste[person] + chance), _LOWEST, _HIGHEST).astype(np.int64)
    joined = np.floor(0.9 * DAYS * uniforms(seed, "joined", subscribers))
    day = np.floor(joined[person] + (DAYS - joined[person]) * uniforms(seed, "day", many)).astype(np.int64)
    return pa.table({"subscriber": person, "movie": movie, "rating": rating, "day": day})


def _chosen(subscribers: int, movies: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who rates what: the winners of a race, where a movie has arrived by time t with chance t/(t + rank + 4)."""
    activity = np.interp(uniforms(seed, "activity", subscribers), *_ACTIVITY).astype(np.int64)
    activity = np.clip(activity, 1, max(1, movies // 2))
    uniform = uniforms(seed, "race", subscribers * movies).reshape(subscribers, movies)
    arrival = uniform / (1 - uniform) * (np.arange(movies) + 1 + _FLATNESS)
    order = np.argsort(arrival, axis=1, kind="stable")
    kept = np.arange(movies) < activity[:, np.newaxis]
    return np.repeat(np.arange(subscribers), activity), order[kept].astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLog:
    """A log and what is behind it.

    Attributes:
        log: Columns user (a pseudonym) and query, one row a search.
        names: Whose pseudonym each is: what only the owner knows.
    """

    log: pa.Table
    names: dict[int, str]

    @property
    def directory(self) -> tuple[str, ...]:
        """The names of all people in the order of the alphabet, as a telephone book has them."""
        return tuple(sorted(self.names.values()))


def search_log(users: int = 1_000, *, vanity: Number = "0.4", seed: int = 4417749) -> SearchLog:
    """Made-up people's searches under a pseudonym each, of whom about a declared share looks for the own name.

    Half of the people search up to 17 times. Of the searches of those who are vain 8 in a hundred are for their own
    name; of everybody's, 4 in a hundred are for somebody else of the log, 18 for a trade in the own town, and all
    others one of `COMMON_QUERIES`, whose chances fall as 1/rank.

    Args:
        users: The number of people, at most 3,900, because names are unique.
        vanity: The probability that a person is vain.
        seed: The same seed gives the same log, on every platform.

    Raises:
        ParameterError: Users are no whole number from 1 to 3,900, or the vanity is no probability.

    Example:
        >>> made = search_log(20)
        >>> made.log.column_names, len(made.directory)
        (['user', 'query'], 20)

    References:
        [BZ06].
    """
    positive_integer(users, "users", most=_MOST_USERS)
    vain = uniforms(seed, "vanity", users) < float(probability(vanity, "vanity"))
    many = np.interp(uniforms(seed, "searches", users), *_SEARCHES).astype(np.int64)
    person = np.repeat(np.arange(users), many)
    names = [_name(number) for number in range(users)]
    kind = uniforms(seed, "kind", len(person))
    detail = uniforms(seed, "detail", len(person))
    town = (uniforms(seed, "town", users) * len(_TOWNS)).astype(np.int64)
    queries = _common(detail)
    about = np.flatnonzero(kind < _TOWN)
    for row in about.tolist():
        who = int(person[row])
        if kind[row] < _OWN and vain[who]:
            queries[row] = names[who]
        elif _OWN <= kind[row] < _FRIEND:
            queries[row] = names[int(detail[row] * users)]
        elif kind[row] >= _FRIEND:
            queries[row] = _TRADES[int(detail[row] * len(_TRADES))].format(_TOWNS[town[who]])
    order = np.argsort(uniforms(seed, "order", len(person)), kind="stable")
    pseudonyms = _FIRST_PSEUDONYM + np.arange(users) * _STRIDE
    log = pa.table({"user": pseudonyms[person[order]], "query": [queries[row] for row in order.tolist()]})
    return SearchLog(log=log, names=dict(zip(pseudonyms.tolist(), names, strict=True)))


def _common(uniform: Floats) -> list[str]:
    """Queries whose chances fall as 1/rank."""
    ends: Floats = np.cumsum(1 / np.arange(1, len(COMMON_QUERIES) + 1))
    places = np.minimum(np.searchsorted(ends, uniform * ends[-1], side="right"), len(ends) - 1)
    return [COMMON_QUERIES[place] for place in places.tolist()]


def _name(person: int) -> str:
    number, first = divmod(person * _STRIDE % _MOST_USERS, len(_FIRST))
    onset, ending = divmod(number, len(_ENDINGS))
    return f"{_FIRST[first]} {_ONSETS[onset]}{_ENDINGS[ending]}"


def traces(people: int = 20_000, *, days: int = 28, antennas: int = 30, seed: int = 2013) -> pa.Table:
    """Columns person, x, y (the antenna's place on a square grid) and hour (from 0 on), one row a sighting.

    A person has a home and a place of work, both drawn about the middle of the city. The number of sightings a day
    is drawn once for each person: half have up to 3.5. Each sighting falls on any day and an hour from 7 to midnight,
    both drawn evenly. Seven times in ten it is at the anchor of that hour, which is work from 9 to 18 on five days of
    seven and home else; otherwise at an antenna about the anchor, drawn from a bell a tenth of the city wide. Places
    outside the city are moved to its edge. A sighting in the same hour at the same antenna may come twice.

    Args:
        people: The number of people, at most 200,000.
        days: The number of days, at most 365.
        antennas: The number of antennas on each side of the grid.
        seed: The same seed gives the same traces, on every platform.

    Raises:
        ParameterError: A number is not whole, not at least 1, or too large.

    Example:
        >>> traces(10, days=7).column_names
        ['person', 'x', 'y', 'hour']

    References:
        [MHVB13].
    """
    positive_integer(people, "people", most=_MOST_PEOPLE)
    positive_integer(days, "days", most=_MOST_DAYS)
    positive_integer(antennas, "antennas", most=1_000)
    a_day = np.interp(uniforms(seed, "sightings a day", people), *_SIGHTINGS_A_DAY)
    many = np.maximum(1, np.rint(a_day * days)).astype(np.int64)
    person = np.repeat(np.arange(people), many)
    day = np.floor(days * uniforms(seed, "day", len(person))).astype(np.int64)
    of_day = np.floor(
        _FIRST_HOUR + (_LAST_HOUR - _FIRST_HOUR) * uniforms(seed, "hour", len(person))
    ).astype(np.int64)  # fmt: skip
    at_work = (day % _WEEK < _WORK_DAYS) & (of_day >= _WORK.start) & (of_day < _WORK.stop)
    away = uniforms(seed, "away", len(person)) >= _AT_ANCHOR
    places = {
        axis: _place(axis, person=person, people=people, at_work=at_work, away=away, antennas=antennas, seed=seed)
        for axis in ("x", "y")
    }
    return pa.table({"person": person, **places, "hour": day * HOURS_A_DAY + of_day})


def _place(
    axis: str,
    *,
    person: NDArray[np.int64],
    people: int,
    at_work: NDArray[np.bool_],
    away: NDArray[np.bool_],
    antennas: int,
    seed: int,
) -> NDArray[np.int64]:
    """One coordinate of each sighting's antenna."""
    home, work = (
        0.5 + _CENTER_SPREAD * _bell(uniforms(seed, f"{anchor} {axis}", people)) for anchor in ("home", "work")
    )
    anchor = np.where(at_work, work[person], home[person])
    moved = _ABOUT * _bell(uniforms(seed, f"moved {axis}", len(person)))
    place = np.floor(antennas * (anchor + np.where(away, moved, 0))).astype(np.int64)
    clipped: NDArray[np.int64] = np.clip(place, 0, antennas - 1)
    return clipped


def _bell(uniform: Floats) -> Floats:
    """About normal with deviation 1: a quantile function that runs straight between a few points of the normal one."""
    return np.interp(uniform, *_BELL)
