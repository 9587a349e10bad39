"""Membership in the table that made-up rows follow: do they have the record's values more often than people at large?

Whoever knows which columns were counted together knows where to look. So the adversary compares how common the values
of a record are in each of those groups, among made-up rows and in a reference, such as an earlier survey. Where rows
are copies, whole records can be read off them.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.attacks.core.classes import Table, classes
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.members.means import Floats, Membership, judged, threshold_at
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number


def marginal_ratios(records: Table, made: Table, reference: Table, *, groups: Sequence[Sequence[str]]) -> Floats:
    """How much more common a record's values are among made-up rows than in a reference: a score for each record.

    The score is the mean over groups of columns of ln((c + p)/(m + 1)) − ln p, where c of m made-up rows have the
    record's values in that group. Of n rows of the reference r have them, and p is (r + ½)/(n + 1).

    Args:
        records: One row a record.
        made: The made-up rows.
        reference: Rows of people at large.
        groups: Names of the columns that were counted together, such as `Synthetic.measured`.

    Returns:
        One score a record; higher for one that looks as if it was counted.

    Raises:
        ParameterError: A table has no rows or no such column, or there is no group.

    Example:
        >>> ann, made, large = {"age": [90]}, {"age": [90, 40, 40]}, {"age": [40, 50, 60, 40]}
        >>> marginal_ratios(ann, made, large, groups=[["age"]]).round(2).tolist()
        [1.01]

    References:
        [GPMDC24], whose attack averages such ratios over the marginals that a method measures.
    """
    scores = []
    for group in listed(groups, "groups", of="lists of names of columns"):
        own, *others = classes(records, made, reference, columns=group, names=("records", "made", "reference"))
        like = (np.bincount(other, minlength=int(own.max(initial=0)) + 1)[own] for other in others)
        (seen, usual), (rows, known) = like, map(len, others)
        share = (usual + 0.5) / (known + 1)
        scores.append(np.log((seen + share) / (rows + 1)) - np.log(share))
    if not scores:
        raise ParameterError("groups", "none", "must have at least one group of columns")
    found: Floats = np.mean(scores, axis=0)
    return found


def membership_in_rows(
    made: Table,
    *,
    members: Table,
    outsiders: Table,
    reference: Table,
    groups: Sequence[Sequence[str]],
    false_positive_rate: float = 0.1,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Membership:
    """Say of each person whether made-up rows follow a table with them in it.

    The threshold is the score that few of the reference reach, so it is chosen without the people who are judged.

    Args:
        made: Rows that were made up from the members.
        members: Who was counted.
        outsiders: Who was not.
        reference: Other rows of people at large.
        groups: The columns that were counted together.
        false_positive_rate: Of those who were not counted, how many may be accused, about.
        epsilon: The claimed ε of the made-up rows; None claims no guarantee.
        delta: The claimed δ.

    Raises:
        ParameterError: A table has no rows or no such column, or a number is out of range.

    Example:
        >>> there, others = {"age": list(range(50))}, {"age": list(range(50, 100))}
        >>> large = {"age": [age for age in range(1_000) if age not in range(45)]}
        >>> found = membership_in_rows(there, members=there, outsiders=others, reference=large, groups=[["age"]])
        >>> found.outcome.success
        1.0

    References:
        [GPMDC24].
    """
    usual, *judged_ones = (
        marginal_ratios(people, made, reference, groups=groups) for people in (reference, members, outsiders)
    )
    return judged(
        *judged_ones, threshold=threshold_at(false_positive_rate, usual), attack="membership in made-up rows",
        epsilon=epsilon, delta=delta,
    )  # fmt: skip


def copied_records(made: Table, *, members: Table, outsiders: Table, columns: Sequence[str]) -> Outcome:
    """Claim that each made-up row is a person: how many unique members are among them, whole?

    A member is unique whose record no other member and no outsider has. By chance as many of the unique outsiders are
    among made-up rows. A copy of the table gives all members away; of a sample with replacement it is 63%.

    Args:
        made: Rows that were made up from the members.
        members: Who was counted.
        outsiders: Who was not.
        columns: The columns of a record.

    Returns:
        Unique members who are among the made-up rows, out of all unique ones, beside that share of unique outsiders.

    Raises:
        ParameterError: A column is missing, or nobody is unique on one of the sides.

    Example:
        >>> there, others = {"age": [1, 2, 3]}, {"age": [4, 5]}
        >>> copied_records({"age": [1, 1, 3, 6]}, members=there, outsiders=others, columns=["age"]).successes
        2
    """
    rows, own, other = classes(made, members, outsiders, columns=columns, names=("made", "members", "outsiders"))
    people = np.concatenate([own, other])
    is_unique = np.bincount(people)[people] == 1
    unique_own, unique_other = own[is_unique[: len(own)]], other[is_unique[len(own) :]]
    if not len(unique_own) or not len(unique_other):
        raise ParameterError("columns", list(columns), "must make some members and some outsiders unique")
    return Outcome(
        attack="records copied into made-up rows",
        successes=int(np.isin(unique_own, rows).sum()),
        trials=len(unique_own),
        baseline=float(np.isin(unique_other, rows).mean()),
        allowed=None,
        notes=(f"{len(unique_own)} of {len(own)} members are unique",),
    )
