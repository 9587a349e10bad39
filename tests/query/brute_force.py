"""Neighboring databases, the exact answers on both, and how far apart they are: what every relation must survive.

What a unit has is said here in its own words, not in those of the engines: the rows of its own column; and below a path
the rows that its rows own and that nobody else's rows own. A row that several units own stays when one of them leaves.
"""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from operator import add

from tests.engines import postgres_tables
from tests.statements_of import statement
from tests.strategies import database, pick, policy, stored

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.reference.relations import relation_rows
from sfumato.engines.sources.sources import ArrowData
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.analysis.stability import sensitivity
from sfumato.query.model.relations import tables_of
from sfumato.query.model.statement import CellCount
from sfumato.query.values.cells import typed

ENGINES = {
    "reference": ReferenceEngine,
    "duckdb": partial(DuckDBEngine, threads=1, sampling="md5"),
    "duckdb in buckets": partial(DuckDBEngine, threads=1, buckets=3, sampling="md5"),
    "duckdb with its own hash": partial(DuckDBEngine, threads=1, sampling="native"),
}
DATABASES = {
    "postgres": postgres_tables.engine,
    "postgres with its own hash": partial(postgres_tables.engine, sampling="native"),
}
"""Engines into which rows have to be put first."""

PREPARED = ", prepared"
"""What the name of an engine ends with whose tables are prepared."""

SALTS = ("00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100", "0" * 32)


@dataclass(frozen=True)
class Trial:
    """A statement, a database, and the same without one unit after the other, stored in another order.

    Other engines are compared with the reference on one of the two databases that matter: the whole one, or the one
    that is the farthest from it. The next trial may have the other one.
    """

    name: str
    policy: object
    statement: object
    whole: dict
    lesser: tuple
    salt: str
    compares_whole: bool


def trial(random, *, depth=4, name=""):
    """A policy, a statement and neighboring databases, all drawn from a `Random`; `name` says how to find it again."""
    drawn = policy(random)
    asked = statement(random, drawn, depth=depth)
    tables = tables_read(drawn, asked)
    whole = database(random, drawn, tables=tables)
    if drawn.has_owners:
        found = sorted(units_of(tables, whole), key=str)
        lesser = [without(tables, whole, unit) for unit in sample(random, found)]
    else:
        read = [table.name for table in tables if not table.is_public and whole[table.name]]
        name = pick(random, read) if read else None
        lesser = [without_row(whole, name, at) for at in sample(random, range(len(whole[name])))] if read else []
    return Trial(
        name, drawn, asked, whole, tuple(map(turned, lesser)), pick(random, SALTS), pick(random, (False, True))
    )


def turned(rows_of):
    """The same database stored in another order, which means nothing."""
    return {name: rows[::-1] for name, rows in rows_of.items()}


def tables_read(drawn, asked):
    """The tables that a statement reads, as the policy has them."""
    names = {table.name for table in tables_of(asked.rows)}
    return [table for table in drawn.tables if table.name in names]


def sample(random, options, most=4):
    """Some of the options, all different."""
    return random.sample(list(options), min(most, len(options)))


def without_row(rows_of, name, at):
    """The database without one row of one table, which is a unit."""
    return rows_of | {name: rows_of[name][:at] + rows_of[name][at + 1 :]}


def owners(table, rows_of):
    """For each row of a table as stored, the units that own it."""
    own = [typed(row[table.unit.column], table.columns[table.unit.column]) for row in rows_of[table.name]]
    if isinstance(table.unit, UnitColumn):
        return [{value} - {None} for value in own]
    above = table.unit.table
    keys = [typed(row[table.unit.key], above.columns[table.unit.key]) for row in rows_of[above.name]]
    found = list(zip(keys, owners(above, rows_of), strict=True))
    return [set().union(*(units for key, units in found if key is not None and key == value)) for value in own]


def units_of(tables, rows_of):
    """All units that own a row."""
    owned = [owners(table, rows_of) for table in tables if table.has_owners]
    return {unit for table in owned for units in table for unit in units}


def without(tables, rows_of, unit):
    """The database without a unit: without the rows that it owns and nobody else does."""
    return _only(tables, rows_of, lambda units: units != {unit})


def alone(tables, rows_of, unit):
    """What a unit has, shared rows included, and what is public; stored in another order."""
    return turned(_only(tables, rows_of, lambda units: unit in units))


def _only(tables, rows_of, keeps):
    kept = dict(rows_of)
    for table in tables:
        if table.has_owners:
            pairs = zip(rows_of[table.name], owners(table, rows_of), strict=True)
            kept[table.name] = [row for row, units in pairs if keeps(units)]
    return kept


