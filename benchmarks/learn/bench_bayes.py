"""How accurate is naive Bayes on Adult, and how long does a fit take, beside diffprivlib?

The split of UCI, 20 runs, public bounds. Gaussian naive Bayes has five numbers, and categorical naive Bayes six
categories and the years of education. Each row is a unit that is added or removed. All other arguments are defaults.
diffprivlib runs in an environment of its own (make peers), where there is one. There a row is replaced by another.
"""

import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sfumato as sf
from sfumato.learn import CategoricalNB, GaussianNB

RUNS = 20
NUMBERS = {
    "age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 20_000), "capital_loss": (0, 2_500),
    "hours_per_week": (1, 99),
}  # fmt: skip
CATEGORIES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
PEER = Path(__file__).parents[1] / "peers" / "diffprivlib" / ".venv" / "bin" / "python"
PEER_CODE = """
import sys, time, warnings, numpy as np
from diffprivlib.models import GaussianNB
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
bounds = (data["lower"], data["upper"])
for epsilon in (0.1, 1.0, 3.0, 10.0):
    scores, times = [], []
    for seed in range(int(sys.argv[2])):
        began = time.process_time()
        model = GaussianNB(epsilon=epsilon, bounds=bounds, priors=None, random_state=seed)
        model.fit(data["rows"], data["labels"])
        times.append(time.process_time() - began)
        scores.append(model.score(data["test_rows"], data["test_labels"]))
    print(f"diffprivlib, epsilon {epsilon}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), {min(times):.3f} s")
"""


def numbers(part):
    """Five numbers, clamped, and labels of a part of Adult."""
    table = sf.datasets.load_adult(part)
    columns = [np.clip(table[name].to_numpy(), low, high) for name, (low, high) in NUMBERS.items()]
    return np.stack(columns, axis=1).astype(np.float64), labels_of(table)


def labels_of(table):
    return np.array(table["income"].to_pylist()) == ">50K"


def categories(part, values):
    """Places of categories in their lists, the years of education, and labels of a part of Adult."""
    table = sf.datasets.load_adult(part)
    columns = [np.searchsorted(values[name], table[name].to_pylist()) for name in CATEGORIES]
    return np.stack([*columns, table["education_num"].to_numpy()], axis=1).astype(np.float64), labels_of(table)


def measured(name, model, data):
    """Accuracies of one kind of model at each ε, pure and with δ."""
    rows, labels, test_rows, test_labels = data
    for delta in (0, 1e-6):
        for epsilon in ("0.1", 1, 3, 10):
            scores, times = [], []
            for _ in range(RUNS):
                fitted = model(epsilon=epsilon, delta=delta)
                began = time.process_time()
                fitted.fit(rows, labels)
                times.append(time.process_time() - began)
                scores.append(fitted.score(test_rows, test_labels))
            print(
                f"{name}, epsilon {epsilon}, delta {delta}, {fitted.noise_['method']}: {np.mean(scores):.4f} "
                f"(sd {np.std(scores):.4f}), {min(times):.3f} s of processor"
            )


def main():
    lower, upper = zip(*NUMBERS.values(), strict=True)
    five = (*numbers("train"), *numbers("test"))
    print(f"majority {1 - five[3].mean():.4f}")
    classes = [False, True]
    measured("GaussianNB", lambda **cost: GaussianNB(**cost, bounds=(lower, upper), classes=classes), five)
    everybody = sf.datasets.load_adult("all")
    values = {name: sorted(set(everybody[name].to_pylist())) for name in CATEGORIES}
    ends = ([0] * 6 + [1], [*(len(values[name]) - 1 for name in CATEGORIES), 16])
    listed = (*categories("train", values), *categories("test", values))
    measured("CategoricalNB", lambda **cost: CategoricalNB(**cost, bounds=ends, classes=classes), listed)
    if PEER.exists():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "adult.npz"
            arrays = dict(zip(("rows", "labels", "test_rows", "test_labels"), five, strict=True))
            np.savez(path, lower=lower, upper=upper, **arrays)
            subprocess.run([str(PEER), "-c", PEER_CODE, str(path), str(RUNS)], check=True)


if __name__ == "__main__":
    main()
