import pyarrow as pa
import pytest
from tests.engines.postgres_server import server

from sfumato.engines.sources.whole_relations import whole_relation
from sfumato.errors import ParameterError
from sfumato.query.model.schema import Table, integer, text


def test_all_rows_come_with_all_digits():
    name = server().load(pa.table({"n": ["123456789012345678901.5", "-1", None]}), types={"n": "numeric"})
    table = Table(name="t", columns={"n": text()})
    parts = list(whole_relation(server().url(table=name), table, {}))
    assert pa.concat_tables(parts)["n"].to_pylist() == ["123456789012345678901.5", "-1", None]
    server().execute(f"DROP TABLE {name}")


def test_frames_and_files_are_refused():
    table = Table(name="t", columns={"n": integer()})
    with pytest.raises(ParameterError, match="must be of a relation in a database"):
        next(whole_relation(pa.table({"n": [1]}), table, {}))
