"""How near are private scalers, components and clusters on Adult to those of scikit-learn, and what time do they take?

The training part of UCI, 20 runs or as many as the first argument says, public bounds, five numbers. Each row is a unit
that is added or removed. All other arguments are defaults. Without privacy each measure is 0, 1 and 1.
diffprivlib runs in an environment of its own (make peers), where there is one. There a row is replaced by another.
"""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from adult_rows import LOWER, PEER, UPPER, five
from sklearn import cluster, decomposition

from sfumato.learn import PCA, KMeans, StandardScaler

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
CLUSTERS, COMPONENTS = 5, 2
PEER_CODE = """
import sys, time, warnings, numpy as np
from diffprivlib.models import PCA, KMeans, StandardScaler
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
rows, moments = data["rows"], data["moments"]
bounds, norm, width = (-1, 1), float(np.sqrt(rows.shape[1])), rows.shape[1]
def scaler(model):
    return max(np.abs(model.mean_ - rows.mean(axis=0)).max(), np.abs(model.scale_ - rows.std(axis=0)).max())
def kept(model):
    return np.trace(model.components_ @ moments @ model.components_.T) / float(data["best"])
def inertia(model):
    gaps = ((rows[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    return gaps.min(axis=1).sum() / float(data["inertia"])
kinds = {
    "StandardScaler": (lambda e, s: StandardScaler(epsilon=e, bounds=bounds, random_state=s), scaler),
    "PCA": (lambda e, s: PCA(2, epsilon=e, data_norm=norm, bounds=bounds, random_state=s), kept),
    "KMeans": (lambda e, s: KMeans(5, epsilon=e, bounds=bounds, random_state=s), inertia),
}
for name, (made, measure) in kinds.items():
    for epsilon in (0.1, 1.0, 3.0, 10.0):
        found, times = [], []
        for seed in range(int(sys.argv[2])):
            model = made(epsilon, seed)
            began = time.process_time()
            model.fit(rows)
            times.append(time.process_time() - began)
            found.append(measure(model))
        shown = f"{np.mean(found):.4f} (sd {np.std(found):.4f}), {min(times):.3f} s"
        print(f"diffprivlib {name}, epsilon {epsilon}: {shown}")
"""


def measured(name, made, measure, rows):
    """The measure of models at each ε, pure and with δ, and the processor's time of a fit."""
    for delta in (0, 1e-6):
        for epsilon in ("0.1", 1, 3, 10):
            found, times = [], []
            for _ in range(RUNS):
                model = made(epsilon=epsilon, delta=delta, bounds=(-1, 1))
                began = time.process_time()
                model.fit(rows)
                times.append(time.process_time() - began)
                found.append(measure(model))
            print(
                f"{name}, epsilon {epsilon}, delta {delta}, {model.noise_['method']}: {np.mean(found):.4f} "
                f"(sd {np.std(found):.4f}), {min(times):.3f} s of processor"
            )


def main():
    rows = 2 * (five("train")[0] - np.array(LOWER)) / (np.array(UPPER) - np.array(LOWER)) - 1  # to [−1, 1]
    moments = np.cov(rows.T)
    best = decomposition.PCA(COMPONENTS).fit(rows).explained_variance_.sum()
    inertia = cluster.KMeans(CLUSTERS, n_init=10, random_state=0).fit(rows).inertia_

    def off(model):
        """The largest error of a mean or a scale, in halves of the distance of the bounds."""
        gaps = (model.mean_ - rows.mean(axis=0), model.scale_ - rows.std(axis=0))
        return max(np.abs(gap).max() for gap in gaps)

    def kept(model):
        """The variance along the components, as a share of that along the best."""
        return np.trace(model.components_ @ moments @ model.components_.T) / best

    def ratio(model):
        """The sum of squared distances to the nearest centers, over that of scikit-learn."""
        return -model.score(rows) / inertia

    measured("StandardScaler, largest error", StandardScaler, off, rows)
    measured("PCA, share of variance", lambda **cost: PCA(COMPONENTS, **cost), kept, rows)
    measured("KMeans, ratio of inertia", lambda **cost: KMeans(CLUSTERS, **cost), ratio, rows)
    one = -KMeans(1, epsilon=1000, bounds=(-1, 1)).fit(rows).score(rows) / inertia
    print(f"KMeans with one center: {one:.4f}")
    if PEER.exists():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "adult.npz"
            np.savez(path, rows=rows, moments=moments, best=best, inertia=inertia)
            subprocess.run([str(PEER), "-c", PEER_CODE, str(path), str(RUNS)], check=True)


if __name__ == "__main__":
    main()
