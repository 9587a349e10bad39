"""F2. On the map: where those who work somewhere live, as synthetic flows that tell of no worker where they live.

A made-up town has a census of commuters: 40,000 workers, their blocks of home and of work. How many work in each block
is public by the census of last year; where each of them lives now is not. The flows are drawn around the counts and a
prior, which is the smallest with which all flows together cost what was asked. Origins that are far from a place of
work are left out by public knowledge, the map of the town: that leaves fewer cells, and so less prior.

Usage: f02_onthemap.py [OUTPUT_FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import sfumato as sf
from sfumato.datasets import Commuters

WORKERS = 40_000
EPSILON, DELTA = "4", "1e-6"
REACH = 6  # kilometers: nobody is drawn from farther
LAST_YEAR = 2007  # another seed, and so another census of the same town
BANDS = (0, 1, 2, 3, 4.5, 6, 12)


def curator(made: Commuters) -> sf.Session:
    """A session on all workers, in which each is one row."""
    places = sf.text(values=made.names)
    budget = sf.ApproxDP(EPSILON, DELTA)
    return sf.open(made.workers, name="commuters", columns={"home": places, "work": places}, budget=budget)


def near(made: Commuters) -> dict[str, dict[str, int]]:
    """For each place of work the homes within reach: public, from the map alone."""
    return {
        work: {home: 0 for home, far in zip(made.names, row, strict=True) if far <= REACH}
        for work, row in zip(made.names, made.kilometers.tolist(), strict=True)
    }


def exact_flows(made: Commuters) -> np.ndarray:
    """How many live in each block and work in each: of this year, only the owner knows."""
    place = {name: at for at, name in enumerate(made.names)}
    found = np.zeros(made.kilometers.shape, dtype=np.int64)
    homes, works = (made.workers[name].to_pylist() for name in ("home", "work"))
    np.add.at(found, ([place[one] for one in works], [place[one] for one in homes]), 1)
    return found


def main(output: Path = Path("example-output")) -> None:
    """Draw flows, compare them by distance, and save a map."""
    print(__doc__)
    made = sf.datasets.commuters(WORKERS)
    exact = exact_flows(made)
    last_year = exact_flows(sf.datasets.commuters(WORKERS, seed=LAST_YEAR)).sum(axis=1)
    totals = {name: int(many) for name, many in zip(made.names, last_year, strict=True)}
    with curator(made) as db:
        marginals = db.marginals("SELECT home, work FROM commuters")
        flows = sf.synth.synthetic_flows(
            marginals, origin="home", destination="work", draws=totals, epsilon=EPSILON, delta=DELTA,
            prior=near(made),
        )  # fmt: skip
        print(
            f"{flows.counts.sum():,} synthetic workers; priors up to {float(max(flows.priors)):.2f}; spent {db.spent}"
        )
    errors = sf.synth.flow_errors(flows.counts, exact, distances=made.kilometers, edges=BANDS)
    named = {f"{low:g} to {high:g} km": float(one) for low, high, one in zip(BANDS, BANDS[1:], errors, strict=False)}
    for band, apart in named.items():
        print(f"{band:>12}: total variation {apart:.3f} (owner only)")
    center = made.names[int(last_year.argmax())]
    figure = flows.plot(made.blocks, destination=center, title=f"Where those live who work in {center}", errors=named)
    print(sf.plots.save(figure, output / "f02_onthemap.png"))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
