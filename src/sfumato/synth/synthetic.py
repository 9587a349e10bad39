"""`Synthetic`: made-up rows of a table, the counts that they are made of, and what those cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, of_kind, path_of
from sfumato.privacy.guarantees import ApproxDP
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Key
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.attributes import Attribute
from sfumato.session.training.marginals import MarginalQuery
from sfumato.synth.methods.plan import SynthesisModel
from sfumato.synth.models.rows import uniform
from sfumato.synth.published import FACTS, PublishedSynthetic
from sfumato.synth.publishing import Steps, published_columns, published_marginals

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Codes: TypeAlias = npt.NDArray[np.int64]

FORMATS: Final = (".csv", ".parquet")
"""How files of made-up rows end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """A model of a table, and rows of it; it was made of released counts, so all of it costs nothing more.

    Attributes:
        method: How the counts were chosen.
        reason: Why by this method.
        measured: The groups of columns that were measured, in order.
        guarantee: What the counts cost.
        receipt: Of the release.
        reused: Whether it was stored before, and so cost nothing now.
        query: What was read.
        steps: The choices and noisy counts that were released.
        made: The model that was made of them.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(
        ...     sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
        ...     budget=sf.ApproxDP(2, "1e-6"),
        ... )
        >>> made = sf.synth.synthesize(votes, "SELECT sport FROM votes", epsilon=2, delta="1e-6")
        >>> made.rows(3, seed=1).column_names
        ['sport']
    """

    method: str
    reason: str
    measured: tuple[tuple[str, ...], ...]
    guarantee: ApproxDP
    receipt: Receipt = field(repr=False)
    reused: bool = field(repr=False)
    query: MarginalQuery = field(repr=False)
    steps: Steps = field(repr=False)
    made: SynthesisModel = field(repr=False)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns, with the values that each can have."""
        return self.query.attributes

    @property
    def total(self) -> float:
        """How many rows the table has, as the model says: an estimate, or what was stated."""
        return self.made.model.total

    def rows(self, n: int | None = None, *, seed: int | None = None) -> "pa.Table":
        """Made-up rows as an Arrow table.

        A number is uniform within its bin, a date is the first day of its period, and a value that was rare is drawn
        among the rare ones by their noisy counts.

        Args:
            n: How many; as many as the table has, about, if not given.
            seed: The same seed gives the same rows; it may be public. Without one the system's generator is read.

        Raises:
            ParameterError: n or the seed is out of range.
        """
        return self.decoded(self.codes(self.made.model.rows(n, seed=seed), seed=seed), seed=seed)

    def codes(self, numbers: Mapping[str, npt.NDArray[np.integer]], *, seed: int | None) -> dict[str, Codes]:
        """The numbers of declared values, for numbers of the model's: a rare value is drawn among the rare ones."""
        return {name: self._split(name, own.astype(np.int64), seed) for name, own in numbers.items()}

    def decoded(self, codes: Mapping[str, Codes], *, seed: int | None) -> "pa.Table":
        """An Arrow table of the values that numbers stand for, for some or all of the columns."""
        import pyarrow as pa  # noqa: PLC0415 # loaded when rows are made

        columns = {}
        for attribute in self.attributes:
            if attribute.name in codes:
                own = codes[attribute.name]
                within = uniform(seed, f"within {attribute.name}", len(own))
                columns[attribute.name] = pa.array(attribute.decode(own, within), _type_of(attribute.kind))
        return pa.table(columns)

    def to_pandas(self, n: int | None = None, *, seed: int | None = None) -> "pd.DataFrame":
        """`rows` as a pandas data frame."""
        frame: pd.DataFrame = self.rows(n, seed=seed).to_pandas()
        return frame

    def to_polars(self, n: int | None = None, *, seed: int | None = None) -> "pl.DataFrame":
        """`rows` as a Polars data frame; it needs the extra `polars`."""
        import polars as pl  # noqa: PLC0415 # of an extra

        return pl.DataFrame(self.rows(n, seed=seed))

    def save(self, path: str | Path, n: int | None = None, *, seed: int | None = None) -> int:
        """Write `rows` into a file, CSV or Parquet by the end of its name, and say how many there are.

        Raises:
            ParameterError: The name ends otherwise.
        """
        from pyarrow import csv, parquet  # noqa: PLC0415 # loaded when rows are written

        target = path_of(path, "path")
        if target.suffix not in FORMATS:
            raise ParameterError("path", str(target), f"must end with {' or '.join(FORMATS)}")
        rows = self.rows(n, seed=seed)
        if target.suffix == ".csv":
            csv.write_csv(rows, target)
        else:
            parquet.write_table(rows, target)
        return int(rows.num_rows)

    def given(self, values: Mapping[str, Key | None]) -> "Synthetic":
        """The same for rows that have certain values, such as ``{"sex": "f"}``.

        A number stands for its bin; where it was cut at quantiles, for all bins of its part.

        Raises:
            ParameterError: Something is no column, or no value of it, or so rare that it was merged with others.
        """
        fixed = {}
        for name, value in of_kind(values, "values", Mapping, "a mapping of columns to values").items():
            own = {one.name: one for one in self.attributes}
            if not is_one_of(name, tuple(own)):
                raise ParameterError("values", name, f"must be columns: {', '.join(own)}")
            code = own[name].code_of(value)
            number = int(self.made.merging[name][code])
            if name not in self.made.cut and int((self.made.merging[name] == number).sum()) > 1:
                raise ParameterError("values", value, f"of {name} is one of the rare ones, which are merged")
            fixed[name] = number
        return replace(self, steps=(), made=replace(self.made, model=self.made.model.given(fixed)))

    def published(self) -> PublishedSynthetic:
        """The marginals of the model beside the noisy counts that it was made of; all of it may be shown to anybody.

        Raises:
            ParameterError: These are `given` rows, of which nothing was measured.
        """
        if not self.steps:
            raise ParameterError("given", "rows with certain values", "must not be published; publish the whole")
        marginals, left_out = published_marginals(self.query, self.steps, self.made)
        facts = self.receipt.to_dict()
        return PublishedSynthetic(
            method=self.method, reason=self.reason, total=float(self.total), guarantee=self.guarantee,
            facts={name: str(facts[name]) for name in FACTS}, columns=published_columns(self.attributes),
            marginals=marginals, left_out=left_out,
        )  # fmt: skip

    def publish(self, path: str | Path) -> PublishedSynthetic:
        """Write `published` into a file that a server shows, and return it; it costs nothing.

        Args:
            path: The file, which is written anew, as JSON. No row is in it.

        Raises:
            ParameterError: These are `given` rows, of which nothing was measured.
        """
        target, found = path_of(path, "path"), self.published()
        text = json.dumps(found.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        beside = target.with_name(f".{target.name}.new")
        beside.write_text(text, "utf-8")
        beside.replace(target)  # so that nobody reads half of it
        return found

    def _split(self, name: str, numbers: Codes, seed: int | None) -> Codes:
        """The values of merged ones: among those that count as one, in proportion to their noisy counts."""
        merging, counts = self.made.merging[name], np.maximum(self.made.singles[name].counts, 0)
        found = np.empty_like(numbers)
        random = uniform(seed, f"rare {name}", len(numbers))
        for number in range(int(merging.max()) + 1):
            members, rows = np.flatnonzero(merging == number), np.flatnonzero(numbers == number)
            weights = counts[members] if counts[members].sum() > 0 else np.ones(len(members))
            ends = np.cumsum(weights) / weights.sum()
            places = np.minimum(np.searchsorted(ends, random[rows], side="right"), len(members) - 1)
            found[rows] = members[places]
        return found


def _type_of(kind: Kind) -> "pa.DataType":
    import pyarrow as pa  # noqa: PLC0415 # loaded when rows are made

    return {
        Kind.INTEGER: pa.int64(), Kind.FLOAT: pa.float64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(),
        Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"),
    }[kind]  # fmt: skip
