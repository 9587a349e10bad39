"""Calibration: the least noise, the most releases or the largest samples that a guarantee allows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.accounting.core.accountant import Accountant
from sfumato.accounting.core.crossing import Axis, costliest_allowed
from sfumato.accounting.core.printed import text_exactly, text_up
from sfumato.accounting.goals import Goal, excess_over
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind
from sfumato.numeric.rationals import Number, positive
from sfumato.numeric.rounding import log_near
from sfumato.privacy.events import Event, PoissonSampledEvent, SelfComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP

Target: TypeAlias = PureDP | ApproxDP

_LARGEST_NOISE: Final = Fraction(2**200)
_LARGEST_COUNT: Final = Fraction(10**12)
_SMALLEST_SAMPLE: Final = Fraction(1, 2**64)
_TOLERANCE: Final = "1e-6"


class Parameter(StrEnum):
    """The parameter that a calibration computes."""

    NOISE = "noise"
    """The smallest; the cost falls as it grows. Between 2^-200 and 2^200."""
    COUNT = "count"
    """The largest whole number from 1 to 10^12; the cost grows with it."""
    SAMPLING_PROBABILITY = "sampling_probability"
    """The largest from 0 to 1; the cost grows with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The result of a calibration: the value found, and its cost."""

    parameter: Parameter
    value: Fraction
    event: Event
    """The event with this value."""
    target: Target
    epsilon: Fraction | float
    """What the accountant proves at the target's δ for all that it has seen, this event included."""

    def __str__(self) -> str:
        name = str(self.parameter).replace("_", " ")
        return (
            f"{name} {text_exactly(self.value)} costs ε {text_up(self.epsilon)} at δ {text_exactly(self.target.delta)}"
        )


def calibrate(
    make_event: Callable[[Fraction], Event],
    *,
    target: Target,
    accountant: Accountant,
    parameter: Parameter | str = Parameter.NOISE,
    guess: Number | None = None,
    tolerance: Number = _TOLERANCE,
) -> Calibration:
    """The most useful value of one parameter of an event for which all that was released meets a target.

    **Guarantee**: the event with the returned value was itself given to the accountant, after all that the accountant
    had seen before, and met the target. This holds whatever `make_event` does; if the cost changes with the value in
    one direction only, the value is also within the tolerance of the best one.

    Edge cases: noise that could be arbitrarily small is 2^-200, a count without limit 10^12. A sampling probability
    may be 0, and so release nothing.

    Args:
        make_event: From a value to the event whose cost is computed; a count arrives as a whole Fraction.
        target: The guarantee wanted for everything together.
        accountant: The accountant, with all events composed before; an empty one for a fresh start.
        parameter: What the value is, which says in which direction the cost grows.
        guess: Tried first; without one 1, and 1/100 for a sampling probability.
        tolerance: Relative distance from the best value; counts below 1/tolerance are exact.

    Raises:
        ParameterError: No value in the range meets the target, or an argument cannot be used.
        UnsupportedEventError: The accountant has no sound cost for the event.

    Example:
        >>> from sfumato.accounting.composition.basic import BasicAccountant
        >>> from sfumato.privacy.events import LaplaceEvent
        >>> print(calibrate(LaplaceEvent, target=PureDP("0.1"), accountant=BasicAccountant()))
        noise 10 costs ε 0.1 at δ 0
    """
    wanted = _as_parameter(parameter)
    of_kind(target, "target", (PureDP, ApproxDP), "a guarantee: PureDP(1) or ApproxDP(1, 1e-6)")
    _check_accountant(accountant)
    called(make_event, "make_event", "a function from a number to an event, such as GaussianEvent")
    axis = _axis(wanted, positive(tolerance, "tolerance"))
    start = _start(wanted, axis, guess)

    def excess(value: Fraction) -> float:
        return _excess(accountant.compose(make_event(value)), target)

    found = costliest_allowed(excess, axis=axis, guess=start)
    if found is None and wanted is Parameter.SAMPLING_PROBABILITY and excess(Fraction(0)) <= 0:
        found = Fraction(0)
    if found is None:
        raise _impossible(accountant, target, wanted)
    event = make_event(found)
    epsilon = accountant.compose(event).epsilon(target.delta)
    return Calibration(parameter=wanted, value=found, event=event, target=target, epsilon=epsilon)


def smallest_noise(
    make_event: Callable[[Fraction], Event],
    *,
    target: Target | Goal,
    accountant: Accountant,
    count: int = 1,
    tolerance: Number = _TOLERANCE,
) -> Fraction:
    """The smallest noise for which so many events meet a target: `calibrate` for noise.

    Besides (ε, δ) the target may be a budget in another measure, `ZCDP`, `RenyiDP` or `GaussianDP`, of an accountant
    that keeps it; or an `AttackLimit`. An advantage of a is the target `ApproxDP(0, a)`.

    **Guarantee**: the accountant was given the events with the returned noise, and met the target.

    Args:
        make_event: From noise to one event, such as `GaussianEvent` itself.
        target: The guarantee wanted for all of them together, or the limit of attacks.
        accountant: The accountant, with all events composed before.
        count: How many such events there will be.
        tolerance: The relative tolerance of the result.

    Raises:
        ParameterError: No noise meets the target.

    Example:
        >>> from sfumato.accounting.composition.basic import BasicAccountant
        >>> from sfumato.privacy.events import GaussianEvent
        >>> noise = smallest_noise(GaussianEvent, target=ApproxDP(1, "1e-6"), accountant=BasicAccountant())
        >>> round(float(noise), 4)
        4.2247
    """
    repeated = _repeated(called(make_event, "make_event", "a function from noise to an event"), count)
    if not isinstance(target, Goal):
        return calibrate(repeated, target=target, accountant=accountant, tolerance=tolerance).value
    _check_accountant(accountant)
    axis = _axis(Parameter.NOISE, positive(tolerance, "tolerance"))
    found = costliest_allowed(
        lambda noise: excess_over(target, accountant.compose(repeated(noise))), axis=axis, guess=Fraction(1)
    )
    if found is None:
        raise ParameterError("target", str(target), f"is not reached by any noise under {type(accountant).__name__}")
    return found


