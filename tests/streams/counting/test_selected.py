import pytest
from tests.streams.accounts import counter, stream

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.streams.counting.measures import ClampedSum, EventCount
from sfumato.streams.counting.selection import SelectedKeys

KEYS = SelectedKeys("1e-8")


@pytest.fixture
def releases():
    """A key from step 2 on, and another one from step 3 on."""
    with stream(unit=EACH_ROW, budget=ApproxDP(1_000, "0.1")) as session:
        visits = counter(session, epsilon=1_000, measure=ClampedSum(0, 2, resolution="0.5", keys=KEYS))
        visits.add_many([0.5] * 20 + [2] * 20, keys=["b"] * 20 + ["a"] * 20, steps=[2] * 20 + [3] * 20)
        visits.tick(3)
        return visits.releases


def test_there_is_a_row_for_each_shown_key_at_each_step(releases):
    assert (len(releases), releases.steps.tolist()) == (3, [1, 2, 3])
    assert releases.labels == ("a", "b")
    assert (releases.row_steps.tolist(), releases.row_keys) == ([2, 3, 3], ("b", "a", "b"))
    assert (releases.values.tolist(), releases.sums.tolist()) == ([10, 40, 10], [20, 80, 20])
    table = releases.to_arrow()
    assert table.column_names == ["step", "key", "value", "low", "high"]
    assert table["value"].to_pylist() == [10, 40, 10]
    assert releases.to_pandas()["key"].tolist() == ["b", "a", "b"]


def test_the_band_is_that_of_the_step_of_each_row(releases):
    low, high = releases.band("0.99")
    widths = releases.half_widths("0.99")
    assert (high - low).tolist() == [2 * widths[1], 2 * widths[2], 2 * widths[2]]


def test_slices_are_by_steps_and_name_their_own_keys(releases):
    assert (releases[:1].labels, len(releases[:1])) == ((), 1)
    assert (releases[1:2].labels, releases[1:2].values.tolist()) == (("b",), [10])
    assert (releases[-1:].first_step, releases[-1:].row_keys) == (3, ("a", "b"))
    assert len(releases[3:]) == 0
    with pytest.raises(ParameterError, match="slice"):
        releases[0]


def test_it_prints_shown_keys_alone(releases):
    lines = repr(releases).splitlines()
    assert lines[0].startswith("step 1: no key is shown")
    assert lines[2].startswith("step 3: a 40.0, b 10.0 (each ± ")
    assert repr(releases[3:]).startswith("no releases yet")
    with stream(unit=EACH_ROW, budget=ApproxDP(1_000, "0.1")) as session:
        visits = counter(session, measure=EventCount(keys=KEYS))
        visits.add_many(keys=list("abcdef") * 9)
        assert "a 9, b 9, c 9, d 9, … 2 more" in repr(visits.tick())


def test_what_needs_all_steps_of_a_key_is_refused(releases):
    with pytest.raises(ParameterError, match="for one key"):
        releases.nondecreasing()
    with pytest.raises(ParameterError, match="to_pandas"):
        releases.plot()
