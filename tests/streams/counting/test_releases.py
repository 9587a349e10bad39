import numpy as np
import pandas as pd
import pytest
from tests.streams.accounts import counter, stream
from tests.streams.one_draw import OneDraw

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.streams.counting.measures import ClampedSum, EventCount


def shown(releases):
    return getattr(releases, "values")  # noqa: B009 # PD011 takes it for that of pandas


@pytest.fixture
def rows():
    with stream(unit=EACH_ROW) as found:
        yield found


@pytest.fixture
def week(rows):
    """Seven steps of a counter whose band is as wide as twice the step."""
    visits = counter(rows, mechanism=OneDraw)
    return visits.tick(7)


def test_the_band_is_around_the_values_and_as_wide_as_the_mechanism_says(week):
    low, high = week.band()
    assert ((low + high) / 2 == shown(week)).all()
    assert ((high - low) / 2).tolist() == week.half_widths().tolist() == [2, 4, 6, 8, 10, 12, 14]
    assert week.half_widths("0.99").tolist() == [4, 8, 12, 16, 20, 24, 28]
    for wrong in (0, 1, 2, "much"):
        with pytest.raises(ParameterError):
            week.half_widths(wrong)


def test_a_slice_knows_its_steps(week):
    last = week[-2:]
    assert (len(last), last.steps.tolist(), shown(last).tolist()) == (2, [6, 7], shown(week)[-2:].tolist())
    assert last.half_widths().tolist() == [12, 14]
    for wrong in (1, slice(None, None, 2), "a"):
        with pytest.raises(ParameterError):
            week[wrong]


def test_what_was_released_cannot_be_written_over(rows, week):
    visits = counter(rows)
    shown_before = visits.tick(2).sums.tolist()
    for releases in (visits.releases, visits.tick(), visits.releases[-1:], week):
        for array in (releases.sums, shown(releases)):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 10**9
    assert visits.releases.sums[:2].tolist() == shown_before
    assert (visits.tick().sums < 10**6).all()


def test_frames_have_a_row_for_each_number(rows, week):
    frame = week.to_pandas()
    assert list(frame.columns) == ["step", "value", "low", "high"]
    assert frame.step.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert (frame.value.dtype, frame.low.dtype) == (np.dtype("int64"), np.dtype("float64"))
    by_key = counter(rows, measure=EventCount(keys=("a", 2)))
    by_key.add_many(keys=["a", 2, 2])
    table = by_key.tick(2).to_arrow()
    assert table.column("key").to_pylist() == ["a", "2", "a", "2"]
    assert table.column("value").to_pylist() == [1, 2, 1, 2]
    assert by_key.releases.records()[1]["key"] == "2"
    assert isinstance(by_key.releases.to_pandas(), pd.DataFrame)


def test_values_of_a_resolution_are_floats_and_so_is_their_band(rows):
    amounts = counter(rows, measure=ClampedSum(0, 1, resolution="0.25"), epsilon=400)
    amounts.add(0.75)
    releases = amounts.tick()
    assert shown(releases).tolist() == [0.75]
    assert releases.half_widths()[0] * 4 == amounts._plan.mechanism.half_width(1)


def test_printed_are_the_last_steps_with_their_error_and_the_cost_of_all(rows, week):
    text = repr(week)
    assert text.startswith("… 1 steps before\nstep 2: ")
    assert f"step 7: {shown(week)[-1]:,} ± 14\n95% intervals; ε 100 for all steps" in text
    by_key = counter(rows, measure=EventCount(keys=tuple("abcdef")))
    assert repr(by_key.releases) == "no releases yet (ε 100 for all of them)"
    by_key.add(key="b")
    assert repr(by_key.tick()).startswith("step 1: a 0, b 1, c 0, d 0, … 2 more (each ± ")


def test_a_picture_has_a_band_and_a_panel_for_each_key(rows, week, tmp_path):
    week.plot(tmp_path / "week.png")
    assert (tmp_path / "week.png").stat().st_size > 1000
    figure = week.plot(confidence="0.9")
    assert figure.get_suptitle().endswith(" ± 28 after 7 steps")
    by_key = counter(rows, measure=EventCount(keys=tuple(range(30))))
    with pytest.raises(ParameterError, match="at most 24"):
        by_key.tick().plot()
    assert len(counter(rows, measure=EventCount(keys=("a", "b"))).tick(3).plot().axes) == 2
    with pytest.raises(ParameterError):
        counter(rows).releases.plot()
