"""`CounterReleases`: what a counter has released, safe to show to anybody, with its band and its receipt."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Charge
from sfumato.mechanisms.continual.base import ContinualMechanism
from sfumato.mechanisms.lattice import lattice_floats
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, exact, open_probability, set_fields
from sfumato.session.releases.receipt import Receipt

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN: Final = 6  # rows that a printed one has at most
_MOST_PANELS: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterReleases:
    """The noisy sums of some steps that follow each other.

    Attributes:
        first_step: The first of these steps; the counter's first one is 1.
        sums: The integers that were released, one row a step, in units of `resolution`; read-only.
        labels: The keys, bins or places of the numbers of a step; None where there is one number.
        resolution: The unit of the integers; 1 for counts.
        mechanism: The mechanism, which knows the error of every step.
        receipt: What was asked, its cost for the whole horizon, and the budget that remained.
    """

    first_step: int
    sums: Integers = field(repr=False)
    labels: tuple[Any, ...] | None
    resolution: Fraction
    mechanism: ContinualMechanism = field(repr=False)
    receipt: Receipt = field(repr=False)

    def __post_init__(self) -> None:
        sums = self.sums.view()
        sums.flags.writeable = False  # a counter returns them again, and saves them
        set_fields(self, sums=sums)

    def __len__(self) -> int:
        """How many steps."""
        return len(self.sums)

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps."""
        return np.arange(self.first_step, self.first_step + len(self))

    @property
    def values(self) -> Integers:
        """The noisy sums, read-only: a row a step, or one number a step where there are no labels."""
        return self._shaped(self._scaled(self.sums))

    @property
    def guarantee(self) -> Charge:
        """The guarantee of all releases of the horizon together, which is what they cost."""
        return self.receipt.guarantee

    def half_widths(self, confidence: Number = "0.95") -> NDArray[np.float64]:
        """How far each number of each step may lie from the exact bounded sum, with this confidence for each.

        Raises:
            ParameterError: The confidence is no probability between 0 and 1.
        """
        level = open_probability(confidence, "confidence")
        width = cache(lambda step: self.mechanism.half_width(step, level))
        return np.array([width(step) for step in self.steps.tolist()], dtype=np.float64) * float(self.resolution)

    def band(self, confidence: Number = "0.95") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and the upper ends of the intervals, in the shape of `values`.

        Each interval by itself holds the exact bounded sum with this confidence, but for the rounding of floats.

        Raises:
            ParameterError: The confidence is no probability between 0 and 1.
        """
        widths, values = self.half_widths(confidence), self.values.astype(np.float64)
        reach = widths.reshape(-1, *(1,) * (values.ndim - 1))
        return values - reach, values + reach

    def records(self, confidence: Number = "0.95") -> list[dict[str, Any]]:
        """The rows of `to_arrow` as dictionaries."""
        rows: list[dict[str, Any]] = self.to_arrow(confidence).to_pylist()
        return rows

    def to_arrow(self, confidence: Number = "0.95") -> Any:
        """A pyarrow Table of `step`, `key` where there are keys, `value`, and its interval as `low` and `high`."""
        import pyarrow as pa  # by those who ask for it

        low, high = self.band(confidence)
        numbers = 1 if self.labels is None else len(self.labels)
        values, is_whole = self.values.ravel(), self.resolution == 1 and self.sums.dtype != object
        columns = {"step": pa.array(np.repeat(self.steps, numbers), pa.int64())}
        if self.labels is not None:
            columns["key"] = pa.array([str(label) for _ in range(len(self)) for label in self.labels], pa.string())
        columns["value"] = pa.array(values if is_whole else values.astype(np.float64))
        return pa.table(columns | {"low": pa.array(low.ravel()), "high": pa.array(high.ravel())})

    def to_pandas(self, confidence: Number = "0.95") -> Any:
        """The rows of `to_arrow` as a pandas DataFrame; needs the extra `frames`."""
        return self.to_arrow(confidence).to_pandas()

    def nondecreasing(self, *, lower: int = 0) -> NDArray[np.float64]:
        """Running totals that never fall and are never below `lower`, nearest to `values` in squares; free.

        It is for sums that cannot fall, such as counts, and is computed from the releases alone, all of them at once.
        """
        from sfumato.mechanisms import nondecreasing  # with what it needs

        found: NDArray[np.float64] = nondecreasing(self.values, lower=lower)
        return found

    def plot(self, path: "str | Path | None" = None, *, confidence: Number = "0.95") -> Any:
        """A line over the steps with its band; one panel a key, at most 24. Needs the extra `plots`.

        Args:
            path: A file to save the chart to, as .png, .svg or .pdf; default: it is not saved.
            confidence: Of the intervals.

        Returns:
            The matplotlib figure.

        Raises:
            ParameterError: There are no steps, or too many keys for panels.
        """
        from sfumato.plots.measured import Measured, small_multiples  # an extra
        from sfumato.plots.panels import save  # the same

        if not len(self) or len(self.labels or ()) > _MOST_PANELS:
            raise ParameterError("labels", len(self.labels or ()), f"must be at most {_MOST_PANELS}, at some steps")
        low, high = (end.reshape(len(self), -1) for end in self.band(confidence))
        values = self.values.reshape(len(self), -1).astype(np.float64)
        panels = {
            str(label): Measured(values=values[:, at].tolist(), lows=low[:, at].tolist(), highs=high[:, at].tolist())
            for at, label in enumerate(self.labels or ("",))
        }
        figure = small_multiples(
            panels, self.steps.tolist(), form="series", title=self._finding(values, low), x_label="step",
            y_label="noisy sum", caption=f"band: {float(exact(confidence, 'confidence')):.0%} interval of each step",
        )  # fmt: skip
        if path is not None:
            save(figure, path)
        return figure

    def __repr__(self) -> str:
        if not len(self):
            return f"no releases yet ({self.guarantee} for all of them)"
        lines = [self._line(row) for row in range(max(len(self) - _SHOWN, 0), len(self))]
        dots = [f"… {len(self) - _SHOWN:,} steps before"] if len(self) > _SHOWN else []
        return "\n".join((*dots, *lines, f"95% intervals; {self.guarantee} for all steps of the horizon together"))

    def _line(self, row: int) -> str:
        last = self[row : row + 1]
        width = f"{last.half_widths()[0]:,.4g}"
        numbers = last.values.ravel().tolist()
        if self.labels is None:
            return f"step {last.first_step:,}: {numbers[0]:,} ± {width}"
        shown = ", ".join(f"{label} {number:,}" for label, number in zip(self.labels[:4], numbers, strict=False))
        more = f", … {len(self.labels) - 4:,} more" if len(self.labels) > 4 else ""  # noqa: PLR2004 # so many are shown
        return f"step {last.first_step:,}: {shown}{more} (each ± {width})"

    def __getitem__(self, steps: slice) -> Self:
        """Some of the steps, as of a list; by a slice without a stride."""
        if of_kind(steps, "steps", slice, "a slice, such as releases[-7:]").step not in {None, 1}:
            raise ParameterError("steps", steps, "must be a slice, such as releases[-7:]")
        first, _, _ = steps.indices(len(self))
        return type(self)(
            first_step=self.first_step + first, sums=self.sums[steps], labels=self.labels,
            resolution=self.resolution, mechanism=self.mechanism, receipt=self.receipt,
        )  # fmt: skip

    def _scaled(self, sums: Integers) -> Integers:
        return sums if self.resolution == 1 else lattice_floats(sums.ravel(), self.resolution).reshape(sums.shape)

    def _shaped(self, sums: Integers) -> Integers:
        return sums[:, 0] if self.labels is None else sums

    def _finding(self, values: NDArray[np.float64], low: NDArray[np.float64]) -> str:
        if self.labels is not None:
            return f"{len(self.labels)} noisy sums after {self.steps[-1]:,} steps"
        return f"{values[-1, 0]:,.10g} ± {values[-1, 0] - low[-1, 0]:,.4g} after {self.steps[-1]:,} steps"
