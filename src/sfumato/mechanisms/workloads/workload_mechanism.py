"""The mechanism that answers a planned workload: integers in, exact noise, consistent answers with known errors out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import Gaussian, GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.base import integers, opened
from sfumato.mechanisms.workloads.accuracy import Noise, half_widths
from sfumato.mechanisms.workloads.components import Query, Total
from sfumato.mechanisms.workloads.planning import WorkloadPlan, squared_sensitivity
from sfumato.mechanisms.workloads.queries import Floats, row_lengths
from sfumato.mechanisms.workloads.sensitivity import Measurement, l0_sensitivity, l1_sensitivity
from sfumato.noise.uniform.integers import SAFE, Integers, largest
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.rationals import Number, positive, set_fields, sqrt_up
from sfumato.numeric.rounding import dyadic_up
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.secret import Secret

Answer: TypeAlias = tuple[int, Sequence[int]]
"""An answer by its group of queries and its place in that group's array, such as (0, (2, 1))."""
Tables: TypeAlias = Any
"""Whole numbers: a histogram of all columns, flat or with one axis for each; or a mapping from columns to tables."""

_DIGITS: Final = 32  # of a stddev, which is rounded up: terms of a long one are slow to draw with
_LARGEST_MEASUREMENT: Final = 1 << 100  # beyond any count; a float holds it and what is computed from it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkloadAnswers:
    """Noisy answers to a workload that agree with each other, and how far they may be off.

    Args:
        event: What was released, for accountants.
        measurements: The measured whole numbers with their noise, of which everything else is computed.
        answers: For each group of queries an array with one axis for each column that it names, in the order of the
            histogram's columns.
        mechanism: What released them.
    """

    event: DiscreteGaussianEvent | DiscreteLaplaceEvent | PureEvent
    measurements: Integers = field(repr=False)
    answers: tuple[Floats, ...]
    mechanism: "WorkloadMechanism" = field(repr=False)

    @property
    def stddevs(self) -> tuple[Floats, ...]:
        """The standard deviation of each answer; arrays as those of the answers."""
        return self.mechanism.stddevs

    def covariance(self, first: Answer, second: Answer) -> float:
        """The covariance of the noise of two answers, each named by its group and its place in that group's array.

        Raises:
            ParameterError: There is no such answer.
        """
        return self.mechanism.covariance(first, second)


