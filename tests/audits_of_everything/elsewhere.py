"""The same question where the data stays in PostgreSQL or on Spark."""

from itertools import count

import pyarrow as pa
from tests.audits_of_everything.aggregates import LOW
from tests.audits_of_everything.curators import Opening, sql
from tests.audits_of_everything.judging import RUNS, Case
from tests.engines.postgres_server import server

VIEWS = "audited"
"""What the names of views of an application begin with; whoever makes them drops them."""

QUESTION = "SELECT world, kind, COUNT(*) AS n, SUM(x) AS s FROM visits GROUP BY world, kind"
FEWER = 10
"""Servers take rows one by one: 30,000 runs."""

NUMBERS = count()


def in_postgres(_, rows):
    """The address of a table of a server."""
    return server().url(table=server().load(rows))


def on_spark(_, rows):
    """The name of a view of an application."""
    from tests.engines.spark_application import application  # Java starts only where it is asked

    name = f"{VIEWS}{next(NUMBERS)}"
    schema = ", ".join(f"{one.name} {'string' if one.type == pa.string() else 'bigint'}" for one in rows.schema)
    application().createDataFrame(rows.to_pandas(), schema).createOrReplaceTempView(name)
    return f"spark:{name}"


def elsewhere(put, *, options=None, accepted_risks=()):
    """A case of tables that are put somewhere else; the public one too."""
    opening = Opening(put=put, options=options, accepted_risks=accepted_risks)
    return Case(mechanism=sql(QUESTION, opening, at_once=RUNS // 4 // FEWER), pair=LOW, fewer=FEWER)
