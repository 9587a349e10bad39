"""How accurate is logistic regression on Adult, and how long does a fit take, beside diffprivlib?

The split of UCI, 20 runs, public bounds and 0/1 features of six categories: 50 features. Each row is a unit that is
added or removed. All other arguments are defaults. diffprivlib runs in an environment of its own (make peers), where
there is one. There a row is replaced by another.
The last line is a million rows of 50 features: seconds, and memory beyond the data.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sfumato as sf
from sfumato.learn import LogisticRegression

RUNS = 20
NUMBERS = {
    "age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 20_000), "capital_loss": (0, 2_500),
    "hours_per_week": (1, 99),
}  # fmt: skip
CATEGORIES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
PEER = Path(__file__).parents[1] / "peers" / "diffprivlib" / ".venv" / "bin" / "python"
PEER_CODE = """
import sys, time, warnings, numpy as np
from diffprivlib.models import LogisticRegression
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
norm = float(np.sqrt(12))
for epsilon in (0.1, 1.0):
    scores, times = [], []
    for seed in range(int(sys.argv[2])):
        began = time.process_time()
        model = LogisticRegression(epsilon=epsilon, data_norm=norm, C=0.1, random_state=seed)
        model.fit(data["rows"], data["labels"])
        times.append(time.process_time() - began)
        scores.append(model.score(data["test_rows"], data["test_labels"]))
    print(f"diffprivlib C=0.1, epsilon {epsilon}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), {min(times):.2f} s")
"""


def adult(part, values):
    """Scaled numbers, 0/1 features and labels of a part of Adult."""
    table = sf.datasets.load_adult(part)
    columns = [
        (np.clip(table[name].to_numpy(), low, high) - low) / (high - low) for name, (low, high) in NUMBERS.items()
    ]
    for name in CATEGORIES:
        found = np.array(table[name].to_pylist())
        columns += [(found == value).astype(float) for value in values[name]]
    columns.append((np.array(table["native_country"].to_pylist()) == "United-States").astype(float))
    return np.stack(columns, axis=1), np.array(table["income"].to_pylist()) == ">50K"


def measured(rows, labels, test_rows, test_labels):
    for delta in (1e-6, 0):
        for epsilon in ("0.1", 1, 3, 10):
            scores, times = [], []
            for _ in range(RUNS):
                model = LogisticRegression(
                    epsilon=epsilon, delta=delta, bounds=(0, 1), l1_norm=12, classes=[False, True]
                )
                began = time.process_time()
                model.fit(rows, labels)
                times.append(time.process_time() - began)
                scores.append(model.score(test_rows, test_labels))
            name = model.noise_["method"]
            print(
                f"{name}, epsilon {epsilon}, delta {delta}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), "
                f"{min(times):.2f} s of processor"
            )


def large(delta):
    """A million rows of 50 features, of which 12 are not 0."""
    generator = np.random.default_rng(0)
    rows = (generator.random((1_000_000, 50)) < 0.2).astype(np.float64)
    labels = rows[:, 0] + rows[:, 1] + generator.random(len(rows)) > 1.2
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, busy = time.perf_counter(), time.process_time()
    LogisticRegression(epsilon=1, delta=delta, bounds=(0, 1), l1_norm=12, classes=[False, True]).fit(rows, labels)
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    beyond = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    print(
        f"10^6 rows of 50 features, delta {delta}: {seconds:.1f} s, {busy:.1f} s of processor, {beyond:.2f} GiB "
        f"beyond the data"
    )


def main():
    if "large" in sys.argv:
        large(float(sys.argv[2]))
        return
    everybody = sf.datasets.load_adult("all")
    values = {name: sorted(set(everybody[name].to_pylist())) for name in CATEGORIES}
    data = (*adult("train", values), *adult("test", values))
    print(f"majority {1 - data[3].mean():.4f}, {data[0].shape[1]} features")
    measured(*data)
    for delta in ("1e-6", "0"):
        subprocess.run([sys.executable, __file__, "large", delta], check=True)
    if PEER.exists():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "adult.npz"
            np.savez(path, **dict(zip(("rows", "labels", "test_rows", "test_labels"), data, strict=True)))
            subprocess.run([str(PEER), "-c", PEER_CODE, str(path), str(RUNS)], check=True)


if __name__ == "__main__":
    main()
