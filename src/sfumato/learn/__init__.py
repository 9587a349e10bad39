"""Private learning: models by scikit-learn's conventions, with a stated guarantee, charged to the account of queries.

Each model is fitted to arrays under the owner's declarations, or through a session. It needs the extra `learn`, and
`sfumato.learn.torch`, which trains networks, the extra `torch`.
"""

from importlib import import_module
from typing import Any

from sfumato.learn.attacks.auditor import audit
from sfumato.learn.attacks.report import ModelAudit, ModelFinding
from sfumato.learn.bayes.categorical import CategoricalNB
from sfumato.learn.bayes.gaussian import GaussianNB
from sfumato.learn.bayes.posterior import PosteriorNB
from sfumato.learn.boosting.explainable import ExplainableBoosting
from sfumato.learn.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from sfumato.learn.choosing.choice import PrivateChoice
from sfumato.learn.choosing.simulation import ExpectedAccuracy, UtilityWarning, expected_accuracy
from sfumato.learn.clusters.kmeans import KMeans
from sfumato.learn.conformal.predictors import ConformalClassifier, ConformalRegressor
from sfumato.learn.linear.logistic import LogisticRegression
from sfumato.learn.linear.regression import LinearRegression, Ridge
from sfumato.learn.linear.support_vectors import LinearSVC
from sfumato.learn.linear.theil_sen import TheilSen
from sfumato.learn.moments.components import PCA
from sfumato.learn.moments.scaler import StandardScaler
from sfumato.learn.teachers.pate import PATEClassifier
from sfumato.learn.trees.forest import RandomForestClassifier

__all__ = [
    "PCA",
    "CategoricalNB",
    "ConformalClassifier",
    "ConformalRegressor",
    "ExpectedAccuracy",
    "ExplainableBoosting",
    "GaussianNB",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "KMeans",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "ModelAudit",
    "ModelFinding",
    "PATEClassifier",
    "PosteriorNB",
    "PrivateChoice",
    "RandomForestClassifier",
    "Ridge",
    "StandardScaler",
    "TheilSen",
    "UtilityWarning",
    "audit",
    "expected_accuracy",
]


def __getattr__(name: str) -> Any:
    """`torch` is loaded when it is first used, as it takes seconds."""
    if name != "torch":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.torch")
