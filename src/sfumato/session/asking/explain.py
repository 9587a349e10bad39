"""A plan for people: what is asked, who is protected, what one person can move, which noise, which price."""

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from sfumato.engines.base import Engine
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.numeric.rationals import decimal_text
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.measures import (
    CellCount,
    LatticeValue,
    Measure,
    RowCount,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
)
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
    Select,
    SemiJoin,
    Source,
    UnionAll,
    lineage,
)
from sfumato.query.model.schema import Limits
from sfumato.query.planning.plan import BoundsFirst, PrivatePlan
from sfumato.query.policy.policy import Policy
from sfumato.query.printing.expression_sql import expression_sql
from sfumato.query.statistics.measurements import (
    Additive,
    AdditiveNoise,
    KeyChoice,
    Measurement,
    QuantileChoice,
    Section,
    TopChoice,
)
from sfumato.session.asking.forecast import forecast


def explain(plan: PrivatePlan, policy: Policy, confidence: Fraction) -> str:
    """The plan as lines of text."""
    lines = [f"price       {plan.charge}, charged before data is touched"]
    lines.append(f"protected   one {policy.unit_name} ({policy.neighboring_relation.value.replace('_', ' ')})")
    first = plan.sections[0].statements[0]
    lines += [f"rows        {text}" for step in reversed(list(lineage(first.rows))) if (text := _shown(step))]
    if first.limits != Limits():
        lines.append(f"bounded     of each {policy.unit_name} at most {_limits(first.limits)}")
    if plan.bounds is not None:
        lines += _bounds(plan.bounds, policy.unit_name)
    for section in plan.sections:
        lines += _section(section, policy.unit_name)
    lines += [
        f"error       {prediction}, {float(confidence):.0%}" for prediction in forecast(plan, confidence=confidence)
    ]
    return "\n".join(lines)


def programs(plan: PrivatePlan, engine: Engine) -> str:
    """What the engine will run, for people; no data is touched."""
    sections = plan.sections if plan.bounds is None else (plan.bounds.section, *plan.sections)
    statements = [statement for section in sections for statement in section.statements]
    return "\n\n".join(f"runs        on {engine.name}:\n{engine.sql(one) or 'no SQL'}" for one in statements)


def _section(section: Section, unit: str) -> Iterator[str]:
    groups = " × ".join(
        f"{key.name} ({'private keys' if key.values is None else f'{len(key.values)} public keys'})"
        for key in section.keys
    )
    yield f"groups      {groups or 'one, of all rows'}"
    if section.selection is not None:
        yield f"keys        {_selection(section.selection)}"
    for measurement in section.measurements:
        yield f"noise       {_measurement(measurement, section, unit)}"


def _bounds(first: BoundsFirst, unit: str) -> Iterator[str]:
    """The histograms from which bounds are chosen; what follows is planned with the widest that could be."""
    for output, measurement in zip(first.section.outputs, first.section.measurements, strict=True):
        if isinstance(measurement, Additive):
            yield (
                f"bounds      of {output.name}, chosen first from a histogram of magnitudes: one {unit} moves it by at "
                f"most {measurement.sensitivity.l1}; {_noise(measurement.mechanism)}"
            )
    yield f"bounds      the rest, {first.rest}, is spent with them; it is shown here with the widest that can be chosen"


def _selection(choice: KeyChoice) -> str:
    mechanism = choice.mechanism
    if mechanism is None:
        return "all that there are, as the rows are public"
    return (
        f"shown by truncated geometric selection, ε {decimal_text(mechanism.epsilon)}, "
        f"δ {decimal_text(mechanism.delta)}; each with 95% that {mechanism.reliable_count()} units have"
    )


