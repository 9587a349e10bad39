"""An answer in a file is the answer, paid once, and the same whenever it is asked for again."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.session.releases.test_streaming import ROWS, VISITS

import sfumato as sf
from sfumato.errors import EngineError, LedgerError, ParameterError, UnavailableError
from sfumato.session.asking.saving import _heard
from sfumato.session.asking.shown import progress_shown
from sfumato.session.releases.releasing import BATCH, ReleasedBatch

SQL = "SELECT k, g, COUNT(*) AS n, AVG(v) AS m FROM visits GROUP BY k, g"


def opened(ledger=None, *, budget=sf.NO_GUARANTEE, engine="duckdb", data=ROWS, **options):
    return sf.open(
        data, name="visits", columns={name: VISITS.columns[name] for name in ("k", "g", "v")}, unit="u",
        limits=VISITS.limits, budget=budget, ledger=ledger, engine=engine, engine_options=options,
    )  # fmt: skip


def ask(db, path, sql=SQL, **options):
    return db.query(sql).release(**({"epsilon": 1_000, "delta": "1e-3"} | options), to=path)


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize("buckets", [1, 3])
def test_the_file_holds_what_the_answer_would(tmp_path, engine, buckets):
    db = opened(engine=engine, **({"buckets": buckets} if engine == "duckdb" else {}))
    saved = ask(db, tmp_path / "a.parquet")
    assert len(saved) == saved.row_count == pq.read_table(tmp_path / "a.parquet").num_rows > 0
    again = db.query(SQL).release(epsilon=1_000, delta="1e-3")
    assert again.reused
    assert again.to_arrow().equals(saved.to_arrow())
    assert pa.Table.from_batches(saved.batches()).equals(saved.to_arrow())
    db.close()


def test_groups_come_in_the_order_of_their_keys_also_from_buckets_of_rows_that_are_units(tmp_path):
    db = sf.open(
        ROWS, name="visits", columns={"k": sf.text(), "v": sf.integer(0, 9)}, budget=sf.NO_GUARANTEE,
        engine_options={"buckets": 3},
    )  # fmt: skip
    saved = ask(db, tmp_path / "a.parquet", "SELECT k, COUNT(*) AS n FROM visits GROUP BY k", epsilon=10**6)
    assert saved.to_arrow()["k"].to_pylist() == [f"k{n}" for n in range(7)]
    assert saved.to_arrow()["n"].to_pylist() == [100] * 7
    db.close()


def test_a_file_that_is_asked_for_again_is_the_same_and_costs_nothing(tmp_path):
    for place in range(2):
        with opened(tmp_path / "ledger.db", budget=sf.ApproxDP(2_000, "1e-2")) as db:
            saved = ask(db, tmp_path / f"{place}.parquet")
            assert (saved.reused, str(db.spent)) == (place == 1, "ε 1000, δ 0.001")
    first, second = ((tmp_path / f"{place}.parquet").read_bytes() for place in range(2))
    assert first == second


def test_an_answer_that_was_shown_is_saved_for_nothing_also_otherwise(tmp_path):
    db = opened()
    shown = db.query(SQL).release(epsilon=1_000, delta="1e-3")
    few = ask(db, tmp_path / "few.parquet", f"{SQL} HAVING COUNT(*) > 1000", confidence="0.5")
    saved = ask(db, tmp_path / "all.parquet")
    assert (saved.reused, few.reused, len(few)) == (True, True, 0)
    assert saved.to_arrow().equals(shown.to_arrow())
    assert few.to_arrow().schema.equals(saved.to_arrow().schema)
    db.close()


def test_the_answer_is_kept_before_the_file_is_written(tmp_path, monkeypatch):
    db = opened(tmp_path / "ledger.db", budget=sf.ApproxDP(1_000, "1e-3"))
    monkeypatch.setattr("sfumato.session.asking.saving.write_answer", _fail)
    with pytest.raises(ZeroDivisionError):
        ask(db, tmp_path / "a.parquet")
    monkeypatch.undo()
    assert ask(db, tmp_path / "a.parquet").reused
    db.close()


def _fail(*_, **__):
    raise ZeroDivisionError


def test_a_file_has_its_name_only_once_it_is_whole(tmp_path, monkeypatch):
    db = opened()
    ask(db, tmp_path / "a.parquet")
    before = (tmp_path / "a.parquet").read_bytes()
    monkeypatch.setattr("sfumato.session.releases.columns.AnswerColumns.table", _fail)
    with pytest.raises(ZeroDivisionError):
        ask(db, tmp_path / "a.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
    assert (tmp_path / "a.parquet").read_bytes() == before
    db.close()


def test_an_answer_whose_file_beside_the_ledger_was_changed_is_not_drawn_anew(tmp_path):
    db = opened(tmp_path / "ledger.db")
    ask(db, tmp_path / "a.parquet")
    (kept,) = (tmp_path / "ledger.db.answers").iterdir()
    kept.write_bytes(b"x")
    for to in (tmp_path / "b.parquet", None):
        with pytest.raises(LedgerError, match="changed"):
            ask(db, to)
    db.close()


def test_a_failing_engine_leaves_a_charge_and_no_file(tmp_path):
    db = opened(tmp_path / "ledger.db", budget=sf.ApproxDP(2_000, "1e-2"), memory_limit="1MB")
    with pytest.raises(EngineError):
        ask(db, tmp_path / "a.parquet")
    assert str(db.spent) == "ε 1000, δ 0.001"
    assert not list((tmp_path / "ledger.db.answers").iterdir())
    assert not (tmp_path / "a.parquet").exists()
    db.close()


def test_an_engine_is_let_go_also_while_somebody_holds_the_error_that_stopped_the_writing(tmp_path, monkeypatch):
    db = opened()
    monkeypatch.setattr("sfumato.session.releases.stored.halves", _fail)
    with pytest.raises(UnavailableError) as held:  # with its frames, as an interactive session does
        ask(db, tmp_path / "a.parquet")
    assert held.tb is not None
    assert not db._desk.engine._lock.locked()
    db.close()


@pytest.mark.parametrize(
    ("to", "clauses"),
    [
        ("a.csv", ""), ("no/where/a.parquet", ""), ("folder.parquet", ""), ("a.parquet", " ORDER BY n"),
        ("a.parquet", " LIMIT 3"), ("a.parquet", " OFFSET 3"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused_before_anything_is_spent(tmp_path, to, clauses):
    (tmp_path / "folder.parquet").mkdir()
    db = opened(budget=sf.ApproxDP(2_000, "1e-2"))
    with pytest.raises(ParameterError, match="to"):
        ask(db, tmp_path / to, SQL + clauses)
    assert str(db.spent) == "ε 0"
    db.close()


@pytest.mark.parametrize("name", ["visits.parquet", "link.parquet"])
def test_a_file_that_a_table_is_read_from_is_not_written_over(tmp_path, name):
    pq.write_table(ROWS, tmp_path / "visits.parquet")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "visits.parquet")
    db = opened(budget=sf.ApproxDP(2_000, "1e-2"), data=tmp_path / "visits.parquet")
    with pytest.raises(ParameterError, match="is the file that a table is read from"):
        ask(db, tmp_path / name)
    assert str(db.spent) == "ε 0"
    assert pq.read_table(tmp_path / "visits.parquet").equals(ROWS)
    db.close()


def test_an_answer_that_is_made_to_add_up_is_not_saved(tmp_path):
    db = sf.open(ROWS, name="visits", columns={"g": VISITS.columns["g"]}, budget=sf.NO_GUARANTEE)
    asked = db.table("visits").group_by("g").rollup(consistent=True).agg(n=sf.count())
    with pytest.raises(ParameterError, match="consistent"):
        asked.release(epsilon=1, to=tmp_path / "a.parquet")
    db.close()


def test_every_section_and_chosen_bounds_are_saved(tmp_path):
    db = opened()
    saved = ask(db, tmp_path / "a.parquet", "SELECT g, COUNT(*) AS n FROM visits GROUP BY ROLLUP (g)", epsilon=10**6)
    assert saved.to_arrow()["g"].to_pylist() == ["x", "y", "z", None]
    assert saved.to_arrow()["n"].to_pylist() == [350, 350, 0, 700]
    assert "4 rows" in repr(saved)
    db.close()


def test_a_folder_in_which_nobody_may_write_is_refused(tmp_path, monkeypatch):
    db = opened()
    monkeypatch.setattr(Path, "touch", _refuse)
    with pytest.raises(ParameterError, match="may write"):
        ask(db, tmp_path / "a.parquet")
    db.close()


def _refuse(*_, **__):
    raise PermissionError


@pytest.mark.parametrize(
    "to", [5, b"a.parquet", "a\0.parquet", f"{'n' * 240}.parquet", f"{'n' * 300}.parquet", "\ud800.parquet"],
    ids=["a number", "bytes", "a NUL", "a draft of too long a name", "too long", "no Unicode"],
)  # fmt: skip
def test_what_is_no_name_of_a_file_is_refused_before_anything_is_spent(tmp_path, monkeypatch, to):
    monkeypatch.chdir(tmp_path)
    db = opened(budget=sf.ApproxDP(2_000, "1e-2"))
    with pytest.raises(ParameterError, match="to"):
        ask(db, to)
    assert (str(db.spent), list(tmp_path.iterdir())) == ("ε 0", [])
    db.close()


def test_sums_beyond_64_bits_are_in_the_file_as_in_the_answer(tmp_path):
    data = pa.table({"k": ["a"] * 12_000, "v": [900_000.0] * 12_000})
    columns = {"k": sf.text(), "v": sf.real(0, 1_000_000, resolution="1e-9")}
    db = sf.open(data, name="visits", columns=columns, budget=sf.NO_GUARANTEE)
    saved = ask(db, tmp_path / "a.parquet", "SELECT k, SUM(v) AS s FROM visits GROUP BY k", epsilon=10**6)
    assert saved.to_arrow()["s"].to_pylist() == [pytest.approx(12_000 * 900_000.0)]  # 1.08e19 steps
    db.close()


@pytest.mark.parametrize("found", [[], ["alone"]])
def test_what_is_kept_does_not_say_whether_there_were_groups_that_were_not_selected(tmp_path, found):
    data = pa.table({"k": pa.array(found, pa.string())})
    db = sf.open(data, name="visits", columns={"k": sf.text()}, budget=sf.NO_GUARANTEE, ledger=tmp_path / "ledger.db")
    sql = "SELECT k, COUNT(*) AS n FROM visits GROUP BY k"
    assert len(ask(db, tmp_path / "a.parquet", sql, epsilon=1, delta="1e-9")) == 0
    (kept,) = (tmp_path / "ledger.db.answers").iterdir()
    assert pq.read_schema(kept).names == ["k0", "m0.0.h", "m0.0.l"]
    db.close()


def test_progress_moves_in_steps_that_do_not_tell_how_many_groups_of_a_batch_were_released():
    heard = []
    batches = [ReleasedBatch(keys=(range(size),), measured=()) for size in (BATCH - 1, 2, 0, BATCH, 5)]
    assert list(_heard(batches, heard.append)) == batches
    assert heard == [BATCH, BATCH, 6]


def test_progress_tells_how_many_groups_were_released(tmp_path, capsys):
    db = opened()
    saved = ask(db, tmp_path / "a.parquet", progress=True)
    assert f"{len(saved):,} groups released" in capsys.readouterr().err
    db.close()


FULL_DISK = """
import resource, signal, sys
import pyarrow as pa
import sfumato as sf
folder = sys.argv[1]
db = sf.open(
    pa.table({"k": [*range(50_000)] * 4}), name="t", columns={"k": sf.integer()}, budget=sf.ApproxDP(2_000, "1e-2"),
    ledger=f"{folder}/ledger.db",
)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # no file may grow further, as on a full disk
try:
    db.query("SELECT k, COUNT(*) AS n FROM t GROUP BY k").release(epsilon=1_000, delta="1e-3", to=f"{folder}/a.parquet")
except sf.errors.LedgerError as error:
    print(db.spent, "free disk space" in str(error))
"""


def test_a_disk_that_fills_leaves_a_charge_and_no_part_of_an_answer(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], check=True, capture_output=True, text=True)
    assert done.stdout == "ε 1000, δ 0.001 True\n"
    assert sorted(path.name for path in tmp_path.rglob("*.parquet*")) == []


@pytest.mark.parametrize("shown", [True, False])
def test_what_is_heard_is_shown_on_the_error_stream_if_it_is_wanted(capsys, shown):
    with progress_shown("groups released", shown=shown) as hear:
        hear(1_000)
        hear(234)
    out, errors = capsys.readouterr()
    assert out == ""
    assert ("1,234 groups released" in errors) is shown
