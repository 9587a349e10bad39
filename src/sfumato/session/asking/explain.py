"""A plan as text: its cost, who is protected, which rows and groups count, sensitivity, noise and predicted errors."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from sfumato.engines.base import Engine
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.numeric.rationals import decimal_text
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Relation,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
    lineage,
)
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import (
    CellCount,
    LatticeValue,
    Measure,
    RowCount,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
)
from sfumato.query.planning.plan import BoundsFirst, PrivatePlan
from sfumato.query.policy.policy import Policy
from sfumato.query.printing.expression_sql import expression_sql
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.measurements import (
    Additive,
    AdditiveNoise,
    KeyChoice,
    LinearOutput,
    Measurement,
    QuantileChoice,
    Section,
    TopChoice,
)
from sfumato.query.statistics.workloads import FittedCells, Workload
from sfumato.session.asking.forecast import forecast


def explain(plan: PrivatePlan, policy: Policy, confidence: Fraction) -> str:
    """The plan as lines of text; each begins with its topic.

    Args:
        plan: The plan of a query.
        policy: Names the privacy unit and the neighboring relation.
        confidence: The probability with which the printed intervals hold, such as 0.95.
    """
    lines = [
        _line("cost", f"{plan.charge}, charged before data is read"),
        _line("protected", f"one {policy.unit_name} ({policy.neighboring_relation.value.replace('_', ' ')})"),
    ]
    first = plan.sections[0].statements[0]
    lines += [_line("rows", text) for step in reversed(list(lineage(first.rows))) if (text := _shown(step))]
    if first.limits != Limits():
        lines.append(_line("contribution", f"at most {_limits(first.limits)} per {policy.unit_name}"))
    if plan.bounds is not None:
        lines += _bounds(plan.bounds, policy.unit_name)
    for section in plan.sections:
        lines += _section(section, policy.unit_name)
    interval = f"{float(confidence):.0%} interval"
    lines += [_line("error", f"{prediction}, {interval}") for prediction in forecast(plan, confidence=confidence)]
    return "\n".join(lines)


def free_offer(errors: Sequence[Forecast], confidence: Fraction) -> str:
    """A line that says how far off an estimate from stored answers may be.

    Args:
        errors: Of each column.
        confidence: The probability with which the printed intervals hold.
    """
    shown = ", ".join(map(str, errors))
    return _line("free", f"{shown}, {float(confidence):.0%} interval, from stored answers at no cost: from_releases()")


def programs(plan: PrivatePlan, engine: Engine) -> str:
    """The SQL that the engine will run for each statement; no data is read."""
    sections = plan.sections if plan.bounds is None else (plan.bounds.section, *plan.sections)
    statements = [statement for section in sections for statement in section.statements]
    return "\n\n".join(f"{_line('SQL', f'for {engine.name}:')}\n{engine.sql(one) or 'none'}" for one in statements)


def _line(topic: str, text: str) -> str:
    """A line of the explanation: its topic in a column of 14 characters, then the text."""
    return f"{topic:<14}{text}"


def _section(section: Section, unit: str) -> Iterator[str]:
    groups = " × ".join(
        f"{key.name} ({'private keys' if key.values is None else f'{len(key.values)} public keys'})"
        for key in section.keys
    )
    yield _line("groups", groups or "one, of all rows")
    if section.selection is not None:
        yield _line("keys", _selection(section.selection))
    for measurement in section.measurements:
        yield _line("noise", _measurement(measurement, section, unit))


def _bounds(first: BoundsFirst, unit: str) -> Iterator[str]:
    """The histograms from which bounds are chosen, and what is planned for the widest bounds that could be chosen."""
    for place, measurement in enumerate(first.section.measurements):
        if isinstance(measurement, Additive):
            outputs = (one for one in first.section.outputs if isinstance(one, LinearOutput))
            names = ", ".join(one.name for one in outputs if one.measurement == place)
            noise = _noise(measurement.mechanism, measurement.sensitivity, Fraction(1), unit)
            yield _line("bounds", f"of {names}, chosen first from a histogram of magnitudes: {noise}")
    yield _line("bounds", f"then {first.rest} is spent with them; the lines below assume the widest that can be chosen")


def _selection(choice: KeyChoice) -> str:
    mechanism = choice.mechanism
    if mechanism is None:
        return "all are shown, as the rows are public"
    return (
        f"shown by truncated geometric selection, ε {decimal_text(mechanism.epsilon)}, "
        f"δ {decimal_text(mechanism.delta)}; "
        f"a group of {mechanism.reliable_count():,} units is shown with probability ≥ 95%"
    )


def _measurement(measurement: Measurement, section: Section, unit: str) -> str:
    statement = section.statements[measurement.statement]
    match measurement:
        case Additive(measures=places, sensitivity=sensitivity, mechanism=mechanism):
            measures = [statement.measures[place] for place in places]
            resolutions = {_resolution(measure) for measure in measures}
            resolution = resolutions.pop() if len(resolutions) == 1 else None
            return f"{', '.join(map(_measure, measures))}: {_noise(mechanism, sensitivity, resolution, unit)}"
        case QuantileChoice(mechanism=choice):
            per_row = _per_row(choice.epsilon, measurement.rows, unit)
            return f"{_ranked(choice)} over {int(choice.upper) + 1:,} lattice points, {per_row}"
        case TopChoice(mechanism=top):
            return (
                f"top {top.k}: report noisy max, discrete Laplace of scale {decimal_text(top.scale)}, "
                f"{_per_row(top.epsilon, measurement.rows, unit)}"
            )
        case FittedCells(workload=workload):
            return f"{_measure(workload.statement.measures[0])}: {_strategy(workload)}"
        case _:
            assert_never(measurement)


def _strategy(workload: Workload) -> str:
    """How a workload is measured; its noise is that of what is measured, not of answers."""
    plan = workload.mechanism.plan
    keys = " × ".join(f"{len(key.values or ()):,}" for key in workload.statement.keys) or "1"
    numbers = _counted(plan.strategy.size, "number")
    return f"by the strategy {plan.strategy.name!r}: {numbers} with one noise, of a histogram of {keys} cells"


def _per_row(epsilon: Fraction, rows: int, unit: str) -> str:
    if not rows:
        return "no cost, as the rows are public"
    return f"ε {decimal_text(epsilon)} per row; sensitivity {_counted(rows, 'row')} per {unit}"


def _ranked(choice: Quantile | QuantileEnd | Extreme | JointQuantiles) -> str:
    if isinstance(choice, JointQuantiles):
        return f"quantiles {', '.join(map(decimal_text, choice.quantiles))}: exponential mechanism for all at once"
    if isinstance(choice, QuantileEnd):
        side = "upper" if choice.is_upper else "lower"
        return (
            f"{side} end of the interval of quantile {decimal_text(choice.quantile)}, right with probability "
            f"{float(choice.confidence):.1%}: exponential mechanism, margin {choice.margin:,} ranks"
        )
    if isinstance(choice, Quantile):
        return f"quantile {decimal_text(choice.quantile)}: exponential mechanism"
    return f"value of rank {choice.rank:,} (1 is the {'largest' if choice.largest else 'smallest'}): permute-and-flip"


def _shown(step: Relation) -> str:
    match step:
        case Source(table):
            owners = {Metric.ROWS: "each row is a unit", Metric.PUBLIC: "public"}
            return f"{table.name}, {owners.get(shape_of(step).metric, f'unit {table.unit}')}"
        case PeoplePart():
            return f"part {step.by} = {step.value!r}, at most {_counted(step.max_parts_per_unit, 'part')} per unit"
        case Filter(_, condition):
            return f"where {expression_sql(condition)}"
        case Select():
            return ""
        case BoundRows(_, most):
            return f"at most {_counted(most, 'row')} per unit, chosen by a salted hash of the unit's rows"
        case Join():
            on = " and ".join(f"{a} = {b}" for a, b in step.on) or "the unit"
            return f"{step.kind} join on {on}{_within(step)}"
        case SemiJoin():
            on = f" on {' and '.join(f'{a} = {b}' for a, b in step.on)}" if step.on else ""
            return f"where {'no' if step.negated else 'a'} row matches{on}{_within(step)}"
        case UnionAll():
            return "all rows of two relations"
        case Intersect():
            return "rows that are in both of two relations"
        case Except():
            return "rows of the first of two relations that are not in the second"
        case Distinct():
            return "distinct rows"
        case Grouped(_, keys, _):
            return f"grouped by {', '.join(keys) or 'the unit'}"
        case RowWindow():
            order = ", ".join(name for name, _ in step.order)
            whose = "each unit's rows" if shape_of(step).metric is Metric.UNITS else "public rows"
            return f"{step.name}: {step.function} of {whose} in the order of {order}"
        case _:
            assert_never(step)


def _within(step: Join | SemiJoin) -> str:
    other = step.right if isinstance(step, Join) else step.other
    return ", within each unit" if shape_of(other).metric is Metric.UNITS else ""


def _limits(limits: Limits) -> str:
    named = (
        (limits.max_groups_per_unit, "group", ""),
        (limits.max_rows_per_group_per_unit, "row", " in one group"),
        (limits.max_rows_per_unit, "row", ""),
    )
    texts = [f"{_counted(most, name)}{where}" for most, name, where in named if most is not None]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name if number == 1 else f'{name}s'}"


def _measure(measure: Measure) -> str:
    match measure:
        case RowCount():
            return "count of rows"
        case ValueCount(present):
            return f"count of {', '.join(map(expression_sql, present)) or 'values'}"
        case StepSum(steps):
            return f"sum of {_steps(steps)}"
        case StepProduct(first, second) if first == second:
            return f"sum of squares of {_steps(first)}"
        case StepProduct(first, second):
            return f"sum of products of {_steps(first)} and {_steps(second)}"
        case UnitCount():
            return "count of units"
        case CellCount():
            return "count of distinct values"
        case _:
            assert_never(measure)


def _steps(steps: LatticeValue) -> str:
    """A value as it is summed: clamped and centered, in its own unit."""
    places = steps.lower, steps.upper, steps.offset
    lower, upper, offset = (decimal_text(place * steps.resolution, digits=12) for place in places)
    centered = f", minus {offset}" if steps.offset else ""
    resolution = decimal_text(steps.resolution)
    return f"{expression_sql(steps.value)} (clamped to {lower}…{upper}{centered}; resolution {resolution})"


def _resolution(measure: Measure) -> Fraction:
    """What 1 in the measure's integers is in the unit of the answer."""
    match measure:
        case StepSum(steps):
            return steps.resolution
        case StepProduct(first, second):
            return first.resolution * second.resolution
        case _:
            return Fraction(1)


def _noise(mechanism: AdditiveNoise, sensitivity: Sensitivity, resolution: Fraction | None, unit: str) -> str:
    """Sensitivity and noise in the unit of the answer; in lattice points if the measures have several resolutions."""
    if isinstance(mechanism, GaussianNoise):
        reach, norm = mechanism.l2_sensitivity, "L2 sensitivity"
        scale, distribution = mechanism.stddev, "discrete Gaussian, standard deviation"
    else:
        reach, norm = Fraction(sensitivity.l1), "sensitivity"
        scale, distribution = mechanism.scale, "discrete Laplace, scale"
    one, points = (Fraction(1), " lattice points") if resolution is None else (resolution, "")
    moved = f"{norm} {decimal_text(reach * one)}{points} per {unit}"
    if scale == 0:
        return f"{moved}; no noise needed" if reach == 0 else f"{moved}; nothing released, as ε is 0"
    return f"{moved}; {distribution} {decimal_text(scale * one)}{points}"
