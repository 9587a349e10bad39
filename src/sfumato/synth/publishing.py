"""What of synthetic data is published: declared values, released counts, and what a model makes of them.

**Guarantee**: all of it is post-processing of what `SynthesisPlan.release` returned and of public declarations. No data
is within reach here. Proof: proofs/synth/publishing.md.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.numeric.distributions import discrete_gaussian_half_width
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import GroupBy
from sfumato.query.model.schema import Key
from sfumato.query.planning.questions import Aggregate, folded_question
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.statistics.counts import CountRows
from sfumato.session.training.attributes import Attribute
from sfumato.session.training.marginals import MarginalQuery
from sfumato.synth.methods.plan import SynthesisModel
from sfumato.synth.models.factors import Floats
from sfumato.synth.published import (
    CONFIDENCE,
    MOST_CELLS,
    Columns,
    PublishedColumn,
    PublishedMarginal,
    PublishedValue,
)

Steps: TypeAlias = Sequence[Any]
"""Choices and measurements as `MeasuringStep.document` writes them: columns, ρ, standard deviation, noisy counts."""

_MOST_OF_ONE: Final = 20_000
"""How many combinations a group has at most that is published."""

_DECIMALS: Final = 3
_MOST_ORDERS: Final = 3
"""Groups of more columns have too many orders of keys, and no query is looked for that counts the same."""


def published_columns(attributes: Sequence[Attribute]) -> tuple[PublishedColumn, ...]:
    """Columns with their declared values as people read them.

    Example:
        >>> age = Attribute(name="age", kind=Kind.INTEGER, edges=(Fraction(0), Fraction(50), Fraction(51)), missing=2)
        >>> born = Attribute(name="born", kind=Kind.DATE, values=(date(2024, 4, 1),), calendar="quarter")
        >>> [one.values for one in published_columns([age, born])]
        [((0.0, 49.0), 50, None), ('2024-Q2',)]
    """
    return tuple(PublishedColumn(name=one.name, values=_values(one)) for one in attributes)


def published_marginals(
    query: MarginalQuery, steps: Steps, made: SynthesisModel
) -> tuple[tuple[PublishedMarginal, ...], tuple[Columns, ...]]:  # fmt: skip
    """The marginals of all columns and of all groups that were measured, and which groups have too many combinations.

    Of several measurements of one group the one with the least noise is taken. Rare values of a column, which a model
    counts as one, stand alone among those of the column: its own noisy counts tell how many have each.

    Args:
        query: What was read.
        steps: What was released.
        made: The model that was made of it.
    """
    singles: dict[str, tuple[Fraction, Columns, Sequence[int]]] = {}
    groups: dict[frozenset[str], tuple[Fraction, Columns, Sequence[int]]] = {}
    for named, _, written, counts in steps:
        if written is None:
            continue
        columns, stddev = tuple(named), Fraction(written)
        if len(columns) == 1:
            singles.setdefault(columns[0], (stddev, columns, counts))  # later ones are of values that were merged
        elif stddev < groups.get(frozenset(columns), (stddev + 1,))[0]:
            groups[frozenset(columns)] = (stddev, columns, counts)
    found, left_out, room = [], [], MOST_CELLS
    for stddev, columns, counts in (*singles.values(), *groups.values()):
        if len(counts) > min(room, _MOST_OF_ONE):
            left_out.append(columns)
            continue
        room -= len(counts)
        places, expected = _expected(columns, made)
        found.append(
            PublishedMarginal(
                columns=columns, places=places, measured=tuple(map(int, counts)), stddev=float(stddev),
                synthetic=tuple(round(float(one), _DECIMALS) for one in expected.reshape(-1)),
                half_width=discrete_gaussian_half_width(stddev, CONFIDENCE), questions=_questions(query, columns),
            )
        )  # fmt: skip
    return tuple(found), tuple(left_out)


def _values(attribute: Attribute) -> tuple[PublishedValue, ...]:
    """The values of a column, in the order of their numbers."""
    if attribute.values is not None:
        known: list[PublishedValue] = [_named(one, attribute.calendar) for one in attribute.values]
    elif attribute.kind is Kind.INTEGER:
        ends = [(int(low), int(high) - 1) for low, high in pairwise(attribute.edges or ())]
        known = [low if low == high else (float(low), float(high)) for low, high in ends]
    else:
        known = [(float(low), float(high)) for low, high in pairwise(attribute.edges or ())]
    return (*known, *([None] * (attribute.size - len(known))))


def _named(value: Key, calendar: str | None) -> PublishedValue:
    """A listed value as JSON has it; a period as people name it."""
    if not isinstance(value, date):
        return value
    year, week, _ = value.isocalendar()
    match calendar:
        case "year" | "month":
            return value.isoformat()[: len("2024") if calendar == "year" else len("2024-01")]
        case "quarter":
            return f"{value.isoformat()[:4]}-Q{(value.month + 2) // 3}"
        case "week":
            return f"{year:04}-W{week:02}"
        case "day":
            return value.isoformat()[: len("2024-01-01")]
        case _:
            return value.isoformat()


def _expected(
    columns: Columns, made: SynthesisModel
) -> tuple[tuple[tuple[tuple[int, ...], ...], ...], Floats]:  # fmt: skip
    """Which values are counted together, and how many rows the model has of each combination."""
    counts = made.model.marginal(columns)
    if len(columns) == 1:
        (name,) = columns
        share = _shares(made.merging[name], np.maximum(made.singles[name].counts, 0))
        return (tuple((value,) for value in range(len(share))),), counts[made.merging[name]] * share
    return tuple(
        tuple(
            tuple(np.flatnonzero(made.merging[name] == number).tolist())
            for number in range(int(made.merging[name].max()) + 1)
        )
        for name in columns
    ), counts


def _shares(merging: npt.NDArray[np.int64], counts: Floats) -> Floats:
    """For each value its share of those that count as one with it: by its noisy count, or equal where these are 0."""
    sums, sizes = np.bincount(merging, weights=counts)[merging], np.bincount(merging)[merging]
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1), 1 / sizes)


def _questions(query: MarginalQuery, columns: Columns) -> Mapping[str, Columns]:
    """The hash of each query that counts the same rows by these columns, which receipts have; none of bins."""
    own = {one.name: one for one in query.attributes}
    if len(columns) > _MOST_ORDERS or not all(_is_of_values(own[name]) for name in columns):
        return {}
    rows, limits = query.rows.child, query.question.limits
    asked = {
        order: folded_question(Aggregate(GroupBy(rows, order), (("rows", CountRows()),), limits))
        for order in permutations(columns)
    }
    return {question_hash(question_text(one)): order for order, one in asked.items()}


def _is_of_values(attribute: Attribute) -> bool:
    """Whether each of its values is one of the column, and no bin or period of several."""
    is_listed = attribute.calendar is None or (attribute.calendar == "day" and attribute.kind is Kind.DATE)
    return is_listed and not any(isinstance(value, tuple) for value in _values(attribute))
