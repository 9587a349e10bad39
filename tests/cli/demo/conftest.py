import pytest
from tests.cli.demo.telling import quiet_stage

from sfumato.cli.demo.stage import load_people, open_curators
from sfumato.datasets import load_adult


@pytest.fixture(scope="session")
def people():
    """The census; where it cannot be had, its loader says how to get it."""
    load_adult("all")
    return load_people()


@pytest.fixture
def curators(people):
    with open_curators(people, ledger=None) as opened:
        yield opened


@pytest.fixture
def stage(tmp_path):
    return quiet_stage(tmp_path)