def largest_count(event: Event, *, target: Target, accountant: Accountant, tolerance: Number = _TOLERANCE) -> int:
    """How often an event may be released within a target: `calibrate` for a count.

    Args:
        event: The event of one release.
        target: The guarantee wanted for all of them together.
        accountant: The accountant, with all events composed before.
        tolerance: Relative; counts below 1/tolerance are exact.

    Raises:
        ParameterError: Not even one release meets the target.

    Example:
        >>> from sfumato.accounting.composition.basic import BasicAccountant
        >>> from sfumato.privacy.events import PureEvent
        >>> largest_count(PureEvent("0.1"), target=PureDP(1), accountant=BasicAccountant())
        10
    """

    def repeated(count: Fraction) -> Event:
        return SelfComposedEvent(event, int(count))

    found = calibrate(repeated, target=target, accountant=accountant, parameter=Parameter.COUNT, tolerance=tolerance)
    return int(found.value)


def largest_sampling_probability(
    event: Event, *, target: Target, accountant: Accountant, count: int = 1, tolerance: Number = _TOLERANCE
) -> Fraction:
    """With which probability a fresh Poisson sample may hold each unit: `calibrate` for a sampling probability.

    Args:
        event: What is done with one sample, stated for adding or removing one unit.
        target: The guarantee wanted for all samples together.
        accountant: The accountant, with all events composed before.
        count: How many samples there will be.
        tolerance: The relative tolerance of the result.

    Raises:
        ParameterError: What was spent before exceeds the target.
    """
    repeated = _repeated(lambda probability: PoissonSampledEvent(probability, event), count)
    found = calibrate(
        repeated,
        target=target,
        accountant=accountant,
        parameter=Parameter.SAMPLING_PROBABILITY,
        tolerance=tolerance,
    )
    return found.value


def _repeated(make_event: Callable[[Fraction], Event], count: int) -> Callable[[Fraction], Event]:
    return lambda value: SelfComposedEvent(make_event(value), count)


def _check_accountant(accountant: object) -> None:
    """Refuses what is no accountant before it is asked anything."""
    if isinstance(accountant, type) or not all(hasattr(accountant, name) for name in ("compose", "epsilon")):
        raise ParameterError("accountant", accountant, "must be an accountant, such as PLDAccountant()")


def _as_parameter(parameter: object) -> Parameter:
    try:
        return Parameter(str(parameter))
    except ValueError:
        raise ParameterError("parameter", parameter, f"must be one of {', '.join(Parameter)}") from None


def _axis(parameter: Parameter, tolerance: Fraction) -> Axis:
    if not Fraction(1, 10**12) <= tolerance <= 1:
        raise ParameterError("tolerance", tolerance, "must lie between 1e-12 and 1")
    match parameter:
        case Parameter.NOISE:
            return Axis(costliest=1 / _LARGEST_NOISE, cheapest=_LARGEST_NOISE, tolerance=tolerance)
        case Parameter.COUNT:
            return Axis(costliest=_LARGEST_COUNT, cheapest=Fraction(1), tolerance=tolerance, is_whole=True)
        case Parameter.SAMPLING_PROBABILITY:
            return Axis(costliest=Fraction(1), cheapest=_SMALLEST_SAMPLE, tolerance=tolerance)


def _start(parameter: Parameter, axis: Axis, guess: Number | None) -> Fraction:
    if guess is None:
        return Fraction(1, 100) if parameter is Parameter.SAMPLING_PROBABILITY else Fraction(1)
    return axis.value(axis.position(axis.nearest(positive(guess, "guess"))))


def _excess(spent: Accountant, target: Target) -> float:
    """ln(cost/limit), at most 0 exactly where the cost is within the limit; in δ where the target's ε is 0."""
    if target.epsilon:
        cost, limit = spent.epsilon(target.delta), target.epsilon
    else:
        cost, limit = spent.delta(0), target.delta
    if cost == 0 or limit == 0 or math.isinf(cost):
        return -math.inf if cost <= limit else math.inf
    logarithm = log_near(Fraction(cost) / limit)
    return min(logarithm, 0.0) if cost <= limit else max(logarithm, math.ulp(0.0))


def _impossible(accountant: Accountant, target: Target, parameter: Parameter) -> ParameterError:
    before = accountant.epsilon(target.delta)
    if before > target.epsilon:
        return ParameterError(
            "target", str(target), f"is exceeded by the ε {text_up(before)} that was spent before; raise the target"
        )
    mend = {
        Parameter.NOISE: "is not reached by any noise",
        Parameter.COUNT: "does not allow even one release",
        Parameter.SAMPLING_PROBABILITY: "is not reached by any sample",
    }[parameter]
    hint = "" if target.delta else ", or allow δ above 0, which Gaussian noise needs"
    return ParameterError("target", str(target), f"{mend} under {type(accountant).__name__}; raise ε or δ{hint}")
