"""How large is the error of private linear regression, beside regression without privacy?

Hours of work a week on Adult [BK96], from 49 features: numbers and 0/1 features, with public bounds; the split of UCI,
20 runs, each row a unit that is added or removed. Errors are root mean squares on the test part, in hours. The worst
useful model says the mean of all. Made-up data follow: 10 features, of which y is a known linear function.

diffprivlib 0.6.6 is no peer: it bounds squares by max(|lower|, |lower|)². With the bounds (0, 100) its matrix of
products is therefore released without noise (issues 104, 105 and 110 of its repository).
"""

import sys
import time

import numpy as np
from sklearn import linear_model

import sfumato as sf
from sfumato.learn import LinearRegression, Ridge

RUNS = 20
NUMBERS = {"age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 20_000), "capital_loss": (0, 2_500)}
CATEGORIES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
HOURS = (1, 99)


def adult(part, values):
    """Scaled numbers, 0/1 features and hours of a part of Adult."""
    table = sf.datasets.load_adult(part)
    columns = [
        (np.clip(table[name].to_numpy(), low, high) - low) / (high - low) for name, (low, high) in NUMBERS.items()
    ]
    for name in CATEGORIES:
        found = np.array(table[name].to_pylist())
        columns += [(found == value).astype(float) for value in values[name]]
    columns.append((np.array(table["native_country"].to_pylist()) == "United-States").astype(float))
    return np.stack(columns, axis=1), table["hours_per_week"].to_numpy().astype(float)


def made_up(size, seed):
    """Rows, and a target that follows from them, with noise of standard deviation 0.1."""
    generator = np.random.default_rng(seed)
    rows = generator.uniform(-1, 1, size=(size, 10))
    return rows, np.clip(rows @ np.linspace(-0.2, 0.2, 10) + generator.normal(size=size) * 0.1, -1, 1)


def error(model, rows, target):
    return float(np.sqrt(np.mean((model.predict(rows) - target) ** 2)))


def measured(data, declared, *, runs):
    """Errors and times of each model at each ε."""
    rows, target, test_rows, test_target = data
    print(f"  the mean of all {np.sqrt(np.mean((test_target - target.mean()) ** 2)):.4f}")
    print(f"  scikit-learn {error(linear_model.LinearRegression().fit(rows, target), test_rows, test_target):.4f}")
    for kind in (LinearRegression, Ridge):
        for delta in ("1e-6", 0):
            for epsilon in ("0.1", 1, 3, 10):
                errors, times, penalties = [], [], []
                for _ in range(runs):
                    model = kind(epsilon=epsilon, delta=delta, **declared)
                    began = time.process_time()
                    model.fit(rows, target)
                    times.append(time.process_time() - began)
                    errors.append(error(model, test_rows, test_target))
                    penalties.append(model.noise_["penalty"])
                print(
                    f"  {kind.__name__}, {model.noise_['method']}, epsilon {epsilon}, delta {delta}: "
                    f"{np.mean(errors):.4f} (sd {np.std(errors):.4f}), penalty {np.mean(penalties):.0f}, "
                    f"{min(times):.3f} s of processor"
                )


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    everybody = sf.datasets.load_adult("all")
    values = {name: sorted(set(everybody[name].to_pylist())) for name in CATEGORIES}
    data = (*adult("train", values), *adult("test", values))
    print(f"Adult, hours a week, {data[0].shape[1]} features")
    measured(data, {"bounds": (0, 1), "l1_norm": 11, "norm": "3.3167", "target_bounds": HOURS}, runs=runs)
    for size in (1_000, 10_000, 100_000):
        print(f"made up, {size:,} rows, 10 features")
        data = (*made_up(size, 1), *made_up(10_000, 2))
        measured(data, {"bounds": (-1, 1), "target_bounds": (-1, 1)}, runs=runs)


if __name__ == "__main__":
    main()
