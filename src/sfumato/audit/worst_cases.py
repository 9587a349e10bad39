"""The mechanisms of this package by name, each with parameters to start from and neighbors that tell most about it.

What is tried was chosen by hand, where the proof of each mechanism is tight or its special cases lie. It is a
beginning: whoever knows of a worse pair states it.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, nan
from typing import Any, Final

import numpy as np

from sfumato import mechanisms
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.distributions import DeclaredLaw
from sfumato.errors import ParameterError
from sfumato.numeric.distributions import discrete_gaussian_cdf, discrete_laplace_cdf
from sfumato.numeric.rationals import Number
from sfumato.numeric.rounding import exp_down
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

Changes = Iterator[tuple[Any, Any, str] | tuple[Any, Any, str, int]]
"""A database, another one, what differs, and how many steps they are apart if that is not 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """How one mechanism is made and what it is tried on.

    Attributes:
        make: The class, or a function that makes it from parameters that can be written as text.
        pairs: Databases, neighbors and what differs.
        defaults: Parameters that are used where none are stated.
    """

    make: Callable[..., Any]
    pairs: Callable[[Any], Changes]
    defaults: Mapping[str, Any] = field(default_factory=dict)


def names() -> list[str]:
    """The names of all mechanisms that can be audited."""
    return sorted(_CASES)


def named(name: str, parameters: Mapping[str, Any], *, epsilon: Number, delta: Number = 0) -> Any:
    """A mechanism by its name.

    Args:
        name: In lower case with hyphens, or as the class is called: ``noisy-max``, ``NoisyMax``.
        parameters: Arguments of the constructor; defaults replace missing ones.
        epsilon: Stated to a constructor that takes an `epsilon`, unless that is among the parameters.
        delta: Passed to a constructor that takes a `delta`, if above 0.

    Raises:
        ParameterError: There is no such mechanism, it has no such parameter, or a parameter is out of range.

    Example:
        >>> named("laplace", {"l1_sensitivity": 2}, epsilon="0.5").scale
        Fraction(4, 1)
    """
    case = _case(name)
    known = inspect.signature(case.make).parameters
    for stated in parameters:
        if stated not in known:
            raise ParameterError("NAME=VALUE", stated, f"must be a parameter of {name}: {', '.join(known)}")
    budget = {"epsilon": epsilon} | ({"delta": delta} if Fraction(delta) else {})
    wanted = {**case.defaults, **{key: value for key, value in budget.items() if key in known}, **parameters}
    missing = [one.name for one in known.values() if one.default is inspect.Parameter.empty and one.name not in wanted]
    if missing:
        raise ParameterError("NAME=VALUE", ", ".join(missing), f"must be given for {name}, e.g. {missing[0]}=1")
    return case.make(**wanted)


def worst_pairs(name: str, mechanism: Any) -> tuple[NeighborPair, ...]:
    """The neighbors that tell most about a mechanism.

    Example:
        >>> [(pair.database, pair.neighbor) for pair in worst_pairs("laplace", named("laplace", {}, epsilon=1))]
        [(0, 1)]
    """
    return tuple(NeighborPair(*change) for change in _case(name).pairs(mechanism))


def declared_laws(mechanism: Any) -> tuple[DeclaredLaw, ...]:
    """The distribution of the noise, if it is additive and the same for all data.

    Example:
        >>> [law.name for law in declared_laws(named("laplace", {}, epsilon=1))]
        ['discrete Laplace noise of scale 1']
    """
    match mechanism:
        case mechanisms.Laplace(scale=scale) | mechanisms.DistributedLaplace(scale=scale, max_dropouts=0) if scale > 0:
            words = f"discrete Laplace noise of scale {float(scale):g}"
            return (DeclaredLaw(words, _noise(mechanism), lambda k: discrete_laplace_cdf(scale, k)),)
        case mechanisms.Gaussian(stddev=stddev) | mechanisms.GaussianNoise(stddev=stddev) if stddev > 0:
            words = f"discrete Gaussian noise of standard deviation {float(stddev):g}"
            return (DeclaredLaw(words, _noise(mechanism), lambda k: discrete_gaussian_cdf(stddev, k)),)
        case _:
            return ()


def _noise(mechanism: Any) -> Callable[[int], Any]:
    """Noise in steps of the lattice: what is released where the exact answer is 0."""
    step = getattr(mechanism, "resolution", None) or 1
    zero: Any = [0] * mechanism.dimension if getattr(mechanism, "dimension", 1) > 1 else 0
    return lambda count: np.array([int(np.ravel(mechanism.release(zero))[0] / step) for _ in range(count)])


