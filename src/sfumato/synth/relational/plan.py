"""What is read of two tables, and how it is measured for one cost.

Proof: proofs/synth/relational/plan.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from sfumato.privacy.codec import Json
from sfumato.privacy.events import ZCDPEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.statement import Statement
from sfumato.query.planning.questions import Aggregate
from sfumato.query.printing.canonical import question_text
from sfumato.session.training.marginals import MarginalQuery, Marginals
from sfumato.session.training.plan import Run
from sfumato.synth.methods.measuring import Measuring
from sfumato.synth.methods.plan import METHODS, Method, rho_of
from sfumato.synth.methods.stated import Stated

_FOR_PARENTS: Final = Fraction(1, 2)
"""The share of ρ for parents and the numbers of their children; the rest is for children."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesQuery:
    """What is read of two tables: one row a unit, and the rows of units.

    Attributes:
        parents: Of each unit the columns of its parent row, and how many children it has.
        children: Of each child its columns, and those of its parent.
    """

    parents: MarginalQuery
    children: MarginalQuery

    @property
    def question(self) -> Aggregate:
        """All children with their parents, as a question; it reads both tables."""
        return self.children.question

    @property
    def statement(self) -> Statement:
        """What an engine would run for all children."""
        return self.children.statement

    @property
    def rows_per_unit(self) -> int:
        """How many children one unit has, at most."""
        return self.children.rows_per_unit

    @property
    def lattices(self) -> Json:
        """What else is read, and how columns are cut, for the key under which what was released is stored."""
        return [question_text(self.parents.question), self.parents.lattices, self.children.lattices]

    def read(self, run: Run) -> tuple[Marginals, Marginals]:
        """The marginals of parents and of children, of which none is computed yet."""
        return self.parents.read(run), self.children.read(run)


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPlan:
    """How two tables are measured for one cost; it is the `PrivateFit` of a session.

    **Guarantee**: what `release` returns is ρ-zCDP, for the relation and the units of the query. Its event says so.

    Attributes:
        query: What is read.
        relation: What may change between neighboring databases.
        charge: The cost.
        methods: How marginals of parents and of children are chosen.
    """

    query: TablesQuery = field(repr=False)
    relation: NeighboringRelation
    charge: ApproxDP
    methods: tuple[Method, Method]

    @property
    def name(self) -> str:
        """What ledgers and receipts call it."""
        return f"synthetic tables by {' and '.join(dict.fromkeys(self.methods))}"

    @property
    def event(self) -> ZCDPEvent:
        """All that is released, as what both parts share."""
        return ZCDPEvent(rho_of(self.charge, self.relation))

    def document(self) -> dict[str, Json]:
        """All parameters on which the released counts depend, beside the query."""
        return {"methods": list(self.methods)}

    def release(self, marginals: tuple[Marginals, Marginals], /) -> dict[str, Json]:
        """All choices and noisy counts, of parents and of children."""
        rho = self.event.rho
        shares = (rho * _FOR_PARENTS, rho - rho * _FOR_PARENTS)
        queries = (self.query.parents, self.query.children)
        found: list[Json] = []
        for read, query, method, share in zip(marginals, queries, self.methods, shares, strict=True):
            measuring = Measuring(read, query, relation=self.relation, rho=share)
            METHODS[method](measuring, tuple(one.name for one in query.attributes), Stated())
            found.append([step.document() for step in measuring.steps])
        return {"parents": {"steps": found[0]}, "children": {"steps": found[1]}}
