"""Pictures as files."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import path_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS_PER_INCH: Final = 150


def save(figure: "Figure", path: str | PathLike[str]) -> Path:
    """Write a figure; the ending of the path (.png, .svg, .pdf) says how. Missing folders are made.

    Raises:
        ParameterError: It is no figure, or matplotlib does not write that ending.

    Example:
        >>> from tempfile import mkdtemp
        >>> from sfumato.plots import group_privacy
        >>> save(group_privacy(1, [1, 2]), f"{mkdtemp()}/group.svg").name
        'group.svg'
    """
    path = path_of(path, "path")
    if isinstance(figure, type) or not hasattr(figure, "canvas"):
        raise ParameterError("figure", figure, "must be a figure, as the functions of sfumato.plots make")
    endings = figure.canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in endings:
        raise ParameterError("path", str(path), f"must end in one of {', '.join(sorted(endings))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DOTS_PER_INCH)
    return path
