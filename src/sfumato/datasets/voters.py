"""A hospital's table without names and a voter roll with them, of made-up people: shaped as in [Swe00].

Sweeney bought the roll of Cambridge, Massachusetts, and joined it on ZIP code, birth date and sex with the records of
state employees that the Group Insurance Commission (GIC) had given out without names. The share of people whom these
three tell apart is declared here, and held exactly: 0.87 is Sweeney's figure for the United States, 0.63 that of
[Gol06].
"""

from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import choose, uniforms
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive_integer, probability

QUASI_IDENTIFIERS: Final = ("zip", "birth_date", "sex")
"""What the two tables share."""

_DIAGNOSES: Final = {
    "hypertension": 210, "diabetes": 130, "bronchitis": 120, "arthritis": 110, "depression": 100, "asthma": 90,
    "gastritis": 80, "migraine": 60, "heart disease": 50, "breast cancer": 25, "epilepsy": 15, "HIV": 10,
}  # fmt: skip
_FIRST_NAMES: Final = (
    ("Alice", "Barbara", "Carol", "Diana", "Ellen", "Frances", "Grace", "Helen", "Irene", "Joan", "Karen", "Linda"),
    ("Albert", "Brian", "Charles", "David", "Edward", "Frank", "George", "Henry", "Isaac", "James", "Kevin", "Louis"),
)
_ONSETS: Final = ("B", "C", "D", "F", "G", "H", "L", "M", "N", "P", "R", "S", "T", "W")
_MIDDLES: Final = ("a", "e", "i", "o", "u", "ai", "ea", "ee", "oa", "ou")
_ENDINGS: Final = (
    "bury", "cott", "den", "field", "ford", "gate", "ham", "land", "ley", "man", "ner", "shaw", "son", "ton", "well",
)  # fmt: skip
_INITIALS: Final = "ABCDEFGHJKLMNPRSTW"
_STRIDE: Final = 100_003  # a prime above every radix of a name, so that neighbors in the roll differ
_MOST_PEOPLE: Final = 100_000
_PEOPLE_A_ZIP: Final = 1_000
_FEWEST_ZIPS, _FIRST_PREFIX, _PREFIXES = 24, 17, 8  # 017 to 024 are about Boston
_AGE: Final = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 1), (18, 24, 34, 45, 56, 73, 95)
_REFERENCE_DAY: Final = date(1997, 1, 1)
_DAYS_A_YEAR: Final = 365.25


@dataclass(frozen=True, slots=True, kw_only=True)
class HospitalAndVoters:
    """Two tables about the same people.

    Attributes:
        hospital: Columns zip, birth_date, sex and diagnosis, one row a patient, in an order of its own.
        voters: Columns name, zip, birth_date and sex; no two have one name.
        patients: The name of each patient in the order of the hospital's rows: what only the owner knows.
    """

    hospital: pa.Table
    voters: pa.Table
    patients: tuple[str, ...]


def hospital_and_voters(n: int = 10_000, *, uniqueness: Number = "0.87", seed: int = 1997) -> HospitalAndVoters:
    """Made-up people in both tables, of whom exactly a declared share is alone with ZIP, birth date and sex.

    Combinations of the three are drawn without repetition: ZIP codes about Boston, one for each thousand people but
    at least 24, whose sizes fall as 1/√rank; ages of 18 to 95 on the first day of 1997; either sex as often. n times
    the uniqueness are given to one person each and the others to two, of which one is given to a third if the number
    is odd. The diagnosis is independent of everything; the shares of the twelve are made up.

    Args:
        n: Number of people, at most 100,000.
        uniqueness: The share who are alone, from 0 to 1; n times this must be a whole number.
        seed: The same seed gives the same people, on every platform.

    Raises:
        ParameterError: n is no whole number from 1 to 100,000, or the uniqueness cannot be had exactly: n times it
            is not whole, or leaves one person whom nobody can share with.

    Example:
        >>> two = hospital_and_voters(100, uniqueness="0.63")
        >>> two.hospital.column_names, two.voters.num_rows
        (['zip', 'birth_date', 'sex', 'diagnosis'], 100)

    References:
        [Swe00], [Gol06].
    """
    if positive_integer(n, "n") > _MOST_PEOPLE:
        raise ParameterError("n", n, f"must be at most {_MOST_PEOPLE:,}")
    cell = _shared(n, _alone(n, uniqueness))
    zips, births, women = _cells(int(cell[-1]) + 1, n, seed)
    people = pa.table(
        {
            "name": _names(women[cell]),
            "zip": zips[cell],
            "birth_date": births[cell],
            "sex": np.where(women[cell], "F", "M"),
        }
    )
    voters = people.take(np.argsort(uniforms(seed, "order of the roll", n), kind="stable"))
    patients = people.take(np.argsort(uniforms(seed, "order of the hospital", n), kind="stable"))
    diagnosis = pa.array(choose(_DIAGNOSES, uniforms(seed, "diagnosis", n)))
    return HospitalAndVoters(
        hospital=patients.select(QUASI_IDENTIFIERS).append_column("diagnosis", diagnosis),
        voters=voters,
        patients=tuple(patients["name"].to_pylist()),
    )


