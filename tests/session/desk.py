"""A curator's desk over small tables in memory, with the engine in plain Python and a ledger that forgets."""

import pyarrow as pa
from tests.query.planned import relation_of

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import open_source, readable
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.reservations import NOBODY
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import NO_GUARANTEE
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.planning.questions import presented
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.asking.execution import Desk
from sfumato.session.asking.planning import Ticket
from sfumato.session.asking.question import Question

SURE = 10**6
"""So much ε that noise moves an answer less than once in any number of test runs."""


def desk(*tables, budget=NO_GUARANTEE, relation=ADD_OR_REMOVE_ONE, engine=None, places=None, **policy):
    """A desk over pairs of a declared table and its rows."""
    declared = {table.name: table for table, _ in tables}
    sources = {table.name: readable(open_source(data), table) for table, data in tables}
    facts = {
        "dataset": "test", "version": "1", "data_version": "1", "unit_name": "person", "tables": declared,
        "sources": {name: SourceFacts(source=None) for name in declared}, "neighboring_relation": relation,
    }  # fmt: skip
    chosen = Policy(**(facts | policy))
    ledger = Ledger(MemoryStore())
    ledger.open_account(
        Opened(account="test", budget=budget, neighboring_relation=relation, privacy_unit=chosen.unit_name)
    )
    return Desk(
        policy=chosen, engine=engine or ReferenceEngine(sources), ledger=ledger, account="test", places=places or {}
    )


def rows(table, *records):
    """Records as an Arrow table of a declared table's columns; those that are left out are NULL."""
    return pa.Table.from_pylist([dict.fromkeys(table.columns) | record for record in records], schema=_schema(table))


def _schema(table):
    kinds = {"integer": pa.int64(), "float": pa.float64(), "text": pa.string(), "boolean": pa.bool_(),
             "date": pa.date32(), "timestamp": pa.timestamp("us")}  # fmt: skip
    return pa.schema([(name, kinds[column.kind.value]) for name, column in table.columns.items()])


def asked(curator, child, *, part=None, **clauses):
    """A question to a desk."""
    return Question(relation=presented(relation_of(child), **clauses), text="a question", desk=curator, part=part)


def charge(curator, prepared, *, asked=NOBODY):
    """A question that is charged and waits for its answer, in no flight, as versions before flights charged it."""
    plan = prepared.plan
    reservation = curator.ledger.reserve(
        curator.account, event=plan.event, charge=plan.charge, question=prepared.question,
        part=prepared.part, asked=asked,
    )  # fmt: skip
    return Ticket(prepared=prepared, reservation=reservation)


def answers(table, data, statistics, *, epsilon=SURE, delta=0, relation=ADD_OR_REMOVE_ONE, **clauses):
    """The records of the answer to a question about one table."""
    question = asked(desk((table, data), relation=relation), table, statistics=statistics, **clauses)
    return question.release(epsilon=epsilon, delta=delta).records()


def values(table, data, statistics, **options):
    """The values of the one row of an answer."""
    (record,) = answers(table, data, statistics, **options)
    return {name: value for name, value in record.items() if not name.endswith(("_low", "_high"))}
