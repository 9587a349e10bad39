"""Linkage: names put to a table without names, by joining it with one that has them [Swe00].

A hospital's table without names and a voter roll share ZIP code, birth date and sex. Where these fit one voter alone,
his name goes to the patient.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.attacks.core.classes import Coarsening, Table, classes, column_of, equal, values_of
from sfumato.attacks.core.outcome import Outcome
from sfumato.errors import ParameterError


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

    If both tables are about the same people, a row is named exactly if its person's quasi-identifiers are his alone, so
    the share of right claims is the `uniqueness` of the table.

    Args:
        released: A table without names, one row a record.
        known: What the adversary has: a table with names.
        columns: The quasi-identifiers, which both have.
        name: The column of names in what is known.
        truth: Whose each released record is, in its order; known to the owner only, and used only to count.
        coarsen: Functions of some quasi-identifiers, by which the released table was made coarser.

    Returns:
        Right claims out of all released records; a note tells how many claims were made, and how many were wrong.

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
