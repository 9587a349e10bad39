import math
from datetime import date
from itertools import combinations_with_replacement, product

import pytest
from tests.geo.traffic.small_town import DAYS, ROADS, answers, asked, assert_within, measured, opened, passages

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError, SfumatoError
from sfumato.geo.traffic.question import noisy_traffic, open_traffic

MIDDLE = 30
"""Of the bounds of speeds, 0 to 60: sums are taken about it."""

OTHERS = (("x", 2, 7, "a", 50.0), ("y", 3, 8, "c", 20.0))


def plain(*rows, per_day=3):
    """Counts and sums of people who are within all bounds, by the words of the definition."""
    counts, sums, seen = {}, {}, set()
    for person, day, hour, segment, speed in rows:
        if person is None or day not in {2, 3} or hour is None or segment not in {"a", "b", "c"}:
            continue
        assert (person, day, hour, segment) not in seen
        seen.add((person, day, hour, segment))
        held = 0 if speed is None or not math.isfinite(speed) else min(max(speed, 0), 60)
        counts[segment, hour] = counts.get((segment, hour), 0) + 1
        sums[segment, hour] = sums.get((segment, hour), 0) + round(held) - MIDDLE
    assert all(sum(one[:2] == (person, day) for one in seen) <= per_day for person, day, *_ in seen)
    return counts, {key: total for key, total in sums.items() if total}


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_counts_and_sums_are_those_of_the_definition(engine):
    rows = [
        ("x", 2, 7, "a", 31.0), ("x", 2, 8, "a", 12.0), ("x", 3, 7, "a", 47.0), ("x", 3, 7, "b", 70.0),
        ("y", 2, 7, "a", -5.0), ("y", 2, 0, "c", math.inf), ("y", 2, 23, "c", -math.inf), ("z", 3, 7, "a", None),
        ("z", 3, 9, "a", math.nan), ("z", 1, 7, "a", 40.0), ("z", 4, 7, "a", 40.0), ("z", None, 7, "a", 40.0),
        (None, 2, 7, "a", 40.0), ("w", 2, None, "a", 40.0), ("w", 2, 7, "other", 40.0), ("w", 2, 7, None, 40.0),
        ("w", 3, 24, "nowhere", 40.0),
    ]  # fmt: skip
    assert answers(*rows, engine=engine) == plain(*rows)


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_in_a_day_so_many_passages_of_a_person_count_as_the_bound_says(engine):
    busy = [("x", day, hour, segment, 60.0) for day in (1, 2, 3, 4) for hour in (7, 8) for segment in "abc"]
    for per_day in (1, 3, 5):
        counts, sums = answers(*busy, per_day=per_day, engine=engine)
        assert sum(counts.values()) == 2 * per_day
        assert sum(sums.values()) == 2 * per_day * 30


def test_days_are_bounded_each_for_itself():
    """So unused passages of one day are none of another."""
    rows = [("x", 2, 7, "a", 30.0), *[("x", 3, hour, "b", 60.0) for hour in range(10)]]
    counts, _ = answers(*rows)
    assert sum(number for (segment, _), number in counts.items() if segment == "b") == 3
    assert counts["a", 7] == 1


def test_a_segment_counts_once_an_hour_of_a_day():
    rows = [("x", day, 7, "a", speed) for day in (2, 3) for speed in (10.0, 20.0, 60.0)]
    counts, sums = answers(*rows, per_day=9)
    assert counts == {("a", 7): 2}
    assert abs(sums["a", 7]) <= 2 * 30


def test_which_passages_of_a_person_count_depends_on_no_one_else():
    own = [("x", day, hour, segment, 60.0) for day in (2, 3) for hour in (7, 8) for segment in "abc"]
    more = [("y", 2, hour, "a", 0.0) for hour in range(3)]
    alone, theirs, together = answers(*own), answers(*more), answers(*more, *own)
    for place in (0, 1):
        added = {key: alone[place].get(key, 0) + theirs[place].get(key, 0) for key in {*alone[place], *theirs[place]}}
        assert together[place] == {key: total for key, total in added.items() if total}


