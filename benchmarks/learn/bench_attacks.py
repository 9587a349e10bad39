"""How well do attacks do on a model that learns its rows by heart, and on private ones?

Made-up rows: 200 of 20 numbers, with labels that the first number decides with noise. A seed makes the rows, and
another one is taken in each run. Ten models are attacked in each. Shown are means over 5 runs, or as many as stated, of
the area under the curve and of the largest advantage, beside what ε allows. Canaries are the rows with a wrong class.
Then the lower bound on ε of a hundred canaries, each with a value of its own. Written: a chart of the last model's
audit, if a path is stated.
"""

import sys
import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import sfumato as sf

RUNS = 5
MODELS = 10
EPSILONS = ("0.1", 1, 10)
DELTA = "1e-6"
BOUNDED = {"bounds": (-4, 4), "classes": [0, 1]}


def rows(seed):
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(200, 20))
    return features, (features[:, 0] + draw.normal(size=200) > 0).astype(int)


def models():
    yield "forest of scikit-learn", RandomForestClassifier(20)
    yield "logistic regression of scikit-learn, C = 1000", LogisticRegression(C=1e3, max_iter=1000)
    for epsilon in EPSILONS:
        yield f"LogisticRegression, ε = {epsilon}", sf.learn.LogisticRegression(epsilon=epsilon, delta=DELTA, **BOUNDED)
        yield f"GaussianNB, ε = {epsilon}", sf.learn.GaussianNB(epsilon=epsilon, **BOUNDED)
        forest = sf.learn.RandomForestClassifier(epsilon=epsilon, n_estimators=10, **BOUNDED)
        yield f"RandomForestClassifier, ε = {epsilon}", forest


def tight(epsilon):
    """Canaries at the worst, with a score that reads the number that each moves."""
    values = np.arange(100).reshape(-1, 1)
    model = sf.learn.CategoricalNB(epsilon=epsilon, bounds=(0, 99), classes=[0, 1])
    return sf.learn.audit(
        model, np.repeat(values, 10, axis=0), np.arange(1000) % 2, attacks=["canaries"], runs=20,
        canaries=(values, np.ones(100, int)), score=lambda model, *_: model.feature_log_prob_[0][1],
    )  # fmt: skip


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    for name, model in models():
        began = time.process_time()
        audits = [
            sf.learn.audit(model, *rows(seed), runs=MODELS, attacks=["loss", "likelihood_ratio", "canaries"])
            for seed in range(runs)
        ]
        seconds = (time.process_time() - began) / runs
        said = []
        for place, finding in enumerate(audits[0].findings):
            found = [one.findings[place] for one in audits]
            area, advantage = np.mean([one.area for one in found]), np.mean([one.advantage for one in found])
            said.append(f"{finding.attack} {area:.3f}, {advantage:.2f}")
        allowed = audits[0].findings[0].allowed
        print(
            f"{name}: {'; '.join(said)}; allowed {'1' if allowed is None else f'{allowed:.3f}'}; refuted "
            f"{sum(one.is_refuted for one in audits)} of {runs}; {seconds:.1f} s of processor",
            flush=True,
        )
    for epsilon in EPSILONS:
        found = [tight(epsilon) for _ in range(runs)]
        bounds = np.mean([one.epsilon_lower_bound for one in found])
        print(f"CategoricalNB, a value for each canary, ε = {epsilon}: ε ≥ {bounds:.2f} at 95%")
    if len(sys.argv) > 2:
        sf.plots.save(audits[-1].picture(), sys.argv[2])


if __name__ == "__main__":
    main()
