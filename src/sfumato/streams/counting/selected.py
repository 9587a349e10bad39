"""`SelectedReleases`: what a counter of selected keys has released, a row for each shown key at each step."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import lattice_floats
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number
from sfumato.streams.counting.releases import CounterReleases

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN: Final = 4  # keys that a printed step has at most


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SelectedReleases(CounterReleases):
    """The noisy sums of shown keys at some steps that follow each other: rows, by step and then by key as text.

    A key has rows from the step on at which it is shown first. Of other keys nothing is here.

    Attributes:
        sums: The integers that were released, one a row, in units of `resolution`.
        labels: The keys that have a row, sorted.
        last_step: The last of the steps; it may have no row.
        row_steps: The step of each row.
        row_keys: The key of each row.
    """

    last_step: int
    row_steps: NDArray[np.int64] = field(repr=False)
    row_keys: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        """How many steps."""
        return self.last_step - self.first_step + 1

    @property
    def values(self) -> Integers:
        """The noisy sums, one a row."""
        return self.sums if self.resolution == 1 else lattice_floats(self.sums, self.resolution)

    def band(self, confidence: Number = "0.95") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and the upper ends of the intervals, one a row.

        Each holds the exact bounded sum of its key with this confidence, if the key was to be shown whatever its noise.
        A key that was selected has a noisy sum above its threshold at the first of its steps, which is high more often.

        Raises:
            ParameterError: The confidence is no probability between 0 and 1.
        """
        reach = self.half_widths(confidence)[self.row_steps - self.first_step]
        values = self.values.astype(np.float64)
        return values - reach, values + reach

    def to_arrow(self, confidence: Number = "0.95") -> Any:
        """A pyarrow Table of `step`, `key`, `value`, and its interval as `low` and `high`: a row a shown key."""
        import pyarrow as pa  # by those who ask for it

        low, high = self.band(confidence)
        values = self.values if self.sums.dtype != object else self.values.astype(np.float64)
        return pa.table(
            {
                "step": pa.array(self.row_steps, pa.int64()), "key": pa.array(self.row_keys, pa.string()),
                "value": pa.array(values), "low": pa.array(low), "high": pa.array(high),
            }
        )  # fmt: skip

    def nondecreasing(self, *, lower: int = 0) -> NDArray[np.float64]:
        """Not of selected keys, which begin at different steps.

        Raises:
            ParameterError: Always; use `sf.mechanisms.nondecreasing` for the values of one key.
        """
        raise ParameterError("lower", lower, "is not for selected keys; use sf.mechanisms.nondecreasing for one key")

    def plot(self, path: "str | Path | None" = None, *, confidence: Number = "0.95") -> Any:  # noqa: ARG002 # as of its base
        """Not of selected keys, which begin at different steps.

        Raises:
            ParameterError: Always; draw the rows of `to_pandas`.
        """
        raise ParameterError("path", path, "is not for selected keys; draw the rows of to_pandas()")

    def _line(self, row: int) -> str:
        step = self.first_step + row
        rows = np.flatnonzero(self.row_steps == step)
        numbers = self.values[rows[:_SHOWN]].tolist()
        shown = ", ".join(f"{self.row_keys[at]} {number:,}" for at, number in zip(rows, numbers, strict=False))
        more = f", … {len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else ""
        width = self.mechanism.half_width(step) * float(self.resolution)
        return f"step {step:,}: {shown or 'no key is shown'}{more} (each ± {width:,.4g})"

    def __getitem__(self, steps: slice) -> Self:
        """Some of the steps, as of a list; by a slice without a stride."""
        if of_kind(steps, "steps", slice, "a slice, such as releases[-7:]").step not in {None, 1}:
            raise ParameterError("steps", steps, "must be a slice, such as releases[-7:]")
        start, stop, _ = steps.indices(len(self))
        first, last = self.first_step + start, self.first_step + max(start, stop) - 1
        inside = np.flatnonzero((self.row_steps >= first) & (self.row_steps <= last))
        keys = tuple(self.row_keys[at] for at in inside.tolist())
        return type(self)(
            first_step=first, last_step=last, sums=self.sums[inside], row_steps=self.row_steps[inside], row_keys=keys,
            labels=tuple(sorted(set(keys))), resolution=self.resolution, mechanism=self.mechanism, receipt=self.receipt,
        )  # fmt: skip
