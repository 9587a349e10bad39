"""A made-up log of searches under pseudonyms, in the shape of the one that AOL gave out in 2006 [BZ06].

AOL put a number in place of each name. The searches of number 4417749 were for people of one surname, for landscapers
in one town, and for what an elderly lady asks; a newspaper found her by them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from sfumato.datasets.draws import Floats, uniforms
from sfumato.numeric.rationals import Number, positive_integer, probability

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
_STRIDE: Final = 7_919  # a prime, so that neighbours have other names
_MOST_USERS: Final = len(_FIRST) * len(_ONSETS) * len(_ENDINGS)
_SEARCHES: Final = (0, 0.2, 0.6, 0.9, 1), (4, 8, 20, 60, 120)
_OWN, _FRIEND, _TOWN = 0.08, 0.12, 0.3  # where shares end: of the own name, of somebody else's, of the town
_FIRST_PSEUDONYM: Final = 4_000_000


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
        users: How many people, at most 3,900, as no two have one name.
        vanity: The chance that a person is vain.
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