def _alone(n: int, uniqueness: Number) -> int:
    """How many people share their combination with nobody."""
    alone = n * probability(uniqueness, "uniqueness")
    if alone.denominator != 1 or n - alone == 1:
        requirement = f"must give a whole number of {n:,} people, and not all but one"
        raise ParameterError("uniqueness", uniqueness, requirement)
    return int(alone)


def _shared(n: int, alone: int) -> NDArray[np.int64]:
    """The combination of each person: first those who are alone, then pairs, the last of them three if need be."""
    pairs = (n - alone) // 2
    cell = np.concatenate([np.arange(alone), alone + np.arange(n - alone) // 2])
    return np.minimum(cell, alone + pairs - 1) if pairs else cell


def _cells(
    count: int, n: int, seed: int
) -> tuple[NDArray[np.str_], NDArray[np.datetime64], NDArray[np.bool_]]:  # fmt: skip
    """So many different combinations, the first that are drawn."""
    zips = max(_FEWEST_ZIPS, n // _PEOPLE_A_ZIP)
    drawn, first = 0, np.empty(0, dtype=np.int64)
    while len(first) < count:  # drawn anew from the start with more draws: the stream's beginning stays
        drawn = 2 * (drawn or count)
        weights = {str(rank): round(10_000 / (rank + 1) ** 0.5) for rank in range(zips)}
        place = choose(weights, uniforms(seed, "zip", drawn)).astype(np.int64)
        age = np.interp(uniforms(seed, "age", drawn), *_AGE)
        days = np.floor(age * _DAYS_A_YEAR).astype(np.int64)
        women = uniforms(seed, "sex", drawn) < 1 / 2
        first = np.sort(np.unique(np.stack([place, days, women]), axis=1, return_index=True)[1])
    kept = first[:count]
    codes = np.array([f"0{_FIRST_PREFIX + rank % _PREFIXES}{1 + rank // _PREFIXES:02}" for rank in range(zips)])
    return codes[place[kept]], np.datetime64(_REFERENCE_DAY) - days[kept], women[kept]


def _names(women: NDArray[np.bool_]) -> list[str]:
    """A first name for the sex, an initial and a surname: the digits of a number that no two share."""
    total = len(_FIRST_NAMES[0]) * len(_INITIALS) * len(_ONSETS) * len(_MIDDLES) * len(_ENDINGS)
    return [_name(person * _STRIDE % total, bool(woman)) for person, woman in enumerate(women)]


def _name(number: int, woman: bool) -> str:  # noqa: FBT001 # one of two lists
    number, ending = divmod(number, len(_ENDINGS))
    number, onset = divmod(number, len(_ONSETS))
    number, middle = divmod(number, len(_MIDDLES))
    initial, first = divmod(number, len(_FIRST_NAMES[0]))
    surname = _ONSETS[onset] + _MIDDLES[middle] + _ENDINGS[ending]
    return f"{_FIRST_NAMES[0 if woman else 1][first]} {_INITIALS[initial]}. {surname}"
