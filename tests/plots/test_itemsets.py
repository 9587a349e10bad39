"""Frequent itemsets as a chart: one line a set, and what is no number refused."""

import pytest

from sfumato.errors import ParameterError
from sfumato.plots.itemsets import itemset_counts

SETS = ["tea", "tea, $milk"]


def test_each_method_has_its_marks_and_exact_counts_are_bars():
    figure = itemset_counts(
        SETS, {"counted": [12, 9], "made": [8, 7]}, exact=[11, 10], margins={"counted": 3}, floor=2, title="t"
    )  # fmt: skip
    (axes,) = figure.axes
    assert [line.get_xdata().tolist() for line in axes.lines if line.get_label() in {"counted", "made"}] == [
        [12, 9],
        [8, 7],
    ]
    assert [text.get_text() for text in axes.get_yticklabels()] == SETS
    labels = {text.get_text() for text in axes.get_legend().get_texts()}
    assert labels == {"exact, for the owner alone", "counted", "made", "drowns in noise"}
    assert axes.get_ylim() == (1.5, -0.5)  # the first at the top


def test_private_data_have_no_bars():
    (axes,) = itemset_counts(SETS, {"counted": [12, 9]}).axes
    assert len(axes.patches) == 0


@pytest.mark.parametrize("changed", [
    {"itemsets": []}, {"series": {}}, {"series": 3}, {"series": {"a": [1]}}, {"series": {"a": [1, "x"]}},
    {"exact": [1]}, {"margins": {"b": 1}}, {"margins": {"a": -1}}, {"floor": -1}, {"floor": float("inf")}, {"title": 3},
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(changed):
    given = {"itemsets": SETS, "series": {"a": [1, 2]}} | changed
    with pytest.raises(ParameterError):
        itemset_counts(given.pop("itemsets"), given.pop("series"), **given)
