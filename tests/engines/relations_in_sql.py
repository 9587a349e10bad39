"""What DuckDB and what plain Python make of one relation, side by side: for tests alone."""

from collections import Counter
from random import Random

import duckdb
from tests.relations_of import Growing, private
from tests.strategies import database, policy, stored

from sfumato.engines.duckdb_tables import TypedTables
from sfumato.engines.reference_relations import relation_rows
from sfumato.engines.sources import ArrowData
from sfumato.engines.sql_queries import select
from sfumato.engines.sql_relations import Catalogue, lower_relation
from sfumato.engines.sql_terms import column, sql
from sfumato.engines.values import typed
from sfumato.errors import UnboundedSensitivityError
from sfumato.query.relations import lineage, tables_of

SALT = "00112233445566778899aabbccddeeff"


def in_sql(relation, data, *, salt=SALT):
    """The rows of a relation over Arrow tables by name, the unit first where rows have owners: a multiset."""
    with duckdb.connect() as connection:
        sources = {name: ArrowData(rows, tuple(rows.column_names)) for name, rows in data.items()}
        catalogue = Catalogue(named=TypedTables(connection, sources).named)
        rows = lower_relation(relation, catalogue, salt=salt)
        return counted(connection.execute(sql(select(list(map(column, rows.selected)), rows.query))).fetchall())


def in_python(relation, data, *, salt=SALT):
    """The same, by the oracle."""
    rows = relation_rows(relation, lambda table: typed_rows(table, data[table.name]), salt=salt)
    return counted([(*([] if unit is None else [unit]), *row.values()) for unit, row in rows])


def typed_rows(table, rows):
    """Stored rows as they are declared."""
    return [{name: typed(row[name], facts) for name, facts in table.columns.items()} for row in rows.to_pylist()]


def counted(rows):
    """A multiset of rows, in which 1, 1.0 and TRUE differ."""
    return Counter(tuple((type(cell), cell) for cell in row) for row in rows)


def random_relation(seed, *wanted):
    """A relation that has one of some nodes in it, over random tables with poison in them; and their rows."""
    random = Random(seed)  # noqa: S311 # rows of a test
    while True:
        drawn = policy(random)
        try:
            relation = private(Growing(random, drawn), 2)
        except UnboundedSensitivityError:  # a join with a table of which only the rows in one group are limited
            continue
        if any(isinstance(step, wanted or object) for step in lineage(relation)):
            return relation, random_data(random, drawn, tables_of(relation))


def random_data(random, drawn, tables):
    """Rows of some tables of a policy, and of all those that say who owns them."""
    rows = database(random, drawn, tables=tables)
    return {name: stored(own, drawn.storage[name]) for name, own in rows.items()}
