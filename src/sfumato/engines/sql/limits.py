"""Which limits of a statement can bind at all: told from what is declared, never from data."""

from sfumato.query.bounding import least
from sfumato.query.schema import Limits
from sfumato.query.statement import Statement


def binding_limits(statement: Statement) -> Limits:
    """The limits of one unit that leave out anything that others do not leave out already.

    Where only one group of a unit can be left, the limits on its rows there and in all are one and the same.
    """
    limits, count = statement.limits, statement.group_count
    groups, per_group, rows = (
        limits.max_groups_per_unit, limits.max_rows_per_group_per_unit, limits.max_rows_per_unit,
    )  # fmt: skip
    most_groups = least(groups, count)
    if count is not None and most_groups == count:
        groups = None
    if most_groups == 1:
        both = least(per_group, rows)
        per_group, rows = (both, None) if statement.cell is None else (None, both)
    elif rows is not None and per_group is not None:
        if most_groups is not None and rows >= most_groups * per_group:
            rows = None
        elif rows <= per_group:
            per_group = None
    return Limits(max_groups_per_unit=groups, max_rows_per_group_per_unit=per_group, max_rows_per_unit=rows)
