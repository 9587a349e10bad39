"""A town of three segments, tables of its passages, and what a session measures of them before noise."""

from collections import Counter
from datetime import date

import pyarrow as pa
from tests.geo.roads.test_graph import collection, line

import sfumato as sf
from sfumato.geo.roads.graph import RoadGraph
from sfumato.geo.traffic.question import noisy_traffic, open_traffic
from sfumato.query.statistics.measurements import Additive

ROADS = RoadGraph.from_geojson(
    collection(
        line((0, 0), (100, 0), segment="a"), line((100, 0), (200, 0), segment="b"), line((0, 0), (0, 100), segment="c")
    )
)
DAYS = ("2026-03-02", "2026-03-03")
SCHEMA = pa.schema(
    [
        ("person", pa.string()), ("day", pa.date32()), ("hour", pa.int64()), ("segment", pa.string()),
        ("speed", pa.float64()),
    ]
)  # fmt: skip


def passages(*rows):
    """Rows of person, day of March, hour, segment and speed."""
    named = [
        (person, None if day is None else date(2026, 3, day), hour, segment, speed)
        for person, day, hour, segment, speed in rows
    ]
    columns = zip(*named, strict=True) if named else [()] * len(SCHEMA)
    return pa.table(list(map(list, columns)), schema=SCHEMA)


def opened(*rows, per_day=3, days=DAYS, **more):
    declared = {
        "passages_per_day": per_day,
        "speeds": (0, 60),
        "budget": sf.ApproxDP(100, "1e-3"),
        "engine": "reference",
    }
    return open_traffic(passages(*rows), ROADS, days=days, **(declared | more))


def asked(db, **more):
    return noisy_traffic(db.table("passages"), ROADS, **more)


def measured(question, *, delta=0):
    """The plan's section, and by statement and measure the exact numbers of each group."""
    section = question.question._prepared(1, delta, None).plan.sections[0]
    results = []
    for statement in section.statements:
        one = question.question.desk.engine.run(statement, salt="00" * 16).open_for_noise()
        keys = list(zip(*one.keys, strict=True))
        results.append(
            [{key: int(own) for key, own in zip(keys, amounts, strict=True) if own} for amounts in one.amounts]
        )
    return section, results


def answers(*rows, per_day=3, engine="reference", **more):
    """The count, and the sum of speeds about the middle of their bounds, of each segment in an hour."""
    with opened(*rows, per_day=per_day, engine=engine) as db:
        _, (numbers, *others) = measured(asked(db, **more))
    assert not others
    assert len(numbers) == 2
    return tuple(numbers)


def assert_within(section, first, second):
    """Two databases differ by no more than the noise is made for."""
    for measurement in section.measurements:
        assert isinstance(measurement, Additive)
        moved = [
            step
            for place in measurement.measures
            for step in _differences(first[measurement.statement][place], second[measurement.statement][place])
        ]
        limit = measurement.sensitivity
        assert sum(moved) <= limit.l1
        assert sum(step**2 for step in moved) <= limit.l2**2
        assert len(moved) <= limit.l0
    return [
        sum(_differences(first[0][place], second[0][place])) for one in section.measurements for place in one.measures
    ]


def _differences(first, second):
    moved = Counter(first)
    moved.subtract(second)
    return [abs(step) for step in moved.values() if step]
