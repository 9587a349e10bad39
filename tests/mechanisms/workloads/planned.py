"""Some planned workloads, and their exact answers."""

import numpy as np
from tests.mechanisms.workloads.brute_force import ONE_ROW, workload_matrices

from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.workloads.planning import plan_workload
from sfumato.mechanisms.workloads.queries import LinearQueries, marginals

COLUMNS = {"a": 3, "b": 4, "c": 2}
WORKLOADS = {
    "marginals": marginals(COLUMNS, ways=2),
    "mixed": [
        LinearQueries({"b": "prefix", "c": "cells"}, weight=2),
        LinearQueries({"a": "cells"}),
        LinearQueries({"b": "ranges"}),
        LinearQueries({}),
    ],
    "product": [LinearQueries({"b": "prefix", "a": "cells"}), LinearQueries({"a": "cells", "b": "cells"})],
    "separate": [LinearQueries({"a": "cells"})],
}
HISTOGRAM = np.random.default_rng(9).integers(0, 40, (3, 4, 2))


def planned(name, **options):
    return plan_workload(COLUMNS, WORKLOADS[name], unit=options.pop("unit", ONE_ROW), **options)


def exact_answers(plan, histogram):
    return [matrix @ histogram.ravel() for matrix in workload_matrices(plan)]


def without_noise(monkeypatch):
    monkeypatch.setattr(gaussian, "discrete_gaussian", lambda _, size: np.zeros(size, dtype=np.int64))
    monkeypatch.setattr(laplace, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))


def flat(answers):
    return np.concatenate([answer.ravel() for answer in answers])