def answer(drawn, rows_of, engine="reference"):
    """What an engine finds in a database of a trial."""
    sources = {
        name: ArrowData(stored(rows, drawn.policy.storage[name]), tuple(drawn.policy.storage[name]))
        for name, rows in rows_of.items()
    }
    return sums_of(drawn.statement, sources, engine, salt=drawn.salt)


def sums_of(statement, sources, engine, *, salt=SALTS[0]):
    """What an engine finds: the measures of each group, or of each cell of a group; zeros left out."""
    running = opened(statement, sources, engine.removesuffix(PREPARED))
    try:
        for table in tables_of(statement.rows) if engine.endswith(PREPARED) else ():
            running.prepare(table)
        found = running.run(statement, salt=salt).open_for_noise()
    finally:
        running.close()
    places = list(zip(*found.keys, *(() if found.cells is None else (found.cells,)), strict=True)) or [()]
    amounts = zip(*(column.tolist() for column in found.amounts), strict=True)
    return {place: added for place, added in zip(places, amounts, strict=False) if any(added)}


def opened(statement, sources, engine):
    """An engine over sources by the names of tables."""
    if engine in DATABASES:
        return DATABASES[engine]({table.name: (table, sources[table.name]) for table in tables_of(statement.rows)})
    return ENGINES[engine](sources)


def moves(first, second, index):
    """By how much each coordinate of a measure differs."""
    places = first.keys() | second.keys()
    at = [(first[place][index] if place in first else 0, second[place][index] if place in second else 0)
          for place in places]  # fmt: skip
    return [abs(one - other) for one, other in at if one != other]


def assert_within(statement, first, second, relation, name=""):
    """No measure moves further than its sensitivity says in L1, L2 or number of coordinates."""
    assert_pairs_within(statement, [(first, second)], relation, name)


def assert_pairs_within(statement, pairs, relation, name=""):
    """The same of several pairs of answers, with what is claimed of all of them."""
    claims = [sensitivity(statement, measure, neighboring_relation=relation) for measure in statement.measures]
    for (first, second), (index, claim) in product(pairs, enumerate(claims)):
        moved = moves(first, second, index)
        shown = name, relation, statement.measures[index], claim, moved
        assert sum(moved) <= claim.l1, shown
        assert sum(step * step for step in moved) <= claim.l2**2, shown
        assert len(moved) <= claim.l0, shown


def assert_all_within(drawn, engine="reference"):
    """No unit that leaves, and none that takes the place of another, moves any measure further than is claimed."""
    assert_claims(drawn, [answer(drawn, rows_of, engine) for rows_of in (drawn.whole, *drawn.lesser)])


def assert_claims(drawn, answers):
    """What was found in the whole database, and in each of the lesser ones, is as near as is claimed."""
    whole, *lesser = answers
    assert_pairs_within(drawn.statement, [(whole, found) for found in lesser], ADD_OR_REMOVE_ONE, drawn.name)
    assert_pairs_within(drawn.statement, list(combinations(lesser, 2)), REPLACE_ONE, drawn.name)


def assert_same_within(drawn, engine):
    """The claim is kept, and another engine has the same answer, to the bit."""
    databases = drawn.whole, *drawn.lesser
    expected = [answer(drawn, rows_of) for rows_of in databases]
    assert_claims(drawn, expected)
    farthest = max(range(len(databases)), key=lambda at: distance(expected[0], expected[at], drawn.statement))
    at = 0 if drawn.compares_whole else farthest
    assert answer(drawn, databases[at], engine) == expected[at], drawn.name


def distance(first, second, statement):
    """How far all measures move, in L1."""
    return sum(sum(moves(first, second, index)) for index in range(len(statement.measures)))


def is_additive(statement):
    """Whether answers are sums over units: all but counts of different cells are."""
    return not any(isinstance(measure, CellCount) for measure in statement.measures)


def added(first, second):
    """The sum of two answers."""
    width = len(next(iter((first | second).values()), ()))
    nothing = (0,) * width
    total = {
        place: tuple(map(add, first.get(place, nothing), second.get(place, nothing)))
        for place in first.keys() | second.keys()
    }
    return {place: amounts for place, amounts in total.items() if any(amounts)}


def rows_of_relation(relation, rows_of, *, salt=SALTS[0]):
    """The rows of a relation with their units, as a multiset."""

    def read(table):
        return [{name: typed(row[name], column) for name, column in table.columns.items()}
                for row in rows_of[table.name]]  # fmt: skip

    return Counter((unit, *row.values()) for unit, row in relation_rows(relation, read, salt=salt))
