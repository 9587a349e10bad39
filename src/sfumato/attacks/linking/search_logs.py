"""Names put to pseudonyms in a log of searches, by what people search for: themselves [BZ06]."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.attacks.core.classes import Table, codes, column_of, equal, values_of
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind, whole


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
        truth: Whose each pseudonym is; used only to count.
        user: The column of pseudonyms.
        query: The column of what was searched for.
        least: How many searches for one name make a claim.

    Returns:
        Right claims out of all pseudonyms in the log; a note tells how many claims were wrong.

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
