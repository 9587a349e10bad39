"""How accurate are boosted models on Adult, and how long does a fit take, beside interpret's private EBM?

The split of UCI, 20 runs or as many as stated, public bounds, five numbers, six categories and whether somebody was
born in the United States, through a session. Each row is a unit that is added or removed, and δ is 10^-6. All other
arguments are defaults.
"""

import sys
import time

import numpy as np

import sfumato as sf
from sfumato.learn import ExplainableBoosting, GradientBoostingClassifier

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
NUMBERS = {
    "age": sf.integer(17, 90), "education_num": sf.integer(1, 16), "capital_gain": sf.integer(0, 20_000),
    "capital_loss": sf.integer(0, 2_500), "hours_per_week": sf.integer(1, 99),
}  # fmt: skip
CATEGORIES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
QUERY = f"SELECT {', '.join([*NUMBERS, *CATEGORIES])}, native_country = 'United-States' AS us, income FROM adult"


def curator():
    """A session on adult.data; the codebook of the census lists the categories."""
    everybody = sf.datasets.load_adult("all")
    listed = {
        name: sf.text(values=sorted(set(everybody[name].to_pylist())))
        for name in (*CATEGORIES, "income", "native_country")
    }
    return sf.open(
        sf.datasets.load_adult(), name="adult", columns=NUMBERS | listed, budget=sf.ApproxDP(10**6, "0.1")
    )  # fmt: skip


def main():
    test = sf.datasets.load_adult("test").to_pydict()
    test["us"] = [one == "United-States" for one in test["native_country"]]
    income = np.array(test["income"])
    print(f"majority {(income == '<=50K').mean():.4f}")
    for name, model in MODELS.items():
        for epsilon in ("0.1", 1, 3, 10):
            scores, times = [], []
            for _ in range(RUNS):
                with curator() as adult:
                    rows = adult.training_set(QUERY, target="income")
                    fitted = model(epsilon=epsilon, delta="1e-6")
                    began = time.process_time()
                    fitted.fit(rows)
                    times.append(time.process_time() - began)
                scores.append((fitted.predict(test) == income).mean())
            print(
                f"{name}, epsilon {epsilon}: {np.mean(scores):.4f} (sd {np.std(scores):.4f}), "
                f"{min(times):.2f} s of processor", flush=True,
            )  # fmt: skip


MODELS = {
    "ExplainableBoosting": ExplainableBoosting, "GradientBoostingClassifier": GradientBoostingClassifier
}  # fmt: skip

if __name__ == "__main__":
    main()
