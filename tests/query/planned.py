"""Declared tables, and plans of questions about them, for tests that need neither SQL nor rows."""

from fractions import Fraction

from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, UnitColumn
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.facts import Edition
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, boolean, date, integer, real, text
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import presented
from sfumato.query.planning.sections import grouped_rows
from sfumato.query.statistics.counts import CountRows
from sfumato.query.statistics.recipes import GroupedRows

PEOPLE = Table(
    name="people",
    columns={
        "age": integer(0, 100), "pay": real(0, 10), "sex": text(values=["f", "m"]), "town": text(),
        "smokes": boolean(), "born": date(), "kids": integer(0, 9, nullable=False), "free": integer(),
    },
)  # fmt: skip
VISITS = Table(
    name="visits",
    columns={
        "who": text(), "ward": text(values=["A", "B", "C"]), "ill": text(), "hours": real(0, 24), "day": date(),
        "beds": integer(0, 9),
    },
    unit=UnitColumn("who"), limits=Limits(max_rows_per_unit=4, max_groups_per_unit=2),
)  # fmt: skip
TOWNS = Table(
    name="towns", columns={"code": text(), "area": integer(0, 500), "size": text(values=["s", "l"])}, unit=PUBLIC,
    matches={("code",): 1},
)  # fmt: skip
N = ("n", CountRows())


def ref(name):
    """A reference to a column."""
    return ColumnRef(name)


def relation_of(child):
    """A table as a relation, and any relation as it is."""
    return Source(child) if isinstance(child, Table) else child


def question(child, *statistics, **clauses):
    """What is released, of a question with these statistics, named or alone as `x`."""
    named = tuple(one if isinstance(one, tuple) else ("x", one) for one in statistics or (N,))
    return presented(relation_of(child), statistics=named, **clauses).child


def planned(
    child, *statistics, epsilon=1, delta=0, relation=ADD_OR_REMOVE_ONE, law=None, edition=Edition.LATEST, **clauses
):
    """The plan of a question."""
    asked = question(child, *statistics, **clauses)
    return compile_plan(asked, guarantee(epsilon, delta), neighboring_relation=relation, law=law, edition=edition)


def grouped(child, *keys) -> GroupedRows:
    """The rows that statistics are asked of, grouped by some keys."""
    return grouped_rows(question(child, keys=keys), keys)


def half(value) -> Fraction:
    """Half of a number."""
    return Fraction(value) / 2
