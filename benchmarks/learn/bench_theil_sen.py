"""How far do outliers move a private line, beside least squares and beside scikit-learn's Theil-Sen without privacy?

Made-up data: x is uniform in [0, 100], y = 2x + 20 with noise of standard deviation 10, the bounds of y are 0 and 300.
Outliers have x > 50 and y = 0. Errors are root mean squares of predictions around the true line, for x from 0 to 100:
the median of all runs. Each row is a unit that is added or removed; δ is 0.
"""

import sys
import time

import numpy as np
from sklearn import linear_model

from sfumato.learn import LinearRegression, TheilSen

RUNS = 20
DECLARED = {"bounds": (0, 100), "target_bounds": (0, 300)}
EPSILONS = ("0.1", 1, 3, 10)
TRIED = ((LinearRegression, {}), (TheilSen, {}), (TheilSen, {"matchings": 1}), (TheilSen, {"matchings": 30}))


def made_up(size, outliers, seed):
    """Rows, and targets of which a share are outliers."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(0, 100, size)
    y = 2 * x + 20 + generator.normal(size=size) * 10
    y[(x > 50) & (generator.uniform(size=size) < 2 * outliers)] = 0
    return x.reshape(-1, 1), np.clip(y, 0, 300)


def error(model):
    places = np.linspace(0, 100, 101).reshape(-1, 1)
    return float(np.sqrt(np.mean((model.predict(places) - 2 * places[:, 0] - 20) ** 2)))


def median_of(model, data, runs):
    """The median error of some fits, and the least time of one."""
    errors, times = [], []
    for _ in range(runs):
        began = time.process_time()
        model.fit(*data)
        times.append(time.process_time() - began)
        errors.append(error(model))
    return f"{np.median(errors):7.2f} ({min(times):.3f} s)"


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    for size in (300, 3_000, 32_561):
        for outliers in (0, 0.1, 0.25):
            data = made_up(size, outliers, size)
            print(f"{size:,} rows, {outliers:.0%} outliers; scikit-learn without privacy:")
            for peer in (linear_model.TheilSenRegressor(), linear_model.LinearRegression()):
                print(f"  {type(peer).__name__:20}{median_of(peer, data, 1)}")
            for kind, more in TRIED:
                name = kind.__name__ + "".join(f", {value} matchings" for value in more.values())
                print(f"  {name:26}", end="")
                for epsilon in EPSILONS:
                    print(f"  ε {epsilon}: {median_of(kind(epsilon=epsilon, **DECLARED, **more), data, runs)}", end="")
                print()


if __name__ == "__main__":
    main()
