"""How often do error bars hold the exact value, and how near is the predicted error to the one that is measured?

10,000 public groups of 400 rows each, every row a unit: each group is a trial of each statistic, at ε = 0.5 a question.
The predicted error is that of `error` for groups of 400 values; the measured one is the same quantile of how far the
answers lie from the exact values on the lattice. Both are half-widths at 95%; the width is the mean one of intervals.
Predictions of variances and correlations presume values that are spread evenly and have nothing to do with each other;
so they are compared on such values, and on others, whose correlation is 0.7, for which they are only a guide.

Usage: python benchmarks/session/bench_error_bars.py [--groups 10000]
"""

import argparse

import numpy as np
import pyarrow as pa

import sfumato as sf

ROWS = 400
SHAPES = ("even", "related")
STATISTICS = (
    "COUNT(*)", "SUM(x)", "AVG(x)", "VAR_POP(x)", "STDDEV_POP(x)", "COVAR_POP(x, y)", "CORR(x, y)",
)  # fmt: skip


def made(shape: str, groups: int) -> pa.Table:
    """Rows whose x and y are spread evenly over their bounds; or whose x lies about the middle, and y about x."""
    generator = np.random.default_rng(5)
    x, y = generator.integers(0, 101, (2, groups * ROWS)).astype(float)
    if shape == "related":
        x = np.clip(np.round(generator.normal(50, 20, groups * ROWS)), 0, 100)
        y = np.clip(np.round((x + generator.normal(50, 20, groups * ROWS)) / 2), 0, 100)
    return pa.table({"k": np.repeat(np.arange(groups), ROWS), "x": x.astype(int), "y": y.astype(int)})


def measured(session: sf.Session, statistic: str, law: str, exact: list[float]) -> tuple[float, ...]:
    """How often intervals hold the exact value; the predicted half-width, the mean one, and the one that were right."""
    question = session.query(f"SELECT k, {statistic} AS v FROM t GROUP BY k")
    price = {"epsilon": "0.5", "delta": "1e-6" if law == "gaussian" else 0, "mechanism": law}
    (forecast,) = question.error(**price, size=ROWS)
    found = question.release(**price)["v"]
    held = [one.low <= value <= one.high for one, value in zip(found, exact, strict=True)]
    errors = [abs(one.value - value) for one, value in zip(found, exact, strict=True)]
    width = float(np.mean([one.high - one.low for one in found])) / 2
    return float(np.mean(held)), float(forecast.half_width), width, float(np.quantile(errors, 0.95))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--groups", type=int, default=10_000)
    groups = parser.parse_args().groups
    columns = {"k": sf.integer(values=range(groups)), "x": sf.integer(0, 100), "y": sf.integer(0, 100)}
    print(f"{groups:,} groups of {ROWS} rows, ε 0.5, intervals of 95%")
    for shape in SHAPES:
        print(f"values: {shape}")
        with sf.open(made(shape, groups), name="t", columns=columns, budget=sf.NO_GUARANTEE) as session:
            _compare(session)


def _compare(session: sf.Session) -> None:
    for statistic in STATISTICS:
        sure = session.sql(f"SELECT k, {statistic} AS v FROM t GROUP BY k", epsilon=10**8)["v"]
        exact = [one.value for one in sure]
        for law in ("laplace", "gaussian"):
            coverage, predicted, width, right = measured(session, statistic, law, exact)
            print(
                f"{statistic:16} {law:8}  held {coverage:7.2%}   predicted {predicted:9.4g}   measured {right:9.4g}"
                f"   ratio {predicted / right:5.2f}   width {width / right:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
