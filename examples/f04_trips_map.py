"""F4. A map of trips: where the trips of a made-up city end, in hexagons, without telling of anybody where they went.

A person makes several trips, so that the session bounds how many of them count. All hexagons are answered, also those
where nobody went. The error of a count is known before anything is spent, and from it the size of the cells. The map is
saved as GeoJSON, as a picture, and as a page that works from a file without a network.

Usage: f04_trips_map.py [OUTPUT_FOLDER]
"""

import sys
from pathlib import Path

import sfumato as sf
from sfumato.datasets.towns import City

PEOPLE, DAYS = 2_000, 2
EPSILON = "1"
TRIPS_A_PERSON = 6
CENTER = sf.geo.LocalProjection("45.5", -30)
WIDTH = 6_500
PLACES = ("to_latitude", "to_longitude")


def curator(city: City) -> sf.Session:
    """A session on all trips, in which at most six of a person count."""
    columns = {"person": sf.integer(), "to_latitude": sf.real(45, 46), "to_longitude": sf.real(-31, -29)}
    limits = sf.Limits(max_rows_per_unit=TRIPS_A_PERSON)
    return sf.open(city.trips, name="trips", unit="person", limits=limits, columns=columns, budget=sf.PureDP(EPSILON))


def hexagons(db: sf.Session, presumed_trips: int) -> sf.geo.HexagonGrid:
    """Hexagons about as large as the smallest squares whose counts err by a third, of so many trips."""
    squares = sf.geo.finest_grid(
        db.table(), *PLACES, around=CENTER, width=WIDTH, height=WIDTH, rows=presumed_trips, relative_error="0.35",
        epsilon=EPSILON,
    )  # fmt: skip
    width = squares.cell
    return sf.geo.HexagonGrid(CENTER, width=width, columns=int(WIDTH // width), rows=int(WIDTH // width * 8 // 7))


def main(output: Path = Path("example-output")) -> None:
    """Choose cells, ask for the map, and save it."""
    print(__doc__)
    city = sf.datasets.city(PEOPLE, days=DAYS)
    with curator(city) as db:
        cells = hexagons(db, presumed_trips=10_000)
        asked = sf.geo.noisy_map(db.table(), *PLACES, cells=cells)
        error = asked.error(epsilon=EPSILON)[0].half_width
        print(
            f"{cells.count} hexagons of {float(cells.width):,.0f} m; each count ± {error:,.0f} (95%), spent {db.spent}"
        )
        found = asked.release(epsilon=EPSILON)
        clear = [cell for cell in found if cell.stands_out[0]]
        print(f"{len(clear)} of {len(found)} counts are told from 0; spent {db.spent}, left {db.remaining}")
    exact = city.trips.num_rows
    seen = sum(cell.values[0].value for cell in clear)
    print(f"trips in those hexagons: about {seen:,} of {exact:,} (owner only)")
    title = "Trips of a made-up city end in its middle"
    for name in ("trips_map.geojson", "trips_map.html", "trips_map.png"):
        print(found.save(output / name, roads=city.roads, title=title))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
