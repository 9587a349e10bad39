"""Membership in what a model was trained on: models are surer of records that they have seen.

The simplest attack compares the loss with a threshold. The likelihood-ratio attack asks of each record what loss models
have that saw it and models that did not, which it learns from shadow models trained in the same way.
"""

from collections.abc import Callable, Sequence, Sized
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from sfumato.attacks.core.answers import dice
from sfumato.attacks.members.means import Floats, Membership, judged, share, threshold_at
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats, listed, of_kind, real, result, whole
from sfumato.numeric.rationals import Number, flag

Row: TypeAlias = Any
Confidence: TypeAlias = Callable[[Sequence[Row]], Sequence[float] | Floats]
"""A model: the probability that it gives to the true label of each row."""

Train: TypeAlias = Callable[[Sequence[Row]], Confidence]
"""Makes a model of rows, afresh each time."""

_EDGE: Final = 1e-12  # how near to 0 and 1 a confidence is believed to be
_LEAST_SPREAD: Final = 1e-3  # of logits; models that always say the same would divide by 0
_ENOUGH: Final = 64  # shadow models on a side for a spread of each record's own
_FEWEST: Final = 4
_MOST: Final = 100_000


def loss_threshold(
    train: Train,
    *,
    members: Sequence[Row],
    outsiders: Sequence[Row],
    threshold: float | None = None,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Membership:
    """Say that a row was trained on if its loss −ln p is at most a threshold.

    Args:
        train: Called once, with the members.
        members: The rows that the model is trained on.
        outsiders: Rows of the same kind that it never saw.
        threshold: None takes the mean loss of the members, which is often published with a model.
        epsilon: The claimed ε of the trained model; None claims no guarantee.
        delta: The claimed δ of the trained model.

    Raises:
        ParameterError: There are no members or no outsiders, or the model gives not one probability to each row.

    Example:
        >>> by_heart = lambda rows: lambda asked: [0.99 if str(row) in map(str, rows) else 0.5 for row in asked]
        >>> loss_threshold(by_heart, members=range(50), outsiders=range(50, 100)).outcome.success
        1.0

    References:
        [YGFJ18].
    """
    _check(members, outsiders)
    given = None if threshold is None else real(threshold, "threshold")
    model = result(train, "train", members)
    inside, outside = (-np.log(np.clip(_asked(model, rows), _EDGE, 1.0)) for rows in (members, outsiders))
    most = float(np.mean(inside)) * (1 + _EDGE) if given is None else given
    return judged(
        -inside, -outside, threshold=-most, attack="membership by a threshold on the loss", epsilon=epsilon, delta=delta
    )


def likelihood_ratio_attack(
    train: Train,
    *,
    members: Sequence[Row],
    outsiders: Sequence[Row],
    population: Sequence[Row],
    shadows: int = 32,
    online: bool = True,
    false_positive_rate: float = 0.05,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Membership:
    """LiRA: hold the model's confidence in a row against that of shadow models which saw the row, or did not.

    Each shadow model is trained on as many rows as the model: on random ones of the population and, online, of those
    that are attacked. Some of the population, as many as there are members, are kept for the threshold.

    Args:
        train: Called once with the members, and once for each shadow model.
        members: The rows that the model is trained on.
        outsiders: Rows of the same kind that it never saw.
        population: Other rows of the same kind, which the adversary has; at least twice as many as members.
        shadows: The number of shadow models, from 4 to a hundred thousand.
        online: Whether shadow models are trained with the attacked rows too. Offline a row is only compared with models
            that did not see it.
        false_positive_rate: The false positive rate of the threshold.
        epsilon: The claimed ε of the trained model; None claims no guarantee.
        delta: The claimed δ of the trained model.

    Raises:
        ParameterError: There are no members or outsiders, too few of the population or of the shadows, or a model gives
            not one probability to each row.

    Example:
        >>> by_heart = lambda rows: lambda asked: [0.99 if str(row) in map(str, rows) else 0.5 for row in asked]
        >>> people = {"members": range(9), "outsiders": range(9, 18), "population": range(18, 45)}
        >>> likelihood_ratio_attack(by_heart, **people, shadows=16).roc.area
        1.0

    References:
        [CCNSTT22].
    """
    _check(members, outsiders)
    flag(online, "online")
    share(false_positive_rate)
    population = listed(population, "population", of="rows")
    if len(population) < 2 * len(members):
        raise ParameterError("population", len(population), f"must have at least {2 * len(members)} rows")
    shadows = whole(shadows, "shadows", least=_FEWEST, most=_MOST)
    known = len(population) - len(members)
    attacked = [*members, *outsiders, *population[known:]]
    observed = logits(_asked(result(train, "train", members), attacked))
    seen, found = _shadow_models(train, attacked, population[:known], size=len(members), shadows=shadows, online=online)
    without = np.where(seen, np.nan, found)
    scores = lira_scores(observed, without=without, included=np.where(seen, found, np.nan) if online else None)
    ends = len(members), len(members) + len(outsiders)
    return judged(
        scores[: ends[0]],
        scores[ends[0] : ends[1]],
        threshold=threshold_at(false_positive_rate, scores[ends[1] :]),
        attack=f"membership by likelihood ratios, {'online' if online else 'offline'}",
        epsilon=epsilon,
        delta=delta,
    )


def lira_scores(observed: Floats, *, without: Floats, included: Floats | None = None) -> Floats:
    """What Gaussian fits of shadow models say of each row: higher where it looks included.

    Online it is ln N(φ; in) − ln N(φ; out), offline (φ − mean out)/σ out. Spreads are of each row alone if there are 64
    shadow models on either side for each, else the same for all rows.

    Args:
        observed: Logits φ of the attacked model, one for each row.
        without: Logits of shadow models that did not see the row, of shape (models, rows); NaN where one did.
        included: Logits of those that did; None offline.

    Example:
        >>> out = np.array([[0.0, 0.1], [0.2, -0.1], [-0.2, 0.0], [0.0, 0.0]])
        >>> (lira_scores(np.array([3.0, 0.0]), without=out) > 2).tolist()
        [True, False]
    """
    mean, spread = _fitted(without)
    found: Floats = (observed - mean) / spread
    if included is None:
        return found
    other, width = _fitted(included)
    return np.asarray(norm.logpdf(observed, other, width) - norm.logpdf(observed, mean, spread))


def logits(confidences: Sequence[float] | Floats) -> Floats:
    """ln(p/(1 − p)), which makes confidences of models nearly Gaussian.

    Example:
        >>> logits([0.5, 0.9]).round(3).tolist()
        [0.0, 2.197]
    """
    p = np.clip(floats(confidences, "confidences"), _EDGE, 1 - _EDGE)
    found: Floats = np.log(p) - np.log1p(-p)
    return found


def _shadow_models(
    train: Train, attacked: Sequence[Row], population: Sequence[Row], *, size: int, shadows: int, online: bool
) -> tuple[NDArray[np.bool_], Floats]:
    """For each shadow model, which attacked rows it saw, and its logits of all of them."""
    draw = dice()
    found = np.empty((shadows, len(attacked)))
    seen = np.zeros((shadows, len(attacked)), bool)
    if online:
        seen[:] = _each_in_turn(len(attacked), least=min(size, len(attacked) // 2), shadows=shadows)
    for shadow in range(shadows):
        own = [row for row, is_in in zip(attacked, seen[shadow], strict=True) if is_in]
        filling = draw.permutation(len(population))[: size - len(own)]
        found[shadow] = logits(_asked(result(train, "train", [*own, *(population[at] for at in filling)]), attacked))
    return seen, found


def _each_in_turn(rows: int, *, least: int, shadows: int) -> NDArray[np.bool_]:
    """Which rows each shadow model sees: `least` of them, each row as often as any other, in a random order."""
    order = np.concatenate([dice().permutation(rows) for _ in range(-(-shadows * least // rows))])
    seen = np.zeros((shadows, rows), bool)
    for shadow, taken in enumerate(np.split(order[: shadows * least], shadows)):
        seen[shadow, taken] = True
    return seen


def _fitted(values: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column, of what is no NaN; a common deviation of few."""
    counts = np.sum(~np.isnan(values), axis=0)
    if (counts < 1).any():
        raise ParameterError(
            "shadows", len(values), "must be more: a row has no shadow model that saw it, or none that did not"
        )
    mean = np.nanmean(values, axis=0)
    squares = np.nansum((values - mean) ** 2, axis=0)
    if counts.min() < _ENOUGH:
        common = np.sqrt(squares.sum() / max(1, int(counts.sum()) - len(mean)))
        return mean, np.full_like(mean, max(common, _LEAST_SPREAD))
    return mean, np.maximum(np.sqrt(squares / (counts - 1)), _LEAST_SPREAD)


def _asked(model: Confidence, rows: Sequence[Row]) -> Floats:
    """What a model says of each row."""
    found = floats(result(model, "train(…)", rows), "train(…)(rows)")
    if found.shape != (len(rows),) or np.isnan(found).any():
        raise ParameterError(
            "train", found.shape, f"must return a model that gives a probability to each of {len(rows)} rows"
        )
    return found


def _check(members: Sequence[Row], outsiders: Sequence[Row]) -> None:
    for rows, name in ((members, "members"), (outsiders, "outsiders")):
        of_kind(rows, name, Sized, "rows that can be counted, such as a list")
    if min(len(members), len(outsiders)) == 0:
        raise ParameterError("members", (len(members), len(outsiders)), "and outsiders must be at least one each")
