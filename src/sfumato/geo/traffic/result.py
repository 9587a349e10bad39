"""Released traffic: segments with noisy counts and speeds by hour, as GeoJSON, as a picture and as a page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from json import dumps
from os import PathLike
from pathlib import Path
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.geo.maps.page import map_page
from sfumato.geo.roads.graph import RoadGraph, SegmentId
from sfumato.numeric.arguments import path_of, whole
from sfumato.plots.panels import save
from sfumato.plots.roads import speeds_on_roads
from sfumato.query.statistics.estimates import NOTHING, AnswerValue
from sfumato.session.releases.receipt import Receipt
from sfumato.session.releases.release import Release

_STATISTICS: Final = ("n", "speed")


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentTraffic:
    """A segment in an hour of the day.

    Attributes:
        segment: Its name.
        hour: The hour of the day.
        n: The noisy number of passages, over all days.
        speed: The noisy mean speed in kilometers an hour.
        is_shown: Whether the count reaches the threshold. Otherwise pictures and files leave both numbers out.
    """

    segment: SegmentId
    hour: int
    n: AnswerValue
    speed: AnswerValue
    is_shown: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Traffic:
    """Noisy traffic with intervals. Everything here is made of the release, at no further cost.

    Attributes:
        release: The noisy answer, with its receipt: all segments and hours, whatever the threshold.
        roads: The public segments.
        hours: The hours of the day that were asked about.
        days: The first day and the last.
        threshold: The noisy count from which a segment in an hour is shown.
    """

    release: Release
    roads: RoadGraph
    hours: tuple[int, ...]
    days: tuple[date, date]
    threshold: float

    @property
    def receipt(self) -> Receipt:
        """The query, its cost and the remaining budget."""
        return self.release.receipt

    @property
    def guarantee(self) -> str:
        """What the traffic guarantees and for whom, and the confidence of its intervals, in one line."""
        receipt = self.receipt
        relation = receipt.neighboring_relation.replace("_", " ")
        unit = f"one {receipt.privacy_unit} ({relation})"
        return f"{receipt.guarantee} for {unit}; {self.release.confidence:.0%} intervals"

    def __len__(self) -> int:
        return len(self.release)

    def __iter__(self) -> Iterator[SegmentTraffic]:
        for keys, (n, speed) in zip(self.release.groups, self.release.estimates, strict=True):
            is_shown = n.value is not None and n.value >= self.threshold
            yield SegmentTraffic(segment=keys[0], hour=keys[1], n=n, speed=speed, is_shown=is_shown)  # type: ignore[arg-type] # keys of a segment and an hour

    def at(self, hour: int) -> dict[SegmentId, SegmentTraffic]:
        """The traffic of one hour by segment.

        Raises:
            ParameterError: It is none of the hours that were asked about.
        """
        if whole(hour, "hour") not in self.hours:
            raise ParameterError("hour", hour, f"must be one of: {', '.join(map(str, self.hours))}")
        return {own.segment: own for own in self if own.hour == hour}

    def to_geojson(self, hour: int) -> dict[str, Any]:
        """A FeatureCollection of one hour: each segment with n and speed, and their intervals as `…_low`, `…_high`.

        What is below the threshold is null. The member `sfumato` has the guarantee, the threshold and the query.

        Raises:
            ParameterError: It is none of the hours that were asked about.
        """
        found = self.at(hour)
        features = [
            dict(feature) | {"properties": _properties(feature, found[segment])}
            for segment, feature in zip(self.roads.segments, self.roads.features, strict=True)
        ]
        about = {
            "guarantee": self.guarantee, "confidence": self.release.confidence, "hour": hour,
            "days": [str(day) for day in self.days], "threshold": self.threshold, "query": self.receipt.question,
        }  # fmt: skip
        return {"type": "FeatureCollection", "features": features, "sfumato": about}

    def plot(self, hour: int, *, water: Mapping[str, Any] | None = None, title: str = "") -> Any:
        """A picture of one hour: color is speed, width is the count; needs the extra `plots`.

        Segments below the threshold are thin and gray.

        Args:
            hour: The hour of the day.
            water: A GeoJSON LineString Feature that is drawn below the roads.
            title: The finding; default: the hour.

        Returns:
            The matplotlib figure.

        Raises:
            ParameterError: It is none of the hours that were asked about.
        """
        found = self.at(hour)
        own = [found[segment] for segment in self.roads.segments]
        lines = [feature["geometry"]["coordinates"] for feature in self.roads.features]
        return speeds_on_roads(
            lines,
            speeds=[one.speed.value if one.is_shown else None for one in own],
            counts=[one.n.value if one.is_shown else None for one in own],
            water=[] if water is None else [water["geometry"]["coordinates"]],
            title=title or f"Traffic from {hour}:00 to {hour + 1}:00", caption=self.guarantee,
        )  # fmt: skip

    def to_html(self, hour: int, *, title: str = "") -> str:
        """An interactive page of one hour that needs no network.

        Args:
            hour: The hour of the day.
            title: The heading; default: the hour.

        Raises:
            ParameterError: It is none of the hours that were asked about.
        """
        heading = title or f"Traffic from {hour}:00 to {hour + 1}:00"
        return map_page(
            self.to_geojson(hour), _STATISTICS, title=heading, about=self.guarantee, query=self.receipt.question
        )  # fmt: skip

    def save(self, path: str | PathLike[str], *, hour: int, title: str = "") -> Path:
        """Write one hour; the ending of the path says how: .geojson, .html, or .png, .svg, .pdf for a picture.

        Raises:
            ParameterError: It is none of the hours that were asked about, or another ending.
        """
        target = path_of(path, "path")
        match target.suffix.lower():
            case ".geojson":
                written = dumps(self.to_geojson(hour), ensure_ascii=False)
            case ".html":
                written = self.to_html(hour, title=title)
            case _:
                return save(self.plot(hour, title=title), target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(written, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        shown = sum(own.is_shown for own in self)
        return f"<Traffic: {shown:,} of {len(self):,} segments in an hour shown; {self.guarantee}>"


def _properties(feature: Mapping[str, Any], found: SegmentTraffic) -> dict[str, Any]:
    """Those of the road, with the noisy numbers."""
    properties: dict[str, Any] = dict(feature.get("properties") or {})
    for name, one in zip(_STATISTICS, (found.n, found.speed), strict=True):
        shown = one if found.is_shown else NOTHING
        properties |= {name: shown.value, f"{name}_low": shown.low, f"{name}_high": shown.high}
    return properties
