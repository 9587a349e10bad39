"""Pictures as files."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS_PER_INCH: Final = 150


def save(figure: "Figure", path: str | PathLike[str]) -> Path:
    """Write a figure; the ending of the path (.png, .svg, .pdf) says how. Missing folders are made.

    Raises:
        ParameterError: matplotlib does not write that ending.
    """
    path = Path(path)
    endings = figure.canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in endings:
        raise ParameterError("path", str(path), f"must end in one of {', '.join(sorted(endings))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DOTS_PER_INCH)
    return path
