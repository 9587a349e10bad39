"""An answer in a file says where it is and what it cost."""

from tests.session.asking.test_saving import ask, opened

from sfumato.session.asking.saving import SavedRelease


def test_it_says_how_many_rows_there_are_where_and_for_what(tmp_path):
    db = opened()
    saved = ask(db, tmp_path / "a.parquet")
    assert isinstance(saved, SavedRelease)
    assert (saved.keys, saved.statistics, saved.confidence) == (("k", "g"), ("n", "m"), 0.95)
    assert repr(saved).splitlines() == [
        f"{len(saved)} rows in {tmp_path / 'a.parquet'}",
        "95% intervals; spent ε 1000, δ 0.001; remaining: no guarantee",
    ]
    assert "stored answer, nothing spent" in repr(ask(db, tmp_path / "a.parquet"))
    db.close()


def test_rows_are_read_when_they_are_asked_for(tmp_path):
    db = opened()
    saved = ask(db, tmp_path / "a.parquet")
    names = ["k", "g", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert saved.to_arrow().schema.names == names
    assert sum(batch.num_rows for batch in saved.batches()) == len(saved)
    db.close()
