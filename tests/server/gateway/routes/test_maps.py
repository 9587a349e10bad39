"""Readers of a map get its GeoJSON; nobody else does, and what is no saved map is unavailable."""

import json

import pytest
from tests.server.running import TOWN


def test_a_map_is_the_file_that_was_saved(beside):
    with beside.client("cem") as cem:
        assert cem.get("/maps").json() == [{"name": "town", "may_read": True}, {"name": "lost", "may_read": False}]
        assert cem.get("/maps/town").json() == TOWN


def test_whoever_is_no_reader_sees_nothing(beside):
    with beside.client("cem") as cem:
        assert cem.get("/maps/lost").status_code == 403
        assert cem.get("/maps/nothing").status_code == 404
    with beside.client() as nobody:
        assert nobody.get("/maps/town").status_code == 401


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", json.dumps({**TOWN, "sfumato": {}}), json.dumps({**TOWN, "features": 5}), "\ud800"],
    ids=["nothing", "half", "a list", "an object", "no guarantee", "no features", "no text"],
)
def test_what_is_no_map_is_unavailable(beside, tmp_path, monkeypatch, content):
    file = tmp_path / "lost.geojson"
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    lost = beside.gateway.curator.maps["lost"].model_copy(update={"releases": str(file)})
    monkeypatch.setitem(beside.gateway.curator.maps, "lost", lost)
    with beside.client("ann") as ann:
        answer = ann.get("/maps/lost")
    assert answer.status_code == 503
    assert str(tmp_path) not in answer.text
