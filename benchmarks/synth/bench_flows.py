"""Synthetic flows: 10^6 made-up workers between 999 blocks, and draws of one large destination.

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


def made_up():
    """Homes near places of work, on a line of blocks."""
    rng = np.random.default_rng(SEED)
    work = rng.integers(0, BLOCKS, WORKERS)
    home = np.clip(work + np.rint(rng.laplace(0, 20, WORKERS)), 0, BLOCKS - 1).astype(np.int64)
    return home, work


def main():
    home, work = made_up()
    names = [f"b{block:03}" for block in range(BLOCKS)]
    labels = np.array(names)
    places = sf.text(values=names)
    table = pa.table({"home": labels[home], "work": labels[work]})
    exact = np.zeros((BLOCKS, BLOCKS), dtype=np.int64)
    np.add.at(exact, (work, home), 1)
    far = np.abs(np.subtract.outer(np.arange(BLOCKS), np.arange(BLOCKS)))
    for epsilon, delta, reach in ((8, "1e-6", BLOCKS), (8, "1e-6", 60), (1, "1e-6", 60)):
        prior = {
            names[to]: {names[at]: 0 for at in range(max(0, to - reach), min(BLOCKS, to + reach + 1))}
            for to in range(BLOCKS)
        }  # fmt: skip
        people = sf.open(
            table, name="commuters", columns={"home": places, "work": places}, budget=sf.ApproxDP(epsilon, delta)
        )  # fmt: skip
        start = process_time()
        flows = sf.synth.synthetic_flows(
            people.marginals("SELECT home, work FROM commuters"), origin="home", destination="work", draws=1000,
            epsilon=epsilon, delta=delta, prior=prior,
        )  # fmt: skip
        apart = sf.synth.flow_errors(flows.counts, exact, distances=far, edges=[0, 10, 30, 60, BLOCKS])
        print(
            f"ε {epsilon}, δ {delta}, origins within {reach}: {process_time() - start:.2f} CPU-s, prior"
            f" {float(max(flows.priors)):.3g}, total variation by distance {apart.round(3).tolist()}"
        )
    start = process_time()
    dirichlet_multinomial(exact[0], prior=Fraction(1, 2), draws=100_000)
    print(f"100,000 draws of one destination: {process_time() - start:.3f} CPU-s")
    start = process_time()
    priors = [flow_prior(epsilon=1, delta="1e-6", draws=1_000, origins=origins) for origins in range(1, 1_001)]
    print(f"priors of 1,000 numbers of origins: {float(priors[-1]):.4g}, {process_time() - start:.2f} CPU-s")
    for draws in (1_000, 10_000):
        start = process_time()
        found = flow_prior(epsilon=1, delta="1e-6", draws=draws, origins=1_000)
        print(f"prior of {draws:,} draws: {float(found):.4g}, {process_time() - start:.2f} CPU-s")


if __name__ == "__main__":
    main()
