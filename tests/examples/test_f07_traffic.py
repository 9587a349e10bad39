import numpy as np
import pytest

import sfumato as sf
from examples import f07_traffic as example


@pytest.fixture(scope="module")
def table():
    return example.driven(sf.datasets.city(20, days=2))


def test_passages_are_those_of_the_city_by_its_clock(table):
    assert table.column_names == ["person", "segment", "speed", "day", "hour"]
    assert {7, 8} <= set(table["hour"].to_pylist()) <= set(range(7, 24))


def test_traces_of_two_weeks_are_parted_at_midnight_of_the_second_monday():
    first, second = example.habits(5)
    local = np.asarray(sf.datasets.city(5, days=14).passages["time"]).astype("datetime64[s]") - np.timedelta64(2, "h")
    days = local.astype("datetime64[D]") - np.datetime64("2026-03-02")
    assert (first.sum(), second.sum()) == ((days.astype(int) < 7).sum(), (days.astype(int) >= 7).sum())


def test_noise_of_a_trace_is_for_forty_passages():
    trace = np.array([[100.0, 60.0, 0.0], [3.0, 2.0, 1.0]])
    assert example.with_noise(trace, "10000").tolist() == [[25, 15, 0], [3, 2, 1]]


def test_members_of_exact_counts_have_no_empty_cell():
    records = np.array([[1, 0, 1], [0, 1, 1]])
    assert example.in_no_empty_cell(records, np.array([1.0, 0, 3]), np.zeros(3)).tolist() == [0, -0.5]
