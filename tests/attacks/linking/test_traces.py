from importlib import import_module

import numpy as np
import pytest
from tests.sizes import FULL_SIZE

from sfumato.attacks.linking.traces import Traces, unicity, unicity_by_points, unicity_picture
from sfumato.datasets.pseudonyms import traces
from sfumato.errors import ParameterError

COLUMNS = ["x", "y", "hour"]
CERTAIN = 1 - 2e-6
"""So that each limit of an interval holds with confidence 1 − 1e-6."""

WALKS = {"who": ["a", "a", "b", "b", "c"], "place": ["p", "q", "p", "r", "p"], "hour": [0, 5, 0, 6, 0]}


@pytest.fixture(scope="module")
def records():
    return traces(20_000 if FULL_SIZE else 5_000)


def test_who_has_a_point_of_his_own_is_told_apart_by_all_his_points():
    found = unicity(WALKS, user="who", columns=["place", "hour"], points=2)
    assert (found.successes, found.trials) == (2, 3)
    assert found.baseline == 1 / 3


def test_matches_are_the_people_who_have_all_points_by_a_plain_count(records):
    made = Traces(records, user="person", columns=COLUMNS, resolution={"x": 3, "y": 3, "hour": 6})
    persons = np.arange(40)
    points = made.drawn(persons, 3)
    rows = zip(*(np.asarray(records[name]).tolist() for name in ("person", *COLUMNS)), strict=True)
    plain: dict = {}
    for person, x, y, hour in rows:
        plain.setdefault(person, set()).add((x // 3, y // 3, hour // 6))
    number = {}
    for person in range(40):  # each number of a point stands for one of those that its people have in common
        own = made._trace[made._starts[person] : made._starts[person + 1]]
        assert len(own) == len(plain[person])
        number[person] = set(own.tolist())
    for person, row in zip(persons.tolist(), points.tolist(), strict=True):
        assert set(row) <= number[person]
        holders = [
            set(made._pairs[made._ends[point] : made._ends[point + 1]] % made.people) for point in row
        ]  # fmt: skip
        assert made.matches(np.array([row]))[0] == len(set.intersection(*holders))


def test_unicity_agrees_with_sets_of_points_when_all_points_are_known():
    few = traces(60, days=2, antennas=3)
    plain: dict = {}
    for row in few.to_pylist():
        plain.setdefault(row["person"], set()).add((row["x"], row["y"], row["hour"] // 12))
    alone = sum(sum(own <= other for other in plain.values()) == 1 for own in plain.values())
    found = unicity(few, user="person", columns=COLUMNS, points=1_000, resolution={"hour": 12})
    assert (found.successes, found.trials) == (alone, 60)
    assert 0 < alone < 60


@pytest.mark.parametrize("people", [(1, 1, 3, 3, 4), (-5, -5, 10**15, 10**15, 0), ("a", "a", "b", "b", "c")], ids=str)
def test_people_may_have_any_names(people):
    found = unicity(WALKS | {"who": people}, user="who", columns=["place", "hour"], points=2)
    assert (found.successes, found.trials) == (2, 3)


def test_chunks_of_people_change_nothing(records, monkeypatch):
    made = Traces(records, user="person", columns=COLUMNS)
    points = made.drawn(np.arange(200), 2)
    at_once = made.matches(points)
    monkeypatch.setattr(import_module("sfumato.attacks.linking.traces"), "_PAIRS_AT_ONCE", 7)
    assert made.matches(points).tolist() == at_once.tolist()


def test_points_of_a_person_are_different_and_the_rarest_is_first(records):
    made = Traces(records, user="person", columns=COLUMNS)
    points = made.drawn(np.arange(50), 4)
    visits = np.diff(made._ends)[points]
    assert (np.diff(visits, axis=1) >= 0).all()
    assert all(len(set(row)) == 4 for row in points.tolist())


def test_whoever_has_fewer_points_is_known_by_all_of_them():
    made = Traces(WALKS, user="who", columns=["place", "hour"])
    assert sorted((row >= 0).sum() for row in made.drawn(np.arange(3), 5)) == [1, 2, 2]
    assert sorted(made.matches(made.drawn(np.arange(3), 5)).tolist()) == [1, 1, 3]


@pytest.mark.statistical
def test_four_points_tell_nine_in_ten_apart_and_two_more_than_half(records):
    """Limits hold with confidence 1 − 1e-6 each. The literature has 95% of 1.5 million people with 4 points."""
    four, two = (unicity(records, user="person", columns=COLUMNS, points=points) for points in (4, 2))
    assert four.trials == two.trials == 2_500
    assert four.interval(confidence=CERTAIN)[0] >= 0.9
    assert two.interval(confidence=CERTAIN)[0] > 0.5


@pytest.mark.statistical
def test_unicity_grows_with_points_and_falls_with_coarser_space_and_time(records):
    """Each step is larger than chance with confidence 1 − 2e-6."""
    found = unicity_by_points(
        records, user="person", columns=COLUMNS, points=[1, 2, 4],
        resolutions={"fine": {}, "space": {"x": 5, "y": 5}, "both": {"x": 5, "y": 5, "hour": 6}},
    )  # fmt: skip
    limits = {(name, p): o.interval(confidence=CERTAIN) for name, by in found.items() for p, o in by.items()}
    for name in ("fine", "space", "both"):
        assert limits[name, 2][1] < limits[name, 4][0]
    assert limits["fine", 1][1] < limits["fine", 2][0]
    assert limits["fine", 2][0] > limits["space", 2][1]
    assert limits["space", 2][0] > limits["both", 2][1]


def test_a_day_tells_nobody_apart_who_walks_every_day():
    everyday = {"who": np.repeat(np.arange(10), 5), "hour": np.tile(np.arange(5) * 24 + 3, 10)}
    assert unicity(everyday, user="who", columns=["hour"], points=3, resolution={"hour": 24}).success == 0


def test_the_picture_has_a_curve_for_each_resolution():
    found = unicity_by_points(
        WALKS, user="who", columns=["place", "hour"], points=[1, 2],
        resolutions={"an hour": {}, "a day": {"hour": 24}}, people=3,
    )  # fmt: skip
    (axes,) = unicity_picture(found, title="walks").axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["an hour", "a day"]
    assert axes.get_title(loc="left") == "walks"


@pytest.mark.parametrize("found", [{}, {"an hour": {}}])
def test_there_is_no_picture_of_nothing(found):
    with pytest.raises(ParameterError, match="found"):
        unicity_picture(found)


@pytest.mark.parametrize(
    "arguments",
    [
        {"columns": []},
        {"columns": ["nowhere"]},
        {"user": "nobody"},
        {"resolution": {"day": 2}},
        {"resolution": {"hour": 0}},
        {"points": 0},
        {"people": 0},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(arguments):
    with pytest.raises(ParameterError):
        unicity(WALKS, **({"user": "who", "columns": ["place", "hour"]} | arguments))


def test_no_records_are_refused():
    with pytest.raises(ParameterError, match="records"):
        unicity({"who": [], "hour": []}, user="who", columns=["hour"])


@pytest.mark.parametrize("arguments", [{"points": [0]}, {"points": [2], "people": 0}], ids=str)
def test_nor_at_several_resolutions(arguments):
    with pytest.raises(ParameterError):
        unicity_by_points(WALKS, user="who", columns=["hour"], resolutions={"an hour": {}}, **arguments)


def test_words_are_not_cut_and_each_point_is_somebodys():
    with pytest.raises(ParameterError, match="column of numbers"):
        unicity(WALKS, user="who", columns=["place"], resolution={"place": 2})
    with pytest.raises(ParameterError, match="values of hour"):
        unicity(WALKS | {"hour": [1]}, user="who", columns=["hour"])
