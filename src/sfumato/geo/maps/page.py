"""A page with an interactive map in one file: scripts, styles and data are in it, and nothing is fetched.

Leaflet draws it; at the scale of countries there are coastlines, at that of a city only a graticule and the roads that
the user brings. Colors are those of viridis, which readers without color vision tell apart by lightness. What is
not told from 0 has no color. The map, the list of the largest values and the choice of a statistic work by keyboard,
and on small screens they stand below each other.

What a page says comes from a release, and from names in a policy: all of it is data in the page, and never part of a
script.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from json import dumps, loads
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.geo.maps.regions import features_of
from sfumato.numeric.arguments import listed, of_kind

ASSETS: Final = files("sfumato.geo.maps") / "assets"
"""Leaflet, the coastlines, and the script and style of the page."""

Point = tuple[float, float]

_WIDE: Final = 6
"""From so many degrees on a map has coastlines: theirs are too coarse for a city."""

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
script-src {hashes}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{leaflet_css}</style>
<style>{map_css}</style>
</head>
<body>
<header><h1>{title}</h1><p>{about}</p></header>
<main>
<div id="map" tabindex="0" role="application" aria-label="Map: arrow keys move it, + and − zoom"></div>
<aside aria-label="Values">
<div><label for="statistic">Statistic</label><select id="statistic"></select></div>
<section aria-labelledby="colors"><h2 id="colors">Colors</h2><ul id="legend"></ul></section>
<section aria-labelledby="largest"><h2 id="largest">Largest values</h2><p id="count"></p><ol id="cells"></ol></section>
<details><summary>What was asked</summary><code>{query}</code></details>
<p id="said" role="status"></p>
</aside>
</main>
<script type="application/json" id="data">{data}</script>
<script>{leaflet_js}</script>
<script>{map_js}</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What a page draws.

    Attributes:
        collection: A GeoJSON FeatureCollection of polygons or lines. A feature is named by its property `cell`, or
            `name`; for each statistic it has the value, and the bounds of its interval as `…_low` and `…_high`. If it
            has `…_stands_out`, that says whether the value has a color; else it is whether 0 lies outside of the
            interval.
        statistics: The names of the statistics.
    """

    collection: Mapping[str, Any]
    statistics: tuple[str, ...]


def map_page(
    collection: Mapping[str, Any], statistics: Sequence[str], *, title: str, about: str, query: str = "",
    roads: Mapping[str, Any] | None = None,
) -> str:  # fmt: skip
    """An interactive page of any released GeoJSON: cells, or lines such as roads, with their values.

    Args:
        collection: The features, as `Layer` has them.
        statistics: The statistics that can be chosen.
        title: The heading.
        about: The line below: the guarantee and the confidence of intervals.
        query: What was asked.
        roads: GeoJSON lines that are drawn above the cells.

    Raises:
        ParameterError: It is no FeatureCollection, or a feature lacks a statistic.

    Example:
        >>> line = {"type": "LineString", "coordinates": [[-30, 45.5], [-30, 45.51]]}
        >>> street = {"type": "Feature", "properties": {"name": "Main St", "n": 12, "n_low": 9, "n_high": 15},
        ...     "geometry": line}
        >>> page = map_page({"type": "FeatureCollection", "features": [street]}, ["n"], title="Traffic", about="ε 1")
        >>> "http-equiv" in page, "Main St" in page
        (True, True)
    """
    names = tuple(of_kind(one, "statistics", str, "names") for one in listed(statistics, "statistics", of="names"))
    features = features_of(collection, "collection")
    if not names or any(name not in (one.get("properties") or {}) for one in features for name in names):
        raise ParameterError("statistics", list(names), "must be properties of every feature")
    return page_of(Layer(collection=collection, statistics=names), roads=roads, title=title, about=about, query=query)


def page_of(layer: Layer, *, roads: Mapping[str, Any] | None, title: str, about: str, query: str) -> str:
    """The page of a layer; see `map_page`."""
    for name, value in (("title", title), ("about", about), ("query", query)):
        of_kind(value, name, str, "text")
    data = {
        "features": layer.collection, "statistics": list(layer.statistics),
        "roads": None if roads is None else {"type": "FeatureCollection", "features": features_of(roads, "roads")},
        "land": coastlines() if _width(layer.collection) >= _WIDE else None,
    }  # fmt: skip
    scripts = {name: (ASSETS / f"{name}.js").read_text("utf-8") for name in ("leaflet", "map")}
    digests = [sha256(script.encode()).digest() for script in scripts.values()]
    return _PAGE.format(
        title=escape(title), about=escape(about), query=escape(query), data=as_data(data),
        hashes=" ".join(f"'sha256-{b64encode(one).decode()}'" for one in digests),
        leaflet_js=scripts["leaflet"], map_js=scripts["map"],
        leaflet_css=(ASSETS / "leaflet.css").read_text("utf-8"), map_css=(ASSETS / "map.css").read_text("utf-8"),
    )  # fmt: skip


def as_data(value: object) -> str:
    r"""JSON inside of a script element: nothing in it can end the element.

    Example:
        >>> as_data({"name": "</script>"})
        '{"name": "\\u003c/script>"}'
    """
    return dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _width(collection: Mapping[str, Any]) -> float:
    """From west to east, in degrees."""
    longitudes = [one for feature in collection["features"] for one in _longitudes(feature["geometry"]["coordinates"])]
    return max(longitudes) - min(longitudes) if longitudes else 0.0


def _longitudes(coordinates: Any) -> Iterator[float]:
    """Those of all points of a geometry, however they are nested."""
    if coordinates and isinstance(coordinates[0], int | float):
        yield coordinates[0]
        return
    for inner in coordinates:
        yield from _longitudes(inner)


@cache
def coastlines() -> dict[str, Any]:
    """The land of the world as a GeoJSON Feature: one MultiPolygon, longitude and latitude.

    The arcs are those of `world-atlas` [PK09]; their scale is for maps of countries and of the world, not of cities.

    Example:
        >>> coastlines()["geometry"]["type"]
        'MultiPolygon'

    References:
        [PK09] for the coastlines.
    """
    topology = loads((ASSETS / "land.json").read_text("utf-8"))
    arcs = [_arc(steps, topology["transform"]) for steps in topology["arcs"]]
    polygons = [
        [_ring(places, arcs) for places in polygon]
        for shape in topology["objects"]["land"]["geometries"]
        for polygon in shape["arcs"]
    ]
    geometry = {"type": "MultiPolygon", "coordinates": polygons}
    return {"type": "Feature", "properties": {}, "geometry": geometry}


def _arc(steps: list[list[int]], transform: dict[str, list[float]]) -> list[Point]:
    """The points of an arc."""
    (scale_x, scale_y), (left, low) = transform["scale"], transform["translate"]
    x = y = 0
    found = []
    for across, up in steps:
        x, y = x + across, y + up
        found.append((round(x * scale_x + left, 3), round(y * scale_y + low, 3)))
    return found


def _ring(places: list[int], arcs: list[list[Point]]) -> list[Point]:
    """A ring of arcs, of which a negative number is one backward: −1 is the first; each begins where one ended."""
    ring: list[Point] = []
    for place in places:
        arc = arcs[place] if place >= 0 else arcs[~place][::-1]
        ring += arc[1:] if ring else arc
    return ring