ROWS = tuple(("p", day, hour, segment, speed) for day, hour, segment, speed in product((2, 3), (7,), "ab", (-1e9, 1e9)))


def test_nobody_moves_what_is_measured_further_than_noise_is_made_for():
    """Every person with up to two of eight rows, some of them twice; at most two a day, on top of two other people."""
    with opened(*OTHERS, per_day=1) as db:
        section, without = measured(asked(db, hours=[7, 8]))
    for count in (1, 2):
        for own in combinations_with_replacement(ROWS, count):
            with opened(*OTHERS, *own, per_day=1) as db:
                _, found = measured(asked(db, hours=[7, 8]))
            assert_within(section, without, found)


@pytest.mark.parametrize("delta", [0, "1e-6"], ids=str)
@pytest.mark.parametrize(("days", "length"), [(("2026-03-02", "2026-03-03"), 2), (("2026-03-02", "2026-03-02"), 1)])
def test_the_worst_person_moves_it_exactly_so_far(days, length, delta):
    """In every day three passages at the highest speed, and many more that must not count."""
    worst = [("p", day, hour, segment, 1e9) for day in range(1, 6) for hour in range(4) for segment in "abc"]
    with opened(*OTHERS) as db:
        section, without = measured(asked(db, days=days), delta=delta)
    with opened(*OTHERS, *worst) as db:
        _, found = measured(asked(db, days=days), delta=delta)
    assert assert_within(section, without, found) == [3 * length, 3 * length * 30]
    assert [float(one.sensitivity.l1) for one in section.measurements] == [3 * length, 3 * length * 30]


def test_who_drives_the_same_way_each_day_moves_a_group_by_one_a_day():
    same = [("p", day, 7, segment, 0.0) for day in (2, 3) for segment in "abc"]
    with opened(*OTHERS) as db:
        section, without = measured(asked(db), delta="1e-6")
    with opened(*OTHERS, *same) as db:
        _, found = measured(asked(db), delta="1e-6")
    assert assert_within(section, without, found) == [6, 6 * 30]
    assert float(section.measurements[0].sensitivity.l2) == pytest.approx(math.sqrt(3) * 2)


def test_hours_and_days_choose_groups_and_rows():
    rows = [("x", day, hour, "a", 60.0) for day in (2, 3) for hour in (6, 7, 8)]
    assert answers(*rows, hours=[7, 6]) == ({("a", 6): 2, ("a", 7): 2}, {("a", 6): 60, ("a", 7): 60})
    assert answers(*rows, days=("2026-03-03", date(2026, 3, 3)), hours=[8]) == ({("a", 8): 1}, {("a", 8): 30})
    with opened(*rows) as db:
        question = asked(db, hours=range(6, 8))
        assert question.hours == (6, 7)
        assert len(question.release(epsilon=1)) == 3 * 2


def test_every_segment_and_hour_is_answered_whether_anybody_passed_or_not():
    with opened() as db:
        found = asked(db).release(epsilon=1)
    assert [(own.segment, own.hour) for own in found] == [(name, hour) for name in "abc" for hour in range(24)]


def test_without_noise_the_answer_is_the_exact_one():
    rows = [(f"p{who}", 2, 7, "a", speed) for who, speed in enumerate((20.0, 30.0, 40.0, 50.0))]
    with opened(*rows, budget=sf.NO_GUARANTEE) as db:
        found = asked(db, hours=[7]).release(epsilon=10**6, threshold=1).at(7)
    assert (found["a"].n.value, found["a"].speed.value, found["a"].is_shown) == (4, 35, True)
    assert (found["b"].n.value, found["b"].is_shown) == (0, False)


def test_cost_and_error_are_known_before_anything_is_spent_and_charged_once():
    with opened(*OTHERS, budget=sf.PureDP(2)) as db:
        question = asked(db)
        assert question.cost(epsilon=1) == sf.PureDP(1)
        count, speed = question.error(epsilon=1, size=100)
        assert (count.column, speed.column) == ("n", "speed")
        assert "at most 6 groups, 2 rows in one group and 6 rows per person" in question.explain()
        assert str(db.spent) == "ε 0"
        first = question.release(epsilon="1.5")
        assert str(db.spent) == "ε 1.5"
        assert question.release(epsilon="1.5", threshold=-5).release.estimates == first.release.estimates
        assert str(db.spent) == "ε 1.5"
        with pytest.raises(BudgetExceededError):
            question.release(epsilon=1)


