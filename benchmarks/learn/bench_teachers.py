"""How well does a student of noisy votes tell scikit-learn's digits, by ε and by how many teachers there are?

1,200 rows are private, of 64 pixels and ten classes; 200 are public, without labels; 397 test the student. Each row is
a unit that is added or removed; δ is 10^-5. Means of several fits. Beside them: logistic regression by noisy descent
on all private rows, and the nearest row without privacy.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from sfumato.learn import LogisticRegression, PATEClassifier

RUNS = 5
DECLARED = {"delta": "1e-5", "bounds": (0, 16), "classes": range(10)}
EPSILONS = (1, 2, 4, 8)
PIXELS, DIGITS = load_digits(return_X_y=True)
PRIVATE, PUBLIC, TEST = slice(0, 1_200), slice(1_200, 1_400), slice(1_400, None)


def mean_score(model, runs):
    """The mean test accuracy of some fits, its standard deviation, and the least time of one."""
    scores, times = [], []
    for _ in range(runs):
        began = time.process_time()
        model.fit(PIXELS[PRIVATE], DIGITS[PRIVATE])
        times.append(time.process_time() - began)
        scores.append(model.score(PIXELS[TEST], DIGITS[TEST]))
    return f"{np.mean(scores):.3f} ± {np.std(scores):.3f} ({min(times):.2f} s)"


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    warnings.simplefilter("ignore")
    print("without privacy, the nearest row:", mean_score(KNeighborsClassifier(1), 1))
    for epsilon in EPSILONS:
        print(f"ε = {epsilon}")
        print("  noisy descent on all rows  ", mean_score(LogisticRegression(epsilon=epsilon, **DECLARED), runs))
        for teachers in (50, 100, 200, 400):
            for labels in (30, 60, 120):
                model = PATEClassifier(
                    epsilon=epsilon, public=PIXELS[PUBLIC], n_teachers=teachers, max_labels=labels, **DECLARED
                )
                print(f"  {teachers:4} teachers, {labels:3} labels ", mean_score(model, runs), flush=True)


if __name__ == "__main__":
    main()
