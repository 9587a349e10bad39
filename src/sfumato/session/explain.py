"""A plan for people: what is asked, who is protected, what one person can move, which noise, which price."""

from fractions import Fraction

from sfumato.mechanisms.gaussian import Gaussian
from sfumato.numeric.rationals import decimal_text
from sfumato.privacy.neighbors import EachRow
from sfumato.query.measures import Measure, RowCount, StepSum, ValueCount
from sfumato.query.plan import AdditiveNoise, PrivatePlan
from sfumato.query.policy import Policy
from sfumato.query.relations import Bound, Filter, Part, Rows, Source, lineage
from sfumato.query.schema import Limits
from sfumato.session.forecast import forecast


def explain(plan: PrivatePlan, policy: Policy, confidence: Fraction) -> str:
    """The plan as lines of text."""
    lines = [f"price       {plan.charge}, charged before data is touched"]
    lines.append(f"protected   one {policy.unit_name} ({policy.neighboring_relation.value.replace('_', ' ')})")
    lines += [f"rows        {_shown(step)}" for step in reversed(list(lineage(plan.statement.rows)))]
    groups = " × ".join(f"{key.name} ({len(key.values)} public keys)" for key in plan.statement.keys)
    lines.append(f"groups      {groups or 'one, of all rows'}")
    pairs = zip(plan.statement.measures, plan.sensitivities, plan.mechanisms, strict=True)
    lines += [
        f"noise       {_measure(m)}: one {policy.unit_name} moves it by at most {s.l1}; {_noise(n)}"
        for m, s, n in pairs
    ]
    lines += [
        f"error       {prediction}, {float(confidence):.0%}" for prediction in forecast(plan, confidence=confidence)
    ]
    return "\n".join(lines)


def _shown(rows: Rows) -> str:
    match rows:
        case Source(table):
            unit = "each row is a unit" if isinstance(table.unit, EachRow) else f"unit {table.unit}"
            return f"{table.name}, {unit}"
        case Part():
            return f"the part {rows.by} = {rows.value!r}, of at most {rows.max_parts_per_unit} a unit"
        case Filter():
            return "those for which the condition is true"
        case Bound(_, limits):
            return f"of each unit at most {_limits(limits)}, sampled from its own rows"


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
        case ValueCount(column, _):
            return f"count of {column}"
        case StepSum():
            around = f" around {measure.offset}" if measure.offset else ""
            return f"sum of {measure.column} in steps clamped to {measure.lower}…{measure.upper}{around}"


def _noise(mechanism: AdditiveNoise) -> str:
    if isinstance(mechanism, Gaussian):
        return f"discrete Gaussian, standard deviation {decimal_text(mechanism.stddev)}"
    if mechanism.scale == 0:
        return "no noise needed" if mechanism.l1_sensitivity == 0 else "nothing released, as ε is 0"
    return f"discrete Laplace, scale {decimal_text(mechanism.scale)}"