def _case(name: str) -> WorstCase:
    spoken = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).replace("_", "-").lower()
    if spoken not in _CASES:
        raise ParameterError("NAME", name, f"must be one of: {', '.join(names())}")
    return _CASES[spoken]


def _whole(sensitivity: Fraction, resolution: Fraction | None) -> int | Fraction:
    """A distance that an exact answer can really move by."""
    if resolution is None or sensitivity.denominator == 1:
        return floor(sensitivity)
    return sensitivity


def _one_number(sensitivity: str, *, distances: tuple[int, ...] = (1,)) -> Callable[[Any], Changes]:
    """Several steps show more of Gaussian noise: its losses grow with their square, a claim only with their number."""

    def changes(mechanism: Any) -> Changes:
        moved = _whole(Fraction(getattr(mechanism, sensitivity)), getattr(mechanism, "resolution", None))
        rest = [0] * (getattr(mechanism, "dimension", 1) - 1)
        for steps in distances:
            pair = ([0, *rest], [steps * moved, *rest]) if rest else (0, steps * moved)
            words = f"the exact answer changes from 0 to {steps * moved}"
            yield *pair, words if steps == 1 else f"{words}, by {steps} units", steps

    return changes


def _within_bounds(mechanism: Any) -> Changes:
    moved, lower, upper = floor(mechanism.noise.l1_sensitivity), mechanism.lower, mechanism.upper
    yield lower, min(lower + moved, upper), "the exact answer rises from the lower bound"
    yield upper, max(upper - moved, lower), "the exact answer falls from the upper bound"


def _scores(mechanism: Any) -> Changes:
    """Two candidates; a rare choice comes nearest to the bound."""
    step = _whole(mechanism.utility_sensitivity, mechanism.resolution)
    other = 0 if mechanism.monotonic else step
    ahead = ceil(4 * mechanism.utility_sensitivity / mechanism.epsilon) if mechanism.epsilon else 0
    yield [0, 0], [step, -other], "of two equal candidates the first gets better"
    yield [0, ahead], [step, ahead - other], "a candidate far behind gets better"
    yield [0, ahead], [-step, ahead + other], "a candidate far behind gets worse"


def _counts(mechanism: Any) -> Changes:
    if mechanism.neighboring_relation is REPLACE_ONE:
        yield [1, 0, 0, 0], [0, 1, 1, 1], "one unit changes from the first candidate to all others"
        yield [0, 4, 1], [1, 4, 0], "one unit changes between two that are behind"
        return
    yield [0, 0, 0, 0], [0, 1, 1, 1], "of equal candidates all but the first get one more"
    yield [0, 4], [1, 4], "a candidate that is behind gets one more"
    yield [0, 4], [0, 5], "the one ahead gets one more"


def _top(mechanism: Any) -> Changes:
    step = _whole(mechanism.utility_sensitivity, mechanism.resolution)
    other = 0 if mechanism.monotonic else step
    yield [0] * (mechanism.k + 1), [step] + [-other] * mechanism.k, "of equal candidates the first gets better"
    yield [0] * (mechanism.k + 1), [-step] + [other] * mechanism.k, "of equal candidates the first gets worse"


def _sequence(mechanism: Any) -> Changes:
    step, length = _whole(mechanism.linf_sensitivity, mechanism.resolution), mechanism.cutoff + 4
    yield [0] * length, [step] * length, "all answers rise"
    if not mechanism.monotonic:
        yield [0] * length + [step], [step] * length + [0], "all answers rise but for the last one, which falls"


def _respondent(first: Any, second: Any) -> Callable[[Any], Changes]:
    return lambda _: iter([([first], [second], f"the truth of one respondent is {second} instead of {first}")])


def _values(mechanism: Any) -> Changes:
    lower, upper = mechanism.lower, mechanism.upper
    if _relation(mechanism) is REPLACE_ONE:
        yield [lower], [upper], "the only value goes from one bound to the other"
        yield (
            [lower, lower, upper, upper],
            [lower, upper, upper, upper],
            "one of four values goes from one bound to the other",
        )
        yield [lower, upper], [nan, upper], "the first value becomes NaN"
        return
    yield [lower, upper], [upper], "the first value, at the lower bound, is removed"
    yield [lower, upper], [lower], "the last value, at the upper bound, is removed"
    yield [], [upper], "the only value, at the upper bound, is added"
    yield [lower, lower, upper, upper], [lower, lower, upper, upper, upper], "a value at the upper bound is added"
    yield [lower, upper], [lower, upper, nan], "NaN is added"


