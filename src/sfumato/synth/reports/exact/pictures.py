"""An exact report as a page: tables and pictures, under a label that says whom it is for."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from sfumato.audit.reports.template import Picture
from sfumato.plots.synthetic import distances_of_pairs, scores_beside, shares_by_column
from sfumato.synth.reports.exact.distances import Columns
from sfumato.synth.reports.exact.prediction import MODELS, Prediction
from sfumato.synth.reports.page import ReportPage, TableSection

_MOST_COLUMNS: Final = 24
_WORDS: Final = {1: "one column", 2: "pairs", 3: "groups of three"}


def owner_page(
    *,
    label: str,
    rows: Mapping[str, int],
    distances: Mapping[str, Mapping[int, Mapping[Columns, float]]],
    summary: Mapping[str, Mapping[str, float]],
    predictions: Sequence[Prediction],
    target: str | None,
    values: Mapping[str, tuple[str, ...]],
    shares: Mapping[str, Mapping[str, tuple[float, ...]]],
) -> ReportPage:
    """The page of an `OwnerReport`, of which the arguments are the parts."""
    sections = [_summary(summary, distances), _columns(values, shares)]
    if 2 in distances["synthetic"]:  # noqa: PLR2004 # pairs
        sections.append(_pairs(tuple(values), distances["synthetic"]))
    if target is not None:
        sections.append(_models(predictions, target))
    return ReportPage(
        title="How near synthetic rows come to the table", label=label, is_secret=True,
        words="All numbers and pictures below were computed from the real rows without noise, so no privacy is left in "
        "them. Do not choose by them what is published, as that choice would say something of the rows at no cost. For "
        "others there is the private report.",
        facts=tuple((f"rows, {what}" if " " not in what else what, f"{n:,}") for what, n in rows.items()),
        sections=tuple(sections),
    )  # fmt: skip


def _summary(
    summary: Mapping[str, Mapping[str, float]], distances: Mapping[str, Mapping[int, Mapping[Columns, float]]]
) -> TableSection:  # fmt: skip
    sources = tuple(distances)
    sizes = tuple(distances["synthetic"])
    means = {source: [fmean(by_size[size].values()) for size in sizes] for source, by_size in distances.items()}
    largest = {source: [max(by_size[size].values()) for size in sizes] for source, by_size in distances.items()}
    figure = scores_beside(
        [_WORDS[size] for size in sizes], means, marks_by_source=largest, marked="the largest",
        title="Distances beside the floor and the baseline", y_label="total variation distance, mean",
    )  # fmt: skip
    return TableSection(
        heading="All at once",
        words="The bootstrap is a sample of the real rows with replacement, and a floor: nothing private can be "
        "expected to be nearer. The independent baseline has the real columns, each shuffled by itself. The total "
        "variation distance (TVD) is half of the sum of all differences between two shares. NIST's score is a million "
        "times one minus the mean TVD of groups of three columns.",
        columns=("measure", *sources),
        rows=tuple(
            (
                measure,
                *(f"{found[source]:,.0f}" if "score" in measure else f"{found[source]:.4f}" for source in sources),
            )
            for measure, found in summary.items()
        ),
        pictures=(
            Picture(
                figure=figure,
                caption="Bars: the mean of all groups of columns. Marks, with numbers: the largest distance.",
            ),
        ),
    )


def _columns(
    values: Mapping[str, tuple[str, ...]], shares: Mapping[str, Mapping[str, tuple[float, ...]]]
) -> TableSection:  # fmt: skip
    shown = {source: shares[source] for source in ("real", "synthetic", "bootstrap")}
    figure = shares_by_column(values, shown, title="Shares of values")
    words = "Each column by itself: the share of rows that have each value, or lie in each bin."
    if len(values) > _MOST_COLUMNS:
        words += f" The first {_MOST_COLUMNS} of {len(values)} columns are drawn."
    return TableSection(
        heading="Columns", words=words,
        pictures=(Picture(figure=figure, caption="The bootstrap shows how far a sample of the same rows is off."),),
    )  # fmt: skip


def _pairs(names: Sequence[str], distances: Mapping[int, Mapping[Columns, float]]) -> TableSection:
    place = {name: at for at, name in enumerate(names)}
    table = [[0.0] * len(names) for _ in names]
    for by_group in (distances[1], distances[2]):
        for group, distance in by_group.items():
            first, last = place[group[0]], place[group[-1]]
            table[first][last] = table[last][first] = distance
    worst = sorted(distances[2].items(), key=lambda item: -item[1])[:10]
    return TableSection(
        heading="Pairs of columns",
        words="Where synthetic rows are furthest from the real ones. The table has the ten pairs that are furthest.",
        columns=("pair", "TVD"),
        rows=tuple((" and ".join(pair), f"{distance:.4f}") for pair, distance in worst),
        pictures=(
            Picture(
                figure=distances_of_pairs(names, table, title="Distances of pairs, and of columns on the diagonal"),
                caption="Total variation distances of synthetic rows; darker is further.",
            ),
        ),
    )


def _models(predictions: Sequence[Prediction], target: str) -> TableSection:
    sources = tuple(dict.fromkeys(one.trained_on for one in predictions))
    found = {(one.model, one.trained_on): one for one in predictions}
    by_source: dict[str, list[float]] = {}
    for source in sources:
        own = [found[model, source] for model in MODELS]
        scores = [score for one in own for score in (one.accuracy, one.auc)]
        by_source[source] = [float("nan") if score is None else score for score in scores]
    figure = scores_beside(
        [f"{model},\n{score}" for model in MODELS for score in ("accuracy", "AUC")], by_source,
        title=f"Models that predict {target}, tested on real rows", y_label="score",
    )  # fmt: skip
    return TableSection(
        heading="Models",
        words=f"Two models learn to predict {target}. All are tested on the same real rows, of which none was trained "
        "on. If synthetic rows were made of those too, they have seen them.",
        columns=("model", "trained on", "accuracy", "AUC"),
        rows=tuple(
            (one.model, one.trained_on, f"{one.accuracy:.4f}", "none" if one.auc is None else f"{one.auc:.4f}")
            for one in predictions
        ),
        pictures=(Picture(figure=figure, caption="Accuracy, and the area under the ROC curve."),),
    )
