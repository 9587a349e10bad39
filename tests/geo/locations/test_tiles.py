"""A memory of tiles: one report for each, whoever asks and however often, and never before it is on the disk."""

import json
from multiprocessing import get_context

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.locations.planar_laplace import PlanarLaplace
from sfumato.geo.locations.tiles import TileMemory
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection
from sfumato.privacy.promises import MetricDP

GRID = Grid(LocalProjection(0, 0), cell=100, columns=10, rows=10)
NOISY = PlanarLaplace(GRID, epsilon="0.001")


def center(cell):
    return tuple(float(part) for part in GRID.centers(cell))


def test_the_report_of_a_tile_is_always_the_same():
    device = TileMemory(NOISY, width=3)
    first = {cell: device.release(center(cell)) for cell in range(100)}
    assert {cell: device.release(center(cell)) for cell in range(100)} == first
    assert device.tiles == 16
    assert device.spent == device.guarantee.repeated(16)


def test_only_the_tile_is_drawn_for_never_the_place(monkeypatch):
    asked = []
    monkeypatch.setattr(PlanarLaplace, "release_cells", lambda _, cells: asked.append(int(cells[0])) or cells)
    for cell in (0, 1, 2, 10, 22):  # one tile of 3 × 3
        TileMemory(NOISY, width=3).release(center(cell))
    assert asked == [11] * 5


@pytest.mark.parametrize("width", [1, 2, 3, 4, 10])
def test_no_place_is_farther_from_the_middle_of_its_tile_than_the_guarantee_says(width, monkeypatch):
    device, draws = TileMemory(NOISY, width=width), np.random.default_rng(3)
    middles = []
    monkeypatch.setattr(PlanarLaplace, "release_cells", lambda _, cells: middles.append(cells[0]) or cells)
    worst = 0.0
    for _ in range(300):
        east, north = draws.uniform(-499, 499, 2)
        middles.clear()
        TileMemory(NOISY, width=width).release(GRID.projection.degrees(east, north))
        at = GRID.projection.meters(*GRID.centers(middles[0]))
        worst = max(worst, float(np.hypot(at[0] - east, at[1] - north)))
    displacement = float(device.guarantee.offset) / 2 / 0.001
    assert 0.6 * displacement < worst <= displacement


def test_a_file_keeps_the_reports_for_the_next_process(tmp_path):
    path = tmp_path / "tiles.json"
    first = TileMemory(NOISY, width=2, path=path)
    report = first.release(center(5))
    again = TileMemory(NOISY, width=2, path=path)
    assert again.tiles == 1
    assert again.release(center(5)) == report
    assert (path.stat().st_mode & 0o777) == 0o600
    other = again.release(center(99))
    assert first.release(center(99)) == other  # it reads what the other one has added


def test_nothing_is_returned_and_nothing_remembered_if_the_file_cannot_be_written(tmp_path, monkeypatch):
    device = TileMemory(NOISY, path=tmp_path / "tiles.json")
    monkeypatch.setattr("sfumato.geo.locations.tiles.draft_of", _full)
    with pytest.raises(OSError, match="full"):
        device.release(center(5))
    assert device.tiles == 0


def _full(*_):
    raise OSError("the disk is full")


def _report(path, queue):
    queue.put(TileMemory(NOISY, path=path).release(center(7)))


def test_processes_with_one_file_send_one_report(tmp_path):
    context = get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=_report, args=(tmp_path / "tiles.json", queue)) for _ in range(4)]
    for process in processes:
        process.start()
    assert len({queue.get(timeout=30) for _ in processes}) == 1
    for process in processes:
        process.join()


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"version": 1}', '{"version": 1, "mechanism": "x", "reports": []}']
)
def test_a_damaged_file_is_never_a_fresh_memory(tmp_path, content):
    path = tmp_path / "tiles.json"
    path.write_text(content)
    with pytest.raises(ParameterError, match="memory"):
        TileMemory(NOISY, path=path)


def test_a_file_of_another_mechanism_or_with_other_cells_is_refused(tmp_path):
    path = tmp_path / "tiles.json"
    TileMemory(NOISY, path=path).release(center(5))
    for other in (TileMemory(NOISY, width=2), TileMemory(PlanarLaplace(GRID, epsilon="0.002"))):
        with pytest.raises(ParameterError, match="memory"):
            TileMemory(other.mechanism, width=other.width, path=path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"reports": [[5, 1000]]}))
    with pytest.raises(ParameterError, match="memory"):
        TileMemory(NOISY, path=path)


def test_beyond_the_most_tiles_reports_cost_nothing_more():
    device = TileMemory(NOISY, most_tiles=2)
    reports = [device.release(center(cell)) for cell in (0, 50, 99, 98, 0)]
    assert device.tiles == 2
    assert reports[2] == reports[3] == reports[1]
    assert reports[4] == reports[0]
    assert device.spent == device.guarantee.repeated(2)


def test_nothing_is_spent_before_the_first_report():
    assert TileMemory(NOISY).spent == MetricDP(0, "meter")


@pytest.mark.parametrize("given", [{"width": 0}, {"width": 11}, {"most_tiles": 0}, {"path": ""}, {"mechanism": 5}])
def test_what_is_out_of_range_is_refused(given):
    arguments = {"mechanism": NOISY} | given
    with pytest.raises(ParameterError):
        TileMemory(arguments.pop("mechanism"), **arguments)
