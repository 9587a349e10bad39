"""All pairs of columns, counted for synthetic data: beside plain GROUP BYs of the same pairs in the same database.

    python benchmarks/synth/bench_marginals.py [--rows 10000000] [--stored 1000000] [--runs 3]

Rows of Adult, repeated, in a Parquet file that DuckDB reads and in a table of PostgreSQL. 13 columns have 78 pairs. A
plain GROUP BY counts each pair of columns as they are, and its groups are fetched. What is measured for synthetic data
puts numbers in bins, counts what is missing or not listed as a value, and ends as arrays of counts. Figures are the
least of some runs after one that warms up, taken in turn: seconds of the wall, and of this process, in which DuckDB is.
"""

import argparse
import sys
import tempfile
import time
from functools import partial
from itertools import combinations
from pathlib import Path

import adbc_driver_postgresql.dbapi as adbc
import duckdb
import pyarrow.parquet as pq
from bench_tables import BINS, adult

import sfumato as sf
from sfumato.session.training.marginals import Marginals

sys.path.append(str(Path(__file__).parents[1] / "engine"))
from postgres_server import OWNER, READER, postgres

SALT = "00" * 16


def timed(actions, runs):
    """The least seconds of the wall and of this process, of each action."""
    found = {name: (float("inf"), float("inf")) for name in actions}
    for run in range(runs + 1):
        for name, action in actions.items():
            wall, own = time.perf_counter(), time.process_time()
            action()
            took = time.perf_counter() - wall, time.process_time() - own
            if run:
                found[name] = tuple(map(min, zip(found[name], took, strict=True)))
    return found


def measured(place, columns, pairs, **options):
    """Counts all pairs of a table, as a synthesis does once it is charged; returns how many rows each pair has."""
    session = sf.open(place, name="adult", columns=columns, budget=sf.PureDP(1), **options)
    query = session.marginals(f"SELECT {', '.join(columns)} FROM adult", bins=BINS).query
    read = Marginals(query, partial(session.desk.engine.run, salt=SALT))

    def count():
        return [int(exact.open_for_noise().sum()) for _, exact in read.each(pairs)]

    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--stored", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    table, columns = adult()
    pairs = list(combinations(columns, 2))
    plain = [f"SELECT {one}, {other}, COUNT(*) FROM {{}} GROUP BY {one}, {other}" for one, other in pairs]
    found = {}
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as database:
        path = Path(folder) / "adult.parquet"
        database.register("few", table)
        copies = -(-max(arguments.rows, arguments.stored) // len(table))
        database.execute(f"COPY (SELECT few.* FROM few, range({copies}) LIMIT {arguments.rows}) TO '{path}'")
        count = measured(path, columns, pairs)
        assert set(count()) == {arguments.rows}
        actions = {
            "plain": lambda: [database.execute(one.format(f"'{path}'")).fetchnumpy() for one in plain],
            "counted": count,
        }
        found["DuckDB", arguments.rows] = timed(actions, arguments.runs)
        with postgres() as server:
            stored = pq.read_table(path).slice(0, arguments.stored)
            with adbc.connect(server.url(OWNER)) as connection, connection.cursor() as cursor:
                cursor.adbc_ingest("adult", stored, mode="create")
                cursor.execute(f"GRANT SELECT ON adult TO {READER}")
                connection.commit()
            with adbc.connect(server.url(OWNER), autocommit=True) as connection, connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE adult")
            with adbc.connect(server.url(READER), autocommit=True) as connection, connection.cursor() as cursor:

                def answer(asked):
                    cursor.execute(asked)
                    return cursor.fetchall()

                count = measured(f"{server.url(READER)}?table=adult", columns, pairs)
                assert set(count()) == {arguments.stored}
                actions = {"plain": lambda: [answer(one.format("adult")) for one in plain], "counted": count}
                found["PostgreSQL", arguments.stored] = timed(actions, arguments.runs)
    print(f"{'database':12} {'rows':>10} {'':8} {'wall s':>8} {'own s':>8}, least of {arguments.runs}")
    for (engine, rows), times in found.items():
        for name, (wall, own) in times.items():
            print(f"{engine:12} {rows:>10,} {name:8} {wall:8.2f} {own:8.2f}")
        ratios = [new / old for new, old in zip(times["counted"], times["plain"], strict=True)]
        print(f"{engine:12} {rows:>10,} {'ratio':8} {ratios[0]:8.2f} {ratios[1]:8.2f}")


if __name__ == "__main__":
    main()
