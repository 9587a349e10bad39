"""diffprivlib answers the court, at ε = 1 throughout."""

import warnings

import numpy as np
from answering import answer, one_by_one
from diffprivlib import mechanisms, models, tools

warnings.simplefilter("ignore")

LAPLACE = mechanisms.Laplace(epsilon=1, sensitivity=1)
GAUSSIAN = mechanisms.GaussianAnalytic(epsilon=1, delta=1e-3, sensitivity=1)
DISCRETE_GAUSSIAN = mechanisms.GaussianDiscrete(epsilon=1, delta=1e-3, sensitivity=1)
GEOMETRIC = mechanisms.Geometric(epsilon=1, sensitivity=1)
SNAPPING = mechanisms.Snapping(epsilon=1, sensitivity=1, lower=-10, upper=10)


def flipped(utility, runs):
    chooser = mechanisms.PermuteAndFlip(epsilon=1, sensitivity=1, utility=utility)
    return [chooser.randomise() for _ in range(runs)]


def histogram(rows):
    return tools.histogram(np.array(rows), epsilon=1, bins=2, range=(0, 2))[0].tolist()


def forest(trees):
    """What each tree of a forest says of one point, as `predict` of the public `estimators_` gives it."""

    def fitted(labels):
        model = models.RandomForestClassifier(trees, epsilon=1, bounds=(0, 1), classes=[0, 1], max_depth=1)
        model.fit(np.full((len(labels), 1), 0.5), np.array(labels))
        return [int(tree.predict([[0.5]])[0]) for tree in model.estimators_]

    return one_by_one(fitted)


def regression(rows):
    """The coefficient of a line through the origin; rows are of x in [0, 100] and y in [0, 1]."""
    model = models.LinearRegression(epsilon=1, bounds_X=(0, 100), bounds_y=(0, 1), fit_intercept=False)
    model.fit([[x] for x, _ in rows], [y for _, y in rows])
    return float(model.coef_[0])


def clusters(rows):
    """Does `inertia_` fit the released centers if nobody is anywhere but at 0? A function of public attributes."""
    model = models.KMeans(2, epsilon=1, bounds=(0, 1)).fit(np.array(rows, dtype=float).reshape(-1, 1))
    if_all_at_zero = len(rows) * float((model.cluster_centers_**2).min())
    return bool(abs(model.inertia_ - if_all_at_zero) < 1e-9)


CASES = {
    "laplace": one_by_one(lambda exact: float(LAPLACE.randomise(float(exact)))),
    "gaussian": one_by_one(lambda exact: float(GAUSSIAN.randomise(float(exact)))),
    "discrete_gaussian": one_by_one(lambda exact: int(DISCRETE_GAUSSIAN.randomise(exact))),
    "geometric": one_by_one(lambda exact: int(GEOMETRIC.randomise(exact))),
    "snapping": one_by_one(lambda exact: float(SNAPPING.randomise(float(exact)))),
    "permute_and_flip": flipped,
    "histogram": one_by_one(histogram),
    "forest": forest(10),
    "one_tree": forest(1),
    "linear_regression": one_by_one(regression),
    "k_means": one_by_one(clusters),
}

if __name__ == "__main__":
    answer(CASES, packages=("diffprivlib", "scikit-learn", "numpy"))
