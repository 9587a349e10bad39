"""The tables that the tests of the front ends ask about: one of people, and a shop and a hospital with owners."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.columns import boolean, date, integer, real, text, timestamp
from sfumato.query.model.expressions import TRUE
from sfumato.query.model.relations import Filter, Relation, Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath
from sfumato.query.planning.questions import Presented
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.printing.describe import described
from sfumato.query.python.frame import Frame
from sfumato.query.sql.context import Context, scope_of
from sfumato.query.sql.expressions.constants import Parameters
from sfumato.query.sql.parsing import parsed as parsed_text
from sfumato.query.sql.questions import parse_question, parse_view

PEOPLE = Table(
    name="people",
    columns={
        "age": integer(0, 100),
        "Sex": text(values=["m", "f"]),
        "smoker": boolean(),
        "pay": real(0, 10),
        "select": integer(0, 3),
    },
)

CUSTOMERS = Table(
    name="customers",
    columns={"customer_id": integer(), "segment": text(values=["home", "work"]), "joined": date()},
    unit=UnitColumn("customer_id"),
    limits=Limits(max_rows_per_unit=1),
    matches={("customer_id",): 1},
)
ORDERS = Table(
    name="orders",
    columns={
        "order_id": integer(),
        "customer_id": integer(),
        "status": text(values=["open", "paid"]),
        "placed": timestamp(),
        "total": real(0, 1000),
        "note": text(),
    },
    unit=UnitColumn("customer_id"),
    limits=Limits(max_rows_per_unit=5),
    matches={("order_id",): 1},
)
LINEITEMS = Table(
    name="lineitem",
    columns={
        "order_id": integer(),
        "part": text(values=["bolt", "nut"]),
        "quantity": integer(0, 50),
        "price": real(0, 100),
        "discount": real(0, 1),
        "shipped": date(),
    },
    unit=UnitPath("order_id", ORDERS, "order_id"),
    limits=Limits(max_rows_per_unit=20),
)
VISITS = Table(
    name="visits",
    columns={"patient": text(), "ward": text(values=["A", "B"]), "hours": real(0, 24), "day": date()},
    unit=UnitColumn("patient"),
    limits=Limits(max_rows_per_unit=3),
)
WARDS = Table(
    name="wards",
    columns={"code": text(), "region": text(values=["north", "south"]), "beds": integer(0, 50, nullable=False)},
    unit=PUBLIC,
    matches={("code",): 1},
)
SOURCES = {
    table.name: Source(table) for table in (PEOPLE, CUSTOMERS, ORDERS, LINEITEMS, VISITS, WARDS)
}  # fmt: skip


def parsed(sql: str, **parameters: object) -> Presented:
    return parse_question(sql, SOURCES, parameters=parameters)


def rows(sql: str) -> Relation:
    """The relation of a sub-query."""
    return parse_view(sql, SOURCES)


def condition_of(sql: str, table: str = "people", **parameters: object) -> Any:
    """The condition that WHERE means."""
    relation = parsed(f"SELECT COUNT(*) FROM {table} WHERE {sql}", **parameters).child.child.child
    return relation.condition if isinstance(relation, Filter) else TRUE


def expression_of(sql: str, table: str = "people", parameters: Mapping[str, object] | Sequence[object] = ()) -> Any:
    """What an expression over the rows of a table means."""
    query = parsed_text(f"SELECT {sql} FROM {table}")
    context = Context(sources=SOURCES, parameters=Parameters(parameters))
    return context.of_rows(scope_of(SOURCES[table])).lower(query.expressions[0])


def text_of(sql: str) -> str:
    return described(parsed(sql))


def hashed(sql: str) -> str:
    return question_hash(question_text(parsed(sql).child))


def frame() -> Frame[Presented]:
    return Frame(Source(PEOPLE), lambda question: question)
