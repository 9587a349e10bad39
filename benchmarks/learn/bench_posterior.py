"""How accurate is naive Bayes by draws from posteriors on Adult, beside the same model by noisy counts?

The split of UCI, 10 runs or as many as stated: six categories and the years of education with public bounds, and with
"two values" eight 0/1 columns. Each row is a unit that is added or removed; δ is 0. All other arguments are defaults.
"""

import sys
import time

import numpy as np
from adult_rows import EPSILONS, seven, seven_ends, values_listed

from sfumato.learn import CategoricalNB, PosteriorNB

RUNS = 10


def bits(rows):
    """Eight 0/1 columns of the seven: of marriage, relationships, work, sex, race and the years of education."""
    listed = values_listed()
    own, named = rows.T, {}
    for place, name in enumerate(("workclass", "marital_status", "occupation", "relationship", "race", "sex")):
        named[name] = lambda value, place=place, name=name: own[place] == listed[name].index(value)
    columns = [
        named["marital_status"]("Married-civ-spouse"), named["relationship"]("Own-child"),
        named["occupation"]("Exec-managerial"), named["occupation"]("Prof-specialty"), named["workclass"]("Private"),
        named["sex"]("Male"), named["race"]("White"), own[6] >= 13,  # a bachelor's degree
    ]  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float64)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    rows, labels = seven("train")
    test_rows, test_labels = seven("test")
    print(f"majority {1 - test_labels.mean():.4f}")
    for name, bounds, made in (("seven columns", seven_ends(), lambda one: one), ("two values", (0, 1), bits)):
        for kind in (CategoricalNB, PosteriorNB):
            for epsilon in EPSILONS:
                scores, times = [], []
                for _ in range(runs):
                    model = kind(epsilon=epsilon, bounds=bounds, classes=[False, True])
                    began = time.process_time()
                    model.fit(made(rows), labels)
                    times.append(time.process_time() - began)
                    scores.append(model.score(made(test_rows), test_labels))
                print(
                    f"{name}, {kind.__name__}, ε {epsilon}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), "
                    f"{min(times):.2f} s of processor", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
