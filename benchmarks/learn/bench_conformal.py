"""How often do conformal sets contain the class of new rows of Adult, and how large are they?

The split of UCI, 20 runs or as many as stated, α = 0.1, and the `fifty` features of `adult_rows.py`. Each row is a unit
that is added or removed, and δ is 1e-6. Coverage is over the rows of the test part.
"""

import sys
import time

import numpy as np
from adult_rows import fifty

import sfumato as sf

RUNS = 20


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    rows, labels = fifty("train")
    test_rows, test_labels = fifty("test")
    for epsilon in ("0.1", 1, 3, 10):
        covered, sizes, scores, times = [], [], [], []
        for _ in range(runs):
            inner = sf.learn.LogisticRegression(
                epsilon=epsilon, delta="1e-6", bounds=(0, 1), l1_norm=12, classes=[False, True]
            )  # fmt: skip
            model = sf.learn.ConformalClassifier(inner)
            began = time.process_time()
            model.fit(rows, labels)
            times.append(time.process_time() - began)
            sets = model.predict_set(test_rows)
            covered.append(sets[np.arange(len(sets)), test_labels.astype(int)].mean())
            sizes.append(sets.sum(axis=1).mean())
            scores.append(model.score(test_rows, test_labels))
        print(
            f"epsilon {epsilon}: covered {np.mean(covered):.4f} (sd {np.std(covered):.4f}), "
            f"{np.mean(sizes):.3f} classes a set, accuracy {np.mean(scores):.4f}, {min(times):.2f} s of processor"
        )


if __name__ == "__main__":
    main()
