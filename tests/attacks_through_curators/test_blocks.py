"""Blocks of a census, reconstructed from exact tables and not from a curator's."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.reconstruction.attack import together
from sfumato.attacks.reconstruction.blocks import block_outcome, count_of, reconstruct_block

BLOCKS, PEOPLE = 12, 7
SEXES, RACES, AGES = range(2), range(4), range(20)
CELLS = list(product(SEXES, RACES, AGES))
TABLES = (("sex", "age"), ("race", "age"), ("sex", "race"))
"""Counts by two of the three, as censuses publish them; nobody is told by all three."""
SHARES = (Fraction("0.4"), Fraction("0.3"), Fraction("0.3"))
"""Of ε, for each table."""
PLACES = {"sex": 0, "race": 1, "age": 2}
KEYS = {"sex": SEXES, "race": RACES, "age": AGES}
RNG = np.random.default_rng(2010)


@pytest.fixture(scope="module")
def blocks():
    return [[CELLS[at] for at in RNG.integers(0, len(CELLS), PEOPLE)] for _ in range(BLOCKS)]


def exact(blocks):
    """The counts of each table of each block: one for every combination of its two columns."""
    return [
        {
            (table, key): Counter(tuple(cell[PLACES[name]] for name in table) for cell in block)[key]
            for table in TABLES
            for key in product(*(KEYS[name] for name in table))
        }
        for block in blocks
    ]


def private(blocks, epsilon):
    """The same counts from one curator, ε in all, shared among the tables."""
    rows = {name: [cell[place] for block in blocks for cell in block] for name, place in PLACES.items()} | {
        "block": np.repeat(np.arange(len(blocks)), PEOPLE)
    }
    columns = {name: sf.integer(values=keys) for name, keys in KEYS.items()} | {
        "block": sf.integer(values=range(len(blocks)))
    }
    found = [{} for _ in blocks]
    with sf.open(pa.table(rows), name="people", unit=sf.EACH_ROW, columns=columns, budget=sf.PureDP(epsilon)) as census:
        for table, share in zip(TABLES, SHARES, strict=True):
            names = ", ".join(table)
            sql = f"SELECT block, {names}, COUNT(*) AS n FROM people GROUP BY block, {names}"
            for record in census.sql(sql, epsilon=epsilon * share).records():
                found[record["block"]][table, tuple(record[name] for name in table)] = record["n"]
    return found


def attacked(blocks, tables, *, check_unique=False):
    """What comes of all blocks, and of how many it was certain."""
    outcomes, certain = [], 0
    for block, counts in zip(blocks, tables, strict=True):
        published = [count_of(lambda _: True, PEOPLE)]
        published += [
            count_of(lambda cell, table=table, key=key: tuple(cell[PLACES[name]] for name in table) == key, count)
            for (table, key), count in counts.items()
        ]
        found = reconstruct_block(published, cells=CELLS, check_unique=check_unique)
        outcomes.append(block_outcome(found, block, cells=len(CELLS)))
        certain += bool(found.is_unique)
    return together(outcomes), certain


def test_exact_tables_of_two_columns_give_whole_people_away(blocks):
    found, certain = attacked(blocks, exact(blocks), check_unique=True)
    assert certain >= BLOCKS / 2
    assert found.success > 0.85


def test_a_curator_with_next_to_no_noise_gives_them_away(blocks):
    assert attacked(blocks[:2], private(blocks[:2], 100_000))[0].success > 0.7


@pytest.mark.statistical
def test_at_epsilon_1_hardly_anybody_is_reconstructed(blocks):
    """In 25 runs 16% of 84 people were right. Of a true 20%, 45% are with a chance below 1e-6."""
    found, _ = attacked(blocks, private(blocks, 1))
    assert found.success < 0.45
