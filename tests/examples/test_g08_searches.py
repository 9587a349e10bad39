import pytest

import sfumato as sf
from examples import g08_searches as example
from sfumato.datasets.pseudonyms import search_log


@pytest.fixture(scope="module")
def made():
    return search_log(example.USERS)


def test_more_than_one_pseudonym_in_six_is_named_and_nobody_wrongly(made):
    found = example.attack(made)
    assert (found.successes, found.trials) == (354, 2_000)
    assert found.notes == ("354 names were claimed, 0 of them wrongly",)


def test_the_searches_of_the_exposed_one_hold_the_name(made):
    one = example.exposed(made)
    assert made.names[one] in example.searches_of(made, one)


@pytest.mark.statistical
def test_common_searches_come_out_of_the_curator_and_names_do_not(made):
    """No name has more than 8 askers, so all 1,524 come out with a chance below 1,524·δ·(e⁸ − 1)/(e − 1) < 3e-7."""
    with example.curator(made) as session:
        records = session.sql(
            "SELECT query, COUNT(*) AS n FROM log GROUP BY query", epsilon=example.EPSILON, delta=example.DELTA
        ).records()
        assert session.spent == sf.ApproxDP(example.EPSILON, example.DELTA)
    released = {record["query"] for record in records}
    assert {"google", "weather", "maps"} <= released
    assert not released & set(made.directory)
