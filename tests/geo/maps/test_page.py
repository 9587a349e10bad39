"""Pages work from a file without a network, by keyboard, on large and small screens, and hold no script of others."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
import shapely
from tests.server.dashboard.chromium import DESKTOP, PHONE, Screen, opened

from sfumato.errors import ParameterError
from sfumato.geo.maps.page import ASSETS, coastlines, map_page

ROOT = Path(__file__).parents[3]
LARGEST = 260_000
HOSTILE = "</script><img src=x onerror=alert(1)>&lt;\u2028{0}"


def feature(name, value, geometry, **more):
    properties = {"name": name, "n": value, "n_low": value - 5, "n_high": value + 5} | more
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def square(x, y, size):
    corners = [[x, y], [x + size, y], [x + size, y + size], [x, y + size], [x, y]]
    return {"type": "Polygon", "coordinates": [corners]}


def collection(*features):
    return {"type": "FeatureCollection", "features": list(features)}


CITY = collection(*(feature(f"square {n}", 3 * n, square(-30 + n * 0.01, 45.5, 0.01)) for n in range(8)))
WORLD = collection(*(feature(f"square {n}", 3 * n, square(-40 + n * 10, 40, 10), other=1.5) for n in range(8)))
LINES = collection(
    feature(HOSTILE, 40, {"type": "LineString", "coordinates": [[-30, 45.5], [-29.99, 45.51]]}),
    feature("small", 1, {"type": "MultiLineString", "coordinates": [[[-30, 45.5], [-30, 45.51]]]}),
)


def page(shown, names=("n",), **options):
    return map_page(shown, list(names), **({"title": "Trips", "about": "ε 1", "query": "counts"} | options))


def test_scripts_of_others_are_what_npm_has():
    listed = (ROOT / "requirements" / "vendor-maps.sha256").read_text("utf-8").split()
    assert set(listed[1::2]) == {"leaflet.js", "leaflet.css", "land.json", "NOTICES.txt"}
    for digest, name in zip(listed[::2], listed[1::2], strict=True):
        assert sha256((ASSETS / name).read_bytes()).hexdigest() == digest, name


def test_only_the_scripts_of_the_page_may_run_and_nothing_is_fetched():
    found = page(LINES, title=HOSTILE, about=HOSTILE, query=HOSTILE)
    policy = re.search(r'content="(default-src [^"]*)"', found)[1]
    scripts = re.findall(r"<script>(.*?)</script>", found, re.DOTALL)
    digests = {f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in scripts}
    assert len(scripts) == 2
    assert set(policy.split("script-src ")[1].split()) == digests
    assert "default-src 'none'" in policy
    assert "<img" not in found
    assert not re.findall(r"<(?:link|iframe|object)|\bsrc=\"", found)
    data = json.loads(re.search(r'id="data">(.*?)</script>', found, re.DOTALL)[1])
    assert data["features"]["features"][0]["properties"]["name"] == HOSTILE


def test_pages_are_small_and_have_coastlines_where_they_are_of_use():
    assert len(page(CITY)) < LARGEST
    assert '"land": null' in page(CITY)
    assert '"land": null' not in page(WORLD)


def test_what_cannot_be_drawn_is_refused():
    for call in (
        lambda: page({}), lambda: page(CITY, []), lambda: page(CITY, ["missing"]), lambda: page(CITY, title=3),
        lambda: page(CITY, roads=[]),
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            call()


@pytest.fixture(scope="module")
def browser():
    with opened() as browser:
        yield browser


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_page_from_a_file_draws_and_says_its_values_by_keyboard(browser, screen, tmp_path):
    path = tmp_path / "map.html"
    path.write_text(page(WORLD, ["n", "other"], roads=LINES), encoding="utf-8")
    shown = Screen(browser, path.as_uri(), viewport=screen)
    shown.page.context.set_offline(True)
    shown.go("")
    assert shown.page.locator("html[data-ready=yes]").count() == 1
    canvas = "() => { const c = document.querySelector('#map canvas'); const d = c.getContext('2d')"
    painted = f"{canvas}.getImageData(0, 0, c.width, c.height).data; return d.some((v, i) => i % 4 === 3 && v > 0); }}"
    assert shown.page.evaluate(painted)
    assert shown.page.locator("#cells button").count() == 6  # 0 and 3 lie within 5
    shown.page.focus("#statistic")
    shown.page.keyboard.press("Tab")
    shown.page.keyboard.press("Enter")
    assert shown.page.inner_text("#said") == "square 7: 21 ± 5"
    assert "square 7" in shown.page.inner_text(".leaflet-popup-content")
    shown.page.select_option("#statistic", "other")
    assert "up to 1.5" in shown.page.inner_text("#legend")
    shown.looked_at(f"map-{screen['width']}")
    shown.close()


def test_lines_are_drawn_and_no_name_becomes_a_script(browser, tmp_path):
    path = tmp_path / "lines.html"
    path.write_text(page(LINES, title=HOSTILE), encoding="utf-8")
    shown = Screen(browser, path.as_uri(), viewport=DESKTOP)
    shown.go("")
    shown.page.click("#cells button")
    assert HOSTILE.split("\u2028", maxsplit=1)[0] in shown.page.inner_text("#cells button")
    assert shown.page.locator("img").count() == 0
    shown.looked_at("lines")
    shown.close()


@pytest.fixture(scope="module")
def land():
    return shapely.make_valid(shapely.geometry.shape(coastlines()["geometry"]))


def test_rings_are_closed_and_lie_on_the_globe():
    rings = [ring for polygon in coastlines()["geometry"]["coordinates"] for ring in polygon]
    assert len(rings) > 100
    assert all(ring[0] == ring[-1] and len(ring) >= 4 for ring in rings)
    assert all(-180 <= x <= 180.001 and -90 <= y <= 90 for ring in rings for x, y in ring)


@pytest.mark.parametrize(
    ("longitude", "latitude", "is_land"),
    [
        (2.35, 48.86, True), (37.6, 55.75, True), (-100, 40, True), (135, -25, True), (25, -29, True), (0, -80, True),
        (-30, 45.5, False), (-150, 0, False), (80, -20, False), (0, 89, False),
    ],
    ids=["Paris", "Moscow", "Kansas", "Australia", "South Africa", "Antarctica", "Atlantic", "Pacific", "Indian",
         "Arctic"],
)  # fmt: skip
def test_places_lie_on_land_or_at_sea(land, longitude, latitude, is_land):
    assert land.contains(shapely.Point(longitude, latitude)) is is_land
