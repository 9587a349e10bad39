"""Record linkage: names put to a table without names, by joining it with one that has them [Swe00].

A hospital's table without names and a voter roll share ZIP code, birth date and sex. A record for which these fit one
voter alone gets that voter's name. If some fields are misspelt, weighing the fields that agree, nearly agree and differ
still finds the person, because the fields that do agree are rare together [FS69].
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log2
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.answers import dice
from sfumato.attacks.core.classes import Coarsening, Table, classes, codes, column_of, equal, names_of, values_of
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import real

Floats = NDArray[np.float64]
_ALPHABET: Final = "0123456789"
_LEAST_TYPOS: Final = 1e-100  # of smaller ones the square would be 0


def linkage(
    released: Table,
    known: Table,
    *,
    columns: Sequence[str],
    name: str,
    truth: Sequence[Any],
    coarsen: Coarsening | None = None,
) -> Outcome:
    """Join two tables on quasi-identifiers and claim a name wherever exactly one known person fits.

    If both tables are about the same people, a row is named exactly if its person's quasi-identifiers are unique, so
    the share of right claims is the `uniqueness` of the table.

    Args:
        released: A table without names, one row a record.
        known: The adversary's table with names.
        columns: The quasi-identifiers, which both have.
        name: The column of names in what is known.
        truth: The person of each released record, in its order; used only to count right claims.
        coarsen: Functions of some quasi-identifiers, by which the released table was made coarser.

    Returns:
        Right claims out of all released records; a note states how many claims were made, and how many were wrong.

    Raises:
        ParameterError: A column is missing, nobody is known, or the truth has not one entry for each released record.

    Example:
        >>> hospital = {"zip": [1, 1, 2], "born": [1950, 1960, 1950]}
        >>> roll = {"name": ["Ann", "Bob", "Cy"], "zip": [1, 1, 2], "born": [1950, 1960, 1950]}
        >>> linkage(hospital, roll, columns=["zip", "born"], name="name", truth=["Ann", "Bob", "Cy"]).success
        1.0
        >>> linkage(hospital, roll, columns=["zip"], name="name", truth=["Ann", "Bob", "Cy"]).successes
        1

    References:
        [Swe00]; [Gol06] counts anew how many people are unique.
    """
    records, people = classes(released, known, columns=columns, coarsen=coarsen, names=("released", "known"))
    names = column_of(known, name, rows=len(people), parameter="name", of="known")
    owners = values_of(truth, "truth")
    if len(owners) != len(records) or not names:
        raise ParameterError("truth", f"{len(owners)} names", f"must be one for each of {len(records)} records")
    fitting = np.bincount(people, minlength=max(records.max(initial=0), people.max()) + 1)
    one = np.empty(len(fitting), dtype=np.int64)
    one[people] = np.arange(len(people))
    claimed = np.flatnonzero(fitting[records] == 1)
    right = sum(equal(names[one[records[row]]], owners[row]) for row in claimed)
    return Outcome(
        attack="linkage",
        successes=right,
        trials=len(records),
        baseline=1 / len(names),
        notes=(f"{len(claimed):,} names were claimed, {len(claimed) - right:,} of them wrongly",),
    )


def misspelt_linkage(
    released: Table,
    known: Table,
    *,
    columns: Sequence[str],
    name: str,
    truth: Sequence[Any],
    typos: float = 0.05,
    margin: float = 4.0,
) -> Outcome:
    """Weigh every known person against each record, and claim the best one's name if no other comes near.

    A field that agrees weighs log₂((1 − t)/u), one that is an edit apart log₂(t/u), and one that differs more
    log₂(t²/u), where t is the share of typos and u that of known people who agree so well by chance. The sum over
    fields is a logarithm of a likelihood ratio, if fields are independent.

    Args:
        released: A table without names, one row a record.
        known: The adversary's table with names.
        columns: The quasi-identifiers, which both have; compared as text.
        name: The column of names in what is known.
        truth: The person of each released record, in its order; used only to count right claims.
        typos: t, how often the adversary expects a field to be misspelt, between 0 and ½.
        margin: By how many bits the best must be ahead of the second, at least 0.

    Returns:
        Right claims out of all released records; a note states how many claims were made, and how many were wrong.

    Raises:
        ParameterError: A column is missing or none is named, nobody is known, the truth has not one entry for each
            released record, or a number is out of range.

    Example:
        >>> from sfumato.datasets.voters import hospital_and_voters
        >>> two = hospital_and_voters(200, uniqueness="0.9")
        >>> asked = {"columns": ["zip", "birth_date"], "name": "name", "truth": two.patients}
        >>> typed = {
        ...     name: misspelt([str(value) for value in column_of(two.hospital, name)], share=0.2)
        ...     for name in asked["columns"]
        ... }
        >>> misspelt_linkage(typed, two.voters, **asked).success > 0.7
        True

    References:
        [FS69]; [Dam64] for edits.
    """
    columns, typos, margin = names_of(columns), real(typos, "typos", least=-inf), real(margin, "margin", least=-inf)
    if not (_LEAST_TYPOS <= typos < 1 / 2 and margin >= 0):
        requirement = (
            f"must name a column, have typos of at least {_LEAST_TYPOS} and below ½, and a margin of at least 0"
        )
        raise ParameterError("columns", (columns, typos, margin), requirement)
    names, owners = column_of(known, name, parameter="name", of="known"), values_of(truth, "truth")
    fields = [
        _field(column_of(released, one, of="released"), column_of(known, one, rows=len(names), of="known"), typos)
        for one in columns
    ]
    if not names or any(len(field.records) != len(owners) for field in fields):
        raise ParameterError("truth", f"{len(owners)} names", "must be one for each released record, and some known")
    claimed = right = 0
    for row, owner in enumerate(owners):
        weights = np.sum([field.weights(row) for field in fields], axis=0)
        best = int(weights.argmax())
        ahead = weights[best] - np.partition(weights, -2)[-2] if len(weights) > 1 else weights[best]
        if min(ahead, weights[best]) >= margin:
            claimed, right = claimed + 1, right + equal(names[best], owner)
    return Outcome(
        attack="linkage of misspelt records",
        successes=right,
        trials=len(owners),
        baseline=1 / len(names),
        notes=(f"{claimed:,} names were claimed, {claimed - right:,} of them wrongly",),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Field:
    """One column of both tables: what agreement of its values weighs.

    Attributes:
        records: The number of each released record's value.
        people: The number of each known person's value.
        equal: For each released value what it weighs, by the numbers of known values that agree or nearly do.
        different: What the others weigh, for each released value.
        values: How many known values there are.
    """

    records: NDArray[np.int64]
    people: NDArray[np.int64]
    equal: list[dict[int, float]]
    different: list[float]
    values: int

    def weights(self, row: int) -> Floats:
        """Of each known person beside one record."""
        value = int(self.records[row])
        by_value = np.full(self.values, self.different[value])
        for other, weight in self.equal[value].items():
            by_value[other] = weight
        found: Floats = by_value[self.people]
        return found


def _field(released: Sequence[Any], known: Sequence[Any], typos: float) -> _Field:
    given, roll = [str(value) for value in released], [str(value) for value in known]
    there, place = list(dict.fromkeys(roll)), codes(roll)
    often = np.bincount(place, minlength=len(there))
    near = _neighbors(there)
    equal, different = [], []
    for value in dict.fromkeys(given):
        close = {other: edits(value, there[other]) for other in near(value)}
        counts = [sum(int(often[other]) for other, apart in close.items() if apart == wanted) for wanted in (0, 1)]
        chances = [(count + 1) / (len(roll) + 1) for count in (*counts, max(len(roll) - sum(counts), 0))]
        agreed, missed, other_weight = (
            log2(rate / chance) for rate, chance in zip((1 - typos, typos, typos**2), chances, strict=True)
        )
        equal.append({other: (agreed, missed)[apart] for other, apart in close.items() if apart <= 1})
        different.append(other_weight)
    return _Field(records=codes(given), people=place, equal=equal, different=different, values=len(there))


def _neighbors(values: Sequence[str]) -> Any:
    """What finds the values that may be one edit from a text: those that share it, or it without one letter."""
    index: dict[str, set[int]] = defaultdict(set)
    for number, value in enumerate(values):
        for part in _without_one(value):
            index[part].add(number)
    return lambda text: set().union(*(index.get(part, ()) for part in _without_one(text)))


def _without_one(text: str) -> Iterator[str]:
    yield text
    for at in range(len(text)):
        yield text[:at] + text[at + 1 :]


def edits(first: str, second: str) -> int:
    """How many insertions, deletions, replacements and swaps of neighboring letters lead from one text to the other.

    Of each place one edit at most, as most typos are: the optimal string alignment.

    Example:
        >>> edits("02138", "02193"), edits("1950-07-31", "1950-07-13"), edits("Ann", "Anne")
        (2, 1, 1)

    References:
        [Dam64].
    """
    before: list[int] = []
    last = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        row = [i]
        for j, other in enumerate(second, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and (letter, first[i - 2]) == (second[j - 2], other):
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def misspelt(texts: Sequence[str], *, share: float) -> list[str]:
    """A column as it would be typed: in some texts two neighboring letters are swapped, or a digit is another one.

    Args:
        texts: Texts of two letters or more each.
        share: The expected share of texts with a typo.

    Raises:
        ParameterError: The share is no probability, or a text is too short.

    Example:
        >>> misspelt(["02138"], share=0)
        ['02138']
    """
    if not 0 <= share <= 1 or min(map(len, texts), default=2) < 2:  # noqa: PLR2004 # two letters can be swapped
        raise ParameterError("texts", share, "must have two letters or more each, and a share between 0 and 1")
    draws = dice()
    return [_with_typo(text, draws) if draws.random() < share else text for text in texts]


def _with_typo(text: str, draws: Any) -> str:
    at = int(draws.integers(len(text) - 1))
    if draws.integers(2) and text[at] != text[at + 1]:
        return f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"
    others = [digit for digit in _ALPHABET if digit != text[at]]
    return f"{text[:at]}{others[int(draws.integers(len(others)))]}{text[at + 1 :]}"
