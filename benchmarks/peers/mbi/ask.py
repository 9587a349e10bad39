"""Seconds, loss and error of mbi's mirror descent on given noisy marginals, as JSON; run in its own environment.

Newer versions of jax break it, so jax is pinned. Seconds are of the processor, with the time it takes to compile.
"""

import json
import sys
import time

import numpy as np
from mbi import Domain, LinearMeasurement, estimation


def counts(model, group):
    return np.asarray(model.project(tuple(group.split("-"))).datavector()).ravel()


def main():
    path, stddev, rows, *iterations = sys.argv[1:]
    given = np.load(path)
    sizes = {name.removeprefix("size "): int(given[name]) for name in given if name.startswith("size ")}
    domain = Domain(list(sizes), list(sizes.values()))
    noisy = {name.removeprefix("noisy "): given[name].ravel() for name in given if name.startswith("noisy ")}
    true = {name.removeprefix("true "): given[name].ravel() for name in given if name.startswith("true ")}
    measurements = [
        LinearMeasurement(values, tuple(group.split("-")), stddev=float(stddev)) for group, values in noisy.items()
    ]
    found = {}
    for count in iterations:
        start = time.process_time()
        model = estimation.mirror_descent(domain, measurements, known_total=float(rows), iters=int(count))
        seconds = time.process_time() - start
        squares = sum(np.square(counts(model, group) - values).sum() for group, values in noisy.items())
        apart = [np.abs(counts(model, group) - values).sum() / (2 * float(rows)) for group, values in true.items()]
        cells = sum(values.size for values in noisy.values())
        loss = squares / float(stddev) ** 2 / cells
        found[count] = {"seconds": seconds, "loss": float(loss), "error": float(np.mean(apart))}
    print(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
