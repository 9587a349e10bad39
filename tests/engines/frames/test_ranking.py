"""Of each group of rows those of least hash are kept."""

from collections import Counter
from itertools import cycle

import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.in_frames import ENGINES, frame, rows_of

from sfumato.engines.frames.hash import encoded
from sfumato.engines.frames.ranking import least_ranked
from sfumato.engines.sampling import least, rank_hash
from sfumato.query.kinds import Kind

SALT = "00112233445566778899aabbccddeeff"
ROWS = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3)), min_size=1, max_size=12)


@given(ROWS, st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_rows_that_are_kept_are_those_of_python_whether_or_not_a_key_is_null(rows, most):
    data = frame({"u": pa.array([u for u, _ in rows], pa.string()), "v": [v for _, v in rows]})
    encodings = [encoded(pl.col("u"), Kind.TEXT), encoded(pl.col("v"), Kind.INTEGER)]
    found = least_ranked(data, most, within=["u"], salt=SALT, encodings=encodings)
    expected = least(rows, most, within=lambda row: row[0], rank=lambda row: rank_hash(SALT, row))
    assert Counter(rows_of(found)) == Counter(expected)


def test_rows_of_one_hash_are_ordered_by_what_tells_them_apart():
    data = frame({"u": ["a", "a", "a"], "v": [2, 3, 1]})
    kept = least_ranked(data, 2, within=["u"], salt=SALT, encodings=[pl.col("u")], ties=["v"])
    assert rows_of(kept) == [("a", 1), ("a", 2)]


def test_no_more_are_kept_of_a_query_that_is_another_one_each_time_it_is_read():
    sizes = cycle((3, 4))

    def unstable(_):
        return pl.DataFrame({"u": ["a"] * next(sizes)})

    data = pl.LazyFrame({"u": ["a"]}).map_batches(unstable)
    kept = least_ranked(data, 3, within=["u"], salt=SALT, encodings=[pl.col("u")])
    for engine in ENGINES:
        for shared in (True, False):
            assert len(kept.collect(engine=engine, optimizations=pl.QueryOptFlags(comm_subplan_elim=shared))) == 3
