"""How near is `expected_accuracy` to what Adult gives, and how good is the model that `PrivateChoice` keeps?

The split of UCI, 20 runs or as many as stated, and the `fifty` features of `adult_rows.py`; δ is 1e-6. Made-up rows
have the public number of rows and the shares of classes of the census, and the default strength. The candidates are
logistic regressions of three penalties. Written beside it: a chart of both, if a path is stated.
"""

import sys
import time

import numpy as np
from adult_rows import fifty
from sklearn.base import clone

import sfumato as sf

RUNS = 20
EPSILONS = (0.1, 1, 3, 10)
SHARES = (0.75, 0.25)
PENALTIES = (1, 100, 10_000)


def logistic(epsilon, **changes):
    return sf.learn.LogisticRegression(
        epsilon=epsilon, delta="1e-6", bounds=(0, 1), l1_norm=12, classes=[False, True], **changes
    )


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    rows, labels = fifty("train")
    test = fifty("test")
    drawn = {"Adult": [], "made-up rows": []}
    for epsilon in EPSILONS:
        began = time.process_time()
        found = sf.learn.expected_accuracy(
            logistic(epsilon), rows=len(rows), columns=rows.shape[1], shares=SHARES, runs=max(runs, 2)
        )
        seconds = time.process_time() - began
        drawn["made-up rows"].append(found.accuracies)
        drawn["Adult"].append([logistic(epsilon).fit(rows, labels).score(*test) for _ in range(runs)])
        chosen = []
        for _ in range(runs):
            candidates = [logistic(epsilon / 3, method="descent", regularization=one) for one in PENALTIES]
            chosen.append(sf.learn.PrivateChoice(candidates, epsilon=epsilon).fit(rows, labels))
        alone = [
            np.mean([clone(one).fit(rows, labels).score(*test) for _ in range(runs)]) for one in candidates
        ]  # fmt: skip
        print(
            f"epsilon {epsilon}: expected {found.mean:.4f} ± {found.margin:.4f} (majority {found.majority:.3f}, best "
            f"{found.best:.3f}; {seconds:.1f} s of processor), on Adult {np.mean(drawn['Adult'][-1]):.4f}; chosen "
            f"{np.mean([one.score(*test) for one in chosen]):.4f} at {chosen[0].guarantee_}, places "
            f"{[one.best_index_ for one in chosen]}, alone {', '.join(f'{one:.4f}' for one in alone)}"
        )
    if len(sys.argv) > 2:
        figure = sf.plots.accuracy_over_epsilon(EPSILONS, drawn, majority=1 - np.mean(test[1]))
        sf.plots.save(figure, sys.argv[2])


if __name__ == "__main__":
    main()
