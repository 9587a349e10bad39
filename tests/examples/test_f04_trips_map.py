import json

import pytest

import sfumato as sf
from examples import f04_trips_map as example


@pytest.fixture(scope="module")
def city():
    return sf.datasets.city(200, days=1)


def test_cells_are_as_small_as_the_error_allows_and_nothing_is_spent_for_them(city):
    with example.curator(city) as db:
        few, many = (example.hexagons(db, presumed_trips=trips) for trips in (10_000, 1_000_000))
        assert few.width == 500
        assert many.width < few.width
        assert db.spent == sf.PureDP(0)


def test_a_map_is_written_in_three_forms(city, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sf.datasets, "city", lambda *_, **__: city)
    example.main(tmp_path)
    features = json.loads((tmp_path / "trips_map.geojson").read_text("utf-8"))["features"]
    assert len(features) == 13 * 14
    assert (tmp_path / "trips_map.html").read_text("utf-8").count("<script>") == 2
    assert (tmp_path / "trips_map.png").exists()
    assert "spent ε 1, left ε 0" in capsys.readouterr().out
