"""The error of an answer, predicted before anything is spent: from the distribution of the noise, never from the data.

Accuracy first: the smallest ε at which the predicted errors are small enough, from the same public facts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive
from sfumato.query.planning.auto_bounds import automatic
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.statistics.estimates import Forecast

TYPICAL_SIZE: Final = 1_000
STEP: Final = Fraction(1, 10**6)
"""ε is found to six decimals."""

LARGEST: Final = 10**6
"""No error target is worth more: a promise of this ε is none."""


def forecast(plan: PrivatePlan, *, confidence: Fraction, size: int | None = None) -> tuple[Forecast, ...]:
    """The predicted error of every column, of the first section if there are several.

    Args:
        plan: What would be released.
        confidence: Such as 0.95.
        size: How many values a mean is presumed to be over; None presumes 1,000 and says so.
    """
    section = plan.sections[0]
    chosen = {name for name, _ in automatic(plan.question)} if plan.bounds is not None else set()
    found = (output.forecast(section, confidence, size=size or TYPICAL_SIZE) for output in section.outputs)
    return tuple(_with_widest(one) if one.column in chosen else one for one in found)


def _with_widest(prediction: Forecast) -> Forecast:
    presumed = (*filter(None, [prediction.assumption]), "with the widest bounds that can be chosen")
    return replace(prediction, assumption=", ".join(presumed))


def least_epsilon(predicted: Callable[[Fraction], Sequence[Forecast]], targets: Mapping[str, Number]) -> Fraction:
    """A multiple of 10^-6 at which no column errs by more than its target, while one does at the multiple below.

    It is the smallest there is where errors never grow with ε: always without δ. With δ, where Laplace noise takes over
    from Gaussian noise of the same variance, half-widths may rise by a few percent once.

    Args:
        predicted: The errors at an ε. That noise for a small ε cannot be drawn counts as any error.
        targets: The largest error of each column that matters.

    Raises:
        ParameterError: No target, an unknown column, one that no ε meets, or the query has no answer at any ε.
    """
    if not isinstance(targets, Mapping):
        raise ParameterError("error", targets, "must state the largest error of a column, such as {'n': 25}")
    limits = {name: positive(target, f"error of {name}") for name, target in targets.items()}
    if not limits:
        raise ParameterError("error", {}, "must state the largest error of a column, such as {'n': 25}")
    known = _columns(predicted)
    if unknown := sorted(set(limits) - known):
        wanted = f"must be a statistic that is released, not computed of others: {', '.join(sorted(known))}"
        raise ParameterError("error", unknown[0], wanted)

    def is_enough(steps: int) -> bool:
        try:
            errors = {one.column: one.half_width for one in predicted(steps * STEP)}
        except ParameterError:  # it can be planned at another ε, so it is the noise that cannot be drawn
            return False
        return all(errors[name] <= limit for name, limit in limits.items())

    low, high = 0, int(1 / STEP)
    while not is_enough(high):
        low, high = high, 4 * high
        if high * STEP > LARGEST:
            raise ParameterError("error", dict(targets), "is smaller than any noise can be; ask for a larger error")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high * STEP


def _columns(predicted: Callable[[Fraction], Sequence[Forecast]]) -> set[str]:
    """The columns of an answer, at any ε at which there is one."""
    try:
        found = predicted(Fraction(1))
    except ParameterError:
        found = predicted(Fraction(LARGEST))
    return {one.column for one in found}
