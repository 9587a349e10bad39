"""A town of people with values that no policy lists, and counts of them."""

from random import Random

import pyarrow as pa

import sfumato as sf
from sfumato.privacy.guarantees import NO_GUARANTEE

COLUMNS = {
    "age": sf.integer(1, 4), "sex": sf.text(values=["f", "m"]), "smokes": sf.boolean(), "kids": sf.integer(0, 9),
    "free": sf.text(), "pay": sf.real(0, 10),
}  # fmt: skip
SURE = 10**5


def drawn(seed, rows=40):
    """Rows with values that no policy lists, NULL among them."""
    random = Random(seed)  # noqa: S311 # rows of a test
    return pa.table({
        "age": [random.choice([1, 2, 3, 4, None, -3, 77]) for _ in range(rows)],
        "sex": [random.choice(["f", "m", "m", None, "x"]) for _ in range(rows)],
        "smokes": [random.choice([True, False, None]) for _ in range(rows)],
        "kids": [random.choice([0, 3, 9, None, 12]) for _ in range(rows)],
        "free": ["y"] * rows,
        "pay": [1.5] * rows,
    })  # fmt: skip


def town(data=None, **changes):
    where = {"name": "town", "columns": COLUMNS, "budget": NO_GUARANTEE}
    return sf.open(drawn(1) if data is None else data, **(where | changes))


def count(*keys, where="", extra=""):
    shown = "".join(f"{key} AS k{place}, " for place, key in enumerate(keys))
    groups = f" GROUP BY {', '.join(keys)}" if keys else ""
    condition = f" WHERE {where}" if where else ""
    return f"SELECT {shown}COUNT(*) AS n, SUM(kids) AS s, COUNT(kids) AS v{extra} FROM town{condition}{groups}"


BY_AGE, BY_BOTH, ALL = count("age"), count("age", "sex"), count()
MARGINALS = tuple(
    f"SELECT {keys}, COUNT(*) AS n FROM town GROUP BY {keys}" for keys in ("age, sex", "age, kids", "sex")
)
