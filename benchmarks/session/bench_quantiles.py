"""How much nearer are several quantiles of one column at the same ε if they are chosen at once?

Quartiles and deciles of the ages of Adult between 17 and 90 and of made-up incomes between 0 and 65,535 (lognormal,
whole numbers), of 1,000 and of 30,000 rows that are units, ε = 1. Every query is planned twice for the same ε: by the
first rules, with a choice of its own for each quantile, and by the latest, with one choice for all. Beside them
`Quantiles`, the recursion, which no query uses. Errors are in ranks: the most that is certified with 95%, of the
quantile for which that is largest; and of releases the mean over all quantiles, their 95% quantile, and the mean time
of one release, without the engine.

Usage: python benchmarks/session/bench_quantiles.py [--trials 300]
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

import sfumato as sf
from sfumato.datasets import adult_or_people
from sfumato.mechanisms import Quantiles
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Table
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import presented
from sfumato.query.statistics.measurements import QuantileChoice
from sfumato.query.statistics.quantiles import quantile
from sfumato.session.asking.forecast import forecast

Values = npt.NDArray[np.int64]
Release = Callable[[Values], Sequence[int]]
CONFIDENCE = Fraction(95, 100)
EPSILON = Fraction(1)
ASKED = {"quartiles": [Fraction(k, 4) for k in range(1, 4)], "deciles": [Fraction(k, 10) for k in range(1, 10)]}


def columns() -> Iterator[tuple[str, Values, int, int]]:
    """Names, values and bounds."""
    generator = np.random.default_rng(1)
    table, _ = adult_or_people()
    ages = generator.permutation(table["age"].to_numpy().astype(np.int64))
    incomes = np.clip(generator.lognormal(7.5, 0.8, 30_000), 0, 65_535).astype(np.int64)
    for rows in (1_000, 30_000):
        yield f"ages, n = {rows:,}", ages[:rows], 17, 90
        yield f"incomes, n = {rows:,}", incomes[:rows], 0, 65_535


def ways(quantiles: Sequence[Fraction], lower: int, upper: int) -> Iterator[tuple[str, float, Release]]:
    """Each way to choose: what it certifies, and how it releases."""
    table = Table(name="t", columns={"x": sf.integer(lower, upper)})
    statistics = tuple((f"q{index}", quantile("x", one)) for index, one in enumerate(quantiles))
    question = presented(Source(table), statistics=statistics).child
    for name, edition in (("apart", Edition.FIRST), ("at once", Edition.LATEST)):
        plan = compile_plan(question, PureDP(EPSILON), neighboring_relation=sf.ADD_OR_REMOVE_ONE, edition=edition)
        certified = max(one.half_width for one in forecast(plan, confidence=CONFIDENCE, size=1_000))
        choices = [one for one in plan.sections[0].measurements if isinstance(one, QuantileChoice)]

        def release(values: Values, choices: Sequence[QuantileChoice] = choices) -> Sequence[int]:
            places = (np.atleast_1d(np.asarray(one.mechanism.release(values - lower))) for one in choices)
            return [lower + int(place) for own in places for place in own]

        yield name, certified, release
    recursion = Quantiles(quantiles=quantiles, lower=lower, upper=upper, epsilon=EPSILON)
    yield "recursion", recursion.accuracy(CONFIDENCE), lambda values: list(map(int, recursion.release(values)))


def errors(values: Values, quantiles: Sequence[Fraction], points: Sequence[int]) -> list[float]:
    """How many ranks each point is off."""
    ranks, found = np.sort(values), []
    for share, point in zip(quantiles, points, strict=True):
        below, up_to = (int(np.searchsorted(ranks, point, side=side)) for side in ("left", "right"))
        target = float(share) * len(ranks)
        found.append(max(0, below - target, target - up_to))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=300)
    trials = parser.parse_args().trials
    for column, values, lower, upper in columns():
        for asked, quantiles in ASKED.items():
            for name, certified, release in ways(quantiles, lower, upper):
                begun = time.process_time()
                answers = [release(values) for _ in range(trials)]
                seconds = (time.process_time() - begun) / trials
                off = np.array([errors(values, quantiles, points) for points in answers])
                print(
                    f"{column:20} {asked:9} {name:9} certified {certified:6.1f}   mean {off.mean():6.2f}   "
                    f"95% {np.quantile(off, 0.95):6.1f}   {1_000 * seconds:6.1f} ms",
                    flush=True,
                )


if __name__ == "__main__":
    main()
