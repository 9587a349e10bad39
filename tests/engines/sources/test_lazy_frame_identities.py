"""A query of Polars is known by the files and the frames that it reads, and is not run for that."""

from types import SimpleNamespace

import polars as pl
import pyarrow as pa
import pytest

from sfumato.engines.sources import lazy_frames
from sfumato.engines.sources.identities import file_identity, frame_identity
from sfumato.engines.sources.lazy_frames import query_identities
from sfumato.errors import ParameterError

FRAME = pl.DataFrame({"v": [1, 2, 3], "w": ["a", "b", "c"]})
OTHER = pl.DataFrame({"v": [1, 2], "x": [True, False]})


@pytest.fixture
def files(tmp_path):
    FRAME.write_parquet(tmp_path / "one.parquet")
    OTHER.write_csv(tmp_path / "two.csv")
    return tmp_path


@pytest.mark.parametrize(
    "query",
    [
        FRAME.lazy(), FRAME.lazy().filter(pl.col("v") > 1), FRAME.lazy().select("w"), FRAME.lazy().sort("w").head(1),
        FRAME.lazy().map_batches(lambda frame: frame), FRAME.lazy().group_by("w").agg(pl.len()), FRAME.lazy().cache(),
        pl.concat([FRAME.lazy(), FRAME.lazy()]), FRAME.lazy().with_row_index(),
        FRAME.lazy().select(pl.col("v").map_elements(lambda cell: cell, return_dtype=pl.Int64)),
    ],
)  # fmt: skip
def test_it_is_known_by_the_frame_that_it_reads(query):
    assert query_identities(query) == {frame_identity(FRAME)}


def test_a_query_of_several_is_known_by_each(files):
    query = (
        pl.scan_parquet(files / "one.parquet").join(pl.scan_csv(files / "two.csv"), on="v").join(FRAME.lazy(), on="v")
    )
    assert query_identities(query.filter(pl.col("v") > 1)) == {
        file_identity(files / "one.parquet"), file_identity(files / "two.csv"), frame_identity(FRAME),
    }  # fmt: skip


def test_files_behind_a_pattern_are_known_each(files):
    OTHER.write_parquet(files / "other.parquet")
    query = pl.scan_parquet(files / "o*.parquet", extra_columns="ignore", missing_columns="insert")
    assert query_identities(query) == {file_identity(files / "one.parquet"), file_identity(files / "other.parquet")}


def test_a_place_that_is_no_file_here_is_known_by_its_address():
    node = SimpleNamespace(paths=["s3://bucket/people.parquet"])
    assert list(lazy_frames._of_node(node)) == [("place", "s3://bucket/people.parquet")]


def test_a_place_that_does_not_answer_is_told_without_its_text():
    with pytest.raises(ParameterError, match="must read files that can be read") as caught:
        query_identities(_raising(OSError("canary-3141592653")))
    assert "canary" not in str(caught.value)


def test_it_is_not_run():
    def failing(_):
        raise AssertionError

    assert query_identities(FRAME.lazy().map_batches(failing, schema=FRAME.schema)) == {frame_identity(FRAME)}


def test_a_source_that_is_a_function_is_not_known():
    assert query_identities(pl.defer(lambda: FRAME, schema=FRAME.schema)) == frozenset()


@pytest.mark.parametrize("failure", [AttributeError, TypeError, NotImplementedError, pl.exceptions.PanicException])
def test_a_version_that_shows_plans_otherwise_is_no_failure(failure):
    assert query_identities(_raising(failure)) == frozenset()


def _raising(failure):
    class Frame:
        @property
        def _ldf(self):
            raise failure

    return Frame()


def test_a_file_that_is_gone_meanwhile_is_told(files, monkeypatch):
    monkeypatch.setattr(lazy_frames.Path, "is_file", lambda _: True)
    query = pl.scan_parquet(files / "one.parquet")
    query.collect_schema()
    nodes = list(lazy_frames._nodes(query))
    (files / "one.parquet").unlink()
    with pytest.raises(ParameterError, match=r"one.parquet.*can be read"):
        [*lazy_frames._of_node(nodes[0])]


def test_an_empty_frame_is_nobodys():
    assert query_identities(pl.from_arrow(pa.table({"v": pa.array([], pa.int64())})).lazy()) == frozenset()
