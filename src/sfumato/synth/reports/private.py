"""A private report: how far synthetic rows are from the rows of a session, with noise and a cost of its own.

Proof: proofs/synth/reports/private.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from math import comb
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.audit.reports.template import Picture
from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields
from sfumato.plots.measured import Measured, small_multiples
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent, Event
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.session.asking.training_set import MarginalSet
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.marginals import MOST_CELLS, Counts, MarginalQuery, Marginals
from sfumato.synth.models.shape import Columns
from sfumato.synth.reports.page import ReportPage, TableSection
from sfumato.synth.reports.rows import CodedRows, coded, counted
from sfumato.synth.synthetic import Synthetic

Measure: TypeAlias = tuple[int, bool]
"""Of groups of so many columns the mean, or (True) the largest distance."""

MEASURES: Final[tuple[Measure, ...]] = ((1, False), (1, True), (2, False), (2, True))

MOST_ROWS: Final = 1 << 20
"""So many synthetic rows are compared at most."""

_LARGEST: Final = 1 << 42
"""Counts above it count as it: times synthetic rows they stay below 2^62."""

_LOW_BITS: Final = 20

MOST_ATTRIBUTES: Final = 100
"""So many columns have 4,950 pairs, of which each is counted."""

CONFIDENCE: Final = Fraction(95, 100)
"""That an interval has the distance, for each by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyDistance:
    """A total variation distance with noise, and an interval around it.

    Attributes:
        columns: Of marginals of so many columns.
        is_largest: Whether it is the largest of all such marginals, or their mean.
        value: The distance, from 0 to 1.
        low: The least that it may be, with the confidence of the report.
        high: The most that it may be.
    """

    columns: int
    is_largest: bool
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistanceFit:
    """Distances of synthetic rows from a table, as whole numbers with noise.

    For each group of columns C the exact distance is

        D_C = Σ over cells of |m·c − n·s|,    which is 2·m·n·TVD if n is the number of rows,

    with c and s how many rows and synthetic rows a cell has, and m the number of synthetic rows. n is public, or
    counted with noise before. Released are sums of D_C over all columns and over all pairs, and the largest ones.

    **Guarantee**: ε-differential privacy for the units and the relation of the query. Proof:
    proofs/synth/reports/private.md.

    Attributes:
        query: What is read.
        relation: What may change between neighboring databases.
        rows: The synthetic rows, which are public.
        charge: The cost, which all answers share equally.
        total: How many rows there are, if that is public.
        measures: What is released of distances.
        noises: Of the number of rows, if that is counted, and of each measure.
    """

    query: MarginalQuery
    relation: NeighboringRelation
    rows: CodedRows
    charge: PureDP
    total: int | None
    measures: tuple[Measure, ...] = field(init=False)
    noises: tuple[Laplace, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = self.names
        measures = tuple(one for one in MEASURES if comb(len(names), one[0]) > one[1])
        moved = {
            size: [self.query.sensitivity(own, self.relation).l1 for own in combinations(names, size)]
            for size in {size for size, _ in measures}
        }
        reaches = [] if self.total is not None else [moved[1][0]]
        reaches += [self.made * (max(moved[size]) if is_largest else sum(moved[size])) for size, is_largest in measures]
        share = self.charge.epsilon / len(reaches)
        noises = tuple(Laplace(l1_sensitivity=reach, epsilon=share) for reach in reaches)
        set_fields(self, measures=measures, noises=noises)

    @property
    def names(self) -> Columns:
        """The columns."""
        return tuple(one.name for one in self.query.attributes)

    @property
    def made(self) -> int:
        """How many synthetic rows there are."""
        return len(self.rows[self.names[0]])

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "private report on synthetic data"

    @property
    def event(self) -> Event:
        """All that is released."""
        return ComposedEvent(tuple(noise.event for noise in self.noises))

    def document(self) -> dict[str, Json]:
        """All parameters on which the answers depend, beside the query."""
        table = np.stack([self.rows[name] for name in self.names]).astype("<i8")
        return {"epsilon": str(self.charge.epsilon), "rows": sha256(table.tobytes()).hexdigest(), "total": self.total}

    def release(self, marginals: Marginals, /) -> dict[str, Json]:
        """The number of rows, and each measure as a whole number."""
        noises = iter(self.noises)
        total = self.total
        if total is None:
            exact = int(marginals.counts(self.names[:1]).open_for_noise().sum())
            total = min(max(1, next(noises).release(Secret(exact))), _LARGEST)
        far: dict[int, list[int]] = {size: [] for size, _ in self.measures}
        groups = [own for size in far for own in combinations(self.names, size)]
        for columns, counts in marginals.each(groups):
            far[len(columns)].append(self.apart(counts.open_for_noise(), columns, total))
        exacts = [max(far[size]) if is_largest else sum(far[size]) for size, is_largest in self.measures]
        found: list[Json] = [noise.release(Secret(exact)) for noise, exact in zip(noises, exacts, strict=True)]
        return {"total": total, "distances": found}

    def apart(self, counts: Counts, columns: Columns, total: int) -> int:
        """D_C of exact counts, which is a secret."""
        sizes = {one.name: one.size for one in self.query.attributes}
        far = np.abs(np.minimum(counts, _LARGEST) * self.made - counted(self.rows, sizes, columns) * total)
        return (int((far >> _LOW_BITS).sum()) << _LOW_BITS) + int((far & ((1 << _LOW_BITS) - 1)).sum())

    def distances(self, released: Mapping[str, Any]) -> tuple[NoisyDistance, ...]:
        """What the released numbers say of distances; it costs nothing."""
        total, noises = released["total"], list(self.noises)
        miss = Fraction(1 - CONFIDENCE, 1 if self.total is not None else 2)
        off = 0 if self.total is not None else Fraction(noises.pop(0).accuracy(1 - miss))
        found = []
        for (size, is_largest), noise, number in zip(self.measures, noises, released["distances"], strict=True):
            scale = 2 * self.made * (1 if is_largest else comb(len(self.names), size))
            value = Fraction(number, scale * total)
            wide = (Fraction(off, 2) + Fraction(noise.accuracy(1 - miss)) / scale) / total
            low, middle, high = (float(min(max(one, 0), 1)) for one in (value - wide, value, value + wide))
            found.append(NoisyDistance(columns=size, is_largest=is_largest, value=middle, low=low, high=high))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PrivateReport:
    """How far synthetic rows are from a table, with noise: safe to show to anybody.

    Attributes:
        distances: Means and largest distances of marginals of one and of two columns.
        total: How many rows the table has: with noise, or as it was stated.
        charge: What the report cost.
        receipt: Of the release.
        reused: Whether it was stored before, and so cost nothing now.
    """

    distances: tuple[NoisyDistance, ...]
    total: int
    charge: PureDP
    receipt: Receipt
    reused: bool

    def mean(self, columns: int) -> NoisyDistance:
        """The mean distance of marginals of so many columns: 1 or 2.

        Raises:
            ParameterError: The report has none of so many.
        """
        return self._found(columns, is_largest=False)

    def largest(self, columns: int) -> NoisyDistance:
        """The largest distance of marginals of so many columns: 1 or 2.

        Raises:
            ParameterError: The report has none of so many, or one alone.
        """
        return self._found(columns, is_largest=True)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the report as a page of HTML that needs no other file.

        Raises:
            ParameterError: The path does not end in .html, or jinja2 or matplotlib is missing.
        """
        return private_page(self).save(path)

    def __repr__(self) -> str:
        """A line for each distance, and what they cost."""
        lines = [
            f"{_named(one):28} {one.value:.4f}, {float(CONFIDENCE):.0%} interval {one.low:.4f} to {one.high:.4f}"
            for one in self.distances
        ]
        return "\n".join(["total variation distances, with noise", *lines, f"cost: {self.charge}"])

    def _found(self, columns: int, *, is_largest: bool) -> NoisyDistance:
        for one in self.distances:
            if (one.columns, one.is_largest) == (columns, is_largest):
                return one
        raise ParameterError("columns", columns, "must be 1 or 2, and of columns that the report compares")


def private_report(
    marginals: MarginalSet,
    synthetic: Any,
    *,
    epsilon: Number,
    total: int | None = None,
    idempotency_key: str | None = None,
) -> PrivateReport:
    """How far synthetic rows are from the rows of a session: total variation distances, with noise, for a cost.

    The mean and the largest distance of all columns and of all pairs are measured, each with an equal share of ε, and
    the number of rows too if it is not stated. One row moves a mean of TVDs by about one over the number of rows, so a
    small ε is enough.

    **Guarantee**: ε-differential privacy for the units and the relation of the session. It is charged before a row is
    read. Proof: proofs/synth/reports/private.md.

    ============================================  ====================================================
    Edge case                                     Behavior
    ============================================  ====================================================
    an empty table                                noise alone, in wide intervals
    one column                                    its distance alone, as a mean
    synthetic rows that are not public            the guarantee does not cover them: release them first
    ============================================  ====================================================

    Args:
        marginals: What is read: `session.marginals` of the same query with the same bins.
        synthetic: A `Synthetic`, of which as many rows are drawn as it says, up to 2^20; or so many synthetic rows at
            most as a frame or an Arrow table. They must be public.
        epsilon: ε of the whole.
        total: How many rows the table has, if that is public.
        idempotency_key: As for `Question.release`.

    Raises:
        ParameterError: An argument cannot be used, or columns differ; nothing was charged.
        BudgetExceededError: Too little budget remains; nothing was spent.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(
        ...     sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Football", "Tennis"])},
        ...     budget=sf.ApproxDP(3, "1e-6"),
        ... )
        >>> query = "SELECT sport FROM votes"
        >>> made = sf.synth.synthesize(votes, query, epsilon=2, delta="1e-6")
        >>> found = private_report(votes.marginals(query), made, epsilon=1)
        >>> 0 <= found.mean(1).low <= found.mean(1).value <= found.mean(1).high <= 1, str(votes.spent)
        (True, 'ε 3, δ 1e-06')
    """
    own = of_kind(marginals, "marginals", MarginalSet, "the marginals of a session: session.marginals(query)")
    charge = PureDP(positive(epsilon, "epsilon"))
    stated = None if total is None else positive_integer(total, "total", most=_LARGEST)
    names = [one.name for one in own.attributes]
    if len(names) > MOST_ATTRIBUTES:
        raise ParameterError("marginals", f"{len(names)} columns", f"must have at most {MOST_ATTRIBUTES} columns")
    for pair in combinations(names, min(2, len(names))):
        if own.query.size(pair) > MOST_CELLS:
            requirement = f"have more than {MOST_CELLS:,} combinations; state fewer bins"
            raise ParameterError("marginals", " and ".join(pair), requirement)
    rows = coded(_public_rows(synthetic, own), own.attributes, "synthetic")
    if not 0 < len(rows[names[0]]) <= MOST_ROWS:
        raise ParameterError("synthetic", f"{len(rows[names[0]])} rows", f"must have from 1 to {MOST_ROWS:,} rows")
    fit = DistanceFit(
        query=own.query, relation=own.neighboring_relation, rows=rows, charge=charge, total=stated
    )  # fmt: skip
    found = own.fit(fit, idempotency_key=idempotency_key)
    return PrivateReport(
        distances=fit.distances(found.model), total=found.model["total"], charge=charge, receipt=found.receipt,
        reused=found.reused,
    )  # fmt: skip


def _public_rows(synthetic: Any, marginals: MarginalSet) -> Any:
    """The synthetic rows as a table."""
    if not isinstance(synthetic, Synthetic):
        return synthetic
    if synthetic.attributes != marginals.attributes:
        raise ParameterError("marginals", marginals.text, "must have the columns and the bins of the synthetic rows")
    return synthetic.rows(min(max(1, round(synthetic.total)), MOST_ROWS), seed=0)


def _named(one: NoisyDistance) -> str:
    """Of what it is a distance, in words."""
    return (
        f"{'largest' if one.is_largest else 'mean'} of {'single columns' if one.columns == 1 else 'pairs of columns'}"
    )


def private_page(report: PrivateReport) -> ReportPage:
    """A private report as a page."""
    kinds = sorted({one.is_largest for one in report.distances})
    places = sorted({one.columns for one in report.distances})
    panels = {}
    for is_largest in kinds:
        own = {one.columns: one for one in report.distances if one.is_largest is is_largest}
        known = [(own[at].value, own[at].low, own[at].high) if at in own else (None,) * 3 for at in places]
        values, lows, highs = zip(*known, strict=True)
        panels["largest" if is_largest else "mean"] = Measured(values=values, lows=lows, highs=highs)
    figure = small_multiples(
        panels, ["columns" if place == 1 else "pairs" for place in places], title="Distances of marginals, with noise",
        y_label="total variation distance", caption=f"Lines: intervals of {float(CONFIDENCE):.0%} confidence, each.",
    )  # fmt: skip
    rows = tuple(
        (_named(one), f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}") for one in report.distances
    )  # fmt: skip
    return ReportPage(
        title="How near synthetic rows come", is_secret=False, label="Private: with noise",
        words=f"Distances were measured with noise, at a cost of {report.charge} of their own. Anybody may see them.",
        facts=(
            ("query", report.receipt.question), ("cost", str(report.charge)), ("rows, about", f"{report.total:,}"),
            ("protects", report.receipt.privacy_unit), ("request", report.receipt.request),
        ),
        sections=(
            TableSection(
                heading="Distances",
                words="The total variation distance is half of the sum of all differences between two shares: 0 for "
                "equal tables, 1 for tables that have no value in common. A sample of the same people would not have 0 "
                "either.",
                columns=("distance", "value", "interval"), rows=rows,
                pictures=(Picture(figure=figure, caption="Total variation distances with their intervals."),),
            ),
        ),
    )  # fmt: skip
