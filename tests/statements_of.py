"""Random statements over random relations: keys, cells, measures and limits of all sorts."""

from dataclasses import replace
from datetime import date
from fractions import Fraction

from tests.relations_of import Growing, columns, expression, private
from tests.strategies import limits

from sfumato.errors import UnboundedSensitivityError
from sfumato.query.analysis.keys import public_values
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import MAX_STEPS, Limits
from sfumato.query.model.statement import (
    Bins,
    CellCount,
    KeyColumn,
    LatticeValue,
    RowCount,
    Statement,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
    Values,
)

KEYS = {
    Kind.TEXT: ("x", "y", "1", "2", "z"),
    Kind.INTEGER: (1, 2, 39, 0, -3, 3),
    Kind.BOOLEAN: (False, True),
    Kind.DATE: (date(2026, 1, 31), date(1, 1, 1)),
}
"""Public keys of each kind."""


def statement(random, policy, *, depth=4):
    """A statement over a relation of the private tables of a policy, at most so deep."""
    grow = Growing(random, policy)
    try:
        rows = private(grow, grow.pick(range(depth + 1)))
    except UnboundedSensitivityError:  # a join with a table of which only the rows in one group are limited
        return statement(random, policy, depth=depth)
    own = columns(rows)
    cell = _cell(grow, own) if grow.chance(3) else None
    keys = _keys(grow, rows, own)
    return Statement(
        rows=rows, keys=keys, cell=cell, measures=_measures(grow, own, cell),
        limits=_limits(random, keys) if policy.has_owners else Limits(),
    )  # fmt: skip


def _limits(random, keys):
    """Limits that bound a unit: with private keys, of its groups too."""
    drawn = limits(random)
    if any(key.values is None for key in keys) and drawn.max_rows_per_unit is None:
        return replace(drawn, max_groups_per_unit=drawn.max_groups_per_unit or 2)
    return drawn


def _keys(grow, rows, own):
    """Up to two columns to group by, mostly with public keys: any, or those that a question would have."""
    found = [name for name, kind in own.items() if kind in KEYS]
    chosen = {grow.pick(found): None for _ in range(grow.pick((0, 0, 1, 1, 2)))} if found else ()
    return tuple(KeyColumn(name=name, values=_values(grow, rows, name, own[name])) for name in chosen)


def _values(grow, rows, name, kind):
    if grow.chance(3):
        return None
    return (public_values(rows, name) if grow.chance(2) else None) or KEYS[kind]


def _cell(grow, own):
    if grow.chance(2):
        return Bins(steps=_steps(grow, own), width=grow.pick((1, 3)))
    kind = grow.pick((Kind.TEXT, Kind.INTEGER))
    return Values(value=expression(grow, own, kind, 1), values=None if grow.chance(2) else KEYS[kind])


def _steps(grow, own):
    """A number on a lattice; whether it is known never to be NULL may be wrong, and must not matter."""
    lower = grow.pick((0, -3, 2, -7))
    return LatticeValue(
        value=expression(grow, own, grow.pick((Kind.INTEGER, Kind.FLOAT)), 1),
        resolution=grow.pick((Fraction(1), Fraction(1, 3), Fraction(7))), lower=lower,
        upper=lower + grow.pick((5, 0, 1)), offset=grow.pick((0, 0, 2, -9)), nullable=not grow.chance(3),
    )  # fmt: skip


def _measures(grow, own, cell):
    if cell is not None and (grow.chance(3) or (isinstance(cell, Values) and cell.values is None)):
        return (CellCount(), *_some(grow, own))
    return (RowCount(), *_some(grow, own))


def _some(grow, own):
    made = [_measure(grow, own) for _ in range(grow.pick((1, 2, 3)))]
    return dict.fromkeys(made)


def _measure(grow, own):
    match grow.pick(("sum", "product", "square", "count", "units", "sum")):
        case "sum":
            steps = _steps(grow, own)
            return StepSum(replace(steps, lower=-MAX_STEPS, upper=MAX_STEPS) if grow.chance(8) else steps)
        case "product":
            return StepProduct(_steps(grow, own), _steps(grow, own))
        case "square":
            steps = _steps(grow, own)
            return StepProduct(steps, steps)
        case "count":
            values = (expression(grow, own, Kind.FLOAT, 1), expression(grow, own, Kind.INTEGER, 1))
            return ValueCount(values[: grow.pick((1, 2))])
        case _:
            return UnitCount()
