"""Two tables of the same units in SQL: each unit with the number of its rows, and its rows beside it.

Proof: proofs/synth/relational/plan.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Table
from sfumato.query.printing.expression_sql import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTables:
    """Two tables of the same units, of which one has one row for each.

    Attributes:
        parents: The table with one row for each unit.
        children: The other one.
        columns: Which columns are made, by table.

    Example:
        >>> from sfumato.query.model.schema import Limits, integer
        >>> people, visits = (
        ...     Table(name=name, columns={"id": integer(), "age": integer(0, 99), "day": integer(1, 31)},
        ...           unit=UnitColumn("id"), limits=Limits(max_rows_per_unit=most))
        ...     for name, most in (("people", 1), ("visits", 5))
        ... )
        >>> two = TwoTables(parents=people, children=visits, columns={"people": ("age",), "visits": ("day",)})
        >>> two.children_sql().partition(" FROM ")[0]
        'SELECT p.age AS "people.age", c.day AS "visits.day"'
    """

    parents: Table
    children: Table
    columns: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for table in (self.parents, self.children):
            unit_of(table)
        if self.parents.limits.max_rows_per_unit != 1:
            requirement = "must have limits = {max_rows_per_unit = 1} in the policy: each unit is one parent"
            raise ParameterError("parents", self.parents.name, requirement)

    @property
    def number(self) -> str:
        """What the number of children is called among the columns of parents."""
        return f"number of {self.children.name}"

    def named(self, table: Table) -> dict[str, str]:
        """What the columns of a table are called where both are read, by what they are called in it."""
        return {name: f"{table.name}.{name}" for name in self.columns[table.name]}

    def parents_sql(self) -> str:
        """One row a unit that has a parent row: its columns, and how many children it has, at most those allowed."""
        children = f"SELECT COUNT(*) FROM {quoted(self.children.name)} AS c WHERE {self._meeting}"
        shown = [*self._shown("p", self.parents), f"({children}) AS {quoted(self.number)}"]
        return f"SELECT {', '.join(shown)} FROM {quoted(self.parents.name)} AS p"

    def children_sql(self) -> str:
        """All children of units that have a parent row, each with the columns of its parent."""
        shown = [*self._shown("p", self.parents), *self._shown("c", self.children)]
        tables = f"{quoted(self.parents.name)} AS p JOIN {quoted(self.children.name)} AS c ON {self._meeting}"
        return f"SELECT {', '.join(shown)} FROM {tables}"

    def _shown(self, alias: str, table: Table) -> list[str]:
        return [f"{alias}.{quoted(name)} AS {quoted(long)}" for name, long in self.named(table).items()]

    @property
    def _meeting(self) -> str:
        return f"p.{quoted(unit_of(self.parents))} = c.{quoted(unit_of(self.children))}"


def unit_of(table: Table) -> str:
    """The column that says whose row each is.

    Raises:
        ParameterError: There is none.
    """
    if not isinstance(table.unit, UnitColumn):
        requirement = "must say in a column whose row each is: unit = {column = ...} in the policy"
        raise ParameterError("tables", table.name, requirement)
    return table.unit.column