def test_gaussian_noise_errs_less_than_laplace_where_people_are_in_many_groups():
    with opened(*OTHERS, per_day=20) as db:
        assert asked(db).error(epsilon=1, delta="1e-6")[0].half_width < 0.5 * asked(db).error(epsilon=1)[0].half_width


def test_a_policy_without_the_claims_is_refused():
    columns = {
        "day": sf.date(*DAYS), "hour": sf.integer(0, 23), "segment": sf.text(values=["a", "b", "c"]),
        "speed": sf.real(0, 60, nullable=False),
    }  # fmt: skip
    right = {"columns": columns, "matches": {("day",): 3, ("hour", "day", "segment"): 1}, "unit": "person"}
    wrong = {
        "must declare max_matches": {"matches": {("day",): 3}},
        "must declare max_matches of": {"matches": {("day", "hour", "segment"): 1}},
        "as unique": {"matches": {("day",): 3, ("day", "hour", "segment"): 2}},
        "segments of the roads": {"columns": columns | {"segment": sf.text(values=["a", "b"])}},
        "as its public values": {"columns": columns | {"segment": sf.text()}},
        "columns hour": {"columns": {name: one for name, one in columns.items() if name != "hour"}, "matches": {}},
        "must have bounds, as by": {"columns": columns | {"day": sf.date()}},
        "not be nullable": {"columns": columns | {"speed": sf.real(0, 60)}},
        "must have bounds, and": {"columns": columns | {"speed": sf.real()}},
        "unit column": {"unit": sf.EACH_ROW, "matches": {}, "limits": None},
    }
    limits = {"limits": sf.Limits(max_rows_per_unit=6), "name": "t", "budget": sf.PureDP(1)}
    with sf.open(passages(), **(limits | right)) as db:
        noisy_traffic(db.table(), ROADS)
    for said, change in wrong.items():
        with sf.open(passages(), **(limits | right | change)) as db, pytest.raises(ParameterError, match=said):
            noisy_traffic(db.table(), ROADS)


def test_limits_of_the_policy_that_are_lower_stay():
    with opened(*OTHERS) as db:
        strict = db.table("passages").per_unit(rows=2)
        assert "2 rows per person" in noisy_traffic(strict, ROADS).explain()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"hours": [24]}, "from 0 to 23"),
        ({"hours": []}, "at least one hour"),
        ({"hours": [7.5]}, "whole number"),
        ({"days": ("2026-03-01", "2026-03-02")}, "must lie within"),
        ({"days": ("2026-03-03", "2026-03-02")}, "must not end before"),
        ({"days": ("2026-03-03",)}, "must be two"),
        ({"days": ("today", "2026-03-02")}, "such as 2026-03-02"),
        ({"days": (2, 3)}, "such as 2026-03-02"),
    ],
    ids=str,
)
def test_hours_and_days_outside_are_refused(wrong, said):
    with opened() as db, pytest.raises(ParameterError, match=said):
        asked(db, **wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"passages_per_day": 0}, {"speeds": (60, 0)}, {"speeds": (0,)}, {"days": ("2026-03-03", "2026-03-02")}],
    ids=str,
)
def test_declarations_that_cannot_be_used_are_refused(wrong):
    with pytest.raises(SfumatoError):
        opened(**wrong)


def test_no_threshold_that_is_no_number():
    with opened() as db, pytest.raises(ParameterError):
        asked(db).release(epsilon=1, threshold=math.nan)


def test_segments_may_be_numbers():
    city = sf.datasets.city(2, days=1)
    roads = sf.geo.RoadGraph.from_geojson(city.roads)
    table = sf.geo.passages(city.points, roads)
    with open_traffic(
        table, roads, days=("2026-03-02", "2026-03-02"), passages_per_day=9, speeds=(0, 90), budget=sf.PureDP(1)
    ) as db:
        assert len(noisy_traffic(db.table(), roads, hours=[8]).release(epsilon=1)) == 334
