"""The engine in plain Python keeps the contract of engines."""

import pytest
from tests.engines.engine_contract import EngineContract
from tests.engines.reading_contract import ReadingContract


@pytest.fixture
def engine():
    return "reference"


class TestReferenceEngine(EngineContract):
    pass


class TestReadingByReference(ReadingContract):
    pass
