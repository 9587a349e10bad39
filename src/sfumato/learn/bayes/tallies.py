"""Noisy tallies of classes: how many rows each class has, and sums of whole numbers over the rows of each class.

A column says by a table which whole numbers each of its codes adds. So sums are exact, and what a row adds at most is
read off the table. Proof: proofs/learn/bayes/tallies.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.noise.uniform.integers import LARGEST_SCALE, SMALLEST_SCALE
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
    databases: ε alone by discrete Laplace noise where the charge is pure, else by discrete Gaussian noise that
    `joint_stddevs` certifies for all tallies together. Proof: proofs/learn/bayes/tallies.md.

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
    count: Laplace | GaussianNoise = field(init=False, repr=False)
    noises: tuple[Laplace | GaussianNoise, ...] = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = [_ONE, *(table_of(column, self.kind) for column in self.columns)]
        shares = [COUNT_SHARE, *[(1 - COUNT_SHARE) / len(self.columns)] * len(self.columns)]
        count: Laplace | GaussianNoise
        noises: list[Laplace] | list[GaussianNoise]
        if isinstance(self.charge, PureDP):
            count, *noises = _laplace(tables, shares, moved_rows=self.moved_rows, epsilon=self.charge.epsilon)
        else:
            count, *noises = self._gaussian(tables, shares, self.charge)
        event = ComposedEvent((count.event, *(noise.event for noise in noises)))
        set_fields(self, count=count, noises=tuple(noises), event=event)

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

    def _gaussian(self, tables: list[Whole], shares: list[Fraction], charge: ApproxDP) -> list[GaussianNoise]:
        distances = [self.moved_rows * _norms(table)[1] for table in tables]
        numbers = [
            min(self.moved_rows * int(np.count_nonzero(table, axis=1).max()), self.classes * table.shape[1])
            for table in tables
        ]
        stddevs = joint_stddevs(
            l2_sensitivities=distances, l0_sensitivities=numbers, weights=shares, epsilon=charge.epsilon,
            delta=charge.delta,
        )  # fmt: skip
        if max(stddevs) > LARGEST_SCALE:
            raise ParameterError("epsilon", str(charge.epsilon), "must be larger: no such noise is drawn")
        return [
            GaussianNoise(l2_sensitivity=distance, stddev=stddev, l0_sensitivity=moved)
            for distance, stddev, moved in zip(distances, stddevs, numbers, strict=True)
        ]


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


def _norms(table: Whole) -> tuple[int, Fraction]:
    """The largest L1 norm of a row of a table, and a bound of the largest L2 norm."""
    square = int((table**2).sum(axis=1).max())
    return int(np.abs(table).sum(axis=1).max()), sqrt_up(Fraction(square))


def _laplace(tables: list[Whole], shares: list[Fraction], *, moved_rows: int, epsilon: Fraction) -> list[Laplace]:
    noises = []
    for table, share in zip(tables, shares, strict=True):
        distance = moved_rows * _norms(table)[0]
        if distance > LARGEST_SCALE * epsilon * share:
            raise ParameterError("epsilon", str(epsilon), "must be larger: no such noise is drawn")
        most = distance / SMALLEST_SCALE  # of the narrowest noise that is drawn
        noises.append(Laplace(l1_sensitivity=distance, epsilon=min(epsilon * share, most)))
    return noises


def tallies(
    columns: tuple[TrainingColumn, ...], *, kind: Kind, classes: int, moved_rows: int, total: PureDP | ApproxDP
) -> ClassTallies:
    """The fit with less noise: Laplace noise at ε alone, or Gaussian noise where there is a δ.

    Raises:
        ParameterError: ε is 0, or so small that no such noise is drawn.
    """
    if total.epsilon == 0:
        raise ParameterError("epsilon", 0, "must be above 0 for a model to be fitted")

    def fit(charge: PureDP | ApproxDP) -> ClassTallies:
        return ClassTallies(columns=columns, kind=kind, classes=classes, moved_rows=moved_rows, charge=charge)

    pure = fit(PureDP(total.epsilon))
    if isinstance(total, PureDP) or total.delta == 0:
        return pure
    approximate = fit(total)
    return approximate if approximate.noises[0].variance < pure.noises[0].variance else pure
