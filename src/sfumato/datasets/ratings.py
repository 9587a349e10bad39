"""Made-up ratings of movies with their dates, sparse and long-tailed: the shape of the Netflix Prize data [NS08]."""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import uniforms
from sfumato.numeric.rationals import positive_integer

DAYS: Final = 2_200
"""From the first possible rating to the last: 1999 to the end of 2005, as in the Netflix Prize data."""

_MOST: Final = 50_000_000  # subscribers times movies
_ACTIVITY: Final = (0, 0.1, 0.5, 0.8, 0.95, 1), (10, 20, 60, 130, 250, 500)
_FRIEND: Final = 0.5  # how much a taste moves a rating
_LOWEST, _HIGHEST, _MIDDLE = 1, 5, 3.6
_FLATNESS: Final = 4  # the first movies of the ranking are about as popular as each other


def ratings(subscribers: int = 3_000, movies: int = 800, *, seed: int = 2006) -> pa.Table:
    """Columns subscriber, movie, rating (1 to 5) and day, one row a rating; nobody rates a movie twice.

    A movie's chance to be chosen falls about as 1/(rank + 4) of its popularity; its number is its rank. Half of the
    subscribers rate 60 movies or fewer and one in 25 more than 300 (never more than half of all movies), chosen without
    repetition. A rating is 3.6 plus what the movie is worth, plus the subscriber's taste, plus chance, rounded into 1
    to 5. Each subscriber joins on some day of the first nine tenths of the time, and rates on days drawn evenly from
    then on.

    Args:
        subscribers: How many there are.
        movies: How many there are; subscribers times movies must be at most 50 million.
        seed: The same seed gives the same ratings, on every platform.

    Raises:
        ParameterError: A number is not whole, not at least 1, or both are too large.

    Example:
        >>> ratings(20, 50).column_names
        ['subscriber', 'movie', 'rating', 'day']

    References:
        [NS08].
    """
    positive_integer(subscribers, "subscribers", most=_MOST)
    positive_integer(movies, "movies", most=_MOST // subscribers)
    person, movie = _chosen(subscribers, movies, seed)
    many = len(person)
    worth = 1.4 * (uniforms(seed, "worth", movies) - 0.5)
    taste = 2 * _FRIEND * (uniforms(seed, "taste", subscribers) - 0.5)
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
