"""What the parts of one question share: the tables and views, the CTEs in sight, parameters, effort."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from sqlglot import exp

from sfumato.errors import ParameterError
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.relations import Relation
from sfumato.query.sql.constants import Parameters
from sfumato.query.sql.functions import RULES as FUNCTIONS
from sfumato.query.sql.logic import RULES as LOGIC
from sfumato.query.sql.names import Scope, resolved, same
from sfumato.query.sql.scalars import Effort, KnownFacts, Leaf, Rules, Scalars

RULES: Final[Rules] = MappingProxyType({**LOGIC, **FUNCTIONS})
"""Every expression that is supported, by the class of its node."""


@dataclass(frozen=True, slots=True)
class Named:
    """A query that WITH names: its rows, and what making them took, as each use counts as if it were written out."""

    name: str
    scope: Scope
    effort: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a query may name, and how much may still be made of it.

    Attributes:
        sources: The relation behind the name of each table and view.
        ctes: The CTEs in sight, the innermost first.
        parameters: The values of `$1` and `:name`.
        effort: What is left.
    """

    sources: Mapping[str, Relation]
    ctes: tuple[Named, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    effort: Effort = field(default_factory=Effort)

    def scalars(self, leaf: Leaf, facts: Mapping[str, Facts]) -> Scalars:
        """What lowers expressions where columns mean `leaf`."""
        return Scalars(rules=RULES, leaf=leaf, known=KnownFacts(facts), parameters=self.parameters, effort=self.effort)

    def of_rows(self, scope: Scope) -> Scalars:
        """What lowers expressions over the rows of a scope."""

        def column(node: exp.Expr) -> Expression | None:
            return resolved(scope, node) if isinstance(node, exp.Column) else None

        return self.scalars(column, scope.shape.columns)

    def cte(self, name: exp.Identifier) -> Named | None:
        """The CTE of a name, if there is one."""
        return next((named for named in self.ctes if same(name, named.name)), None)

    def source(self, name: exp.Identifier) -> tuple[str, Relation]:
        """The table or view of a name.

        Raises:
            ParameterError: There is none.
        """
        for known, relation in self.sources.items():
            if same(name, known):
                return known, relation
        raise ParameterError("table", name.name, f"must be one of: {', '.join(self.sources)}")
