"""What a batch errs, beside the same queries asked one by one for equal parts of the same ε and δ; and what is free.

    .venv/bin/python benchmarks/session/bench_batch.py

Errors are 95% half-widths that are predicted from plans, so neither data nor randomness is involved. Single queries get
ε/k and δ/k each, or what joint Gaussian noise needs: the latter is what `mechanism="gaussian"` in one batch would cost
without workloads. Times are of planning and of releasing a batch on 100,000 made-up rows.
"""

import re
import time
from collections.abc import Iterable
from itertools import combinations
from statistics import median
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.privacy.guarantees import NO_GUARANTEE
from sfumato.query.planning import batch as planning
from sfumato.query.statistics.estimates import Forecast

SIZES = {"workclass": 9, "education": 16, "race": 5, "sex": 2, "income": 2}
ROWS = 100_000


def people() -> sf.Session:
    """Made-up rows with five columns of the sizes of Adult's, an age and an hour count."""
    draw = np.random.default_rng(7)
    columns = {name: [f"{name}{n}" for n in range(size)] for name, size in SIZES.items()}
    data = {name: draw.choice(values, ROWS) for name, values in columns.items()}
    data |= {"age": draw.integers(0, 1000, ROWS), "hours": draw.integers(1, 100, ROWS)}
    declared = {name: sf.text(values=values) for name, values in columns.items()}
    return sf.open(
        pa.table(data), name="people", budget=NO_GUARANTEE,
        columns=declared | {"age": sf.integer(0, 999), "hours": sf.integer(1, 99)},
    )  # fmt: skip


def table(*keys: str, extra: str = "") -> str:
    """The counts by some keys."""
    return f"SELECT {', '.join(keys)}, COUNT(*) AS n{extra} FROM people GROUP BY {', '.join(keys)}"


BATCHES = {
    "all 2-way marginals": [table(*pair) for pair in combinations(SIZES, 2)],
    "all 3-way marginals": [table(*three) for three in combinations(SIZES, 3)],
    "a histogram and its running sums": [table("age", extra=", SUM(COUNT(*)) OVER (ORDER BY age) AS upto")],
    "fifteen overlapping ranges of ages": [
        f"SELECT COUNT(*) AS n FROM people WHERE age BETWEEN {50 * start} AND {50 * start + 249}" for start in range(15)
    ],
    "fifteen ages from which on": [
        f"SELECT COUNT(*) AS n FROM people WHERE age >= {60 * start + 60}" for start in range(15)
    ],
    "a count, a mean, a sum and a deviation": [
        table("education"), "SELECT education, AVG(hours) AS a FROM people GROUP BY education",
        "SELECT education, SUM(hours) AS s FROM people GROUP BY education",
        "SELECT education, STDDEV(hours) AS d FROM people GROUP BY education",
    ],
}  # fmt: skip


def widths(forecasts: Iterable[tuple[Forecast, ...]]) -> list[float]:
    """The half-widths of all columns."""
    return [one.half_width for own in forecasts for one in own]


def main() -> None:
    """Print a table for each ε, then times, then what is free."""
    session = people()
    for epsilon, delta in (("1", "0"), ("1", "1e-6"), ("0.1", "1e-6")):
        print(f"\nε {epsilon}, δ {delta}: half-widths of the batch; of single queries; root of the mean squared ratio")
        for name, texts in BATCHES.items():
            batch = session.queries(texts)
            together = widths(batch.error(epsilon=epsilon, delta=delta))
            parts = len(texts)
            own = f"{float(epsilon) / parts:.15f}"
            rest = "0" if delta == "0" else f"{float(delta) / parts:.3e}"
            apart = widths([session.query(one).error(epsilon=own, delta=rest) for one in texts])
            ratio = float(np.sqrt(np.mean([(a / b) ** 2 for a, b in zip(together, apart, strict=True)])))
            shown = batch.explain(epsilon=epsilon, delta=delta)
            how = ", ".join(sorted(set(re.findall(r"by the strategy '([^']*)'", shown)))) or "apart"
            print(f"{name:<40} {max(together):>9.1f} {max(apart):>9.1f} {ratio:>6.2f}  {how}")
        running = session.queries(BATCHES["a histogram and its running sums"])
        pairs = [one.release(epsilon=epsilon, delta=delta) for one in (running, running.questions[0])]
        batched, single = (
            [value.half_width for value in (answer[0] if isinstance(answer, tuple) else answer)["upto"]]
            for answer in pairs
        )
        ratio = float(np.sqrt(np.mean(np.square(batched)) / np.mean(np.square(single))))
        print(f"{'    its running sums':<40} {max(batched):>9.1f} {max(single):>9.1f} {ratio:>6.2f}")
        with patch.object(planning, "WORTH", 0):
            alone = widths(session.queries(BATCHES["all 2-way marginals"]).error(epsilon=epsilon, delta=delta))
        print(f"{'all 2-way marginals without a workload':<40} {max(alone):>9.1f}")

    print("\nseconds, medians of 5: to plan, to release as a batch, to release one by one")
    for name, texts in BATCHES.items():
        planned, released, single = [], [], []
        for run in range(5):
            epsilon = f"0.{run + 1}"
            start = time.perf_counter()
            session.queries(texts).error(epsilon=epsilon, delta="1e-6", mechanism="gaussian")
            planned.append(time.perf_counter() - start)
            start = time.perf_counter()
            session.queries(texts).release(epsilon=epsilon, delta="1e-6", mechanism="gaussian")
            released.append(time.perf_counter() - start)
            start = time.perf_counter()
            for one in texts:
                session.query(one).release(epsilon=epsilon, delta="1e-6", mechanism="gaussian")
            single.append(time.perf_counter() - start)
        print(f"{name:<40} {median(planned):>7.3f} {median(released):>7.3f} {median(single):>7.3f}")

    print("\nfree answers: half-width, seconds")
    fresh = people()
    fresh.sql(table("age"), epsilon=1)
    fresh.sql(table("education", "sex"), epsilon=1)
    listed = ", ".join(f"'sex{n}'" for n in range(SIZES["sex"]))
    for text in (
        "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 300 AND 399",
        f"SELECT education, COUNT(*) AS n FROM people WHERE sex IN ({listed}) GROUP BY education",
    ):
        start = time.perf_counter()
        (error,) = fresh.query(text).error_from_releases()
        fresh.query(text).from_releases()
        print(f"{text}\n    ± {error.half_width:.1f}, {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
