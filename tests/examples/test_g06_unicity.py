import pytest

import sfumato as sf
from examples import g06_unicity as example
from sfumato.datasets.pseudonyms import traces

CERTAIN = 1 - 2e-6  # of an interval, so that each limit has a type-I error of 1e-6


@pytest.mark.statistical
def test_four_points_tell_nine_in_ten_apart_and_each_coarser_map_fewer():
    found = example.measured(traces(3_000))
    by_four = [by_points[4].interval(confidence=CERTAIN) for by_points in found.values()]
    assert by_four[0][0] > 0.9
    assert by_four[1][0] > by_four[2][1] > by_four[2][0] > by_four[3][1]


@pytest.mark.statistical
def test_the_question_counts_whoever_has_the_four_points():
    """At ε = 50 noise other than 0 has a chance below 1e-21."""
    records = traces(300)
    limits = sf.Limits(max_rows_per_unit=example.SIGHTINGS_A_PERSON)
    columns = {name: sf.integer(0, 29) for name in ("x", "y")} | {"hour": sf.integer(0, 671)}
    with sf.open(
        records, name="phones", unit="person", limits=limits, columns=columns, budget=sf.PureDP(100)
    ) as phones:
        there = phones.sql(example.question(records, person=7), epsilon=50)["n"][0].value
        nobody = example.question(records, person=7).replace("hits = 4", "hits = 5")
        assert (there, phones.sql(nobody, epsilon=50)["n"][0].value) == (1, 0)


def test_one_question_about_one_person_spends_the_budget():
    records = traces(50)
    with example.curator(records) as phones:
        answer = phones.sql(example.question(records, person=0), epsilon=example.EPSILON)["n"][0]
        assert phones.spent == sf.PureDP(1)
    assert answer.half_width == 3