@dataclass(frozen=True, slots=True, init=False)
class WorkloadMechanism:
    """Measures the strategy of a plan with discrete noise, and computes all answers from what was measured.

        y = S·x + noise   and   answers = W·(SᵀS)⁺·Sᵀ·y

    S is a public matrix of whole numbers, x a secret histogram of whole numbers. Answers are unbiased, and those of a
    strategy that is not "plain" are consistent: they are the answers of one vector, which fits y best in least squares.

    **Guarantee**: what `event` says, under the neighboring relation of the plan's unit, if no unit changes the
    histogram more than that says, and all tables are of one histogram. Sensitivities are those of S as it is measured,
    after all rounding, and the noise is discrete. With an `epsilon` it is (ε, δ)-differentially private, with a `rho`
    ρ-zero-concentrated. Proof: proofs/mechanisms/workloads/workload_mechanism.md.

    =======================================  ==============================================================
    Edge case                                Behavior
    =======================================  ==============================================================
    a column with one value                  it is totaled
    counts of any size, negative ones too    exact until the noise is added; answers are floats
    None, NaN                                count as 0
    tables of the wrong size, or too few     ParameterError; the numbers of values are public
    =======================================  ==============================================================

    Args:
        plan: From `plan_workload`.
        epsilon: For Laplace noise, or with a delta for Gaussian noise; above 0.
        delta: Above 0 and below 1.
        rho: For Gaussian noise, in place of epsilon and delta; above 0.
        noise_multiplier: Standard deviation over L2 sensitivity, in place of these.
        noise: Noise that was calibrated together with that of other releases, for at least this strategy's sensitivity;
            in place of all these.

    Raises:
        ParameterError: A parameter lies outside, or not exactly one of these is given.

    Example:
        >>> from sfumato.mechanisms import CellSensitivity, LinearQueries, plan_workload
        >>> one_row = CellSensitivity(l0=1, linf=1, is_nonnegative=True)
        >>> workload = [LinearQueries({"age": "cells"}), LinearQueries({"age": "prefix"})]
        >>> plan = plan_workload({"age": 8}, workload, unit=one_row)
        >>> released = WorkloadMechanism(plan, rho="0.5").release([5, 8, 9, 9, 7, 4, 2, 1])
        >>> cells, prefix = released.answers
        >>> bool(np.allclose(np.cumsum(cells), prefix))
        True

    References:
        [LMHMR15]; [XHZK23]; [CKS20] for the noise.
    """

    plan: WorkloadPlan
    noise: Noise

    def __init__(
        self,
        plan: WorkloadPlan,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise_multiplier: Number | None = None,
        noise: Noise | None = None,
    ) -> None:
        of_kind(plan, "plan", WorkloadPlan, "a plan of plan_workload")
        given = tuple(value is not None for value in (epsilon, delta, rho, noise_multiplier))
        if noise is not None:
            drawn = _calibrated(plan, noise, is_alone=not any(given))
        elif plan.noise == "laplace":
            if given != (True, False, False, False):
                raise ParameterError("epsilon", epsilon, "must be given alone, since the plan is for Laplace noise")
            distance = l1_sensitivity(plan.strategy.measurements, plan.unit)
            drawn = Laplace(l1_sensitivity=distance, epsilon=positive(epsilon or 0, "epsilon"))
        else:
            drawn = _gaussian(plan, epsilon=epsilon, delta=delta, rho=rho, noise_multiplier=noise_multiplier)
        set_fields(self, plan=plan, noise=drawn)

    @property
    def event(self) -> DiscreteGaussianEvent | DiscreteLaplaceEvent | PureEvent:
        """The event of one release, for accountants: the noisy measurements, of which all answers are made."""
        return self.noise.event

    @property
    def stddevs(self) -> tuple[Floats, ...]:
        """The standard deviation of each answer, known before anything is spent; arrays as those of the answers."""
        return tuple(np.sqrt(self.noise.variance * weights) for weights in self._squared_weights())

    def accuracy(self, confidence: Number = "0.95") -> tuple[Floats, ...]:
        """For each answer a half-width t with P(|answer − exact| ≤ t) ≥ confidence, but for the rounding of floats.

        Hardly larger than needed, but for sums with Laplace noise in workloads of more than some millions of weights:
        there up to about twice as large at 95%.
        """
        return tuple(
            half_widths(self.plan, group, squares, noise=self.noise, confidence=confidence)
            for group, squares in enumerate(self._squared_weights())
        )

    def covariance(self, first: Answer, second: Answer) -> float:
        """The covariance of the noise of two answers, each named by its group and its place in that group's array.

        Raises:
            ParameterError: There is no such answer.
        """
        (group, queries), (other_group, others) = self._query(first), self._query(second)
        return self.noise.variance * self.plan.strategy.covariance((group, other_group), (queries, others))

    def release(self, exact: Tables | Secret[Tables]) -> WorkloadAnswers:
        """The answers to all queries.

        Args:
            exact: The histogram of all columns, flat or with one axis for each; or a mapping from tuples of names of
                columns to tables with one axis for each, which between them have the columns of `plan.tables`.

        Raises:
            ParameterError: A number is no integer, or a table is missing or of another size.
        """
        tables = self._tables(opened(exact))
        measured = [_measured(tables, each) for each in self.plan.strategy.measurements]
        noisy = self.noise.release(_joined(measured))
        return WorkloadAnswers(
            event=self.event,
            measurements=_read_only(noisy),
            answers=tuple(map(_read_only, self._answers(_floats(noisy)))),
            mechanism=self,
        )

    def _answers(self, noisy: Floats) -> tuple[Floats, ...]:
        """Sums of what each measurement says of each answer."""
        measurements = self.plan.strategy.measurements
        ends = np.cumsum([each.size for each in measurements])[:-1]
        parts = [
            numbers.reshape([part.measured for part in each.components]) / each.multiplier
            for each, numbers in zip(measurements, np.split(noisy, ends), strict=True)
        ]
        answers = []
        for group, kinds in enumerate(self.plan.kinds):
            total: Floats = np.zeros(())
            for place in self.plan.strategy.sources[group]:
                recovered = parts[place]
                for axis, (component, kind) in enumerate(zip(measurements[place].components, kinds, strict=True)):
                    recovered = component.recover(kind, recovered, axis)
                total = total + recovered
            answers.append(self._shaped(total, group))
        return tuple(answers)

    def _squared_weights(self) -> list[Floats]:
        """The variance of each answer if the noise has variance 1."""
        strategy = self.plan.strategy
        return [self._shaped(strategy.variances(group, kinds), group) for group, kinds in enumerate(self.plan.kinds)]

    def _shaped(self, values: Floats, group: int) -> Floats:
        """Without the axes of columns that a group of queries does not name."""
        named = {name for name, _ in self.plan.workload[group].kinds}
        unnamed = tuple(axis for axis, (name, _) in enumerate(self.plan.columns) if name not in named)
        found: Floats = values.squeeze(axis=unnamed)
        return found

    def _query(self, answer: Answer) -> tuple[int, list[Query]]:
        """The group of an answer, and the row of each column that it is the product of."""
        requirement = "must be a group and a place in it, such as (0, (2, 1))"
        try:
            group, (*place,) = answer
        except (TypeError, ValueError):
            raise ParameterError("answer", answer, requirement) from None
        whole(group, "group", most=len(self.plan.workload) - 1)
        named = {name for name, _ in self.plan.workload[group].kinds}
        if len(place) != len(named):
            raise ParameterError("place", place, f"must have one index for each of the columns {sorted(named)}")
        indices = iter(place)
        queries: list[Query] = []
        for (name, size), kind in zip(self.plan.columns, self.plan.kinds[group], strict=True):
            rows = len(row_lengths(kind, size))
            queries.append((kind, whole(next(indices), "place", most=rows - 1) if name in named else 0))
        return group, queries

    def _tables(self, exact: Any) -> dict[tuple[str, ...], Integers]:
        """Each table with one axis for each column of the plan, of length 1 where it does not have the column."""
        sizes = dict(self.plan.columns)
        names = tuple(sizes)
        given = exact.items() if isinstance(exact, Mapping) else [(names, exact)]
        tables = {}
        for key, numbers in given:
            if not isinstance(key, tuple) or list(key) != [name for name in names if name in key]:
                raise ParameterError("exact", key, f"must be grouped by some of {names}, in that order")
            shape = [sizes[name] if name in key else 1 for name in names]
            counts = integers(numbers.ravel() if isinstance(numbers, np.ndarray) else numbers)
            if len(counts) != prod(shape):
                requirement = f"must have one for each of {prod(shape)} cells of {', '.join(key)}"
                raise ParameterError("exact", f"{len(counts)} numbers", requirement)
            tables[tuple(key)] = counts.reshape(shape)
        for table in self.plan.tables:
            if not any(set(table) <= set(key) for key in tables):
                raise ParameterError("exact", list(tables), f"must have a table that is grouped by {table}")
        return tables


