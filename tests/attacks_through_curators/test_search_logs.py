"""A log of searches through a curator: what many ask comes out with its count, and what names one person does not."""

from collections import Counter

import pytest

import sfumato as sf
from sfumato.attacks.linking.pseudonyms import vanity_search
from sfumato.datasets.pseudonyms import COMMON_QUERIES, search_log

EPSILON, DELTA = "1", "1e-13"
QUERIES_A_PERSON = 10
SQL = "SELECT query, COUNT(*) AS n FROM log GROUP BY query"


@pytest.fixture(scope="module")
def made():
    return search_log(2_000)


@pytest.fixture(scope="module")
def released(made):
    limits = sf.Limits(
        max_groups_per_unit=QUERIES_A_PERSON, max_rows_per_group_per_unit=1, max_rows_per_unit=QUERIES_A_PERSON
    )
    with sf.open(
        made.log, name="log", unit="user", limits=limits, columns={"query": sf.text()},
        budget=sf.ApproxDP(EPSILON, DELTA),
    ) as curator:  # fmt: skip
        records = curator.sql(SQL, epsilon=EPSILON, delta=DELTA).records()
        assert curator.spent == curator.budget
    return {record["query"]: record["n"] for record in records}


def test_the_log_itself_names_people(made):
    found = vanity_search(made.log, made.directory, truth=made.names)
    assert found.success > 0.15
    assert found.notes[0].endswith(" 0 of them wrongly")


@pytest.mark.statistical
def test_no_name_comes_out_of_a_curator(made, released):
    """No name has more than 8 askers, so by group privacy each comes out with a chance below δ·(e⁸ − 1)/(e − 1).

    All 1,524 that are asked for together: below 3e-7. The trades of a town have up to 126 askers and a threshold above
    500, which noise of scale 20 makes up for with a chance below 1e-7 in all.
    """
    askers = Counter(query for _, query in set(zip(*made.log.to_pydict().values(), strict=True)))
    assert max(askers[name] for name in made.directory) == 8
    assert not set(released) & set(made.directory)
    assert set(released) <= set(COMMON_QUERIES)


@pytest.mark.statistical
def test_what_many_ask_comes_out_and_nobody_can_be_told_by_it(made, released):
    """The two most common queries, asked by over a thousand people each, are missing with a chance below 1e-6."""
    assert {"google", "weather"} <= set(released)
    log = {"user": [0] * len(released), "query": list(released)}
    assert vanity_search(log, made.directory, truth={0: "whoever asked"}, least=1).successes == 0
