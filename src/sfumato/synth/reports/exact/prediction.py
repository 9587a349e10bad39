"""Train on made-up rows, test on real ones: how well models predict that never saw a real row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.session.training.attributes import Attribute
from sfumato.synth.reports.rows import CodedRows

Model: TypeAlias = Literal["logistic regression", "gradient boosting"]
MODELS: Final[tuple[Model, ...]] = ("logistic regression", "gradient boosting")

MOST_CLASSES: Final = 20
"""So many values a target has at most."""

_ITERATIONS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """How well a model predicts real rows that it was not trained on.

    Attributes:
        model: Which model.
        trained_on: Which rows it learned from: ``"real"``, ``"synthetic"`` or ``"bootstrap"``.
        accuracy: The share of rows of which it names the right value.
        auc: The area under its ROC curve, of more than two values the mean of those of each against all others; None
            where the test rows have one value alone.
    """

    model: Model
    trained_on: str
    accuracy: float
    auc: float | None


def predictions(
    rows_by_source: Mapping[str, CodedRows], test: CodedRows, attributes: Sequence[Attribute], *, target: str
) -> tuple[Prediction, ...]:
    """Two models for each source of rows, all tested on the same rows; needs scikit-learn, the extra `learn`.

    Args:
        rows_by_source: Rows to learn from.
        test: Real rows, of which none may be among those.
        attributes: The columns.
        target: What is predicted: a missing value is one of its values.

    Raises:
        ParameterError: The target has too many values, there is nothing to predict from, or scikit-learn is missing.
    """
    if find_spec("sklearn") is None:
        raise ParameterError("target", target, "needs scikit-learn; run: pip install scikit-learn")
    classes = next(one.size for one in attributes if one.name == target)
    features = [one for one in attributes if one.name != target]
    if classes > MOST_CLASSES or not features:
        requirement = f"must have at most {MOST_CLASSES} values, and another column beside it; state fewer bins"
        raise ParameterError("target", target, requirement)
    found = []
    for model in MODELS:
        read = _dummies if model == "logistic regression" else _numbers
        seen = read(features, test)
        for source, rows in rows_by_source.items():
            chances = _fitted(model, read(features, rows), rows[target], seen, classes)
            right = float((chances.argmax(axis=1) == test[target]).mean())
            found.append(Prediction(model=model, trained_on=source, accuracy=right, auc=_area(chances, test[target])))
    return tuple(found)


def _fitted(
    model: Model, table: Any, truth: npt.NDArray[np.int64], seen: Any, classes: int
) -> npt.NDArray[np.float64]:  # fmt: skip
    """The probabilities of all classes for each row that is seen; a class that no row had has 0."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 # of an extra, where a model is fitted
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 # of an extra, where a model is fitted

    chances = np.zeros((seen.shape[0], classes))
    known = np.unique(truth)
    if len(known) == 1:
        chances[:, known] = 1
        return chances
    made = (
        LogisticRegression(max_iter=_ITERATIONS)
        if model == "logistic regression"
        else HistGradientBoostingClassifier(random_state=0)
    )
    chances[:, known] = made.fit(table, truth).predict_proba(seen)
    return chances


def _numbers(features: Sequence[Attribute], rows: CodedRows) -> npt.NDArray[np.float64]:
    """The numbers of values; NaN for a number that is missing."""
    columns = []
    for one in features:
        column = rows[one.name].astype(np.float64)
        if one.edges is not None and one.missing is not None:
            column[rows[one.name] == one.size - 1] = np.nan
        columns.append(column)
    return np.stack(columns, axis=1)


def _dummies(features: Sequence[Attribute], rows: CodedRows) -> Any:
    """A column for each value of each feature, sparse."""
    from scipy.sparse import csr_array  # noqa: PLC0415 # of an extra, where a model is fitted

    ends = np.cumsum([0, *(one.size for one in features)])
    places = np.stack([rows[one.name] + start for one, start in zip(features, ends[:-1], strict=True)], axis=1)
    pointers = np.arange(0, places.size + 1, len(features))
    return csr_array((np.ones(places.size), places.reshape(-1), pointers), shape=(len(places), int(ends[-1])))


def _area(chances: npt.NDArray[np.float64], truth: npt.NDArray[np.int64]) -> float | None:
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 # of an extra, where a model is fitted

    found = np.unique(truth)
    if len(found) == 1:
        return None
    if len(found) == 2:  # noqa: PLR2004 # one of them says it all
        found = found[1:]
    return float(np.mean([roc_auc_score(truth == one, chances[:, one]) for one in found]))
