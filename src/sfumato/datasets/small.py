"""The small tables of the texts, whole, so that an example can be checked by hand."""

from typing import Final, Literal

import pyarrow as pa

from sfumato.datasets.draws import uniforms
from sfumato.numeric.arguments import one_of
from sfumato.numeric.rationals import positive_integer

SYMPTOMS: Final = {
    "fever": 0.55,
    "cough": 0.65,
    "shortness_of_breath": 0.25,
    "fatigue": 0.45,
    "headache": 0.35,
    "sore_throat": 0.20,
    "diarrhea": 0.10,
}
"""The seven symptoms of a multi-label histogram, with the made-up chance that a patient of `symptoms` has each."""

_ILL: Final = {
    "en": ("diabetes", {"Ross": 1, "Monica": 1, "Joey": 0, "Phoebe": 0, "Chandler": 1}),
    "ru": ("gastritis", {"Иван": 1, "Петр": 0, "Василиса": 1, "Михаил": 1, "Мария": 0}),
}
_EMPLOYEES, _TOP_SALARY, _JANUARY_TOTAL, _MALLORY_SALARY = 100, 290_000, 100 * 55_000, 156_000

_MOST: Final = 10_000_000


def medical_table(language: Literal["en", "ru"] = "en") -> pa.Table:
    """Five people and a diagnosis of 0 or 1: columns name and diabetes ("en") or name and gastritis ("ru").

    The sum of the first i rows, less the sum of the first i − 1, is the diagnosis of person i.

    Args:
        language: The language of the article with the table.

    Raises:
        ParameterError: Another language.

    Example:
        >>> medical_table()["diabetes"].to_pylist()
        [1, 1, 0, 0, 1]
    """
    one_of(language, "language", _ILL)
    diagnosis, people = _ILL[language]
    return pa.table({"name": list(people), diagnosis: list(people.values())})


def company(month: Literal["january", "february"] = "january") -> pa.Table:
    """A private company's payroll in dollars: columns id, name, salary.

    January has 100 employees who earn $55,000 on average; in February Mallory has joined and the average of the 101 is
    $56,000: both exactly, so that 56,000·101 − 55,000·100 is Mallory's salary, $156,000. The top salary is $290,000.
    All
    other salaries are made up: 450·r + 120,000·(r/99)⁶ dollars for rank r = 1 to 99, on top of a base pay that makes
    the total come out.

    Args:
        month: The payroll before or after Mallory came.

    Raises:
        ParameterError: Another month.

    Example:
        >>> sum(company("february")["salary"].to_pylist()) - sum(company("january")["salary"].to_pylist())
        156000
    """
    one_of(month, "month", ("january", "february"))
    salaries = _january_salaries()
    names = [f"Employee {number}" for number in range(1, _EMPLOYEES + 1)]
    if month == "february":
        salaries, names = [*salaries, _MALLORY_SALARY], [*names, "Mallory"]
    return pa.table({"id": range(1, len(names) + 1), "name": names, "salary": salaries})


def votes() -> pa.Table:
    """A city's vote for a sport, one row a voter: Football 49, Volleyball 25, Basketball 6, Swimming 2.

    Example:
        >>> votes().num_rows
        82
    """
    return _one_row_each("voter", "sport", {"Football": 49, "Volleyball": 25, "Basketball": 6, "Swimming": 2})


def diseases() -> pa.Table:
    """A hundred made-up patients with one of three diseases each: influenza 40, bronchitis 35, measles 25.

    The first two are close, so that a choice at a small ε often takes the wrong one.

    Example:
        >>> diseases()["disease"].value_counts().to_pylist()[0]
        {'values': 'influenza', 'counts': 40}
    """
    return _one_row_each("patient", "disease", {"influenza": 40, "bronchitis": 35, "measles": 25})


def survey() -> pa.Table:
    """What a hundred made-up people would truly say to "have you smoked marijuana?": 40 yes, 60 no.

    Example:
        >>> sum(survey()["smoked_marijuana"].to_pylist())
        40
    """
    yes, people = 40, 100
    return pa.table({"respondent": range(1, people + 1), "smoked_marijuana": [i < yes for i in range(people)]})


def symptoms(n: int = 1_000, *, seed: int = 7) -> pa.Table:
    """Made-up patients and which of seven symptoms each has: column patient and one boolean column a symptom.

    Each symptom comes independently with its probability in `SYMPTOMS`, so a patient may have all seven or none.

    Args:
        n: Number of patients.
        seed: The same seed gives the same patients.

    Raises:
        ParameterError: n is no whole number of at least 1.

    Example:
        >>> symptoms(10).column_names[:3]
        ['patient', 'fever', 'cough']
    """
    positive_integer(n, "n", most=_MOST)
    has = {symptom: uniforms(seed, symptom, n) < chance for symptom, chance in SYMPTOMS.items()}
    return pa.table({"patient": range(1, n + 1)} | has)


def _january_salaries() -> list[int]:
    """In an order that does not follow rank: 37 generates a permutation of 1..100 modulo the prime 101."""
    ordinary = [450 * rank + 120_000 * rank**6 // 99**6 for rank in range(1, _EMPLOYEES)]
    base, extra_dollars = divmod(_JANUARY_TOTAL - _TOP_SALARY - sum(ordinary), len(ordinary))
    by_rank = [base + pay + (rank < extra_dollars) for rank, pay in enumerate(ordinary)] + [_TOP_SALARY]
    return [by_rank[37 * number % 101 - 1] for number in range(1, _EMPLOYEES + 1)]


def _one_row_each(person: str, column: str, counts: dict[str, int]) -> pa.Table:
    values = [value for value, count in counts.items() for _ in range(count)]
    return pa.table({person: range(1, len(values) + 1), column: values})