def _calibrated(plan: WorkloadPlan, noise: Noise, *, is_alone: bool) -> Noise:
    """Noise that was handed over, if what it hides is at least what a unit can change."""
    of_kind(noise, "noise", (Laplace, Gaussian, GaussianNoise), "Laplace, Gaussian or GaussianNoise")
    if not is_alone:
        raise ParameterError("noise", noise, "must be given alone, without epsilon, delta, rho or noise_multiplier")
    measured, unit = plan.strategy.measurements, plan.unit
    if isinstance(noise, Laplace):
        is_enough = noise.l1_sensitivity >= l1_sensitivity(measured, unit)
    else:
        is_enough = noise.l2_sensitivity**2 >= squared_sensitivity(plan.strategy, unit)
        is_enough &= noise.l0_sensitivity is None or noise.l0_sensitivity >= l0_sensitivity(measured, unit)
    if not is_enough:
        raise ParameterError("noise", noise, "must be for at least the sensitivity of the plan's strategy")
    return noise


def _gaussian(
    plan: WorkloadPlan,
    *,
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    noise_multiplier: Number | None,
) -> Gaussian | GaussianNoise:
    """Noise for the sensitivity of the plan's strategy."""
    squared = Fraction(squared_sensitivity(plan.strategy, plan.unit))
    distance, changed = sqrt_up(squared), l0_sensitivity(plan.strategy.measurements, plan.unit)
    match (epsilon, delta, rho, noise_multiplier):
        case (epsilon, delta, None, None) if epsilon is not None and delta is not None:
            budget = positive(epsilon, "epsilon")
            return Gaussian(l2_sensitivity=distance, epsilon=budget, delta=delta, l0_sensitivity=changed)
        case (None, None, rho, None) if rho is not None:  # Δ²/(2σ²) ≤ ρ for Δ as it is rounded up
            stddev = dyadic_up(sqrt_up(distance**2 / (2 * positive(rho, "rho"))), bits=_DIGITS)
        case (None, None, None, multiplier) if multiplier is not None:
            stddev = distance * positive(multiplier, "noise_multiplier")
        case _:
            requirement = "must be given with delta; or give rho, or noise_multiplier, alone"
            raise ParameterError("epsilon", epsilon, requirement)
    return GaussianNoise(l2_sensitivity=distance, stddev=stddev, l0_sensitivity=changed)


def _measured(tables: Mapping[tuple[str, ...], Integers], measurement: Measurement) -> Integers:
    """One measurement without noise, in Python integers if it could be too large for others."""
    needed = [axis for axis, part in enumerate(measurement.components) if not isinstance(part, Total)]
    fitting = [
        table
        for table in tables.values()
        if all(table.shape[axis] == measurement.components[axis].cells for axis in needed)
    ]
    values: Any = min(fitting, key=lambda table: table.size)
    growth = measurement.multiplier * prod(part.bounds.row for part in measurement.components)
    if largest(values.ravel()) * growth > SAFE:
        values = values.astype(object)
    for axis, part in enumerate(measurement.components):
        if values.shape[axis] != 1 or part.cells == 1:
            values = part.measure(values, axis)
    numbers: Integers = measurement.multiplier * values.ravel()
    return numbers


def _joined(measured: Sequence[Any]) -> Any:
    """One after the other, in Python integers if one of them is."""
    if any(numbers.dtype == object for numbers in measured):
        return np.concatenate([numbers.astype(object) for numbers in measured])
    return np.concatenate(measured)


def _read_only(numbers: Any) -> Any:
    """An array that is not shared with anything, and stays as it is."""
    copied = np.array(numbers)
    copied.setflags(write=False)
    return copied


def _floats(measurements: Any) -> Floats:
    """The nearest floats, of measurements of any size."""
    if measurements.dtype != object:
        nearest: Floats = measurements.astype(np.float64)
        return nearest
    return np.array([float(max(-_LARGEST_MEASUREMENT, min(_LARGEST_MEASUREMENT, value))) for value in measurements])
