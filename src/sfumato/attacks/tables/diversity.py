"""Skewness and similarity: what an ℓ-diverse table still tells [LLV07].

ℓ-diversity counts different values in a class. It asks neither how rare they are elsewhere nor how much alike they are.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.attacks.core.classes import Table, column_of, equal
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.disclosure.generalization import Disclosure, Generalized, generalized, homogeneity
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called


def skewness(released: Generalized, people: Table, *, sensitive: str, value: Any) -> Outcome:
    """Say of everybody in the class with the largest share of a value that they have it.

    A class of which half have what one in a hundred has elsewhere is 2-diverse, and its people are fifty times as
    likely to have it as before. The baseline is that share of everybody.

    Args:
        released: What was given out, in which these people are.
        people: People whose quasi-identifiers the adversary knows; the sensitive column is used only to count.
        sensitive: What is to be learned.
        value: Of the sensitive column.

    Raises:
        ParameterError: A column is missing, nobody in the table has the value, or nobody known is in that class.

    Example:
        >>> from sfumato.attacks.disclosure.generalization import generalize
        >>> table = {"age": [20, 21, 40, 41], "ill": ["flu", "HIV", "flu", "asthma"]}
        >>> made = generalize(table, columns=["age"], sensitive="ill", k=2)
        >>> found = skewness(made, table, sensitive="ill", value="HIV")
        >>> made.diversity, found.baseline, found.success
        (2, 0.25, 0.5)

    References:
        [LLV07], section 3.1.
    """
    generalized(released, "released")
    counts = [sum(one is value or equal(one, value) for one in values) for values in released.sensitive]
    people_of = [len(values) for values in released.sensitive]
    shares = np.array(counts) / people_of
    if not shares.any():
        raise ParameterError("value", value, "must be a value of somebody in the released table")
    known = np.flatnonzero(released.fitting(people)[:, int(shares.argmax())])
    if len(known) == 0:
        raise ParameterError("people", 0, "must hold somebody of the class with the largest share of the value")
    truth = column_of(people, sensitive, parameter="sensitive", of="people")
    return Outcome(
        attack=f"skewness of a {released.diversity}-diverse table",
        successes=sum(equal(truth[row], value) for row in known.tolist()),
        trials=len(known),
        baseline=sum(counts) / sum(people_of),
    )


def similarity(released: Generalized, people: Table, *, sensitive: str, alike: Callable[[Any], Any]) -> Disclosure:
    """Guess what kind of value a person has: certain wherever the different values of a class are of one kind.

    Gastritis, an ulcer and cancer of the stomach are three values, so a class of them is 3-diverse; and everybody in it
    is ill in the stomach.

    Args:
        released: What was given out, in which these people are.
        people: People whose quasi-identifiers the adversary knows; the sensitive column is used only to count.
        sensitive: What is to be learned.
        alike: The kind of a value, equal for those that are alike.

    Raises:
        ParameterError: A column is missing, or there are no people.

    Example:
        >>> from sfumato.attacks.disclosure.generalization import generalize
        >>> table = {"age": [20, 21, 40, 41], "ill": ["ulcer", "gastritis", "flu", "ulcer"]}
        >>> made = generalize(table, columns=["age"], sensitive="ill", k=2)
        >>> found = similarity(made, table, sensitive="ill", alike=lambda ill: "lung" if ill == "flu" else "stomach")
        >>> made.diversity, found.certain
        (2, 2)

    References:
        [LLV07], section 3.1.
    """
    generalized(released, "released")
    called(alike, "alike", "a function of a sensitive value")
    kinds = tuple(tuple(sorted(map(alike, values), key=str)) for values in released.sensitive)
    known = {name: column_of(people, name, of="people") for name in released.columns}
    known[sensitive] = [alike(value) for value in column_of(people, sensitive, parameter="sensitive", of="people")]
    found = homogeneity(replace(released, sensitive=kinds), known, sensitive=sensitive)
    named = replace(found.outcome, attack=f"similarity in a {released.diversity}-diverse table")
    return Disclosure(outcome=named, certain=found.certain)
