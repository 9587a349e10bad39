"""A snapshot stands for what is computed when it is read: taken by the owner, of one data version."""

import pytest
from tests.cli.commands import run
from tests.engines.postgres_server import READER, server

import sfumato as sf
from sfumato.errors import EngineError, ParameterError
from sfumato.query.model.schema import Table, real, text
from sfumato.query.policy.policy import Policy


@pytest.fixture
def rates():
    """A view that divides by 0 for one person."""
    table = Table(name="rates", columns={"name": text(), "rate": real(0, 100)})
    pay = "SELECT 'p' || g AS name, 10.0 AS total, 77 - g AS hours FROM generate_series(1, 100) AS r(g)"
    server().execute(
        f"CREATE TABLE pay AS {pay}", "CREATE VIEW rates AS SELECT name, total / hours AS rate FROM pay",
        f"GRANT SELECT ON rates TO {READER}",
    )  # fmt: skip
    yield table, server().url(table="rates")
    server().execute("DROP TABLE pay CASCADE")


def test_a_snapshot_is_read_instead_of_a_view_and_is_of_one_data_version(rates, tmp_path):
    _, address = rates
    server().execute("CREATE OR REPLACE VIEW rates AS SELECT name, total / NULLIF(hours, 0) AS rate FROM pay")
    (tmp_path / "pay.toml").write_text(
        'version = "2026-11"\n[unit]\nname = "row"\n[tables.rates]\nunit = "row"\nsnapshot = "rates.parquet"\n'
        f'source = "{address}"\n[tables.rates.columns]\nname = {{type = "text"}}\n'
        'rate = {type = "float", bounds = [0, 100]}\n'
    )
    with pytest.raises(ParameterError, match="must be a file; write it with `sfumato prepare`"):
        sf.Session(tmp_path / "pay.toml", budget=sf.NO_GUARANTEE)
    (tmp_path / "rates.parquet.new").write_text("left by somebody who was killed, for all to read")
    assert run("prepare", str(tmp_path / "pay.toml")).stdout == f"snapshot: {tmp_path / 'rates.parquet'}\n"
    assert (tmp_path / "rates.parquet").stat().st_mode & 0o777 == 0o600
    server().execute("DROP VIEW rates")
    with sf.Session(tmp_path / "pay.toml", budget=sf.NO_GUARANTEE) as session:
        release = session.sql("SELECT COUNT(rate) AS n, SUM(rate) AS s FROM rates WHERE name = 'p76'", epsilon=10_000)
    assert [round(release[name][0].value) for name in ("n", "s")] == [1, 10]
    later = (tmp_path / "pay.toml").read_text().replace("2026-11", "2026-12", 1)
    (tmp_path / "pay.toml").write_text(later)
    with pytest.raises(ParameterError, match="is of data version 2026-11; expected 2026-12"):
        sf.Session(tmp_path / "pay.toml", budget=sf.NO_GUARANTEE)


def test_a_snapshot_of_what_fails_is_not_taken(rates, tmp_path):
    table, address = rates
    policy = Policy(
        dataset="pay", version="1", data_version="1", unit_name="row", tables={"rates": table},
        sources={"rates": sf.SourceFacts(source=address, snapshot=tmp_path / "rates.parquet")},
    )  # fmt: skip
    with pytest.raises(EngineError):
        sf.prepare(policy)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_prepare_did_not_write_is_of_no_version(tmp_path):
    table = Table(name="rates", columns={"name": text()})
    facts = sf.SourceFacts(source="postgresql://db/x?table=rates", snapshot=tmp_path / "none.parquet")
    policy = Policy(
        dataset="pay", version="1", data_version="1", unit_name="row", tables={"rates": table}, sources={"rates": facts}
    )
    with pytest.raises(ParameterError, match="must be a file"):
        sf.Session(policy, budget=sf.NO_GUARANTEE)
