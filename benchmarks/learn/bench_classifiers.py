"""How accurate are classifiers on Adult, and how long does a fit take, beside diffprivlib and models without privacy?

The split of UCI, 20 runs or as many as stated, public bounds. Further words choose models by what their names contain;
a path that ends in .png has a picture of three of ours. Each row is a unit that is added or removed; all arguments that
are not shown are defaults. diffprivlib runs in an environment of its own (make peers), where there is one; there a row
is replaced by another. Its arguments are the best of those that were tried on Adult. Times are of the processor, the
least of all runs. `five` are numbers, `scaled` the same between 0 and 1. `fifty` are these and 0/1 features of six
categories and of a birth in the United States; `twelve` are the same as columns of a session. `seven` are categories
and the years of education.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from adult_rows import CATEGORIES, EPSILONS, LOWER, NUMBERS, PEER, UPPER, fifty, five, seven, seven_ends, values_listed
from sklearn import ensemble, linear_model, naive_bayes, svm

import sfumato as sf
from sfumato import learn

RUNS = next((int(word) for word in sys.argv[1:] if word.isdigit()), 20)
PICTURE = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
WORDS = [word for word in sys.argv[1:] if not word.isdigit() and word != PICTURE]
DRAWN = ("LogisticRegression", "RandomForestClassifier", "ExplainableBoosting")
QUERY = f"SELECT {', '.join([*NUMBERS, *CATEGORIES])}, native_country = 'United-States' AS us, income FROM adult"
ARRAYS = {
    "five": {"bounds": (LOWER, UPPER)}, "fifty": {"bounds": (0, 1), "l1_norm": 12}, "seven": {"bounds": seven_ends()},
}  # fmt: skip
OURS = {
    "LogisticRegression": (learn.LogisticRegression, "fifty", "1e-6", {}),
    "LogisticRegression, pure": (learn.LogisticRegression, "fifty", 0, {}),
    "LinearSVC": (learn.LinearSVC, "fifty", "1e-6", {}),
    "GaussianNB": (learn.GaussianNB, "five", 0, {}),
    "CategoricalNB": (learn.CategoricalNB, "seven", 0, {}),
    "RandomForestClassifier, 25 trees of depth 10": (
        learn.RandomForestClassifier, "five", 0, {"n_estimators": 25, "max_depth": 10},
    ),
    "RandomForestClassifier": (learn.RandomForestClassifier, "twelve", 0, {}),
    "GradientBoostingClassifier": (learn.GradientBoostingClassifier, "twelve", "1e-6", {}),
    "ExplainableBoosting": (learn.ExplainableBoosting, "twelve", "1e-6", {}),
}  # fmt: skip
WITHOUT = {
    "logistic regression": (linear_model.LogisticRegression(max_iter=5_000), "fifty"),
    "linear support vectors": (svm.LinearSVC(), "fifty"),
    "Gaussian naive Bayes": (naive_bayes.GaussianNB(), "five"),
    "random forest, 100 trees of depth 10": (ensemble.RandomForestClassifier(max_depth=10, random_state=0), "fifty"),
    "boosting of histograms": (ensemble.HistGradientBoostingClassifier(random_state=0), "fifty"),
}
PEER_CODE = """
import json, sys, time, warnings, numpy as np
from diffprivlib import models
warnings.simplefilter("ignore")
runs, epsilons = int(sys.argv[2]), json.loads(sys.argv[3])
for name, kind, features, arguments in json.loads(sys.argv[4]):
    data = np.load(f"{sys.argv[1]}/{features}.npz")
    if "bounds" in arguments:
        arguments["bounds"] = tuple(map(np.array, arguments["bounds"]))
    for epsilon in epsilons:
        scores, times = [], []
        for seed in range(runs):
            model = getattr(models, kind)(epsilon=float(epsilon), random_state=seed, **arguments)
            began = time.process_time()
            model.fit(data["rows"], data["labels"])
            times.append(time.process_time() - began)
            scores.append(float(model.score(data["test_rows"], data["test_labels"])))
        print(json.dumps([name, features, epsilon, scores, times]), flush=True)
