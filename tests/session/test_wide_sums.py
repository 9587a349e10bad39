"""Sums of whole numbers beyond 64 bits: the same double wherever an answer is read, and a type that the bounds say.

A public table is answered without noise, so that each figure is known.
"""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib import pyplot as plt
from tests.cli.commands import run

import sfumato as sf

ROWS, EACH = 5_000, 2**52
TOTAL = 22517998136852480000
"""Beyond 64 bits: 5,000 times 2^52, a multiple of 2^55 and so a double."""

NARROW = 41_943_035_000
"""5,000 times 2^23 − 1, the widest bound of which 64 bits hold every sum."""

SQL = "SELECT SUM(v) AS s, SUM(-v) AS m, COUNT(*) AS n, SUM(w) AS w FROM t"
BY_KEY = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
POLICY = """
version = "1"
[unit]
name = "row"
[tables.t]
source = "t.parquet"
unit = "public"
[tables.t.columns]
v = {type = "integer", bounds = [0, 4503599627370496]}
w = {type = "integer", bounds = [0, 8388607]}
k = {type = "text", values = ["a", "b"]}
"""


@pytest.fixture
def policy(tmp_path):
    rows = {"v": pa.array([EACH] * ROWS), "w": pa.array([8_388_607] * ROWS), "k": ["a", "b"] * (ROWS // 2)}
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    path = tmp_path / "policy.toml"
    path.write_text(POLICY, "utf-8")
    return path


@pytest.fixture
def session(policy):
    with sf.Session(policy, budget=sf.PureDP(1)) as opened:
        yield opened


def test_records_hold_the_whole_sum(session):
    (record,) = session.sql(SQL, epsilon=1).records()
    assert record == {
        "s": TOTAL, "s_low": TOTAL, "s_high": TOTAL, "m": -TOTAL, "m_low": -TOTAL, "m_high": -TOTAL,
        "n": ROWS, "n_low": ROWS, "n_high": ROWS, "w": NARROW, "w_low": NARROW, "w_high": NARROW,
    }  # fmt: skip
    assert [type(record[name]) for name in ("s", "m", "n", "w")] == [float, float, int, int]


def test_frames_hold_the_whole_sum(session):
    release = session.sql(SQL, epsilon=1)
    assert [str(field.type) for field in release.to_arrow().schema] == ["double"] * 6 + ["int64"] * 6
    for frame in (release.to_arrow().to_pandas(), release.to_pandas(), release.to_polars().to_pandas()):
        assert [frame[name][0] for name in ("s", "s_low", "s_high", "m", "w")] == [TOTAL] * 3 + [-TOTAL, NARROW]


def test_a_file_holds_the_sums_that_records_do(session, tmp_path):
    question = session.query(BY_KEY)
    saved = question.release(epsilon=1, to=tmp_path / "answer.parquet")
    written = pq.read_table(tmp_path / "answer.parquet")
    assert written.to_pylist() == question.release(epsilon=1).records()
    assert written["s"].to_pylist() == [TOTAL / 2, TOTAL / 2]
    assert any("FLOAT" in note for note in saved.notes)


def test_what_is_computed_of_a_wide_sum_is_no_less_wide(session):
    sql = "SELECT SUM(v) + SUM(v) AS twice, SUM(v) / COUNT(*) AS each, -SUM(v) AS minus FROM t HAVING SUM(v) > 0"
    (record,) = session.sql(sql, epsilon=1).records()
    assert [record[name] for name in ("twice", "twice_low", "each", "minus_high")] == [2 * TOTAL] * 2 + [EACH, -TOTAL]


def test_people_are_told_that_it_is_a_double(session):
    release = session.sql(SQL, epsilon=1)
    assert [note.split(":")[0] for note in release.notes] == ["s", "m"]
    assert "s = 22,517,998,136,852,480,000" in repr(release)
    assert release.notes[0] in repr(release)
    assert session.sql("SELECT SUM(w) AS w FROM t", epsilon=1).notes == ()


def test_a_picture_reaches_as_far_as_the_sum(session):
    figure = session.sql(BY_KEY, epsilon=1).plot("s")
    assert figure.axes[0].get_ylim()[1] > TOTAL / 2
    plt.close(figure)


def test_the_command_line_prints_the_whole_sum(policy):
    result = run("query", "--policy", policy, SQL, "--epsilon", "1", "--json")
    (record,) = json.loads(result.stdout)["records"]
    assert [record[name] for name in ("s", "m_low", "n")] == [TOTAL, -TOTAL, ROWS]


def test_with_noise_the_interval_holds_the_exact_sum():
    data = pa.table({"v": pa.array([EACH] * ROWS)})
    with sf.open(data, name="t", columns={"v": sf.integer(0, EACH)}, budget=sf.PureDP(20)) as session:
        release = session.query("SELECT SUM(v) AS s FROM t").release(epsilon=10, confidence="0.999999999")
    (found,) = release["s"]
    assert found.low <= TOTAL <= found.high
    assert found.high - found.low < 60 * EACH / 10


@pytest.mark.parametrize("value", [3, 2**62])
def test_automatic_bounds_change_no_type_and_no_note(value):
    data = pa.table({"v": pa.array([value] * 500)})
    with sf.open(data, name="t", columns={"v": sf.integer()}, budget=sf.PureDP(200)) as session:
        release = session.table("t").agg(s=sf.sum("v", bounds="auto")).release(epsilon=100)
    assert [type(value) for value in release.records()[0].values()] == [float] * 3
    assert release.to_arrow().schema.field("s").type == pa.float64()
    assert [note.split(",")[0] for note in release.notes[1:]] == ["s: a FLOAT"]


def test_a_vector_of_sums_has_a_type_for_each_of_them(session):
    (record,) = session.table("t").agg(x=sf.vector_sum("v", "w")).release(epsilon=1).records()
    assert [type(record[name]) for name in ("x_1", "x_2")] == [float, int]
    assert record["x_1"] == TOTAL
