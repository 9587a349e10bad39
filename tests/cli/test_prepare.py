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


def test_the_owner_hears_what_does_not_count_and_nothing_is_left_behind(tmp_path):
    (tmp_path / "visits.csv").write_text("v\n1\n\n2\n")
    (tmp_path / "p.toml").write_text(POLICY)
    result = run("check", tmp_path / "p.toml")
    assert result.exit_code == 0
    assert result.stdout.startswith("Exact numbers of private rows, for the owner only")
    assert "column v: 1 row NULL" in result.stdout
    assert "SELECT COUNT(*) AS n FROM visits: ± 30, ± 6, ± 3" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"visits.csv", "p.toml"}


def test_one_table_is_checked_by_its_name_and_others_are_refused(tmp_path):
    (tmp_path / "visits.csv").write_text("v\n1\n")
    (tmp_path / "p.toml").write_text(POLICY)
    assert "visits: no claims to check" in run("check", tmp_path / "p.toml", "--table", "visits").stdout
    assert "must be one of: visits" in refusal("check", tmp_path / "p.toml", "--table", "people")
