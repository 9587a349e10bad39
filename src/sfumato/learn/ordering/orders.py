"""Orders: the name of an estimator and its arguments as JSON, and the estimator that they say.

Whoever sends an order is not trusted. So an order names one of the listed estimators, its arguments have names that
the estimator has, and values of a few kinds and sizes; all else is refused before an estimator is made. What the
arguments mean is checked where a fit is planned, as for any caller.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from math import isfinite
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.learn.bayes.categorical import CategoricalNB
from sfumato.learn.bayes.gaussian import GaussianNB
from sfumato.learn.bayes.posterior import PosteriorNB
from sfumato.learn.boosting.explainable import ExplainableBoosting
from sfumato.learn.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from sfumato.learn.choosing.choice import PrivateChoice
from sfumato.learn.clusters.kmeans import KMeans
from sfumato.learn.conformal.predictors import ConformalClassifier, ConformalRegressor
from sfumato.learn.linear.logistic import LogisticRegression
from sfumato.learn.linear.regression import LinearRegression, Ridge
from sfumato.learn.linear.support_vectors import LinearSVC
from sfumato.learn.linear.theil_sen import TheilSen
from sfumato.learn.moments.components import PCA
from sfumato.learn.moments.scaler import StandardScaler
from sfumato.learn.trees.forest import RandomForestClassifier
from sfumato.numeric.arguments import is_one_of
from sfumato.privacy.codec import Json, rational
from sfumato.privacy.formats import parse_json
from sfumato.session.training.columns import MAX_CATEGORIES
from sfumato.session.training.ordered import FitOrder, written_json

ESTIMATORS: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {
        kind.__name__: kind
        for kind in (
            CategoricalNB, ConformalClassifier, ConformalRegressor, ExplainableBoosting, GaussianNB,
            GradientBoostingClassifier, GradientBoostingRegressor, KMeans, LinearRegression, LinearSVC,
            LogisticRegression, PCA, PrivateChoice, RandomForestClassifier, Ridge, StandardScaler,
            TheilSen, PosteriorNB,
        )
    }
)  # fmt: skip
"""Every estimator that can be ordered, by its name."""

NOT_SENT: Final[Mapping[str, str]] = MappingProxyType(
    {"PATEClassifier": "its teachers may be any code and its public rows any number, so a session alone fits it"}
)
"""Every estimator that cannot be ordered, by its name, with the reason."""

MAX_CHARACTERS: Final = 100_000
"""How many characters the arguments of an order may have."""

_DEEPEST: Final = 4
"""How deep arguments are nested: an estimator in a list of an estimator, with a list."""

_LONGEST: Final = 1_000
_LARGEST: Final = 10**9


def order_of(estimator: Any) -> FitOrder:
    """The order of an estimator: its name, and those of its arguments that are no defaults.

    Args:
        estimator: An estimator of this package, or one around others.

    Raises:
        ParameterError: It is none that can be ordered, or one of its arguments cannot be sent.

    Example:
        >>> order_of(GaussianNB(epsilon="0.5", classes=["no", "yes"]))
        FitOrder(estimator='GaussianNB', arguments='{"classes":["no","yes"],"epsilon":"0.5"}')
    """
    return FitOrder(estimator=_name_of(estimator), arguments=written_json(_arguments_of(estimator)))


def estimator_of(order: FitOrder) -> Any:
    """The estimator that an order says.

    Raises:
        ParameterError: There is none of that name, or its arguments are none of its own or of no kind that is sent.

    Example:
        >>> estimator_of(FitOrder(estimator="GaussianNB", arguments='{"epsilon": 1}'))
        GaussianNB(epsilon=1)
    """
    if len(order.arguments) > MAX_CHARACTERS:
        raise ParameterError("arguments", "…", f"must have at most {MAX_CHARACTERS:,} characters")
    try:
        arguments = parse_json(order.arguments)
    except ValueError:
        raise ParameterError("arguments", "a text", "must be an object of JSON") from None
    return _made(order.estimator, arguments, _DEEPEST)


def _name_of(estimator: Any) -> str:
    name = type(estimator).__name__
    if ESTIMATORS.get(name) is not type(estimator):
        if name in NOT_SENT:
            raise ParameterError("estimator", name, f"cannot be sent to a server: {NOT_SENT[name]}")
        raise ParameterError("estimator", name, f"must be one that a server knows: {', '.join(ESTIMATORS)}")
    return name


def _arguments_of(estimator: Any) -> dict[str, Json]:
    given: dict[str, Any] = estimator.get_params(deep=False)
    defaults = signature(type(estimator)).parameters
    return {
        name: _written(value, name)
        for name, value in given.items()
        if type(value) is not type(defaults[name].default) or value != defaults[name].default
    }


def _written(value: Any, name: str) -> Json:
    match value:
        case None | bool() | int() | str():
            return value
        case np.generic():
            return _written(value.item(), name)
        case float() if isfinite(value):
            return value
        case Fraction() | Decimal() if value == Fraction(value):
            return {"rational": str(Fraction(value))}
        case list():
            return [_written(one, name) for one in value]
        case tuple():
            return {"tuple": [_written(one, name) for one in value]}
        case np.ndarray():
            return _written(value.tolist(), name)
        case _ if type(value).__name__ in {*ESTIMATORS, *NOT_SENT}:
            return {"estimator": _name_of(value), "arguments": _arguments_of(value)}
        case _:
            pass
    requirement = "must be a number, a text, a truth, a list of them or an estimator, to be sent to a server"
    raise ParameterError(name, type(value).__name__, requirement)


def _made(name: object, arguments: object, depth: int) -> Any:
    """An estimator, of arguments that may be anything."""
    if not isinstance(name, str) or not is_one_of(name, ESTIMATORS):
        raise ParameterError("estimator", name, f"must be one of: {', '.join(ESTIMATORS)}")
    kind = ESTIMATORS[name]
    known = tuple(signature(kind).parameters)
    if not isinstance(arguments, dict):
        raise ParameterError("arguments", type(arguments).__name__, "must be an object of JSON")
    unknown = next((one for one in arguments if one not in known), None)
    if unknown is not None:
        raise ParameterError(f"arguments of {name}", unknown, f"must be among: {', '.join(known)}")
    try:
        return kind(**{one: _read(value, one, depth - 1) for one, value in arguments.items()})
    except TypeError:  # an argument without a default is missing
        raise ParameterError(f"arguments of {name}", list(arguments), f"must have all of: {', '.join(known)}") from None


def _read(value: object, name: str, depth: int) -> Any:
    """The value of an argument."""
    match value:
        case None | bool():
            return value
        case int() if abs(value) <= _LARGEST:
            return value
        case float() if isfinite(value):
            return value
        case str() if len(value) <= _LONGEST:
            return value
        case {"rational": str(text), **rest} if not rest and len(text) <= _LONGEST:
            return rational(text)
        case list() if depth > 0 and len(value) <= MAX_CATEGORIES:
            return [_read(one, name, depth - 1) for one in value]
        case {"tuple": list(values), **rest} if not rest and depth > 0 and len(values) <= MAX_CATEGORIES:
            return tuple(_read(one, name, depth - 1) for one in values)
        case {"estimator": inner, "arguments": arguments, **rest} if not rest and depth > 0:
            return _made(inner, arguments, depth)
        case _:
            pass
    requirement = (
        f"must be a number, a text or a truth of at most {_LONGEST:,} characters, a list of at most "
        f"{MAX_CATEGORIES:,} of them, or an estimator"
    )
    raise ParameterError(name, type(value).__name__, requirement)
