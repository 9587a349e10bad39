"""Synthetic flows: 10^6 made-up workers between 999 blocks, draws of one large destination, and chosen origins.

Origins are chosen by the data in two towns: the dense one of `sf.datasets.commuters`, where most flows are small, and a
sparse one, where all who work in one of 999 blocks live in some twenty of them.

python benchmarks/synth/bench_flows.py
"""

from fractions import Fraction
from time import process_time

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.synth.flows.priors import flow_prior
from sfumato.synth.flows.urn import dirichlet_multinomial

WORKERS, BLOCKS, SEED = 1_000_000, 999, 8
BANDS = (0, 1, 2, 3, 4.5, 12)  # kilometers
DELTA = Fraction(1, 10**5)


def made_up(reach=20):
    """Homes near places of work, on a line of blocks."""
    rng = np.random.default_rng(SEED)
    work = rng.integers(0, BLOCKS, WORKERS)
    home = np.clip(work + np.rint(rng.laplace(0, reach, WORKERS)), 0, BLOCKS - 1).astype(np.int64)
    return home, work


def counted(home, work, blocks):
    """How many live in each block and work in each."""
    found = np.zeros((blocks, blocks), dtype=np.int64)
    np.add.at(found, (work, home), 1)
    return found


def flows(table, names, *, epsilon, delta, **asked):
    """Flows of a session of their own, and the seconds of processor that they took."""
    places = sf.text(values=names)
    with sf.open(
        table, name="commuters", columns={"home": places, "work": places}, budget=sf.ApproxDP(epsilon, delta)
    ) as people:
        start = process_time()
        found = sf.synth.synthetic_flows(
            people.marginals("SELECT home, work FROM commuters"), origin="home", destination="work", epsilon=epsilon,
            delta=delta, **asked,
        )  # fmt: skip
        return found, process_time() - start


def named_origins():
    """All origins, and those near a destination."""
    home, work = made_up()
    names = [f"b{block:03}" for block in range(BLOCKS)]
    labels = np.array(names)
    table, exact = pa.table({"home": labels[home], "work": labels[work]}), counted(home, work, BLOCKS)
    far = np.abs(np.subtract.outer(np.arange(BLOCKS), np.arange(BLOCKS)))
    for epsilon, delta, reach in ((8, "1e-6", BLOCKS), (8, "1e-6", 60), (1, "1e-6", 60)):
        prior = {
            names[to]: {names[at]: 0 for at in range(max(0, to - reach), min(BLOCKS, to + reach + 1))}
            for to in range(BLOCKS)
        }  # fmt: skip
        found, seconds = flows(table, names, epsilon=epsilon, delta=delta, draws=1000, prior=prior)
        apart = sf.synth.flow_errors(found.counts, exact, distances=far, edges=[0, 10, 30, 60, BLOCKS])
        print(
            f"ε {epsilon}, δ {delta}, origins within {reach}: {seconds:.2f} CPU-s, prior"
            f" {float(max(found.priors)):.3g}, total variation by distance {apart.round(3).tolist()}"
        )
    start = process_time()
    dirichlet_multinomial(exact[0], prior=Fraction(1, 2), draws=100_000)
    print(f"100,000 draws of one destination: {process_time() - start:.3f} CPU-s")


def towns():
    """By name: rows, names of blocks, exact flows, distances, edges of bands, and draws."""
    for workers in (40_000, 2_000_000):
        made = sf.datasets.commuters(workers)
        place = {name: at for at, name in enumerate(made.names)}
        home, work = ([place[one] for one in made.workers[name].to_pylist()] for name in ("home", "work"))
        exact = counted(home, work, len(place))
        draws = dict(zip(made.names, np.minimum(exact.sum(axis=1), 10_000).tolist(), strict=True))
        yield f"dense town, {workers:,} workers", made.workers, made.names, exact, made.kilometers, BANDS, draws
    home, work = made_up(reach=3)
    names = [f"b{block:03}" for block in range(BLOCKS)]
    labels = np.array(names)
    far = np.abs(np.subtract.outer(np.arange(BLOCKS), np.arange(BLOCKS)))
    table = pa.table({"home": labels[home], "work": labels[work]})
    yield "sparse town", table, names, counted(home, work, BLOCKS), far, (0, 2, 5, 10, 30, BLOCKS), 1000


def chosen_origins():
    """Choosing origins by the data, for two shares of ε and half of δ, beside all origins."""
    for town, table, names, exact, far, edges, draws in towns():
        shares = exact / exact.sum(axis=1, keepdims=True) * np.array([draws[name] if isinstance(draws, dict) else draws
                                                                      for name in names])[:, None]  # fmt: skip
        for epsilon in (1, Fraction("8.6")):
            for share in (None, Fraction(1, 5), Fraction(2, 5)):
                part = None if share is None else sf.ApproxDP(share * epsilon, DELTA / 2)
                found, seconds = flows(table, names, epsilon=epsilon, delta=DELTA, draws=draws, shrinking=part)
                apart = sf.synth.flow_errors(found.counts, shares, distances=far, edges=edges)
                print(
                    f"{town}, ε {float(epsilon)}, chosen for {float(share or 0):.0%} of it: {seconds:.2f} CPU-s, kept"
                    f" {found.kept.mean():.1%} of cells with {exact[found.kept].sum() / exact.sum():.1%} of workers,"
                    f" total variation {apart.sum():.3f}, by distance {apart.round(3).tolist()}"
                )


def main():
    named_origins()
    start = process_time()
    priors = [flow_prior(epsilon=1, delta="1e-6", draws=1_000, origins=origins) for origins in range(1, 1_001)]
    print(f"priors of 1,000 numbers of origins: {float(priors[-1]):.4g}, {process_time() - start:.2f} CPU-s")
    for draws in (1_000, 10_000):
        start = process_time()
        found = flow_prior(epsilon=1, delta="1e-6", draws=draws, origins=1_000)
        print(f"prior of {draws:,} draws: {float(found):.4g}, {process_time() - start:.2f} CPU-s")
    chosen_origins()


if __name__ == "__main__":
    main()
