"""What a counter lets go is in its public file, each step once, whenever it stops; and nothing else is."""

import json

import pytest
from tests.streams.accounts import counter, stream
from tests.streams.days import Days

from sfumato.errors import ParameterError, StateError
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.streams.counting.measures import EventCount
from sfumato.streams.counting.published import read_published


@pytest.fixture
def rows():
    with stream(unit=EACH_ROW) as found:
        yield found


@pytest.fixture
def file(tmp_path):
    return tmp_path / "visits.jsonl"


def numbers(found):
    return [(one.step, one.values) for one in found.steps]


def test_a_file_has_every_step_that_was_released_before_and_after(rows, file):
    visits = counter(rows)
    visits.add_many(count=5)
    visits.tick(2)
    visits.publish(file, clock=Days())
    visits.add()
    visits.tick()
    found = read_published(file)
    assert numbers(found) == [(1, (5,)), (2, (5,)), (3, (6,))]
    assert [one.end[:10] for one in found.steps] == ["2026-01-02", "2026-01-03", "2026-01-04"]
    assert [one.half_width for one in found.steps] == visits.releases.half_widths().tolist()
    assert (found.account, found.horizon, found.labels, found.last_step) == ("visits", 8, None, 3)
    assert found.receipt == visits.receipt
    assert dict(found.clock) == Days().document


def test_nothing_leaves_before_it_was_kept(rows, file, monkeypatch):
    visits = counter(rows)
    visits.publish(file)
    before = file.read_bytes()

    def fails(*_):
        raise StateError("visits", "is gone")

    monkeypatch.setattr(visits._state, "commit", fails)
    monkeypatch.setattr(type(visits._state), "is_lasting", True)
    with pytest.raises(StateError):
        visits.tick()
    assert file.read_bytes() == before


def test_a_counter_that_was_killed_adds_the_lines_that_are_missing(tmp_path, file):
    with stream(tmp_path, unit=EACH_ROW) as account:
        with counter(account, state=tmp_path / "state") as visits:
            visits.publish(file)
            visits.tick(2)
            kept = file.read_bytes()
            visits.add()
            visits.tick(2)
        file.write_bytes(kept + b'{"step":3,"end":"","val')  # it was killed while it wrote
        assert read_published(file).last_step == 2
        with counter(account, state=tmp_path / "state", must_exist=True) as visits:
            visits.publish(file)
            visits.tick()
        assert numbers(read_published(file)) == [(1, (0,)), (2, (0,)), (3, (1,)), (4, (1,)), (5, (1,))]


def test_lines_that_could_not_be_written_come_with_the_next(rows, file):
    visits = counter(rows)
    visits.publish(file)
    kept = file.read_bytes()
    file.unlink()
    file.mkdir()
    with pytest.raises(StateError, match="cannot be written"):
        visits.tick()
    file.rmdir()
    file.write_bytes(kept)
    assert len(visits.releases) == 1
    visits.tick()
    assert [one.step for one in read_published(file).steps] == [1, 2]


def test_the_file_of_another_counter_is_left_alone(rows, file):
    first, second = counter(rows), counter(rows)
    first.publish(file)
    first.tick()
    content = file.read_bytes()
    with pytest.raises(ParameterError, match="something else"):
        second.publish(file)
    assert file.read_bytes() == content
    second.tick()
    assert file.read_bytes() == content


def test_what_is_no_public_file_is_neither_written_to_nor_read(rows, tmp_path):
    for place, content in enumerate((b"a letter\n", b"{}\n", b'{"format":2}\n', b"[1]\n", b"a letter", b"\0" * 70_000)):
        other = tmp_path / f"{place}.txt"
        other.write_bytes(content)
        with pytest.raises(ParameterError):
            counter(rows).publish(other)
        with pytest.raises(ParameterError):
            read_published(other)
        assert other.read_bytes() == content
    with pytest.raises(ParameterError):
        read_published(tmp_path / "none")


def test_a_header_that_was_cut_short_is_written_anew(rows, file):
    visits = counter(rows)
    visits.publish(file)
    file.write_bytes(file.read_bytes()[:40])
    visits.tick()
    assert numbers(read_published(file)) == [(1, (0,))]


@pytest.mark.parametrize("ending", ["", "-wal", "-journal"])
def test_the_state_of_a_counter_is_no_place_to_publish(tmp_path, ending):
    with stream(tmp_path, unit=EACH_ROW) as account, counter(account, state=tmp_path / "state") as visits:
        visits.tick()
        with pytest.raises(ParameterError, match="state"):
            visits.publish(tmp_path / f"state{ending}")
        link = tmp_path / "link"
        link.symlink_to(tmp_path / f"state{ending}")
        with pytest.raises(ParameterError, match="state"):
            visits.publish(link)
        visits.tick()
    with stream(tmp_path, unit=EACH_ROW) as account, counter(account, state=tmp_path / "state") as visits:
        assert len(visits.releases) == 2


@pytest.mark.parametrize("keys", [None, tuple(f"shop number {key}" for key in range(40))])
def test_any_part_of_a_long_file_is_found(rows, file, keys):
    """Lines of different lengths, of which some are longer than what is read at once."""
    visits = counter(rows, horizon=600, epsilon=1_000, measure=EventCount(keys))
    visits.publish(file)
    for _ in range(3):
        visits.tick(200)
    assert [one.step for one in read_published(file, most=3).steps] == [598, 599, 600]
    for after in (0, 1, 9, 10, 123, 598, 599, 600, 1_000):
        found = read_published(file, after=after, most=50)
        assert [one.step for one in found.steps] == list(range(after + 1, min(after + 50, 600) + 1))
        assert found.last_step == 600
    assert found.labels == (None if keys is None else keys)
    for wrong in ({"most": 0}, {"after": -1}, {"after": "x"}):
        with pytest.raises(ParameterError):
            read_published(file, **wrong)


def test_a_file_with_lines_longer_than_a_block_is_read(rows, file):
    visits = counter(rows, measure=EventCount(tuple(f"{key:060}" for key in range(2_000))), horizon=4)
    visits.publish(file)
    visits.tick(3)
    assert [one.step for one in read_published(file, after=1).steps] == [2, 3]
    assert len(json.loads(file.read_bytes().splitlines()[0])["labels"]) == 2_000


def test_a_line_holds_what_was_released_and_nothing_else(rows, file):
    visits = counter(rows, epsilon="0.001")
    visits.publish(file)
    visits.add_many(count=987_654_321)
    released = visits.tick()
    (line,) = file.read_bytes().splitlines()[1:]
    assert set(json.loads(line)) == {"step", "end", "values", "half_width"}
    assert json.loads(line)["values"] == [released.records()[0]["value"]]
