"""How much smaller are errors at the same ε where statistics share the noisy numbers that they need?

2,000 public groups of 400 rows each, every row a unit: each group is a trial. Every question is planned twice for the
same ε: with noise of its own for each statistic, as before, and with shared noise. The predicted error is that of
`error` for groups of 400 values, the measured one the same quantile of how far answers lie from the exact values of the
bounded rows: half-widths at 95%. Held is how often the intervals of shared answers hold the exact value.

Q1 has the sums, means and the count of TPC-H's first query, over columns that are never NULL. Values are spread evenly.
A tenth of the columns of "count and sums" is NULL.

Usage: python benchmarks/session/bench_sharing.py [--groups 2000]
"""

import argparse
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.facts import Edition
from sfumato.query.planning.plan import PrivatePlan, compile_plan
from sfumato.query.statistics.measurements import estimators
from sfumato.session.asking.forecast import forecast
from sfumato.session.releases.releasing import release

ROWS = 400
CONFIDENCE = Fraction(95, 100)
EPSILON = Fraction(1)
NULLABLE = ("first", "second", "third")
COLUMNS = {
    "quantity": sf.integer(1, 50, nullable=False), "price": sf.real(900, 105_000, resolution="0.01", nullable=False),
    "discount": sf.real(0, 0.1, resolution="0.01", nullable=False),
    "tax": sf.real(0, 0.08, resolution="0.01", nullable=False),
    **{name: sf.integer(0, 100) for name in NULLABLE},
}  # fmt: skip
QUESTIONS = {
    "Q1": """SUM(quantity) AS sum_qty, SUM(price) AS sum_base_price, SUM(price * (1 - discount)) AS sum_disc_price,
        SUM(price * (1 - discount) * (1 + tax)) AS sum_charge, AVG(quantity) AS avg_qty, AVG(price) AS avg_price,
        AVG(discount) AS avg_disc, COUNT(*) AS count_order""",
    "count and sums": "COUNT(*) AS n, SUM(first) AS first, SUM(second) AS second, SUM(third) AS third",
    "count, sum and mean": "COUNT(*) AS n, SUM(quantity) AS total, AVG(quantity) AS mean",
    "moments": "AVG(quantity) AS mean, STDDEV(quantity) AS deviation, VARIANCE(quantity) AS variance",
    "related": "AVG(quantity) AS mean_x, AVG(discount) AS mean_y, CORR(quantity, discount) AS r",
}  # fmt: skip


def made(groups: int) -> pa.Table:
    """Rows that are spread evenly over the bounds."""
    generator = np.random.default_rng(7)
    size = groups * ROWS
    return pa.table({
        "k": np.repeat(np.arange(groups), ROWS), "quantity": generator.integers(1, 51, size),
        "price": generator.integers(90_000, 10_500_001, size) / 100, "discount": generator.integers(0, 11, size) / 100,
        "tax": generator.integers(0, 9, size) / 100,
        **{name: pa.array(generator.integers(0, 101, size), mask=generator.random(size) < 0.1) for name in NULLABLE},
    })  # fmt: skip


def planned(session: sf.Session, statistics: str, *, epsilon: Fraction = EPSILON, edition: Edition) -> PrivatePlan:
    """The plan of statistics of each group."""
    question = session.query(f"SELECT k, {statistics} FROM t GROUP BY k").relation.child
    return compile_plan(question, PureDP(epsilon), neighboring_relation=sf.ADD_OR_REMOVE_ONE, edition=edition)


def answers(session: sf.Session, plan: PrivatePlan) -> Sequence[Sequence[tuple[float, float, float]]]:
    """Of each column, the value of each group and both ends of its interval."""
    (section,), engine = plan.sections, session._desk.engine  # noqa: SLF001 # nothing is charged or kept
    released = release(section, partial(engine.run, salt="00" * 16))
    columns = [estimate(released.measured) for estimate in estimators(section, CONFIDENCE)]
    return [[(one.value, one.low, one.high) for one in column] for column in columns]


def compared(session: sf.Session, name: str) -> None:
    """A line for each column of a question."""
    statistics = QUESTIONS[name]
    exact = answers(session, planned(session, statistics, epsilon=Fraction(10**9), edition=Edition.FIRST))
    plans = [planned(session, statistics, edition=edition) for edition in Edition]
    numbers = [len(plan.sections[0].measurements) for plan in plans]
    print(f"{name}: {numbers[0]} noisy numbers before, {numbers[1]} shared")
    predicted = [forecast(plan, confidence=CONFIDENCE, size=ROWS) for plan in plans]
    found = [answers(session, plan) for plan in plans]
    for column, true in enumerate(exact):
        before, after = (own[column].half_width for own in predicted)
        errors = [
            np.quantile([abs(one[0] - own[0]) for one, own in zip(answer[column], true, strict=True)], 0.95)
            for answer in found
        ]
        held = np.mean([one[1] <= own[0] <= one[2] for one, own in zip(found[1][column], true, strict=True)])
        print(
            f"  {predicted[0][column].column:15} predicted {before:10.4g} to {after:10.4g}, ratio {after / before:4.2f}"
            f"   measured {errors[0]:10.4g} to {errors[1]:10.4g}, ratio {errors[1] / errors[0]:4.2f}   held {held:.1%}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--groups", type=int, default=2_000)
    groups = parser.parse_args().groups
    columns = {"k": sf.integer(values=range(groups)), **COLUMNS}
    print(f"{groups:,} groups of {ROWS} rows, ε {EPSILON}, errors not passed with 95%")
    with sf.open(made(groups), name="t", columns=columns, budget=sf.NO_GUARANTEE) as session:
        for name in QUESTIONS:
            compared(session, name)


if __name__ == "__main__":
    main()
