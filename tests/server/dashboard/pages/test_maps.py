"""A map is shown in a frame that runs its own scripts and no other, and only to its readers."""

import json

from tests.server.dashboard.browsing import words
from tests.server.running import TOWN


def test_maps_are_listed_with_a_link_for_their_readers(visitor):
    ann, cem = visitor("ann"), visitor("cem")
    assert 'href="/maps"' in ann.get("/").text
    assert 'href="/maps/lost"' in ann.get("/maps").text
    assert 'href="/maps/lost"' not in cem.get("/maps").text


def test_a_frame_runs_its_own_scripts_alone(visitor):
    ann = visitor("ann")
    outer, inner = ann.get("/maps/town"), ann.get("/maps/town/frame")
    assert "frame-src 'self'" in outer.headers["Content-Security-Policy"]
    assert 'sandbox="allow-scripts"' in outer.text
    policy = inner.headers["Content-Security-Policy"]
    assert "script-src 'sha256-" in policy
    assert "frame-ancestors 'self'; sandbox allow-scripts" in policy
    assert "default-src 'none'" in policy
    assert "SELECT &lt;b&gt;" in inner.text
    assert "ε 1 for one person" in words(inner)


def test_whoever_is_no_reader_sees_no_frame(visitor):
    for end in ("", "/frame"):
        assert visitor("cem").get(f"/maps/lost{end}").status_code == 403
        assert visitor("cem").get(f"/maps/nothing{end}").status_code == 404


def test_what_cannot_be_drawn_is_said(visitor, beside, tmp_path, monkeypatch):
    ann = visitor("ann")
    assert "is no map" in words(ann.get("/maps/lost"))
    assert ann.get("/maps/lost/frame").status_code == 503
    file = tmp_path / "lost.geojson"
    file.write_text(json.dumps({**TOWN, "features": [{"type": "Feature", "properties": {}, "geometry": None}]}))
    lost = beside.gateway.curator.maps["lost"].model_copy(update={"releases": str(file)})
    monkeypatch.setitem(beside.gateway.curator.maps, "lost", lost)
    assert ann.get("/maps/lost/frame").status_code == 503