"""
PEERS = [
    ("diffprivlib LogisticRegression, C = 0.1", "LogisticRegression", "fifty", {"C": 0.1, "data_norm": 12**0.5}),
    ("diffprivlib LogisticRegression, C = 0.1", "LogisticRegression", "scaled", {"C": 0.1, "data_norm": 5**0.5}),
    ("diffprivlib GaussianNB", "GaussianNB", "five", {"bounds": (LOWER, UPPER)}),
    ("diffprivlib RandomForestClassifier, 25 trees of depth 10", "RandomForestClassifier", "five", {
        "bounds": (LOWER, UPPER), "classes": [False, True], "n_estimators": 25, "max_depth": 10,
    }),
]  # fmt: skip


def curator():
    """A session on adult.data."""
    columns = {name: sf.integer(*ends) for name, ends in NUMBERS.items()}
    listed = {name: sf.text(values=values) for name, values in values_listed().items()}
    return sf.open(
        sf.datasets.load_adult(), name="adult", columns=columns | listed, budget=sf.ApproxDP(10**6, "0.1")
    )  # fmt: skip


def measured(kind, features, delta, arguments, data):
    """The accuracies and times of one model at each ε."""
    for epsilon in EPSILONS:
        scores, times = [], []
        for _ in range(RUNS):
            if features == "twelve":
                with curator() as adult:
                    model, training = (
                        kind(epsilon=epsilon, delta=delta, **arguments),
                        adult.training_set(QUERY, target="income"),
                    )
                    began = time.process_time()
                    model.fit(training)
                    times.append(time.process_time() - began)
                scores.append((model.predict(data["twelve"][0]) == data["twelve"][1]).mean())
            else:
                rows, labels, test_rows, test_labels = data[features]
                model = kind(epsilon=epsilon, delta=delta, classes=[False, True], **ARRAYS[features], **arguments)
                began = time.process_time()
                model.fit(rows, labels)
                times.append(time.process_time() - began)
                scores.append(model.score(test_rows, test_labels))
        yield epsilon, scores, times


def beside(data):
    """The same of diffprivlib."""
    with TemporaryDirectory() as folder:
        for features in ("five", "scaled", "fifty"):
            names = ("rows", "labels", "test_rows", "test_labels")
            np.savez(Path(folder) / features, **dict(zip(names, data[features], strict=True)))
        chosen = [one for one in PEERS if not WORDS or any(word in one[0] for word in WORDS)]
        command = [str(PEER), "-c", PEER_CODE, folder, str(RUNS), json.dumps(EPSILONS), json.dumps(chosen)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield json.loads(line)
        assert process.returncode == 0


def shown(name, features, delta, results):
    """One row of the table."""
    cells = [f"{np.mean(scores):.4f} ({np.std(scores):.4f})" for _, scores, _ in results]
    print(
        f"| {name} | {features} | {delta} | {' | '.join(cells)} | {min(min(times) for *_, times in results):.3f} s |",
        flush=True,
    )


def main():
    data = {
        name: (*made("train"), *made("test")) for name, made in (("five", five), ("fifty", fifty), ("seven", seven))
    }
    rows, labels, test_rows, test_labels = data["fifty"]
    data["scaled"] = (rows[:, :5], labels, test_rows[:, :5], test_labels)
    test = sf.datasets.load_adult("test").to_pydict()
    test["us"] = [one == "United-States" for one in test["native_country"]]
    data["twelve"] = (test, np.array(test["income"]))
    print(f"majority {1 - data['five'][3].mean():.4f}\n")
    print("| model | features | δ |", " | ".join(f"ε = {epsilon}" for epsilon in EPSILONS), "| a fit |")
    print("|---" * (len(EPSILONS) + 4) + "|")
    found: dict = {}
    for name, (kind, features, delta, arguments) in OURS.items():
        if not WORDS or any(word in name for word in WORDS):
            found[name, features] = list(measured(kind, features, delta, arguments, data))
            shown(name, features, delta, found[name, features])
    if PEER.exists():
        for name, features, epsilon, scores, times in beside(data):
            results = found.setdefault((name, features), [])
            results.append((epsilon, scores, times))
            if len(results) == len(EPSILONS):
                shown(name, features, 0, results)
    if PICTURE:
        drawn = {name: [one for _, one, _ in runs] for (name, _), runs in found.items() if name in DRAWN}
        figure = sf.plots.accuracy_over_epsilon(
            [float(one) for one in EPSILONS], drawn, majority=1 - data["five"][3].mean()
        )  # fmt: skip
        sf.plots.save(figure, PICTURE)
    print("\nwithout privacy:")
    for name, (model, features) in WITHOUT.items():
        rows, labels, test_rows, test_labels = data[features]
        began = time.process_time()
        model.fit(rows, labels)
        seconds = time.process_time() - began
        print(f"{name}, {features}: {model.score(test_rows, test_labels):.4f}, {seconds:.2f} s")


if __name__ == "__main__":
    main()
