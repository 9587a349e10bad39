import pytest

from sfumato.attacks.linking.search_logs import vanity_search
from sfumato.datasets.searches import search_log
from sfumato.errors import ParameterError

TRUTH = {7: "ann lee", 8: "bob ray", 9: "cy fox"}


def found_in(searches, **more):
    users, queries = zip(*searches, strict=True)
    log = {"user": users, "query": queries}
    return vanity_search(log, TRUTH.values(), truth=TRUTH, **more)


def test_who_looks_for_himself_again_and_again_is_named():
    found = found_in([(7, "ann lee"), (7, "weather"), (7, "ann lee"), (8, "maps"), (9, "ann lee")])
    assert (found.successes, found.trials) == (1, 3)
    assert found.notes == ("1 names were claimed, 0 of them wrongly",)


def test_a_name_that_is_not_searched_for_more_than_another_is_not_claimed():
    assert found_in([(7, "ann lee"), (7, "bob ray")] * 2).notes[0].startswith("0 names")
    assert found_in([(7, "ann lee"), (7, "bob ray"), (7, "ann lee")], least=1).successes == 1


def test_who_looks_for_somebody_else_most_is_named_wrongly():
    assert found_in([(8, "ann lee"), (8, "ann lee")]).notes == ("1 names were claimed, 1 of them wrongly",)


def test_only_names_of_the_directory_are_names():
    assert found_in([(8, "bob dylan")] * 5).notes[0].startswith("0 names")


def test_the_made_up_log_names_those_who_look_for_themselves():
    """Deterministic: of 1,000 pseudonyms 191 are named, none wrongly; a guess is right of one in a thousand."""
    made = search_log()
    found = vanity_search(made.log, made.directory, truth=made.names)
    assert (found.successes, found.trials, found.baseline) == (191, 1_000, 0.001)
    humble = search_log(vanity=0)
    assert vanity_search(humble.log, humble.directory, truth=humble.names).successes < 5


@pytest.mark.parametrize("truth", [{}, {8: "bob ray"}])
def test_each_pseudonym_is_somebodys(truth):
    with pytest.raises(ParameterError, match="truth"):
        vanity_search({"user": [7], "query": ["maps"]}, ["ann lee"], truth=truth)


def test_an_empty_log_is_refused():
    with pytest.raises(ParameterError, match="searches"):
        vanity_search({"user": [], "query": []}, ["ann lee"], truth=TRUTH)


def test_each_search_is_somebodys():
    with pytest.raises(ParameterError, match="values of query"):
        vanity_search({"user": [1, 1], "query": ["ann lee"]}, ["ann lee"], truth={1: "ann lee"})