def _keys(mechanism: Any) -> Changes:
    selection = getattr(mechanism, "selection", mechanism)
    rows = getattr(selection, "max_rows_per_group_per_unit", 1)
    own = {f"key {number}": rows for number in range(selection.max_groups_per_unit)}
    many = getattr(selection, "threshold", 5)
    if selection.neighboring_relation is REPLACE_ONE:
        yield own, {f"other {key}": rows for key in own}, "a unit that is alone in its keys changes all of them"
        yield {"a": many + rows, "b": many}, {"a": many, "b": many + rows}, "a unit changes between two keys of many"
        return
    yield {}, own, "a unit is added, alone in its keys"
    yield {"a": many}, {"a": many + rows}, "a unit is added to a key of many"


def _smoothed(mechanism: Any) -> Changes:
    value, largest = mechanisms.SmoothedValue, mechanism.largest_sensitivity
    grown = min(Fraction(exp_down(mechanism.smoothness)), largest)
    yield value(0, 1), value(1, 1), "the value changes by a local sensitivity of 1"
    yield value(0, 1), value(1, grown), "the value changes, and its local sensitivity grows as fast as allowed"
    yield value(0, largest), value(floor(largest), largest), "the value changes by the largest sensitivity"


def _proposed(mechanism: Any) -> Changes:
    value, moved = mechanisms.StableValue, floor(mechanism.proposed_sensitivity)
    for distance in (1, mechanism.threshold, 4 * mechanism.threshold):
        words = f"the value changes by the proposed sensitivity, {distance} units from where it may change more"
        yield value(0, distance), value(moved, distance + 1), words
    yield (
        value(0, 0),
        value(1000 * moved, 1),
        "the value changes by much, where its sensitivity exceeds the proposed one",
    )


def _histogram(mechanism: Any) -> Changes:
    cells = len(mechanism.workload[0])
    for cell in dict.fromkeys((0, cells - 1)):
        other = [0] * cells
        other[cell] = 1
        if mechanism.neighboring_relation is REPLACE_ONE and cells > 1:
            yield other, [*other[-1:], *other[:-1]], f"the only unit leaves cell {cell + 1}"
        else:
            yield [0] * cells, other, f"the only unit is added, in cell {cell + 1}"


def _observations(mechanism: Any) -> Changes:
    least, most = mechanism.model.extremes
    if _relation(mechanism) is REPLACE_ONE:
        yield [least], [most], "the only observation is the largest instead of the least"
        return
    yield [], [most], "the largest observation is added to none"
    yield [], [least], "the least observation is added to none"
    yield [least, most], [least, most, most], "the largest observation is added"


def _relation(mechanism: Any) -> NeighboringRelation:
    found: NeighboringRelation = getattr(mechanism, "neighboring_relation", ADD_OR_REMOVE_ONE)
    return found


