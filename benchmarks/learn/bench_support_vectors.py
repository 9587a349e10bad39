"""How accurate are linear support vectors on Adult, and how long does a fit take, beside those of scikit-learn?

The split of UCI, 20 runs or as many as stated, public bounds and the 50 features of `bench_logistic.py`. Each row is a
unit that is added or removed, and δ is 1e-6. All other arguments are defaults.
"""

import sys
import time

import numpy as np
from bench_logistic import CATEGORIES, adult
from sklearn import svm

import sfumato as sf

RUNS = 20


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    everybody = sf.datasets.load_adult("all")
    values = {name: sorted(set(everybody[name].to_pylist())) for name in CATEGORIES}
    rows, labels = adult("train", values)
    test_rows, test_labels = adult("test", values)
    print(f"majority {1 - test_labels.mean():.4f}, {rows.shape[1]} features")
    began = time.process_time()
    peer = svm.LinearSVC().fit(rows, labels)
    print(f"scikit-learn: {peer.score(test_rows, test_labels):.4f}, {time.process_time() - began:.2f} s of processor")
    for epsilon in ("0.1", 1, 3, 10):
        scores, times = [], []
        for _ in range(runs):
            model = sf.learn.LinearSVC(
                epsilon=epsilon, delta="1e-6", bounds=(0, 1), l1_norm=12, classes=[False, True]
            )  # fmt: skip
            began = time.process_time()
            model.fit(rows, labels)
            times.append(time.process_time() - began)
            scores.append(model.score(test_rows, test_labels))
        print(f"epsilon {epsilon}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), {min(times):.2f} s of processor")


if __name__ == "__main__":
    main()
