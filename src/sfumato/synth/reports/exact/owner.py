"""The owner's exact report: how near synthetic rows come to a table, without noise.

It takes rows that are in the hands of whoever calls it, never a session: nothing here is private.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from sfumato.datasets.draws import uniforms
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, listed, of_kind, whole
from sfumato.session.training.attributes import Attribute
from sfumato.synth.reports.exact.distances import (
    Columns,
    association,
    bootstrap,
    contest_score,
    distances,
    groups_of,
    independent,
)
from sfumato.synth.reports.exact.pictures import owner_page
from sfumato.synth.reports.exact.prediction import Prediction, predictions
from sfumato.synth.reports.rows import CodedRows, coded, counted
from sfumato.synth.synthetic import Synthetic

EXACT: Final = "EXACT: reads data without noise. For the owner alone. Never publish."
"""What every exact report is labelled with."""

SIZES: Final = (1, 2, 3)
"""Marginals of so many columns are compared."""

_TEST: Final = 0.25
"""The share of the real rows that models are tested on, if no other rows are given."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class OwnerReport:
    """How near synthetic rows come to a table, exactly: for the owner alone, and never to be published.

    Beside the synthetic rows two others are compared with the table. ``"bootstrap"`` is a sample of its own rows, with
    replacement: nothing private can be expected to be nearer. ``"independent"`` has its columns, each shuffled by
    itself: what is no nearer says nothing of how columns depend on each other.

    Attributes:
        rows: How many rows there are: ``"real"``, ``"synthetic"``, and of models ``"trained on"`` and ``"tested on"``.
        distances: By source, and by the number of columns, the total variation distance of each group of columns.
        associations: By source, and of ``"real"``, Cramér's V of each pair of columns.
        predictions: How well models predict real rows, by the rows that they were trained on.
        target: What they predict; None if nothing was asked for.
        values: The names of the values of each column.
        shares: By source, and of ``"real"``, the share of each value of each column.
    """

    rows: Mapping[str, int]
    distances: Mapping[str, Mapping[int, Mapping[Columns, float]]]
    associations: Mapping[str, Mapping[Columns, float]]
    predictions: tuple[Prediction, ...]
    target: str | None
    values: Mapping[str, tuple[str, ...]] = field(repr=False)
    shares: Mapping[str, Mapping[str, tuple[float, ...]]] = field(repr=False)

    def summary(self) -> dict[str, dict[str, float]]:
        """By measure, and by source, one number: means, largest ones, and the score of NIST's contest [RTMT21]."""
        found: dict[str, dict[str, float]] = {}
        for source, by_size in self.distances.items():
            for size, by_group in by_size.items():
                name = f"TVD of {size} column{'s' if size > 1 else ''}"
                found.setdefault(f"{name}, mean", {})[source] = fmean(by_group.values())
                found.setdefault(f"{name}, largest", {})[source] = max(by_group.values())
            score = contest_score(by_size.get(3, {}))
            if score is not None:
                found.setdefault("score of NIST's contest", {})[source] = score
            apart = [abs(own - self.associations["real"][pair]) for pair, own in self.associations[source].items()]
            if apart:
                found.setdefault("difference of Cramér's V, mean", {})[source] = fmean(apart)
                found.setdefault("difference of Cramér's V, largest", {})[source] = max(apart)
        return found

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the report as a page of HTML that needs no other file; it says that it must not be published.

        Raises:
            ParameterError: The path does not end in .html, or jinja2 or matplotlib is missing.
        """
        return owner_page(
            label=EXACT, rows=self.rows, distances=self.distances, summary=self.summary(),
            predictions=self.predictions, target=self.target, values=self.values, shares=self.shares,
        ).save(path)  # fmt: skip

    def __repr__(self) -> str:
        """The label, and the summary as a table."""
        sources = tuple(self.distances)
        lines = [EXACT, f"{'':34}" + "".join(f"{source:>14}" for source in sources)]
        for measure, by_source in self.summary().items():
            digits = 0 if "score" in measure else 4
            lines.append(f"{measure:34}" + "".join(f"{by_source[source]:14.{digits}f}" for source in sources))
        lines += [
            f"{one.model}, trained on {one.trained_on}: accuracy {one.accuracy:.4f}"
            + ("" if one.auc is None else f", AUC {one.auc:.4f}")
            for one in self.predictions
        ]
        return "\n".join(lines)


def report(
    real: Any,
    synthetic: Any,
    *,
    attributes: Sequence[Attribute] | None = None,
    target: str | None = None,
    test: Any = None,
    seed: int = 0,
) -> OwnerReport:
    """How near synthetic rows come to real ones, exactly: nothing of it is private, and it is for the owner alone.

    Never publish it, and never choose by it what to publish: that would depend on the data at no cost. For others there
    is `private_report`.

    Compared are the marginals of all columns, all pairs, and all groups of three or a hundred of them: by the total
    variation distance ½·Σ |p − q| over declared values and bins. Cramér's V of pairs says how columns depend on each
    other. If a target is named, two models are trained on synthetic rows, on real rows and on a bootstrap of those, and
    all are tested on the same real rows, of which none was trained on.

    Args:
        real: The table, as a frame or an Arrow table.
        synthetic: A `Synthetic`, of which as many rows are drawn as `real` has, or rows as a frame or an Arrow table.
        attributes: The columns and their values, where `synthetic` is rows: `session.marginals(…).attributes`.
        target: A column that models predict; it needs scikit-learn, the extra `learn`.
        test: Real rows to test models on; without it a quarter of `real` is kept for that. Synthetic rows that were
            made of them have seen them, so other rows are better.
        seed: Of what is drawn: groups of three, the bootstrap, shuffled columns, and rows to test on.

    Raises:
        ParameterError: An argument cannot be used, a table has no rows or lacks a column, or scikit-learn is missing.

    Example:
        >>> import sfumato as sf
        >>> table = sf.datasets.people(2_000)
        >>> people = sf.open(
        ...     table, name="people", budget=sf.ApproxDP(1, "1e-6"),
        ...     columns={"age": sf.integer(0, 100), "sex": sf.text(values=["Female", "Male"])},
        ... )
        >>> query, bins = "SELECT age, sex FROM people", {"age": 10}
        >>> made = sf.synth.synthesize(people, query, epsilon=1, delta="1e-6", bins=bins)
        >>> found = report(table, made)
        >>> sorted(found.distances), found.summary()["TVD of 1 column, mean"]["independent"]
        (['bootstrap', 'independent', 'synthetic'], 0.0)

    References:
        [RTMT21] for the score of groups of three; [Cra46] for V.
    """
    start = whole(seed, "seed")
    own = _attributes(synthetic, attributes)
    names = [one.name for one in own]
    if target is not None and not is_one_of(target, names):
        raise ParameterError("target", target, f"must be one of: {', '.join(names)}")
    if test is not None and target is None:
        raise ParameterError("test", type(test).__name__, "is for models: name a target")
    table = _some(coded(real, own, "real"), names, "real", least=1 if target is None or test is not None else 4)
    n = len(table[names[0]])
    drawn = synthetic.rows(n, seed=start) if isinstance(synthetic, Synthetic) else synthetic
    made = _some(coded(drawn, own, "synthetic"), names, "synthetic", least=1)
    sources = {
        "synthetic": made, "bootstrap": bootstrap(table, seed=start), "independent": independent(table, seed=start)
    }  # fmt: skip
    sizes = {one.name: one.size for one in own}
    groups = {size: groups_of(names, size, seed=start) for size in SIZES if size <= len(names)}
    rows = {"real": n, "synthetic": len(made[names[0]])}
    found: tuple[Prediction, ...] = ()
    if target is not None:
        seen, held = _apart(table, start) if test is None else (table, coded(test, own, "test"))
        _some(held, names, "test", least=1)
        rows |= {"trained on": len(seen[names[0]]), "tested on": len(held[names[0]])}
        learned = {"real": seen, "bootstrap": bootstrap(seen, seed=start), "synthetic": made}
        found = predictions(learned, held, own, target=target)
    every = {"real": table, **sources}
    return OwnerReport(
        rows=rows, predictions=found, target=target, values={one.name: value_names(one) for one in own},
        distances={
            source: {size: distances(table, others, sizes, each) for size, each in groups.items()}
            for source, others in sources.items()
        },
        associations={
            source: {pair: association(others, sizes, pair) for pair in groups.get(2, ())}
            for source, others in every.items()
        },
        shares={
            source: {name: tuple((counted(others, sizes, [name]) / len(others[name])).tolist()) for name in names}
            for source, others in every.items()
        },
    )  # fmt: skip


def value_names(attribute: Attribute) -> tuple[str, ...]:
    """The values of a column in words, bins by their ends.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.query.model.kinds import Kind
        >>> edges = (Fraction(0), Fraction(9), Fraction(10))
        >>> value_names(Attribute(name="age", kind=Kind.INTEGER, edges=edges, missing=2))
        ('0–8', '9', 'missing')
    """
    if attribute.edges is None:
        known = [str(value) for value in attribute.values or ()]
    else:
        is_whole = attribute.kind.name == "INTEGER"
        ends = [float(edge) for edge in attribute.edges]
        pairs = [(low, high - 1 if is_whole else high) for low, high in pairwise(ends)]
        known = [f"{low:g}" if low == high else f"{low:g}–{high:g}" for low, high in pairs]
    return (*known, "missing") if attribute.missing is not None else tuple(known)


def _attributes(synthetic: Any, attributes: Sequence[Attribute] | None) -> tuple[Attribute, ...]:
    if attributes is None:
        if not isinstance(synthetic, Synthetic):
            requirement = "must be stated where rows are given: session.marginals(query, bins=…).attributes"
            raise ParameterError("attributes", None, requirement)
        return synthetic.attributes
    given = listed(attributes, "attributes", of="attributes of a session's marginals")
    found = tuple(of_kind(one, "attributes", Attribute, "attributes of a session's marginals") for one in given)
    if not found or len({one.name for one in found}) < len(found):
        raise ParameterError("attributes", len(found), "must be at least one, each of another column")
    return found


def _some(rows: CodedRows, names: Sequence[str], argument: str, *, least: int) -> CodedRows:
    n = len(rows[names[0]])
    if n < least:
        raise ParameterError(argument, f"{n} rows", f"must have at least {least}")
    return rows


def _apart(rows: CodedRows, seed: int) -> tuple[CodedRows, CodedRows]:
    """Rows to train on, and others to test on."""
    n = len(next(iter(rows.values())))
    order = np.argsort(uniforms(seed, "test rows", n), kind="stable")
    cut = round(n * _TEST)
    train, test = ({name: own[part] for name, own in rows.items()} for part in (order[cut:], order[:cut]))
    return train, test