def _measurement(measurement: Measurement, section: Section, unit: str) -> str:
    statement = section.statements[measurement.statement]
    match measurement:
        case Additive(measures=places, sensitivity=moved, mechanism=mechanism):
            names = ", ".join(_measure(statement.measures[place]) for place in places)
            return f"{names}: one {unit} moves it by at most {moved.l1}; {_noise(mechanism)}"
        case QuantileChoice(mechanism=choice):
            per_row = _per_row(choice.epsilon, measurement.rows, unit)
            return f"{_ranked(choice)} over {choice.upper + 1} values, {per_row}"
        case TopChoice(mechanism=top):
            return (
                f"top {top.k}: report noisy max, discrete Laplace of scale {decimal_text(top.scale)}, "
                f"{_per_row(top.epsilon, measurement.rows, unit)}"
            )
        case _:
            assert_never(measurement)


def _per_row(epsilon: Fraction, rows: int, unit: str) -> str:
    return f"ε {decimal_text(epsilon)} a row, of which one {unit} moves at most {rows}" if rows else "free"


def _ranked(choice: Quantile | QuantileEnd | Extreme) -> str:
    if isinstance(choice, QuantileEnd):
        side = "upper" if choice.is_upper else "lower"
        shown = f"{side} end of quantile {decimal_text(choice.quantile)}, {float(choice.confidence):.1%} on its side"
        return f"{shown}: exponential mechanism, at a margin of {choice.margin:,} ranks"
    if isinstance(choice, Quantile):
        return f"quantile {decimal_text(choice.quantile)}: exponential mechanism"
    return f"number {choice.rank} from the {'largest' if choice.largest else 'smallest'}: permute-and-flip"


def _shown(step: Relation) -> str:
    match step:
        case Source(table):
            owners = {Metric.ROWS: "each row is a unit", Metric.PUBLIC: "public"}
            return f"{table.name}, {owners.get(shape_of(step).metric, f'unit {table.unit}')}"
        case PeoplePart():
            return f"the part {step.by} = {step.value!r}, of at most {step.max_parts_per_unit} a unit"
        case Filter(_, condition):
            return f"those with {expression_sql(condition)}"
        case Select():
            return ""
        case BoundRows(_, most):
            return f"of each unit at most {most} rows, chosen by a salted hash of the unit's own rows"
        case Join():
            return (
                f"joined ({step.kind}) on {' and '.join(f'{a} = {b}' for a, b in step.on) or 'the unit'}{_within(step)}"
            )
        case SemiJoin():
            word = "without" if step.negated else "with"
            return f"those {word} a partner{_within(step)}"
        case UnionAll():
            return "the rows of both"
        case Intersect():
            return "the rows that are in both"
        case Except():
            return "the rows of the first that are not in the second"
        case Distinct():
            return "each different row once"
        case Grouped(_, keys, _):
            return f"grouped by {', '.join(keys) or 'the unit'}"
        case _:
            assert_never(step)


def _within(step: Join | SemiJoin) -> str:
    other = step.right if isinstance(step, Join) else step.other
    return ", within each unit" if shape_of(other).metric is Metric.UNITS else ""


def _limits(limits: Limits) -> str:
    named = {
        "groups": limits.max_groups_per_unit,
        "rows a group": limits.max_rows_per_group_per_unit,
        "rows": limits.max_rows_per_unit,
    }
    return ", ".join(f"{most} {name}" for name, most in named.items() if most is not None)


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
            return "count of different values"
        case _:
            assert_never(measure)


def _steps(steps: LatticeValue) -> str:
    around = f" around {steps.offset}" if steps.offset else ""
    resolution = decimal_text(steps.resolution)
    return f"{expression_sql(steps.value)} in steps of {resolution} clamped to {steps.lower}…{steps.upper}{around}"


def _noise(mechanism: AdditiveNoise) -> str:
    if isinstance(mechanism, GaussianNoise):
        return f"discrete Gaussian, standard deviation {decimal_text(mechanism.stddev)}"
    if mechanism.scale == 0:
        return "no noise needed" if mechanism.l1_sensitivity == 0 else "nothing released, as ε is 0"
    return f"discrete Laplace, scale {decimal_text(mechanism.scale)}"
