"""Noisy tallies of classes: how many rows each class has, and sums of whole numbers over the rows of each class.

A column says by a table which whole numbers each of its codes adds. So sums are exact, and what a row adds at most is
read off the table. Proof: proofs/learn/bayes/tallies.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.learn.core.parts import Noise, Part, event_of, noises_of, with_less_noise
from sfumato.numeric.rationals import set_fields, sqrt_up
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingColumn, TrainingRows

COUNT_SHARE: Final = Fraction(1, 10)
"""The share of the budget that counts the rows of classes; columns have equal parts of the rest."""

Whole: TypeAlias = npt.NDArray[np.int64]
Kind: TypeAlias = Literal["moments", "values"]

_ONE: Final = np.ones((1, 1), dtype=np.int64)
"""Of a row in the count of its class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTallies:
    """A fit that releases noisy tallies of classes; it is the `PrivateFit` of a session.

    For each class it releases the number of rows, and for each column the sum of what `table_of` has for their codes.

    **Guarantee**: (ε, δ)-differential privacy where at most `moved_rows` rows enter or leave between neighboring
    databases: ε alone by discrete Laplace noise where the charge is pure, else by discrete Gaussian noise. Proof:
    proofs/learn/bayes/tallies.md.

    Attributes:
        columns: The features.
        kind: "moments" for sums of numbers and of their squares, "values" for counts of values.
        classes: How many classes there are.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost.
        count: The noise on the number of rows of each class.
        noises: The noise on the sums of each column.
        event: All noisy numbers.
    """

    columns: tuple[TrainingColumn, ...]
    kind: Kind
    classes: int
    moved_rows: int
    charge: PureDP | ApproxDP
    count: Noise = field(init=False, repr=False)
    noises: tuple[Noise, ...] = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        each = (1 - COUNT_SHARE) / len(self.columns)
        parts = [self._part(_ONE, COUNT_SHARE), *(self._part(table_of(one, self.kind), each) for one in self.columns)]
        count, *noises = noises_of(parts, self.charge)
        set_fields(self, count=count, noises=tuple(noises), event=event_of(parts, [count, *noises]))

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return f"naive Bayes by noisy {self.kind}" if self.classes > 1 else f"noisy {self.kind} of columns"

    def document(self) -> dict[str, Json]:
        """All parameters on which the released tallies depend; columns are in the key of a stored model anyway."""
        return {"kind": self.kind, "classes": self.classes, "moved_rows": self.moved_rows}

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The noisy numbers: of rows of each class, and of each column one row a class."""
        opened = rows.open_for_noise()
        target = np.zeros(len(opened.codes), dtype=np.int32) if opened.target is None else opened.target
        counts = np.asarray(self.count.release(tallied(target, np.zeros_like(target), self.classes, _ONE)[:, 0]))
        sums: list[Json] = []
        for place, (column, noise) in enumerate(zip(self.columns, self.noises, strict=True)):
            table = table_of(column, self.kind)
            found = tallied(target, opened.codes[:, place], self.classes, table)
            noisy = np.asarray(noise.release(found.reshape(-1))).reshape(found.shape)
            sums.append([[int(one) for one in row] for row in noisy])
        return {"counts": [int(one) for one in counts], "sums": sums}

    def _part(self, table: Whole, share: Fraction) -> Part:
        """The sums of one table over the rows of each class: a row adds one row of the table to one class."""
        numbers = self.moved_rows * int(np.count_nonzero(table, axis=1).max())
        return Part(
            l1_sensitivity=self.moved_rows * int(np.abs(table).sum(axis=1).max()),
            l2_sensitivity=self.moved_rows * sqrt_up(Fraction(int((table**2).sum(axis=1).max()))),
            l0_sensitivity=min(numbers, self.classes * table.shape[1]),
            share=share,
        )


def tallied(target: npt.NDArray[Any], codes: npt.NDArray[Any], classes: int, table: Whole) -> Whole:
    """The exact sums over the rows of each class, one row a class; for noise alone.

    Whatever stands in a row, it adds one row of the table to one class: codes and classes that there are not are taken
    for the nearest that there is.
    """
    size = len(table)
    places = np.clip(target, 0, classes - 1).astype(np.int64) * size + np.clip(codes, 0, size - 1)
    counts = np.bincount(places, minlength=classes * size).reshape(classes, size)
    found: Whole = counts.astype(np.int64) @ table
    return found


def table_of(column: TrainingColumn, kind: Kind) -> Whole:
    """What each code of a column adds: one row a code, one column a sum.

    Values: 1 for the value that a code stands for, and 0 for the others.

    Moments: with z = 2·code − steps, from −steps to steps, U = z·steps and V = 2z² − steps². Both are at most steps² in
    size. The row is (U + V, U − V), whose L1 norm is 2·max(|U|, |V|), where that of 2·(U, V) would be twice that.
    """
    if kind == "moments":
        steps = column.steps
        doubled = 2 * np.arange(steps + 1, dtype=np.int64) - steps
        first, second = doubled * steps, 2 * doubled**2 - steps**2
        return np.stack([first + second, first - second], axis=1)
    values = values_of(column)
    codes = np.arange(column.steps + 1, dtype=np.int64)
    places = codes if column.values is not None else (2 * codes * (values - 1) + column.steps) // (2 * column.steps)
    return np.asarray(places[:, None] == np.arange(values), dtype=np.int64)


def values_of(column: TrainingColumn) -> int:
    """How many values a column has: those that are listed, or the whole numbers from its lower to its upper bound."""
    if column.lower is None or column.upper is None:
        return column.steps + 1
    return int(column.upper - column.lower) + 1


def tallies(
    columns: tuple[TrainingColumn, ...], *, kind: Kind, classes: int, moved_rows: int, total: PureDP | ApproxDP
) -> ClassTallies:
    """The fit with less noise: Laplace noise at ε alone, or Gaussian noise where there is a δ.

    Raises:
        ParameterError: ε is 0, or so small that no such noise is drawn.
    """

    def fit(charge: PureDP | ApproxDP) -> ClassTallies:
        return ClassTallies(columns=columns, kind=kind, classes=classes, moved_rows=moved_rows, charge=charge)

    return with_less_noise(fit, total, noise_of=lambda one: one.noises[0])
