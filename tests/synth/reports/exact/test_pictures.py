"""The page of an exact report: its label, its tables and its pictures."""

from sfumato.synth.reports.exact import pictures
from sfumato.synth.reports.exact.pictures import owner_page
from sfumato.synth.reports.exact.prediction import MODELS, Prediction

DISTANCES = {
    source: {1: {("age",): 0.01 * far, ("sex",): 0.0}, 2: {("age", "sex"): 0.1 * far}}
    for source, far in (("synthetic", 3), ("bootstrap", 1), ("independent", 5))
}
SHARES = {
    source: {"age": (0.2, 0.3, 0.5), "sex": (0.5, 0.5)} for source in ("real", "synthetic", "bootstrap", "independent")
}
PREDICTIONS = tuple(
    Prediction(model=model, trained_on=source, accuracy=0.75, auc=None if source == "real" else 0.8)
    for model in MODELS
    for source in ("real", "synthetic")
)


def page(**changed):
    given = {
        "label": "EXACT", "rows": {"real": 1234, "tested on": 100}, "distances": DISTANCES, "predictions": PREDICTIONS,
        "summary": {"mean": dict.fromkeys(DISTANCES, 0.1), "score of NIST's contest": dict.fromkeys(DISTANCES, 9e5)},
        "target": "sex", "values": {"age": ("0–1", "2–3", "missing"), "sex": ("f", "m")}, "shares": SHARES,
    }  # fmt: skip
    return owner_page(**given | changed)


def test_a_page_has_a_picture_for_each_part():
    found = page()
    assert found.is_secret
    assert [section.heading for section in found.sections] == ["All at once", "Columns", "Pairs of columns", "Models"]
    assert all(len(section.pictures) == 1 for section in found.sections)
    text = found.html()
    for words in ("EXACT", "without noise", "1,234", "900,000", "age and sex", "0.3000", "none", "0.8000"):
        assert words in text
    assert text.count("<svg") == 4
    assert "<image" not in text  # which the policy of the page would not show


def test_pairs_and_models_are_left_out_where_there_are_none():
    one = {source: {1: {("age",): 0.1}} for source in DISTANCES}
    found = page(distances=one, target=None, predictions=(), values={"age": ("0–1", "2–3", "missing")})
    assert [section.heading for section in found.sections] == ["All at once", "Columns"]
    assert "first 24 of" not in found.sections[1].words


def test_of_many_columns_the_first_are_drawn(monkeypatch):
    monkeypatch.setattr(pictures, "_MOST_COLUMNS", 1)
    assert "The first 1 of 2 columns are drawn." in page().sections[1].words
