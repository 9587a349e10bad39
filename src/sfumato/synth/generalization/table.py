"""`GeneralizedTable`: how many rows of each class each cell has, with noise, and what can be made of it."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from math import exp
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, whole
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.schema import Key
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.attributes import Attribute
from sfumato.synth.generalization.grid import CellGrid, Whole
from sfumato.synth.models.rows import MOST_ROWS, rounded, uniform

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Columns: TypeAlias = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneralizedTable:
    """Cells of generalized values with noisy counts of classes; all that is made of them costs nothing more.

    The counts in `noisy` are unbiased, and some are negative. Everything else has 0 in the place of these, which raises
    a cell without rows by `clamping_bias` on average. So small cells have somewhat too many rows.

    Attributes:
        target: The class.
        classes: Its values.
        groups: For each attribute the names of its groups, in order.
        noisy: The noisy counts: a row for each cell, the last attribute fastest, and a column for each class.
        scale: Of the noise on each count.
        charge: What all of it cost.
        receipt: Of the release.
        reused: Whether it was stored before, and so cost nothing now.

    Example:
        >>> import pyarrow as pa, sfumato as sf
        >>> pets = pa.table({"pet": ["cat", "dog", "owl"] * 50, "flies": ["no", "no", "yes"] * 50})
        >>> session = sf.open(
        ...     pets, name="pets", budget=sf.PureDP(2),
        ...     columns={"pet": sf.text(values=["cat", "dog", "owl"]), "flies": sf.text(values=["no", "yes"])},
        ... )
        >>> found = sf.synth.generalized_table(
        ...     session, "SELECT pet, flies FROM pets", target="flies", epsilon=2, steps=1,
        ...     hierarchies={"pet": {"mammal": ["cat", "dog"], "bird": ["owl"]}},
        ... )
        >>> found.to_arrow().column_names, found.groups["pet"]
        (['pet', 'flies', 'count'], ('mammal', 'bird', 'missing'))
        >>> found.generalize({"pet": ["dog", None]})["pet"].to_pylist()
        ['mammal', 'missing']
    """

    target: str
    classes: tuple[Key, ...]
    groups: Mapping[str, tuple[str, ...]]
    noisy: Whole = field(repr=False)
    scale: float
    charge: PureDP
    receipt: Receipt = field(repr=False)
    reused: bool = field(repr=False)
    attributes: tuple[Attribute, ...] = field(repr=False)
    grid: CellGrid = field(repr=False)

    @property
    def counts(self) -> Whole:
        """The noisy counts, those below 0 as 0."""
        return np.maximum(self.noisy, 0)

    @property
    def total(self) -> int:
        """How many rows the table has: the sum of all noisy counts, so an unbiased estimate, but for one below 0."""
        return max(0, int(self.noisy.sum()))

    @property
    def clamping_bias(self) -> float:
        """What a count of 0 is on average once negative ones are 0: q/(1 − q²), q = exp(−1/scale)."""
        share = exp(-1 / self.scale)
        return share / (1 - share**2)

    def to_arrow(self) -> "pa.Table":
        """All cells and classes: the group of each attribute, the class, and the count, none below 0.

        A classifier is trained on it with the count of each row as its weight.
        """
        import pyarrow as pa  # noqa: PLC0415 # loaded when a table is made

        places = np.repeat(np.arange(self.grid.cells), len(self.classes))
        columns: dict[str, Any] = self._labels(self.grid.groups_of(places))
        columns[self.target] = list(self.classes) * self.grid.cells
        columns[self.count_name] = self.counts.reshape(-1)
        return pa.table(columns)

    def to_pandas(self) -> "pd.DataFrame":
        """`to_arrow` as a pandas data frame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    @property
    def count_name(self) -> str:
        """What `to_arrow` calls the counts: "count", or more of it where a column is called that."""
        name = "count"
        while name in (*self.groups, self.target):
            name += "_"
        return name

    def rows(self, n: int | None = None, *, seed: int | None = None) -> "pa.Table":
        """Made-up rows of generalized values and their classes, each cell and class as often as its count says.

        Args:
            n: How many; as many as the table has, about, if not given.
            seed: The same seed gives the same rows; it may be public. Without one the system's generator is read.

        Raises:
            ParameterError: n or the seed is out of range.
        """
        import pyarrow as pa  # noqa: PLC0415 # loaded when rows are made

        size = self.total if n is None else whole(n, "n", most=MOST_ROWS)
        source = None if seed is None else whole(seed, "seed")
        counts = self.counts.reshape(1, -1).astype(np.float64)
        weights = counts if counts.any() else np.ones_like(counts)
        shares = weights / weights.sum()
        drawn = rounded(shares, np.array([size]), uniform(source, "cells", 1))[0]
        places = np.repeat(np.arange(drawn.size), drawn)
        places = places[np.argsort(uniform(source, "order", size), kind="stable")]
        columns: dict[str, Any] = self._labels(self.grid.groups_of(places // len(self.classes)))
        columns[self.target] = [self.classes[place] for place in (places % len(self.classes)).tolist()]
        return pa.table(columns)

    def generalize(self, rows: "Columns | pd.DataFrame | pa.Table") -> "pa.Table":
        """Rows of anybody with the names of their groups in the place of values, to predict their classes.

        A value that is missing or not listed is missing, and a number beyond its bounds is in the first or last bin.

        Args:
            rows: The values of each attribute by its name: a dictionary, a data frame or an Arrow table.

        Raises:
            ParameterError: An attribute is missing, or its values are of another kind.
        """
        import pyarrow as pa  # noqa: PLC0415 # loaded when a table is made

        given: Any = dict(zip(rows.column_names, rows.columns, strict=True)) if isinstance(rows, pa.Table) else rows
        if not isinstance(given, Mapping) and not hasattr(given, "columns"):
            raise ParameterError("rows", type(rows).__name__, "must be a dictionary, a data frame or an Arrow table")
        missing = [one.name for one in self.attributes if one.name not in given]
        if missing:
            raise ParameterError("rows", ", ".join(missing), "must have a column for each attribute")
        found = [
            self.grid.numbers(place, codes_of(one, _values(given[one.name])))
            for place, one in enumerate(self.attributes)
        ]
        if len({len(one) for one in found}) > 1:
            raise ParameterError("rows", "columns", "must all have the same length")
        return pa.table(self._labels(np.stack(found, axis=1)))

    def _labels(self, numbers: Whole) -> dict[str, Any]:
        return {
            name: np.array(labels, dtype=object)[numbers[:, place]]
            for place, (name, labels) in enumerate(self.groups.items())
        }


def codes_of(attribute: Attribute, values: Sequence[Any]) -> Whole:
    """The numbers of the values of an attribute, as a session finds them of rows.

    Args:
        attribute: The attribute.
        values: Its values, in Python's types.

    Raises:
        ParameterError: A value is of another kind.

    Example:
        >>> from fractions import Fraction
        >>> age = Attribute(name="age", kind=Kind.INTEGER, edges=(Fraction(0), Fraction(50), Fraction(100)), missing=2)
        >>> codes_of(age, [-1, 50, 1000, None, float("nan")]).tolist()
        [0, 1, 1, 2, 2]
    """
    number = _listed_codes if attribute.edges is None and attribute.kind not in TIMES else _ordered_codes
    try:
        known = [None if value != value else value for value in values]  # noqa: PLR0124 # NaN, and NaT of pandas
        return np.array(number(attribute, known), dtype=np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        requirement = "must be of the kind that the attribute is declared to be"
        raise ParameterError("rows", f"values of {attribute.name}", requirement) from error


def _listed_codes(attribute: Attribute, values: list[Any]) -> list[int]:
    """Of what is listed its place, and else that of what is missing."""
    places: dict[Any, int] = {value: place for place, value in enumerate(attribute.values or ())}  # noqa: PD011 # no frame
    otherwise = 0 if attribute.missing is None else attribute.size - 1
    return [places.get(value, otherwise) for value in values]


def _ordered_codes(attribute: Attribute, values: list[Any]) -> list[int]:
    """Of a number its bin, of a date its period, of what is beyond the first or the last one."""
    edges: Sequence[Any] = (attribute.edges or ())[:-1] or attribute.values or ()  # noqa: PD011 # no frame
    last = len(edges) - 1
    nearest_to_zero = 0 if attribute.kind in TIMES else min(max(bisect_right(edges, 0) - 1, 0), last)
    otherwise = nearest_to_zero if attribute.missing is None else last + 1
    return [
        otherwise if value is None else min(max(bisect_right(edges, _comparable(attribute, value)) - 1, 0), last)
        for value in values
    ]


def _comparable(attribute: Attribute, value: Any) -> Any:
    """A value as the edges that it is compared with."""
    if attribute.kind is Kind.DATE:
        return date(value.year, value.month, value.day)
    if attribute.kind is Kind.TIMESTAMP:
        return value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
    return float(value)


def _values(column: Any) -> list[Any]:
    """The values of a column of any library, in Python's types."""
    for name in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, name):
            found: list[Any] = getattr(column, name)()
            return found
    return list(listed(column, "rows"))
