"""PostgreSQL's idioms keep the contract of dialects."""

import pytest
from tests.engines import in_postgres
from tests.engines.sql.dialect_contract import DialectContract
from tests.engines.sql.hash_contract import HashContract
from tests.engines.sql.test_dialect import UNIVERSAL

from sfumato.engines.duckdb.dialect import IDIOMS as ALL
from sfumato.engines.postgres.dialect import _HASHED, IDIOMS


@pytest.fixture
def values_of():
    return in_postgres.values_of


class TestPostgresDialect(DialectContract):
    pass


class TestPostgresHash(HashContract):
    pass


def test_the_table_is_complete():
    of_thresholds = {"numbered_hash", "nth_least"}
    assert set(IDIOMS) | set(_HASHED) >= set(ALL) - {"md5_number"} - of_thresholds
    assert UNIVERSAL.isdisjoint(IDIOMS)
