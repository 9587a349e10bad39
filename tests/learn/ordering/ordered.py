"""Orders of every estimator, on rows that suit it."""

from fractions import Fraction

from sfumato import learn
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn
from sfumato.session.training.ordered import DeclaredRows

AGE = TrainingColumn(name="age", lower=Fraction(0), upper=Fraction(100), steps=100)
PAY = TrainingColumn(name="pay", lower=Fraction(0), upper=Fraction(10))
SEX = TrainingColumn(name="sex", values=("f", "m"))

CASES = {
    "CategoricalNB": (learn.CategoricalNB(epsilon=1, alpha="0.5"), (AGE,), SEX),
    "ConformalClassifier": (learn.ConformalClassifier(learn.GaussianNB(epsilon=1)), (AGE,), SEX),
    "ConformalRegressor": (learn.ConformalRegressor(learn.Ridge(epsilon=1, alpha=2), alpha="0.2"), (AGE,), PAY),
    "ExplainableBoosting": (learn.ExplainableBoosting(epsilon=1, delta="1e-6", rounds=3), (AGE,), SEX),
    "GaussianNB": (learn.GaussianNB(epsilon=Fraction(1, 4), delta=1e-6), (AGE, PAY), SEX),
    "GradientBoostingClassifier": (learn.GradientBoostingClassifier(epsilon=1, delta="1e-6", rounds=3), (AGE,), SEX),
    "GradientBoostingRegressor": (learn.GradientBoostingRegressor(epsilon=1, delta="1e-6", rounds=3), (AGE,), PAY),
    "KMeans": (learn.KMeans(2, epsilon=1, init=[[0, 1], [90, 9]]), (AGE, PAY), None),
    "LinearRegression": (learn.LinearRegression(epsilon=1), (AGE, SEX), PAY),
    "LinearSVC": (learn.LinearSVC(epsilon=1, delta="1e-6", steps=5), (AGE,), SEX),
    "LogisticRegression": (learn.LogisticRegression(epsilon=1, delta="1e-6", steps=5, classes=["f", "m"]), (AGE,), SEX),
    "PCA": (learn.PCA(1, epsilon=1), (AGE, PAY), None),
    "PosteriorNB": (learn.PosteriorNB(epsilon=1, points=11), (AGE,), SEX),
    "PrivateChoice": (
        learn.PrivateChoice([learn.GaussianNB(epsilon=1), learn.LogisticRegression(epsilon="0.5")], epsilon=1),
        (AGE, PAY), SEX,
    ),
    "RandomForestClassifier": (
        learn.RandomForestClassifier(epsilon=1, n_estimators=3, max_depth=2, categorical_features=(0,)), (AGE, PAY), SEX
    ),
    "Ridge": (learn.Ridge(epsilon=1, fit_intercept=False), (AGE, SEX), PAY),
    "StandardScaler": (learn.StandardScaler(epsilon=1), (AGE, PAY), None),
    "TheilSen": (learn.TheilSen(epsilon=1), (AGE,), PAY),
}  # fmt: skip
"""For each estimator one with arguments, its features and its target."""


def declared(name, **changes):
    """The rows of a case."""
    _, columns, target = CASES[name]
    stated = {"columns": columns, "target": target, "rows_per_unit": 1, "neighboring_relation": ADD_OR_REMOVE_ONE}
    return DeclaredRows(**(stated | changes))