def _stable_histogram(
    *,
    epsilon: Number,
    delta: Number,
    max_groups_per_unit: int,
    max_rows_per_group_per_unit: int,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> mechanisms.StableHistogram:
    return mechanisms.StableHistogram(
        mechanisms.LaplaceThreshold(
            epsilon=epsilon, delta=delta, max_groups_per_unit=max_groups_per_unit,
            max_rows_per_group_per_unit=max_rows_per_group_per_unit, neighboring_relation=neighboring_relation,
        )
    )  # fmt: skip


def _posterior_sampling(
    *,
    epsilon: Number,
    low: Number = "0.2",
    high: Number = "0.8",
    points: int = 5,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> mechanisms.PosteriorSampling:
    coin = mechanisms.BetaBernoulli(low=low, high=high, points=points)
    return mechanisms.PosteriorSampling(coin, epsilon=epsilon, neighboring_relation=neighboring_relation)


_FAR: Final = (1, 6)  # steps; six need a tenth of the runs that one needs
_RANGE: Final = {"lower": 0, "upper": 10}
_UTILITY: Final = {"utility_sensitivity": 1}
_GROUPS: Final = {"max_groups_per_unit": 1}
_ROWS: Final = {"max_rows_per_group_per_unit": 1}
_CASES: Final[Mapping[str, WorstCase]] = {
    "laplace": WorstCase(
        make=mechanisms.Laplace, pairs=_one_number("l1_sensitivity"), defaults={"l1_sensitivity": 1}
    ),
    "gaussian": WorstCase(
        make=mechanisms.Gaussian, pairs=_one_number("l2_sensitivity", distances=_FAR), defaults={"l2_sensitivity": 1}
    ),
    "gaussian-noise": WorstCase(
        make=mechanisms.GaussianNoise, pairs=_one_number("l2_sensitivity", distances=_FAR),
        defaults={"l2_sensitivity": 1},
    ),
    "staircase": WorstCase(
        make=mechanisms.Staircase, pairs=_one_number("linf_sensitivity"), defaults={"linf_sensitivity": 1}
    ),
    "truncated-laplace": WorstCase(
        make=mechanisms.TruncatedLaplace, pairs=_one_number("linf_sensitivity"), defaults={"linf_sensitivity": 1}
    ),
    "distributed-gaussian": WorstCase(
        make=mechanisms.DistributedGaussian, pairs=_one_number("l2_sensitivity", distances=_FAR),
        defaults={"parties": 3, "l2_sensitivity": 1},
    ),
    "distributed-laplace": WorstCase(
        make=mechanisms.DistributedLaplace, pairs=_one_number("l1_sensitivity"),
        defaults={"parties": 3, "l1_sensitivity": 1},
    ),
    "distributed-skellam": WorstCase(
        make=mechanisms.DistributedSkellam, pairs=_one_number("linf_sensitivity"),
        defaults={"parties": 3, "linf_sensitivity": 1},
    ),
    "geometric": WorstCase(make=mechanisms.Geometric, pairs=_within_bounds, defaults=_RANGE | {"l1_sensitivity": 1}),
    "exponential": WorstCase(make=mechanisms.Exponential, pairs=_scores, defaults=_UTILITY),
    "permute-and-flip": WorstCase(make=mechanisms.PermuteAndFlip, pairs=_scores, defaults=_UTILITY),
    "noisy-max": WorstCase(make=mechanisms.NoisyMax, pairs=_counts),
    "noisy-top-k": WorstCase(make=mechanisms.NoisyTopK, pairs=_top, defaults=_UTILITY | {"k": 2}),
    "sparse-vector": WorstCase(make=mechanisms.SparseVector, pairs=_sequence, defaults={"linf_sensitivity": 1}),
    "randomized-response": WorstCase(make=mechanisms.RandomizedResponse, pairs=_respondent(False, True)),
    "kary-randomized-response": WorstCase(
        make=mechanisms.KaryRandomizedResponse, pairs=_respondent(0, 1), defaults={"categories": 3}
    ),
    "extreme": WorstCase(make=mechanisms.Extreme, pairs=_values, defaults=_RANGE | {"largest": True}),
    "quantile": WorstCase(make=mechanisms.Quantile, pairs=_values, defaults=_RANGE | {"quantile": "1/2"}),
    "quantile-end": WorstCase(
        make=mechanisms.QuantileEnd, pairs=_values, defaults=_RANGE | {"quantile": "1/2", "is_upper": False}
    ),
    "quantiles": WorstCase(
        make=mechanisms.Quantiles, pairs=_values, defaults=_RANGE | {"quantiles": ["1/4", "1/2", "3/4"]}
    ),
    "joint-quantiles": WorstCase(
        make=mechanisms.JointQuantiles, pairs=_values, defaults=_RANGE | {"quantiles": ["1/4", "1/2", "3/4"]}
    ),
    "smooth-median": WorstCase(make=mechanisms.SmoothMedian, pairs=_values, defaults=_RANGE),
    "stable-median": WorstCase(
        make=mechanisms.StableMedian, pairs=_values, defaults=_RANGE | {"proposed_sensitivity": 1}
    ),
    "laplace-threshold": WorstCase(make=mechanisms.LaplaceThreshold, pairs=_keys, defaults=_GROUPS | _ROWS),
    "gaussian-threshold": WorstCase(make=mechanisms.GaussianThreshold, pairs=_keys, defaults=_GROUPS | _ROWS),
    "truncated-geometric-selection": WorstCase(
        make=mechanisms.TruncatedGeometricSelection, pairs=_keys, defaults=_GROUPS
    ),
    "stable-histogram": WorstCase(make=_stable_histogram, pairs=_keys, defaults=_GROUPS | _ROWS),
    "smooth-sensitivity": WorstCase(
        make=mechanisms.SmoothSensitivity, pairs=_smoothed, defaults={"largest_sensitivity": 10}
    ),
    "propose-test-release": WorstCase(
        make=mechanisms.ProposeTestRelease, pairs=_proposed, defaults={"proposed_sensitivity": 1}
    ),
    "matrix-mechanism": WorstCase(
        make=mechanisms.MatrixMechanism, pairs=_histogram, defaults={"workload": [[1, 0], [1, 1]]}
    ),
    "posterior-sampling": WorstCase(make=_posterior_sampling, pairs=_observations),
}  # fmt: skip
