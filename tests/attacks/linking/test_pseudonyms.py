from math import exp, log

import numpy as np
import pytest
from tests.sizes import FULL_SIZE

from sfumato.attacks.linking.pseudonyms import ECCENTRICITY, Known, Scoreboard, sparse_linkage, vanity_search
from sfumato.datasets.pseudonyms import ratings, search_log
from sfumato.errors import ParameterError

SUBSCRIBERS, MOVIES = (20_000, 2_000) if FULL_SIZE else (2_000, 600)
ROWS = {
    "subscriber": [0, 1, 2, 2, 3],
    "movie": [0, 0, 0, 1, 2],
    "rating": [5, 3, 5, 1, 2],
    "day": [100, 100, 160, 7, 50],
}


@pytest.fixture(scope="module")
def released():
    return ratings(SUBSCRIBERS, MOVIES)


@pytest.fixture(scope="module")
def board(released):
    return Scoreboard(released)


def test_scores_are_those_of_the_paper():
    scores = Scoreboard(ROWS).scores(Known(movies=[0, 1], ratings=[4, 1], days=[130, 7]))
    common = exp(-1 / 1.5) + exp(-1)
    assert scores == pytest.approx([common / log(3), common / log(3), common / log(3) + 2 / log(2), 0])


def test_the_scores_agree_with_a_plain_loop_over_all_rows(released, board):
    rows = list(zip(*(released[name].to_pylist() for name in ROWS), strict=True))
    known = board.known_of(17, entries=8, wrong=2, days=14)
    wanted = np.zeros(SUBSCRIBERS)
    for movie, rating, day in zip(known.movies, known.ratings, known.days, strict=True):
        raters = [row for row in rows if row[1] == movie]
        for person, _, theirs, then in raters:
            wanted[person] += (exp(-abs(theirs - rating) / 1.5) + exp(-abs(then - day) / 30)) / log(len(raters))
    assert board.scores(known) == pytest.approx(wanted)


def test_a_claim_needs_a_score_that_stands_out():
    two = Scoreboard({"subscriber": [0, 1], "movie": [0, 0], "rating": [4, 4], "day": [9, 9]})
    same = Known(movies=[0], ratings=[4], days=[9])
    assert two.claim(same) is None
    many = {"subscriber": range(9), "movie": [0, *[1] * 8], "rating": [5] * 9, "day": [9] * 9}
    known = Known(movies=[0], ratings=[5], days=[9])
    scores = Scoreboard(many).scores(known)
    assert scores.max() / scores.std() >= ECCENTRICITY
    assert Scoreboard(many).claim(known) == 0


def test_what_is_known_of_nobody_is_claimed_of_nobody():
    nobody = Known(movies=[1], ratings=[5], days=[2_000])
    assert Scoreboard(ROWS | {"movie": [0, 0, 0, 2, 2]}).claim(nobody) is None


def test_a_movie_that_was_not_released_counts_for_nobody():
    known = Known(movies=[99, -1, 0], ratings=[5, 5, 5], days=[0, 0, 100])
    only = Known(movies=[0], ratings=[5], days=[100])
    assert Scoreboard(ROWS).scores(known).tolist() == Scoreboard(ROWS).scores(only).tolist()


def test_knowledge_has_as_many_entries_right_and_wrong_as_it_says(released, board):
    own = {
        (movie, rating): day
        for person, movie, rating, day in zip(*(released[name].to_pylist() for name in ROWS), strict=True)
        if person == 42
    }
    for _ in range(20):
        known = board.known_of(42, entries=8, wrong=2, days=14)
        entries = list(zip(known.movies, known.ratings, known.days, strict=True))
        off = [abs(day - own[movie, rating]) for movie, rating, day in entries[:6]]
        assert max(off) <= 14
        assert not {movie for movie, _, _ in entries[6:]} & {movie for movie, _ in own}
        assert len({movie for movie, _, _ in entries}) == 8


@pytest.mark.statistical
def test_eight_ratings_with_two_wrong_find_nearly_everybody_and_two_find_most(released):
    """The literature has 99% and 68% of 500,000 subscribers; here limits hold with confidence 1 − 1e-6."""
    eight = sparse_linkage(released, people=400)
    two = sparse_linkage(released, entries=2, wrong=0, days=3, people=400)
    assert eight.interval(confidence=1 - 2e-6)[0] > 0.95
    assert two.interval(confidence=1 - 2e-6)[0] > 0.68
    assert two.baseline == 1 / SUBSCRIBERS


@pytest.mark.statistical
def test_what_is_wholly_wrong_but_for_one_rating_finds_few(released):
    """Type-I error 1e-6: seven invented entries leave one true one, about which nobody stands out as often."""
    found = sparse_linkage(released, entries=8, wrong=7, days=14, people=200)
    assert found.interval(confidence=1 - 2e-6)[1] < 0.15


@pytest.mark.parametrize(
    "arguments", [{"entries": 2, "wrong": 2}, {"wrong": -1}, {"days": -1}, {"people": 0}, {"people": 1.5}], ids=str
)
def test_impossible_knowledge_is_refused(released, arguments):
    with pytest.raises(ParameterError):
        sparse_linkage(released, **arguments)


def test_no_ratings_are_refused():
    with pytest.raises(ParameterError, match="ratings"):
        Scoreboard({name: [] for name in ROWS})


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"subscriber": list("abcde")}, "subscriber"),
        ({"subscriber": [-1, 0, 1, 2, 3]}, "subscriber"),
        ({"movie": [0.5] * 5}, "movie"),
        ({"day": list("abcde")}, "day"),
        ({"rating": [5, 3, None, 1, 2]}, "rating"),
        ({"rating": [5]}, "values of rating"),
    ],
    ids=str,
)
def test_ratings_are_columns_of_numbers(change, match):
    with pytest.raises(ParameterError, match=match):
        Scoreboard(ROWS | change)


@pytest.mark.parametrize("wrong", [None, 1, "abc", [[1]], [1, 2], [None, 1j]], ids=repr)
def test_what_is_known_is_three_lists_of_numbers(wrong):
    right = {"movies": [0], "ratings": [5], "days": [10]}
    for name in ("ratings", "days"):
        with pytest.raises(ParameterError, match=rf"^{name} = "):
            Known(**right | {name: wrong})
    with pytest.raises(ParameterError, match=r"^movies = .*: must be whole numbers$"):
        Known(**right | {"movies": [0.5]})


def test_scores_are_of_what_is_known():
    rows = {"subscriber": [0, 1], "movie": [0, 0], "rating": [5, 1], "day": [10, 90]}
    assert Scoreboard(rows).scores(Known(movies=[], ratings=[], days=[])).tolist() == [0, 0]
    with pytest.raises(ParameterError, match=r"^known = 3: must be what is known of one person"):
        Scoreboard(rows).scores(3)


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
