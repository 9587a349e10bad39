import pytest
from tests.cli.demo.telling import row, sentences

from sfumato.cli.demo import marital_status
from sfumato.cli.demo.curators import MARITAL_STATUS

TRUE = ("22,379", "16,117", "6,633", "1,530", "1,518", "628", "37")


@pytest.fixture
def shown(stage, people, curators):
    marital_status.show(stage, people, curators.people)
    return stage


def test_every_status_is_counted_true_and_private(shown):
    assert tuple(row(shown, status)[1] for status in MARITAL_STATUS) == TRUE
    assert all("± 30" in row(shown, status)[2] for status in MARITAL_STATUS)


def test_the_people_are_those_of_both_files(shown):
    assert "48,842 rows: adult.data and adult.test together (paid: ε 0.1)" in sentences(shown)
