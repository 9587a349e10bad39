"""G6. Unicity: four points of a phone's trace identify nearly everybody, and coarser maps need only a few points more.

De Montjoye et al. drew p points of place and hour from the traces of 1.5 million people. They counted how many people
are unique with them: 95% with four points, more than half with two. Here are 10,000 made-up people over four weeks.
Through a curator, the query "does anybody have these four points?" has the exact value 1 or 0, and noise of that size.

Usage: g06_unicity.py [OUTPUT_FOLDER]
"""

import sys
from pathlib import Path

import pyarrow as pa

import sfumato as sf
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.linking.traces import unicity_by_points, unicity_picture
from sfumato.datasets.pseudonyms import traces

PEOPLE = 10_000
EPSILON = "1"
SIGHTINGS_A_PERSON = 300
RESOLUTIONS: dict[str, dict[str, int]] = {
    "an antenna, an hour": {},
    "4 antennas, 2 hours": {"x": 2, "y": 2, "hour": 2},
    "16 antennas, 4 hours": {"x": 4, "y": 4, "hour": 4},
    "a sixth of the city, half a day": {"x": 12, "y": 12, "hour": 12},
}


def measured(records: pa.Table) -> dict[str, dict[int, Outcome]]:
    """Unicity by resolution and number of points."""
    return unicity_by_points(records, user="person", columns=["x", "y", "hour"], resolutions=RESOLUTIONS)


def curator(records: pa.Table) -> sf.Session:
    """A session on all sightings, in which at most 300 of a person count."""
    columns = {name: sf.integer(0, 29) for name in ("x", "y")} | {"hour": sf.integer(0, 28 * 24 - 1)}
    limits = sf.Limits(max_rows_per_unit=SIGHTINGS_A_PERSON)
    return sf.open(records, name="phones", unit="person", limits=limits, columns=columns, budget=sf.PureDP(EPSILON))


def question(records: pa.Table, person: int) -> str:
    """How many people have the four points that the adversary knows of one person."""
    own = {(row["x"], row["y"], row["hour"]) for row in records.to_pylist() if row["person"] == person}
    points = sorted(own)[:4]
    seen = " OR ".join(f"(x = {x} AND y = {y} AND hour = {hour})" for x, y, hour in points)
    return (
        "SELECT COUNT(DISTINCT person) AS n FROM (SELECT person, COUNT(DISTINCT hour) AS hits FROM phones "
        f"WHERE {seen} GROUP BY person) AS s WHERE hits = {len({hour for *_, hour in points})}"
    )


def main(output: Path = Path("example-output")) -> None:
    """Measure unicity, draw it, and ask a curator about one person."""
    print(__doc__)
    records = traces(PEOPLE)
    found = measured(records)
    print(f"people identified by so many points, of {PEOPLE:,} (owner only; 2,500 drawn for each in a simulation):")
    print(f"  {'':<32}" + "".join(f"{points:8}" for points in next(iter(found.values()))))
    for name, by_points in found.items():
        print(f"  {name:<32}" + "".join(f"{outcome.success:8.1%}" for outcome in by_points.values()))
    with curator(records) as phones:
        answer = phones.sql(question(records.slice(0, 1_000), person=0), epsilon=EPSILON)["n"][0]
        print(
            f"through a curator, how many have person 0's four points: private {answer.value} ± {answer.half_width}",
            end="",
        )
        print(f"   spent {phones.spent} of {phones.budget}, remaining {phones.remaining}")
    allowed = sf.attacks.largest_success(epsilon=EPSILON)
    print(
        f"  if a coin decided whether person 0 is in the data, guesses are right with probability at most {allowed:.1%}"
    )
    picture = unicity_picture(found, title=f"Unicity of {PEOPLE:,} made-up traces")
    print(f"picture: {sf.plots.save(picture, output / 'g06_unicity.png')}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
