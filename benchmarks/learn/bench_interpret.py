"""How accurate is interpret's private EBM on Adult by its defaults, beside `ExplainableBoosting`?

The split of UCI, 20 runs or as many as stated, δ = 1e-6, and the features of `twelve` in `bench_classifiers.py`, which
measures ours. It runs in an environment of its own: make peers PEERS=benchmarks/peers/interpret/. Bounds of numbers and
the kinds of columns are declared. Times are of the processor, the least of all runs.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from adult_rows import CATEGORIES, EPSILONS, LOWER, UPPER, five, seven

import sfumato as sf

RUNS = sys.argv[1] if len(sys.argv) > 1 else "20"
PEER = Path(__file__).parents[1] / "peers" / "interpret" / ".venv" / "bin" / "python"
PEER_CODE = """
import sys, time, warnings, numpy as np
from interpret.privacy import DPExplainableBoostingClassifier
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
numbers = len(data["lower"])
bounds = {place: (float(data["lower"][place]), float(data["upper"][place])) for place in range(numbers)}
def table(rows):
    found = rows.astype(object)
    found[:, numbers:] = rows[:, numbers:].astype(int).astype(str)
    return found
rows, test_rows = table(data["rows"]), table(data["test_rows"])
kinds = ["continuous"] * numbers + ["nominal"] * (rows.shape[1] - numbers)
for epsilon in sys.argv[3:]:
    scores, times = [], []
    for seed in range(int(sys.argv[2])):
        model = DPExplainableBoostingClassifier(
            epsilon=float(epsilon), delta=1e-6, feature_types=kinds, privacy_bounds=bounds, random_state=seed, n_jobs=1
        )
        began = time.process_time()
        model.fit(rows, data["labels"])
        times.append(time.process_time() - began)
        scores.append((model.predict(test_rows) == data["test_labels"]).mean())
    print(f"epsilon {epsilon}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), {min(times):.3f} s", flush=True)
"""


def twelve(part):
    """Five numbers, the places of six categories in their lists, a birth in the United States, and labels."""
    rows, labels = five(part)
    born = np.array(sf.datasets.load_adult(part)["native_country"].to_pylist()) == "United-States"
    return np.column_stack([rows, seven(part)[0][:, : len(CATEGORIES)], born]), labels


def main():
    if not PEER.exists():
        print("interpret is not installed: make peers PEERS=benchmarks/peers/interpret/")
        return
    names = ("rows", "labels", "test_rows", "test_labels")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "adult.npz"
        arrays = dict(zip(names, (*twelve("train"), *twelve("test")), strict=True))
        np.savez(path, lower=LOWER, upper=UPPER, **arrays)
        subprocess.run([str(PEER), "-c", PEER_CODE, str(path), RUNS, *EPSILONS], check=True)


if __name__ == "__main__":
    main()
