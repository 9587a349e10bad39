"""A released map: its cells with values and intervals, as GeoJSON, as a picture, and as a page without a network."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from json import dumps
from math import inf, log
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.errors import ParameterError
from sfumato.geo.maps.cells import MapCells, Ring
from sfumato.geo.maps.page import Layer, page_of
from sfumato.geo.maps.quadtree import Quadtree
from sfumato.numeric.arguments import is_one_of, path_of
from sfumato.query.statistics.estimates import AnswerValue
from sfumato.session.releases.receipt import Receipt
from sfumato.session.releases.release import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCell:
    """One cell of a map.

    Attributes:
        keys: Its keys in the release.
        label: What it is called.
        polygons: Its polygons: of each its outline, then its holes.
        values: One estimate per statistic.
        stands_out: For each statistic, whether the value is told from 0 among all cells of the map.
    """

    keys: tuple[Any, ...]
    label: str
    polygons: list[list[Ring]]
    values: tuple[AnswerValue, ...]
    stands_out: tuple[bool, ...]


@dataclass(frozen=True, kw_only=True)
class NoisyMap:
    """A noisy map: the cells of a release with their outlines.

    Everything here is made of the release, at no further cost. The interval of a cell has the confidence of the
    release; of a quadtree, cells were chosen by noisy counts, and the intervals are those of cells that were not.
    Among many cells some lie outside of their intervals by chance. So pictures and pages color a cell only if its value
    is farther from 0 than the noise of any of N cells is, with the same confidence c: than its error times
    ln(N / (1 − c)) / ln(1 / (1 − c)), which follows from the tail of Laplace noise, and is more than Gaussian noise
    needs.

    Attributes:
        release: The noisy answer, with its receipt.
        cells: The public cells.
        detail: Of a quadtree: a square is parted where its count is more than so many times its error.
    """

    release: Release
    cells: MapCells
    detail: float = 4.0

    @cached_property
    def shown(self) -> tuple[MapCell, ...]:
        """The cells that are drawn: all of them; of a quadtree the squares that part it."""
        rows = dict(zip(self.release.groups, self.release.estimates, strict=True))
        groups = _leaves(rows, self.cells, self.detail) if isinstance(self.cells, Quadtree) else list(rows)
        factor = _factor(len(groups), self.release.confidence)
        return tuple(self._cell(keys, tuple(rows[keys]), factor) for keys in groups)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The names of the statistics."""
        return self.release.statistics

    @property
    def receipt(self) -> Receipt:
        """The query, its cost and the remaining budget."""
        return self.release.receipt

    @property
    def guarantee(self) -> str:
        """What the map guarantees, for whom, and with which confidence its intervals hold, in one line."""
        receipt, confidence = self.receipt, self.release.confidence
        relation = receipt.neighboring_relation.replace("_", " ")
        return f"{receipt.guarantee} for one {receipt.privacy_unit} ({relation}); {confidence:.0%} intervals"

    def __len__(self) -> int:
        return len(self.shown)

    def __iter__(self) -> Iterator[MapCell]:
        return iter(self.shown)

    def _cell(self, keys: tuple[Any, ...], values: tuple[AnswerValue, ...], factor: float) -> MapCell:
        return MapCell(
            keys=keys,
            label=self.cells.label(keys),
            polygons=self.cells.rings(keys),
            values=values,
            stands_out=tuple(_stands_out(one, factor) for one in values),
        )

    def to_geojson(self) -> dict[str, Any]:
        """A FeatureCollection: each cell with its statistics, and the bounds of each interval as `…_low`, `…_high`.

        The property `…_stands_out` says whether a value is told from 0 among all cells. The member
        `sfumato` has the guarantee, the confidence and the query.
        """
        features = [
            {
                "type": "Feature",
                "properties": {"cell": cell.label} | _properties(self.statistics, cell),
                "geometry": _geometry(cell.polygons),
            }
            for cell in self.shown
        ]
        about = {
            "guarantee": self.guarantee,
            "confidence": self.release.confidence,
            "query": self.receipt.question,
            "statistics": list(self.statistics),
            "notes": list(self.release.notes),
        }
        return {"type": "FeatureCollection", "features": features, "sfumato": about}

    def plot(self, statistic: str | None = None, *, roads: Mapping[str, Any] | None = None, title: str = "") -> Any:
        """A picture of one statistic; needs the extra `plots`.

        Args:
            statistic: Its name; default: the first.
            roads: GeoJSON lines that are drawn above the cells.
            title: The finding.

        Returns:
            The matplotlib figure.
        """
        from sfumato.plots.maps import colored_cells, outlines_of  # matplotlib is an extra

        name = self._statistic(statistic)
        place = self.statistics.index(name)
        return colored_cells(
            [cell.polygons for cell in self.shown],
            values=[_number(cell.values[place].value) for cell in self.shown],
            is_noise=[not cell.stands_out[place] for cell in self.shown],
            lines=[] if roads is None else outlines_of(roads), title=title or name, label=name,
            caption=f"{self.guarantee}; cells without color are not told from 0",
        )  # fmt: skip

    def to_html(self, *, roads: Mapping[str, Any] | None = None, title: str = "A noisy map") -> str:
        """An interactive page that needs no network: everything that it draws is in it.

        Args:
            roads: GeoJSON lines that are drawn above the cells.
            title: The heading.
        """
        layer = Layer(collection=self.to_geojson(), statistics=self.statistics)
        return page_of(layer, roads=roads, title=title, about=self.guarantee, query=self.receipt.question)

    def save(
        self, path: str | PathLike[str], *, statistic: str | None = None, roads: Mapping[str, Any] | None = None,
        title: str = "A noisy map",
    ) -> Path:  # fmt: skip
        """Write the map; the ending of the path says how: .geojson, .html, or .png, .svg, .pdf for a picture.

        Args:
            path: The file.
            statistic: Of a picture: which statistic.
            roads: GeoJSON lines that pages and pictures draw above the cells.
            title: The heading of pages and pictures.

        Raises:
            ParameterError: Another ending.
        """
        target = path_of(path, "path")
        match target.suffix.lower():
            case ".geojson":
                written = dumps(self.to_geojson(), ensure_ascii=False)
            case ".html":
                written = self.to_html(roads=roads, title=title)
            case _:
                from sfumato.plots.panels import save  # matplotlib is an extra

                return save(self.plot(statistic, roads=roads, title=title), target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(written, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"<NoisyMap of {len(self):,} cells: {', '.join(self.statistics)}; {self.guarantee}>"

    def _statistic(self, name: str | None) -> str:
        if name is None:
            return self.statistics[0]
        if not is_one_of(name, self.statistics):
            raise ParameterError("statistic", name, f"must be one of: {', '.join(self.statistics)}")
        return name


def _leaves(
    rows: Mapping[tuple[Any, ...], Sequence[AnswerValue]], tree: Quadtree, detail: float
) -> list[tuple[Any, ...]]:
    """The squares that part a quadtree: each is parted while its first statistic stands out of the noise."""
    found, waiting = [], [tuple(keys) for keys in rows if keys[1:].count(None) == len(keys) - 1]
    while waiting:
        keys = waiting.pop()
        level = sum(key is not None for key in keys)
        first = rows[keys][0]
        value, error = _number(first.value), first.half_width
        if level == tree.levels or value is None or value <= detail * error:
            found.append(keys)
            continue
        head, tail = keys[:level], (None,) * (tree.levels - level - 1)
        waiting += [(*head, quarter, *tail) for quarter in range(4)]
    return found


def _factor(cells: int, confidence: float) -> float:
    """How many errors of one cell the noise of all cells stays within, with the same confidence."""
    rest = 1 - confidence
    return log(cells / rest) / log(1 / rest) if 0 < rest < 1 else inf


def _stands_out(estimate: AnswerValue, factor: float) -> bool:
    """Whether a value is told from 0."""
    value = _number(estimate.value)
    if value is None or estimate.is_mostly_noise:
        return False
    return estimate.half_width == 0 or abs(value) > factor * estimate.half_width


def _number(value: object) -> float | None:
    """A value that has a color."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _properties(names: Sequence[str], cell: MapCell) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one, is_clear in zip(names, cell.values, cell.stands_out, strict=True):
        found |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high, f"{name}_stands_out": is_clear}
    return found


def _geometry(polygons: list[list[Ring]]) -> dict[str, Any]:
    """As GeoJSON has it: rings that end where they begin."""
    closed = [[[*map(list, ring), list(ring[0])] for ring in rings] for rings in polygons]
    if len(closed) == 1:
        return {"type": "Polygon", "coordinates": closed[0]}
    return {"type": "MultiPolygon", "coordinates": closed}
