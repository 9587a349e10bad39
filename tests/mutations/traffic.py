"""Seeded bugs of traffic: bounds of people, clamps, thresholds, clocks, matching, and attacks on traces."""

from tests.mutations.mutants import Mutant

_QUESTION = "geo/traffic/question.py"
_RESULT = "geo/traffic/result.py"
_PASSAGES = "geo/roads/passages.py"
_MATCHING = "geo/roads/matching.py"
_GRAPH = "geo/roads/graph.py"
_ASKED = "tests/geo/traffic/test_question.py"
_ROADS = "tests/geo/roads"

MUTANTS = (
    Mutant(
        name="no more than one day of a person is bounded",
        edits=((_QUESTION, "matches={_DAILY: daily, _ONCE: 1}", "matches={_DAILY: 10**6, _ONCE: 1}"),),
        tests=(f"{_ASKED}::test_days_are_bounded_each_for_itself",),
    ),
    Mutant(
        name="a table without a bound of each day is asked",
        edits=((_QUESTION, "if _DAILY not in base.matches or claims", "if claims"),),
        tests=(f"{_ASKED}::test_a_policy_without_the_claims_is_refused",),
    ),
    Mutant(
        name="a segment counts as often as it is passed in an hour",
        edits=((_QUESTION, "matches={_DAILY: daily, _ONCE: 1}", "matches={_DAILY: daily, _ONCE: 9}"),
               (_QUESTION, "claims.get(frozenset(_ONCE)) != 1", "claims.get(frozenset(_ONCE)) is None")),
        tests=(f"{_ASKED}::test_a_segment_counts_once_an_hour_of_a_day",),
    ),
    Mutant(
        name="noise of traffic is made for one day of several",
        edits=((_QUESTION, "rows=daily * length, groups=daily * length", "rows=daily, groups=daily"),),
        tests=(f"{_ASKED}::test_in_a_day_so_many_passages_of_a_person_count_as_the_bound_says",
               f"{_ASKED}::test_the_worst_person_moves_it_exactly_so_far"),
    ),
    Mutant(
        name="traffic is read of days that were not asked about",
        edits=((_QUESTION, 'table["day"].between(first, last), ', ""),),
        tests=(f"{_ASKED}::test_counts_and_sums_are_those_of_the_definition",),
    ),
    Mutant(
        name="speeds are not clamped to the bounds of the owner",
        edits=((_QUESTION, "numbers(low, high, resolution=resolution, nullable=False)",
                "numbers(-(10**6), 10**6, resolution=resolution, nullable=False)"),),
        tests=(f"{_ASKED}::test_counts_and_sums_are_those_of_the_definition",
               f"{_ASKED}::test_the_worst_person_moves_it_exactly_so_far"),
    ),
    Mutant(
        name="the threshold of traffic is ignored",
        edits=((_RESULT, "n.value is not None and n.value >= self.threshold", "n.value is not None"),),
        tests=("tests/geo/traffic/test_result.py",),
    ),
    Mutant(
        name="files of traffic have what is below the threshold",
        edits=((_RESULT, "shown = one if found.is_shown else NOTHING", "shown = one"),),
        tests=("tests/geo/traffic/test_result.py::test_geojson_has_the_roads_with_what_is_shown_and_nothing_else",),
    ),
    Mutant(
        name="hours are those of UTC whatever the zone",
        edits=((_PASSAGES, ".astimezone(zone).utcoffset()", ".utcoffset()"),),
        tests=(f"{_ROADS}/test_passages.py::test_days_and_hours_are_those_of_the_zone_when_the_segment_was_entered",),
    ),
    Mutant(
        name="clocks of a zone are those of the first point",
        edits=((_PASSAGES, "np.unique(np.floor(seconds / _QUARTER)",
                "np.unique(np.floor(np.minimum(seconds, seconds.min(initial=0)) / _QUARTER)"),),
        tests=(f"{_ROADS}/test_passages.py::test_days_and_hours_are_those_of_the_zone_when_the_segment_was_entered",),
    ),
    Mutant(
        name="a segment that is hardly entered is passed",
        edits=((_PASSAGES, "_SMALLEST_SHARE: Final = 0.5", "_SMALLEST_SHARE: Final = 0.0"),),
        tests=(f"{_ROADS}/test_passages.py",),
    ),
    Mutant(
        name="segments between two points are left out",
        edits=((_PASSAGES, "    for segment in way:\n", "    for segment in ():\n"),),
        tests=(f"{_ROADS}/test_passages.py",),
    ),
    Mutant(
        name="trips go on from one person to the next",
        edits=((_PASSAGES, "breaks = (np.diff(numbers, prepend=-1) != 0) | (", "breaks = ("),),
        tests=(f"{_ROADS}/test_passages.py::test_rows_of_a_person_depend_on_that_person_alone",
               f"{_ROADS}/test_passages.py::test_replaced_points_of_one_person_change_no_row_of_another"),
    ),
    Mutant(
        name="points at one time are taken in the order in which they come",
        edits=(
            (_PASSAGES, 'for name in ("number", "time", "latitude", "longitude")', 'for name in ("number", "time")'),
        ),
        tests=(f"{_ROADS}/test_passages.py::test_of_several_points_at_one_time_one_counts_in_any_order",),
    ),
    Mutant(
        name="each point is matched by itself",
        edits=((_MATCHING, "reached = score[points - 1][:, :, np.newaxis] + states.steps",
                "reached = score[points - 1][:, :, np.newaxis] + 0 * states.steps"),),
        tests=(f"{_ROADS}/test_matching.py",),
    ),
    Mutant(
        name="a way leaves a segment at its first end alone",
        edits=((_MATCHING, "for leaving in (0, 1):", "for leaving in (0,):"),),
        tests=(f"{_ROADS}/test_matching.py",),
    ),
    Mutant(
        name="of equally near segments any counts",
        edits=((_GRAPH, "np.lexsort((segment, distance, point))", "np.lexsort((-segment, distance, point))"),),
        tests=(f"{_ROADS}/test_graph.py::test_of_segments_equally_near_the_first_counts",),
    ),
    Mutant(
        name="ways take the longer of two segments",
        edits=((_GRAPH, "if lengths[segment] < graph", "if lengths[segment] > 0 or graph"),),
        tests=(f"{_ROADS}/test_graph.py",),
    ),
    Mutant(
        name="the order of rows links traces",
        edits=(("attacks/linking/released_traces.py", "hidden = dice().permutation(people)",
                "hidden = np.arange(people)"),),
        tests=("tests/attacks/linking/test_released_traces.py::test_the_order_of_rows_links_nobody",),
    ),
    Mutant(
        name="a guess among equals counts as right",
        edits=(("attacks/linking/released_traces.py", "(scores >= scores[person]).sum() == 1",
                "(scores > scores[person]).sum() == 0"),),
        tests=("tests/attacks/linking/test_released_traces.py",),
    ),
)  # fmt: skip
