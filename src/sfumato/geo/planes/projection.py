"""From latitude and longitude to meters around a public center, with a bound of what that does to distances."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats
from sfumato.numeric.rationals import Number, exact, positive, set_fields
from sfumato.numeric.rounding import deflated, inflated

EQUATOR: Final = 6_378_137.0
"""The radius of the equator of WGS 84, in meters."""
LARGEST_REACH: Final = 500_000
"""The largest distance from a center, in meters."""

_FLATTENING: Final = 1 / 298.257223563
_SQUARED: Final = _FLATTENING * (2 - _FLATTENING)  # of the eccentricity
_FLATTEST: Final = deflated(EQUATOR * (1 - _SQUARED))  # the smallest radius along a meridian, at the equator
_LARGEST_LATITUDE: Final = 80
_NEAREST_TO_POLE: Final = 86.0
_TURN: Final = 360
_STEPS: Final = 1 << 20  # of a meter a degree

Meters = NDArray[np.float64]


class Stretch(NamedTuple):
    """Meters in the plane for each meter on the ground: the fewest and the most between two points of a region."""

    least: float
    most: float


@dataclass(frozen=True, slots=True, init=False)
class LocalProjection:
    """Meters east and north of a public center: each degree counts as many as it has there on the WGS 84 ellipsoid.

        east = (longitude − center's) · meters_per_degree_east
        north = (latitude − center's) · meters_per_degree_north

    The two factors follow the local radii of curvature at the center [Sny87], and are rationals. Both maps are affine,
    so straight lines of the plane are straight in degrees. Away from the center distances are not exact: `stretch` has
    the bound for a region.

    **Guarantee**: between two points within `reach` meters of the center, the plane has at least
    `stretch(reach).least` and at most `stretch(reach).most` meters for each meter on the ground, along the shortest
    way. Both are rounded outward. Proof: proofs/geo/planes/projection.md.

    ===========================================  =============================================================
    Edge case                                    Behavior
    ===========================================  =============================================================
    the region lies across the 180th meridian    longitudes are taken within half a turn of the center
    the center is nearer than 10° to a pole      refused: degrees of longitude are too unequal there
    a coordinate is NaN or infinite              stays NaN; grids count it as outside
    ===========================================  =============================================================

    Args:
        latitude: The center's, in degrees, from −80 to 80.
        longitude: The center's, in degrees, from −180 to 180.

    Raises:
        ParameterError: A coordinate is no number or out of range.

    Example:
        >>> paris = LocalProjection("48.8566", "2.3522")
        >>> east, north = paris.meters(48.8606, 2.3376)  # the Louvre
        >>> round(float(east)), round(float(north))
        (-1071, 445)
        >>> round(paris.stretch(20_000).most, 4)
        1.0036

    References:
        [Sny87] for radii of curvature.
    """

    latitude: Fraction
    longitude: Fraction
    meters_per_degree_east: Fraction
    meters_per_degree_north: Fraction

    def __init__(self, latitude: Number, longitude: Number) -> None:
        center = exact(latitude, "latitude"), exact(longitude, "longitude")
        if abs(center[0]) > _LARGEST_LATITUDE:
            raise ParameterError("latitude", latitude, f"must lie between −{_LARGEST_LATITUDE} and {_LARGEST_LATITUDE}")
        if abs(center[1]) > _TURN // 2:
            raise ParameterError("longitude", longitude, "must lie between −180 and 180")
        along, across = degrees_long(float(center[0]))
        set_fields(
            self,
            latitude=center[0],
            longitude=center[1],
            meters_per_degree_east=Fraction(round(across * _STEPS), _STEPS),
            meters_per_degree_north=Fraction(round(along * _STEPS), _STEPS),
        )

    def meters(self, latitudes: Any, longitudes: Any) -> tuple[Meters, Meters]:
        """Meters east and north of the center, in floats that are right to a micrometer within the largest reach.

        Args:
            latitudes: In degrees, one or many.
            longitudes: As many.

        Raises:
            ParameterError: Something is no number.
        """
        north, east = floats(latitudes, "latitudes"), floats(longitudes, "longitudes")
        with np.errstate(invalid="ignore", over="ignore"):
            turned = np.remainder(east - float(self.longitude) + _TURN / 2, _TURN) - _TURN / 2
            return (
                turned * float(self.meters_per_degree_east),
                (north - float(self.latitude)) * float(self.meters_per_degree_north),
            )

    def degrees(self, east: Any, north: Any) -> tuple[Meters, Meters]:
        """Latitudes and longitudes of points of the plane: the way back, to a micrometer.

        Example:
            >>> paris = LocalProjection("48.8566", "2.3522")
            >>> latitude, longitude = paris.degrees(0, 0)
            >>> float(latitude), float(longitude)
            (48.8566, 2.3522)
        """
        across = floats(east, "east") / float(self.meters_per_degree_east) + float(self.longitude)
        wrapped = np.where(np.abs(across) <= _TURN / 2, across, np.remainder(across + _TURN / 2, _TURN) - _TURN / 2)
        return floats(north, "north") / float(self.meters_per_degree_north) + float(self.latitude), wrapped

    def stretch(self, reach: Number) -> Stretch:
        """The fewest and the most meters of the plane for one on the ground, within a distance of the center.

        Args:
            reach: Ground meters from the center, up to 500,000.

        Raises:
            ParameterError: The reach is out of range, or leads nearer than 4° to a pole.
        """
        meters = positive(reach, "reach")
        degrees = inflated(math.degrees(float(meters) / _FLATTEST))
        middle = abs(float(self.latitude))
        if meters > LARGEST_REACH or middle + degrees > _NEAREST_TO_POLE:
            raise ParameterError("reach", reach, f"must be at most {LARGEST_REACH:,} meters, and 4° away from a pole")
        nearest, farthest = max(0.0, middle - degrees), middle + degrees
        # Degrees of latitude grow towards the poles, and those of longitude shrink.
        (short_north, long_east), (long_north, short_east) = degrees_long(nearest), degrees_long(farthest)
        north, east = float(self.meters_per_degree_north), float(self.meters_per_degree_east)
        return Stretch(
            least=deflated(min(north / long_north, east / long_east)),
            most=inflated(max(north / short_north, east / short_east)),
        )

    def reach_of(self, distance: Number) -> Fraction:
        """Ground meters from the center that hold every point at a distance in the plane, rounded up.

        Raises:
            ParameterError: The distance leads too far, or too near to a pole.

        Example:
            >>> float(LocalProjection(0, 0).reach_of(1000)) < 1002
            True
        """
        planar = positive(distance, "distance")
        reach = planar
        while Fraction(self.stretch(reach).least) * reach < planar:
            reach = Fraction(inflated(float(planar) / self.stretch(reach).least)).limit_denominator(1000) + 1
        return reach


def degrees_long(latitude: float) -> tuple[float, float]:
    """Meters of a degree of latitude, and of one of longitude, at a latitude of WGS 84.

    Example:
        >>> [round(meters) for meters in degrees_long(45.0)]
        [111132, 78847]
    """
    angle = math.radians(latitude)
    bend = 1 - _SQUARED * math.sin(angle) ** 2
    along = EQUATOR * (1 - _SQUARED) / bend**1.5
    across = EQUATOR / math.sqrt(bend) * math.cos(angle)
    return math.radians(along), math.radians(across)


def pair_of(point: Iterable[Any], name: str = "point") -> tuple[Any, Any]:
    """The latitude and the longitude of one point. The error does not show them."""
    try:
        latitude, longitude = point
    except (TypeError, ValueError):
        raise ParameterError(name, type(point).__name__, "must be a latitude and a longitude") from None
    return latitude, longitude
