import json

import pytest
from tests.geo.traffic.small_town import ROADS, asked, opened

import sfumato as sf
from sfumato.errors import ParameterError

ROWS = [(f"p{who}", 2, 7, "a", 20.0 + who) for who in range(9)] + [(f"p{who}", 3, 8, "b", 40.0) for who in range(5)]


@pytest.fixture(scope="module")
def found():
    """So little noise that counts are exact: 9 passages of a at 7, and 5 of b at 8."""
    with opened(*ROWS, budget=sf.NO_GUARANTEE) as db:
        return asked(db, hours=[7, 8]).release(epsilon=10**6, threshold=6)


def test_counts_below_the_threshold_are_not_shown_and_counts_at_it_are(found):
    shown = {(own.segment, own.hour) for own in found if own.is_shown}
    assert shown == {("a", 7)}
    with opened(*ROWS, budget=sf.NO_GUARANTEE) as db:
        lower = asked(db, hours=[7, 8]).release(epsilon=10**6, threshold=5)
    assert {(own.segment, own.hour) for own in lower if own.is_shown} == {("a", 7), ("b", 8)}


def test_by_default_counts_within_five_times_their_error_are_not_shown():
    with opened(*ROWS) as db:
        question = asked(db)
        error = question.error(epsilon=1, confidence="0.9")[0].half_width
        assert question.release(epsilon=1, confidence="0.9").threshold == 5 * error


def test_an_hour_has_all_segments(found):
    assert list(found.at(8)) == ["a", "b", "c"]
    assert [own.n.value for own in found.at(8).values()] == [0, 5, 0]
    for hour in (9, -1, "7", None):
        with pytest.raises(ParameterError):
            found.at(hour)


def test_geojson_has_the_roads_with_what_is_shown_and_nothing_else(found):
    made = found.to_geojson(7)
    assert json.loads(json.dumps(made)) == made
    a, b, c = (feature["properties"] for feature in made["features"])
    assert (a["segment"], a["n"], a["n_low"], a["n_high"]) == ("a", 9, 9, 9)
    assert a["speed_low"] <= a["speed"] == 24 <= a["speed_high"]
    for hidden in (b, c):
        assert {hidden[name] for name in ("n", "n_low", "n_high", "speed", "speed_low", "speed_high")} == {None}
    assert [feature["geometry"] for feature in made["features"]] == [one["geometry"] for one in ROADS.features]
    assert (made["sfumato"]["hour"], made["sfumato"]["threshold"]) == (7, 6)
    assert made["sfumato"]["days"] == ["2026-03-02", "2026-03-03"]
    assert "properties" not in {key for feature in ROADS.features for key in feature["properties"]}


def test_it_says_what_it_guarantees(found):
    assert found.guarantee == "ε 1e+06 for one person (add or remove one); 95% intervals"
    assert repr(found) == f"<Traffic: 1 of 6 segments in an hour shown; {found.guarantee}>"
    assert found.receipt.question == found.to_geojson(8)["sfumato"]["query"]


def test_a_picture_has_what_is_shown(found):
    water, hidden, roads = found.plot(7, title="t").axes[0].collections
    assert (len(water.get_segments()), len(hidden.get_segments()), roads.get_array().tolist()) == (0, 2, [24])
    river = {"geometry": {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}}
    assert len(found.plot(8, water=river).axes[0].collections[0].get_segments()) == 1
    assert found.plot(8).axes[0].get_title(loc="left") == "Traffic from 8:00 to 9:00"


def test_a_picture_is_saved(found, tmp_path):
    assert found.save(tmp_path / "seven.png", hour=7).stat().st_size > 1_000


def test_a_page_has_the_shown_numbers_and_the_guarantee(found, tmp_path):
    path = found.save(tmp_path / "seven.html", hour=7, title="Seven <o'clock>")
    page = path.read_text(encoding="utf-8")
    assert page == found.to_html(7, title="Seven <o'clock>")
    assert "Seven &lt;o&#x27;clock&gt;" in page
    assert found.guarantee in page
    assert page.count('"n": 9, "n_low": 9') == 1
    assert page.count('"n": null') == 2
    assert "Traffic from 8:00 to 9:00" in found.to_html(8)


def test_an_hour_is_saved_as_geojson(found, tmp_path):
    path = found.save(tmp_path / "new" / "seven.geojson", hour=7)
    assert json.loads(path.read_text(encoding="utf-8")) == found.to_geojson(7)
