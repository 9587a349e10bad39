from tests.cli.commands import refusal, run

POLICY = """
version = "1"
[unit]
name = "row"
[tables.visits]
source = "visits.csv"
unit = "row"
columns = {v = {type = "text"}}
"""


def test_a_policy_without_snapshots_says_how_to_declare_one(tmp_path):
    (tmp_path / "p.toml").write_text(POLICY)
    assert 'snapshot = "rows.parquet"' in run("prepare", str(tmp_path / "p.toml")).stdout


def test_a_snapshot_of_a_file_is_refused(tmp_path):
    (tmp_path / "visits.csv").write_text("v\n1\n")
    (tmp_path / "p.toml").write_text(POLICY.replace("[tables.visits]", '[tables.visits]\nsnapshot = "s.parquet"'))
    assert "must be of a relation in a database" in refusal("prepare", str(tmp_path / "p.toml"))
    assert not (tmp_path / "s.parquet").exists()
