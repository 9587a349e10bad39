import hashlib
from collections import Counter

import pytest

from sfumato.datasets.searches import COMMON_QUERIES, search_log
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def made():
    return search_log()


def test_everybody_searches_under_a_pseudonym_and_no_two_have_one_name(made):
    assert set(made.log["user"].to_pylist()) == set(made.names)
    assert len(set(made.names.values())) == len(made.directory) == 1_000


def test_a_name_is_searched_for_mostly_by_its_owner(made):
    own = others = 0
    names = set(made.directory)
    for row in made.log.to_pylist():
        if row["query"] in names:
            own += made.names[row["user"]] == row["query"]
            others += made.names[row["user"]] != row["query"]
    assert 0.01 < own / made.log.num_rows < 0.06
    assert 0.03 < others / made.log.num_rows < 0.05


def test_common_queries_fall_as_their_rank(made):
    counts = Counter(made.log["query"].to_pylist())
    first, second, tenth = (counts[COMMON_QUERIES[place]] for place in (0, 1, 9))
    assert first / second == pytest.approx(2, rel=0.1)
    assert first / tenth == pytest.approx(10, rel=0.15)


def test_trades_are_of_one_town_for_each_person(made):
    towns = {}
    for row in made.log.to_pylist():
        if row["query"].startswith("dentist "):
            towns.setdefault(row["user"], set()).add(row["query"])
    assert len(towns) > 100
    assert all(len(own) == 1 for own in towns.values())


def test_the_seed_decides_the_log_on_every_platform():
    text = repr(search_log(50).log.to_pydict())
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "2c1078a99ca26ee4803133748c4b4f767ab499787be208219cf198deff5e9d83"
    )
    assert not search_log(20, seed=1).log.equals(search_log(20, seed=2).log)


@pytest.mark.parametrize("arguments", [{"users": 0}, {"users": 3_901}, {"users": 2.5}, {"vanity": 2}], ids=str)
def test_arguments_out_of_range_are_refused(arguments):
    with pytest.raises(ParameterError):
        search_log(**arguments)
