import pytest
from tests.engines.engine_contract import EngineContract


class TestReferenceEngine(EngineContract):
    @pytest.fixture
    def engine(self):
        return "reference"
