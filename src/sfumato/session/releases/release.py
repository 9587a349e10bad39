"""`Release`: the answer to a query, safe to show to anybody, with error bars and a receipt."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.ledger.core.prices import limits, price, times_within
from sfumato.numeric.arguments import is_one_of
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import with_ends
from sfumato.query.statistics.estimates import AnswerValue
from sfumato.query.values.cells import Cell
from sfumato.session.releases.receipt import Receipt

if TYPE_CHECKING:
    from pathlib import Path


_UNBOUNDED: Final = "± ∞: with this much noise the exact value may be any number, or any on one side"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binned:
    """A histogram of an answer: its columns together.

    Attributes:
        name: Its name in the query; its columns have this name and a number from 1 on.
        value: The counted expression as text.
        edges: The public edges of its bins, ascending; one more than there are columns.
        columns: The columns of the answer, in order.
    """

    name: str
    value: str
    edges: tuple[Fraction | date, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A noisy answer: one row per group, in the order of the public keys; one column per key and statistic.

    Attributes:
        keys: The names of the key columns.
        statistics: The names of the other columns.
        kinds: The types of all these columns, keys first; they do not depend on the released values.
        groups: The keys of each row.
        estimates: For each row, one estimate per statistic.
        confidence: The probability with which an interval holds the exact bounded value.
        receipt: The query, its cost and the remaining budget.
        reused: Whether this is a stored answer, returned at no cost.
        notes: Other released facts, such as chosen bounds.
        histograms: Groups of columns that are the bins of one histogram, with their edges.
    """

    keys: tuple[str, ...]
    statistics: tuple[str, ...]
    kinds: tuple[Kind, ...]
    groups: tuple[tuple[Cell, ...], ...]
    estimates: tuple[tuple[AnswerValue, ...], ...]
    confidence: float
    receipt: Receipt
    reused: bool = False
    notes: tuple[str, ...] = ()
    histograms: tuple[Binned, ...] = ()

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, statistic: str) -> tuple[AnswerValue, ...]:
        """The estimates of one statistic, one a row.

        Raises:
            ParameterError: There is no such column.
        """
        if not is_one_of(statistic, self.statistics):
            raise ParameterError("statistic", statistic, f"must be one of: {', '.join(self.statistics)}")
        index = self.statistics.index(statistic)
        return tuple(row[index] for row in self.estimates)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries: keys, values, and the bounds of each interval as `…_low` and `…_high`."""
        return [
            dict(zip(self.keys, group, strict=True)) | _figures(self.statistics, row)
            for group, row in zip(self.groups, self.estimates, strict=True)
        ]

    def to_arrow(self) -> Any:
        """The records as a pyarrow Table, whose schema depends only on the query."""
        from sfumato.session.releases import columns  # pyarrow is loaded only by those who ask for it

        schema = columns.answer_schema(self.keys, self.statistics, self.kinds)
        return columns.answer_table(columns.answer_columns(self.groups, self.estimates, schema), schema)

    def to_pandas(self) -> Any:
        """The records as a pandas DataFrame with nullable columns; needs the extra `frames`."""
        pandas = _extra("pandas")
        nullable = {"int64": pandas.Int64Dtype(), "bool": pandas.BooleanDtype()}
        return self.to_arrow().to_pandas(types_mapper=lambda kind: nullable.get(str(kind)))

    def to_polars(self) -> Any:
        """The records as a Polars DataFrame; needs the extra `frames`."""
        return _extra("polars").from_arrow(self.to_arrow())

    def plot(self, statistic: str | None = None, path: "str | Path | None" = None) -> Any:
        """A chart of one statistic with its error bars; needs the extra `plots`.

        A single number is a point on a line. One key gives bars; dates, and more than 30 numbers, give a line with a
        band of intervals. A histogram has bins with their edges. Further keys give one panel per group, at most 24.
        A value that was not released is a gap, never 0.

        Args:
            statistic: The name of a statistic or a histogram; default: the first statistic.
            path: A file to save the chart to, as .png, .svg or .pdf; default: it is not saved.

        Returns:
            The matplotlib figure.

        Raises:
            ParameterError: An unknown statistic, one without numbers, or too many groups for panels.
        """
        from sfumato.plots.panels import save  # an extra
        from sfumato.session.releases.pictures import picture  # the same

        figure = picture(self, statistic)
        if path is not None:
            save(figure, path)
        return figure

    def __repr__(self) -> str:
        return f"{self._table()}\n{self._footer()}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in (*self.keys, *self.statistics))
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in cells)}</tr>" for cells in self._cells())
        footer = html.escape(self._footer())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{footer}</p>"

    def _table(self) -> str:
        cells = self._cells()
        if not self.keys and len(cells) == 1:
            return "\n".join(f"{name} = {cell}" for name, cell in zip(self.statistics, cells[0], strict=True))
        return _text_table((*self.keys, *self.statistics), cells, right_from=len(self.keys))

    def _cells(self) -> list[list[str]]:
        nothing = "nothing released (ε 0)" if self.receipt.guarantee.epsilon == 0 else "NULL"
        return [
            [*map(_shown_key, group), *(nothing if one.value is None else shown_estimate(one) for one in row)]
            for group, row in zip(self.groups, self.estimates, strict=True)
        ]

    def _footer(self) -> str:
        paid = "stored answer, nothing spent" if self.reused else f"spent {self.receipt.guarantee}"
        more = None if self.reused else affordable(self.receipt)
        about = "" if more is None else f" (about {more:,} such {'query' if more == 1 else 'queries'})"
        last = f"{self.confidence:.0%} intervals; {paid}; remaining: {self.receipt.remaining}{about}"
        is_open = any(one.is_unbounded for row in self.estimates for one in row)
        return "\n".join((*self.notes, *((_UNBOUNDED,) if is_open else ()), last))


def affordable(receipt: Receipt) -> int | None:
    """How many more queries of the same cost the remaining budget covers; None if free, or if nothing limits them.

    The true number can be larger, if the accountant composes better than by sums, and smaller, in a partition or if a
    parent account has less remaining.
    """
    relation = NeighboringRelation(receipt.neighboring_relation)
    try:
        paid = price(receipt.event, receipt.guarantee, account="", budget=receipt.remaining, relation=relation)
    except UnsupportedEventError:
        return 0
    return times_within(limits(receipt.remaining), paid)


def shown_estimate(estimate: AnswerValue) -> str:
    """An estimate for people: the value and its error, to the digits that the error leaves; marked if it is noise."""
    is_number = isinstance(estimate.value, int | float) and not isinstance(estimate.value, bool)
    shown = _shown_number(estimate) if is_number else _shown_key(estimate.value)
    if isinstance(estimate.low, date) and isinstance(estimate.high, date):
        shown = f"{shown} ({estimate.low} to {estimate.high})"
    if estimate.misrank is not None and (estimate.low is None or estimate.high is None):
        shown = f"{shown} ({estimate.misrank})"
    return f"{shown} ≲ noise" if estimate.is_mostly_noise else shown


def _shown_key(key: Cell) -> str:
    return "NULL" if key is None else str(key)


def _shown_number(estimate: AnswerValue) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{_rounded(estimate.value)}{_open(estimate)}" if estimate.is_unbounded else f"{estimate.value:,}"
    width = estimate.half_width
    if isinstance(estimate.value, int) and float(width).is_integer():
        return f"{estimate.value:,} ± {int(width):,}"
    digits = max(0, 2 - len(str(int(width)))) if width >= 1 else 3
    return f"{estimate.value:,.{digits}f} ± {width:,.{digits}f}"


def _rounded(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _open(estimate: AnswerValue) -> str:
    """Of a number whose error nothing bounds, what is known of it."""
    if estimate.high is not None:
        return f" ± ∞, at most {_rounded(estimate.high)}"
    return " ± ∞" if estimate.low is None else f" ± ∞, at least {_rounded(estimate.low)}"


def _figures(names: Sequence[str], row: Sequence[AnswerValue]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for name, estimate in zip(names, row, strict=True):
        figures |= zip(with_ends(name), (estimate.value, estimate.low, estimate.high), strict=True)
    return figures


def _text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right_from: int) -> str:
    from io import StringIO  # with rich, below

    from rich.box import SIMPLE_HEAD  # loaded when a table is printed
    from rich.console import Console  # the same
    from rich.table import Table  # the same

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(header):
        table.add_column(name, justify="right" if index >= right_from else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    out = StringIO()
    Console(file=out, width=1_000, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def _extra(module: str) -> Any:
    from importlib import import_module  # with the extra

    try:
        return import_module(module)
    except ImportError:
        raise ParameterError("frame", module, f"is not installed; run: pip install {module}") from None
