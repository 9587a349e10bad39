"""A clinic of people and their visits: small ones for laws, larger ones for rows."""

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

COLUMNS = {
    "people": {"who": sf.integer(), "age": sf.integer(0, 2), "ill": sf.boolean()},
    "visits": {"guest": sf.integer(), "ward": sf.text(values=["A", "B"]), "id": sf.integer(0, 1)},
}
UNITS = {"people": "who", "visits": "guest"}
KINDS = {
    "who": pa.int64(), "age": pa.int64(), "ill": pa.bool_(), "guest": pa.int64(), "ward": pa.string(),
    "id": pa.int64(),
}  # fmt: skip


def table_of(name, rows):
    columns = COLUMNS[name]
    return pa.table({own: pa.array([row[at] for row in rows], KINDS[own]) for at, own in enumerate(columns)})


def session_of(
    people, visits, *, most=2, relation=ADD_OR_REMOVE_ONE, budget=None, engine="duckdb", limits=None, units=None
):
    limited = {"people": 1, "visits": most} | (limits or {})
    units = {name: sf.UnitColumn(column) for name, column in UNITS.items()} | (units or {})
    policy = sf.Policy(
        dataset="clinic", version="1", data_version="1", unit_name="person", neighboring_relation=relation,
        tables={
            name: sf.Table(
                name=name, columns=columns, unit=units[name], limits=sf.Limits(max_rows_per_unit=limited[name])
            )
            for name, columns in COLUMNS.items()
        },
        sources={
            "people": sf.SourceFacts(source=table_of("people", people)),
            "visits": sf.SourceFacts(source=table_of("visits", visits)),
        },
    )  # fmt: skip
    return sf.Session(policy, budget=budget or sf.ApproxDP(100, "1e-5"), engine=engine)


def crowd(count, seed=7):
    """People of whom older ones come more often, and whose ward follows their age."""
    random = np.random.default_rng(seed)
    people, visits = [], []
    for who in range(count):
        age = int(random.integers(3))
        people.append((who * 10, age, bool(random.integers(2))))
        visits += [
            (who * 10, "A" if random.random() < 0.1 + 0.4 * age else "B", int(random.integers(2)))
            for _ in range(min(2, int(random.integers(age + 1))))
        ]
    return people, visits
