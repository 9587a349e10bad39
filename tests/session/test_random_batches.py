"""Random batches over random rows: together they mean what each of their queries means alone."""

from random import Random

import pyarrow as pa
import pytest
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.privacy.guarantees import NO_GUARANTEE
from sfumato.query.planning import batch

SURE = 10**6
VALUES = {
    "age": [1, 2, 3, 4, None, -3, 77], "sex": ["f", "m", "m", None, "x"], "smokes": [True, False, None],
    "kids": [0, 3, 9, None, 12], "born": ["2026-01-01", "2026-01-02", "2026-01-03", None, "2027-01-01"],
    "pay": [0.5, 2.25, None, 9.75, 40.0],
}  # fmt: skip
COLUMNS = {
    "age": sf.integer(1, 4), "sex": sf.text(values=["m", "f"]), "smokes": sf.boolean(), "kids": sf.integer(0, 9),
    "born": sf.date("2026-01-01", "2026-01-03"), "pay": sf.real(0, 10, resolution="0.25"),
}  # fmt: skip
KEYS = (
    "age", "sex", "smokes", "born", "kids", "age + 1", "UPPER(sex)", "age / 2",
    "CASE WHEN age > 2 THEN 'old' ELSE 'young' END",
)  # fmt: skip
SUMS = ("COUNT(*)", "COUNT(kids)", "SUM(kids)", "SUM(pay)", "SUM(age * kids)", "COUNT(*) FILTER (WHERE smokes)")
OTHERS = ("AVG(kids)", "MEDIAN(age)")
WHERES = (
    "", "", "", "age > 1", "sex = 'f'", "smokes", "kids IS NOT NULL", "age BETWEEN 2 AND 3", "NOT smokes AND age <> 2",
    "pay < 2.25", "pay >= 2.25 AND 9 > pay", "born >= DATE '2026-01-02'", "sex IN ('x', 'm') OR sex = 'f'",
    "age + 1 BETWEEN 3 AND 4 AND kids < 9", "kids < age AND sex <> 'm'",
)  # fmt: skip


def drawn(random, *, rows=60, units=False):
    """Values that no policy lists among them; of units at most so many rows that no limit binds."""
    columns = {name: [random.choice(values) for _ in range(rows)] for name, values in VALUES.items()}
    owners = {"who": [random.choice([*range(12), None]) for _ in range(rows)]} if units else {}
    return pa.table(columns | owners)


def question(random):
    keys = random.sample(KEYS, random.choice([0, 1, 1, 2, 2]))
    statistics = random.sample(SUMS + (OTHERS if random.random() < 0.2 else ()), random.choice([1, 1, 2, 3]))
    shown = [f"{one} AS k{place}" for place, one in enumerate(keys)]
    shown += [f"{one} AS s{place}" for place, one in enumerate(statistics)]
    if keys and statistics[0] in SUMS and random.random() < 0.3:
        apart = f"PARTITION BY {keys[1]} " if keys[1:] else ""
        shown.append(f"SUM({statistics[0]}) OVER ({apart}ORDER BY {keys[0]}) AS upto")
    where = random.choice(WHERES)
    condition, groups = f" WHERE {where}" if where else "", f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(shown)} FROM people{condition}{groups}"


@pytest.fixture
def joined(monkeypatch):
    """All that can be a workload is one, also without noise, and as few as can be."""

    def error(priced, tables):
        return len(priced.fits) + 1000 * sum(table.section not in priced.fitted for table in tables)

    monkeypatch.setattr(batch.Priced, "is_worth", lambda *_: True)
    monkeypatch.setattr(batch.Priced, "error", error)
    monkeypatch.setattr(batch, "WORTH", 1)


def drawn_batch(seed):
    """How the same rows are opened for each query, the queries, and a δ."""
    random = Random(seed)  # noqa: S311 # rows and queries of a test
    units = random.random() < 0.4
    data, owners = drawn(random, units=units), {"who": sf.integer()} if units else {}
    options = {"unit": "who", "limits": sf.Limits(max_rows_per_unit=40)} if units else {}

    def opened():
        engine = random.choice(["duckdb", "reference"])
        return sf.open(
            data, name="people", columns=COLUMNS | owners, budget=NO_GUARANTEE, engine=engine, **options
        )  # fmt: skip

    texts = [question(random) for _ in range(random.choice([2, 3, 4, 6]))]
    return opened, texts, random.choice([0, "0.001"])


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize("seed", range(100 if FULL_SIZE else 8))
def test_a_random_batch_means_what_each_of_its_queries_means(seed):
    """Noise hardly ever moves anything, and values may differ by what it may do."""
    opened, texts, delta = drawn_batch(seed)
    for text, together in zip(texts, opened().batch(texts, epsilon=SURE, delta=delta), strict=True):
        alone = opened().sql(text, epsilon=SURE, delta=delta)
        assert together.groups == alone.groups
        for first, second in zip(together.estimates, alone.estimates, strict=True):
            for one, other in zip(first, second, strict=True):
                assert (one.value is None) == (other.value is None), text
                if isinstance(one.value, int | float) and one.misrank is None:
                    reach = 0.05 + 4 * (one.half_width + other.half_width)
                    assert one.value == pytest.approx(other.value, rel=1e-3, abs=reach), text


@pytest.mark.usefixtures("joined")
def test_most_of_these_batches_have_workloads():
    explained = [opened().queries(texts).explain(epsilon=SURE) for opened, texts, _ in map(drawn_batch, range(8))]
    assert sum("of a histogram of" in text for text in explained) > 4
