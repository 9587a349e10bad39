"""Several means: which numbers a report is of, in whatever form they come, and intervals of sampled people."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from tests.local.branches import law_of

from sfumato.errors import ParameterError
from sfumato.local import SampledMeans
from sfumato.local.means.attributes import uniform_subsets
from sfumato.privacy.events import SelfComposedEvent

BODY = {"age": (0, 100), "height": (0, 250), "weight": (0, 200)}


@pytest.mark.parametrize(("epsilon", "sampled"), [(1, 1), (4, 1), (5, 2), ("7.5", 3), (50, 3)])
def test_as_many_numbers_are_sampled_as_the_rule_says(epsilon, sampled):
    protocol = SampledMeans(BODY, epsilon=epsilon)
    assert protocol.sampled == sampled
    assert protocol.of(1).epsilon == protocol.epsilon / sampled
    if sampled > 1:
        assert protocol.event == SelfComposedEvent(protocol.of(0).event, sampled)


@pytest.mark.parametrize(("size", "numbers"), [(1, 1), (1, 4), (2, 4), (3, 4), (4, 4)])
def test_all_sets_are_alike(size, numbers):
    found = law_of(lambda: tuple(uniform_subsets(size, numbers, 1)[0].tolist()))
    assert set(found) == set(combinations(range(numbers), size))
    assert len(set(found.values())) == 1


def test_people_come_as_mappings_rows_or_a_table():
    protocol = SampledMeans(BODY, epsilon=5, steps=10)
    expected = [[4, 7, 4], [10, 0, 4]]
    table = np.array([[40.0, 175, 80], [100, -3, 80]])
    mappings = [{"height": 175, "weight": 80, "age": 40}, {"age": 100, "height": -3, "weight": 80, "more": 1}]
    for given in (table, table.tolist(), [tuple(row) for row in table], mappings):
        assert protocol.inputs(given).tolist() == expected


def test_what_is_missing_is_random_and_no_error():
    protocol = SampledMeans(BODY, epsilon=5, steps=10)
    inputs = protocol.inputs([{"age": 40}, None, "text", (1, 2), {}, 7] * 50)
    assert inputs.shape == (300, 3)
    assert set(inputs[::6, 0].tolist()) == {4}
    assert len(set(inputs[1::6, 0].tolist())) > 3
    with pytest.raises(ParameterError, match="columns"):
        protocol.inputs(np.zeros((4, 2)))


@pytest.mark.statistical
def test_means_come_back_with_errors_of_their_size():
    protocol = SampledMeans(BODY, epsilon=5)
    rng = np.random.default_rng(1)
    people = np.stack([rng.normal(40, 10, 60_000), rng.normal(170, 20, 60_000), rng.normal(70, 15, 60_000)], axis=1)
    collected = protocol.aggregator()
    reports = protocol.client().report_many(people)
    collected.add(reports)
    found = collected.estimate()
    for name, column in zip(BODY, people.T, strict=True):
        mean = found.means[name]
        assert abs(mean.mean - column.mean()) < 6 * mean.standard_error
        assert mean.standard_error < BODY[name][1] / 100
    assert sum(mean.reports for mean in found.means.values()) == 2 * 60_000
    pairs = Counter(map(tuple, reports.payloads[:, [0, 3]].tolist()))
    assert set(pairs) == {(0, 1), (0, 2), (1, 2)}
    assert all(abs(count - 20_000) < 6 * 116 for count in pairs.values())
    assert [row["attribute"] for row in found.rows()] == list(BODY)
    assert list(collected.estimate(["height"]).means) == ["height"]
    with pytest.raises(ParameterError, match="candidates"):
        collected.estimate(["shoe size"])


@pytest.mark.parametrize(
    "attributes",
    [
        {}, {"a": (1, 0)}, {"a": 3}, [("a", 0, 1), ("a", 0, 1)], [("a", 0)], {1: (0, 1)}, 7, {"a": ("x", 1)},
        [(["a"], 0, 1)], {"\ud800": (0, 1)},
    ],
)  # fmt: skip
def test_wrong_attributes_are_refused(attributes):
    with pytest.raises(ParameterError):
        SampledMeans(attributes, epsilon=1)


@pytest.mark.parametrize(
    "value", [np.array(1), np.ma.masked, np.array([[0, 1]]), [0, [1]], (0, 1, 2), {1}, None], ids=repr
)
def test_what_is_no_row_counts_as_random_numbers(value):
    protocol = SampledMeans({"a": (0, 1), "b": (0, 1)}, epsilon=1)
    assert protocol.aggregator().add(protocol.client().report(value)).accepted == 1
