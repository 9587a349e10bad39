"""A device that remembers its report of each tile: staying somewhere for a year then reveals as much as once."""

import json
from hashlib import sha256
from os import PathLike
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.geo.locations.keeping import DeviceMemory
from sfumato.geo.locations.planar_laplace import Location, PlanarLaplace
from sfumato.geo.planes.grid import MICROMETER, Whole
from sfumato.ledger.keeping.files import draft_of
from sfumato.mechanisms.base import opened
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import positive_integer, sqrt_up
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret

_FORMAT: Final = 1


class TileMemory(DeviceMemory):
    """Reports of places, each drawn once for a tile and repeated whenever the device is in that tile again.

    A tile is a square of `width` × `width` cells of the mechanism's grid. A place is moved to the middle cell of its
    tile, a report is drawn for that, and is on the disk before it leaves the device. Without a memory, the mean of
    reports from one place finds it.

    **Guarantee**: all reports of a device that was ever in d tiles have d·`guarantee`, compared with histories that are
    in equal tiles at the same times. When a device is in an earlier tile again is not protected: its report is the
    same. Proof: proofs/geo/locations/tiles.md.

    ====================================================  ======================================================
    Edge case                                             Behavior
    ====================================================  ======================================================
    more tiles than `most_tiles`                          reports of further ones repeat the last new one, at no cost
    two processes use one file                            they take turns, and send the same reports
    threads share a memory                                they take turns
    a memory without a file is forked, or any copied      refused: one tile would have two reports
    the file is lost, or an older copy is restored        tiles are drawn anew, which costs their ε again
    the file is damaged, or of another grid, ε or width   an error, never a fresh memory
    ====================================================  ======================================================

    Args:
        mechanism: The noise.
        width: The width of a tile in cells, 1 or more.
        most_tiles: How many tiles are ever drawn for.
        path: The file of the memory, made with the first report; None to keep it in memory alone.

    Raises:
        ParameterError: An argument is out of range, or the file is no memory of this mechanism.

    Example:
        >>> from sfumato.geo.planes.grid import Grid
        >>> grid = Grid.around("48.8566", "2.3522", width=20_000, height=20_000, cell=50)
        >>> device = TileMemory(PlanarLaplace(grid, level="low"), width=4)
        >>> home = [device.release(("48.8606", "2.3376")) for _ in range(100)]
        >>> len(set(home)), device.tiles, device.spent == device.guarantee
        (1, 1, True)
    """

    def __init__(
        self,
        mechanism: PlanarLaplace,
        *,
        width: int = 1,
        most_tiles: int = 100,
        path: str | PathLike[str] | None = None,
    ) -> None:
        self.mechanism: Final = of_kind(mechanism, "mechanism", PlanarLaplace, "a PlanarLaplace")
        self.width: Final = positive_integer(width, "width", most=max(mechanism.grid.columns, mechanism.grid.rows))
        self.most_tiles: Final = positive_integer(most_tiles, "most_tiles", most=1 << 20)
        super().__init__(path)
        self._reports: dict[int, int] = {}
        self._read()

    @property
    def tiles(self) -> int:
        """How many tiles a report was drawn for."""
        return len(self._reports)

    @property
    def guarantee(self) -> MetricDP:
        """What the report of one tile promises between true places, however often it is sent."""
        across = self.mechanism.grid.cell * self.width
        # The middle cell of a tile of even width is half a cell off its middle, in both directions.
        off = across if self.width % 2 else across + self.mechanism.grid.cell
        return self.mechanism.promise_of(sqrt_up(off**2 / 2) + MICROMETER)

    @property
    def spent(self) -> MetricDP:
        """What all reports so far promise together, compared with histories that are in equal tiles at equal times."""
        return self.guarantee.repeated(self.tiles) if self.tiles else MetricDP(0, "meter")

    def release(self, exact: Any | Secret[Any]) -> Location:
        """The report of the tile in which a place lies.

        Raises:
            ParameterError: It is no pair of numbers; or this is a fork of a memory without a file.
            OSError: The file cannot be locked or written; then nothing is returned.
        """
        tile, middle = self._tile_of(self.mechanism.cell_of(opened(exact)))
        with self._alone():
            self._read()
            return self.mechanism.place(self._report(tile, middle))

    def _tile_of(self, cell: Whole) -> tuple[int, Whole]:
        """The number of a cell's tile, and the tile's middle cell, or the nearest to it inside of the grid."""
        grid, width = self.mechanism.grid, self.width
        (columns, rows) = (int(place[0]) // width for place in grid.places_of(cell))
        across, up = columns * width + width // 2, rows * width + width // 2
        middle = min(up, grid.rows - 1) * grid.columns + min(across, grid.columns - 1)
        return rows * grid.columns + columns, np.array([middle])

    def _report(self, tile: int, middle: Whole) -> int:
        """The report of a tile, drawn if it is new and may be."""
        if tile in self._reports:
            return self._reports[tile]
        if self.tiles == self.most_tiles:
            return next(reversed(self._reports.values()))
        report = int(self.mechanism.release_cells(middle)[0])
        self._write(self._reports | {tile: report})
        self._reports[tile] = report
        return report

    @property
    def _fingerprint(self) -> str:
        """Of all that reports depend on, and a memory must agree with."""
        grid = self.mechanism.grid
        parts = (grid.projection, grid.cell, grid.columns, grid.rows, self.mechanism.epsilon, self.width)
        return sha256(repr(parts).encode()).hexdigest()

    def _write(self, reports: dict[int, int]) -> None:
        """First beside the file, then in its place; both, and the new name, are on the disk before this returns."""
        if self._path is None:
            return
        listed = [[tile, report] for tile, report in reports.items()]
        document = {"version": _FORMAT, "mechanism": self._fingerprint, "reports": listed}
        with draft_of(self._path, json.dumps(document).encode()) as draft:
            draft.replace(self._path)

    def _read(self) -> None:
        """Take over what the file says, if it is there."""
        if self._path is None or not self._path.exists():
            return
        try:
            document = json.loads(self._path.read_text("utf-8"))
            reports = {int(tile): int(report) for tile, report in document["reports"]}
            is_known = document["version"] == _FORMAT and document["mechanism"] == self._fingerprint
            self.mechanism.grid.places_of(np.array(list(reports.values()), dtype=np.int64))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            is_known = False
        if not is_known:
            requirement = "must be the memory of a device with this grid, ε and width; it is another one, or damaged"
            raise ParameterError("path", str(self._path), requirement)
        self._reports = reports
