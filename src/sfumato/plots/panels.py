"""Shared parts of all charts: empty figures, the palette, legends, dates, files, and checks of numbers."""

from collections.abc import Mapping, Sequence, Sized
from datetime import datetime
from math import isinf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import column, floats, listed, of_kind, path_of, real
from sfumato.numeric.rationals import Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

Numbers: TypeAlias = Sequence[float]
Array: TypeAlias = NDArray[np.float64]

BLUE, ORANGE, GREEN, RED, PURPLE = PALETTE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
"""Safe for color-blind readers [OI08]."""

INK, GREY, LIGHT = "#333333", "#8C8C8C", "#DDDDDD"
_FARTHEST: Final = 1e300
_ACROSS: Final = 3  # panels beside each other, at most
Place: TypeAlias = Literal["best", "upper left", "upper right", "beside"]
_PLACES: Final[dict[Place, Literal["best", "upper left", "upper right", "center left"]]] = {
    "best": "best", "upper left": "upper left", "upper right": "upper right", "beside": "center left",
}  # fmt: skip
_DOTS_PER_INCH: Final = 150


def new_figure(
    title: str, *, panels: int = 1, x_label: str = "", y_label: str = ""
) -> "tuple[Figure, tuple[Axes, ...]]":
    """An empty figure of one or more panels above each other, with a quiet frame.

    Raises:
        ParameterError: A text is none, or matplotlib is missing.
    """
    _require_text(title=title, x_label=x_label, y_label=y_label)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("matplotlib", None, "is needed for charts; run: pip install matplotlib") from None
    figure = Figure(figsize=(8, 4.2 if panels == 1 else 6), layout="constrained")
    rows = figure.subplots(panels, 1, sharex=True, squeeze=False)
    for axes in rows[:, 0]:
        quiet(axes)
    rows[0, 0].set_title(title, loc="left", color=INK, fontweight="bold", pad=12)
    figure.align_ylabels()
    rows[-1, 0].set(xlabel=x_label, ylabel=y_label)
    return figure, tuple(rows[:, 0])


def new_grid(
    title: str, *, names: Sequence[str], x_label: str = "", y_label: str = "", caption: str = ""
) -> "tuple[Figure, tuple[Axes, ...]]":
    """An empty figure of panels beside and below each other, with one scale for all; a single panel needs no name.

    Names come from policies and from answers, so that a dollar sign in them is no formula.

    Raises:
        ParameterError: As `new_figure`.
    """
    _require_text(title=title, x_label=x_label, y_label=y_label, caption=caption)
    count = len(names)
    across = count if count <= _ACROSS else 2 if count == _ACROSS + 1 else _ACROSS
    down = -(-count // across)
    figure, first = new_figure("", panels=1)
    figure.delaxes(first[0])
    figure.set_size_inches(8, 4.2 if count == 1 else 1.6 + 2.1 * down)
    rows = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(rows.flat):
        quiet(axes)
        if place >= count:
            axes.set_visible(False)
        else:
            axes.set_title(names[place] if count > 1 else "", loc="left", color=INK, fontsize=10, parse_math=False)
            is_lowest = place + across >= count  # also above a place that is empty
            axes.tick_params(labelbottom=is_lowest)
            axes.set_xlabel(x_label if is_lowest else "", color=INK, parse_math=False)
            axes.set_ylabel("" if place % across else y_label, color=INK, parse_math=False)
    figure.suptitle(title, x=0.01, horizontalalignment="left", color=INK, fontweight="bold", parse_math=False)
    if caption:
        figure.text(0.01, 0.01, caption, color=GREY, fontsize=8, parse_math=False)
        height = float(figure.get_figheight())
        figure.set_layout_engine("constrained", rect=(0, 0.25 / height, 1, 1 - 0.25 / height))
    return figure, tuple(rows.flat[:count])


def quiet(axes: "Axes") -> None:
    """Take from a panel what says nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.grid(axis="y", color=LIGHT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(color=GREY, labelcolor=INK)


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
        raise ParameterError("figure", figure, "must be a figure made by sfumato.plots")
    endings = figure.canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in endings:
        raise ParameterError("path", str(path), f"must end in one of {', '.join(sorted(endings))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DOTS_PER_INCH)
    return path


def state(axes: "Axes", finding: str) -> None:
    """Set a finding as the title of a figure made by `new_figure`; a dollar sign in it is no formula."""
    axes.set_title(finding, loc="left", color=INK, fontweight="bold", pad=12, parse_math=False)


def mark(axes: "Axes", place: float, label: str, color: str) -> None:
    """A vertical line at a place that has a name."""
    axes.axvline(place, color=color, linestyle="--", linewidth=1.4, label=label)


def legend(axes: "Axes", *, place: Place = "best", heading: str | None = None) -> None:
    """What the colors mean, without a frame."""
    made = axes.legend(frameon=False, labelcolor=INK, loc=_PLACES[place], title=heading, alignment="left")
    if place == "beside":
        made.set_bbox_to_anchor((1.0, 0.5), axes.transAxes)


def percent() -> "PercentFormatter":
    """Shares written as whole percents."""
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(xmax=1, decimals=0)


def dates(axes: "Axes", *, most: int = 8) -> None:
    """Times along the bottom, at most so many, as short as they can be told apart."""
    from matplotlib.dates import AutoDateLocator, num2date
    from matplotlib.ticker import Formatter

    class Short(Formatter):
        """Writes what changes from one tick to the next, and all of the first one."""

        def __call__(self, value: float, pos: int | None = None) -> str:  # noqa: ARG002 # as matplotlib calls it
            return f"{num2date(value):%Y-%m-%d %H:%M}"  # type: ignore[no-untyped-call] # matplotlib tells no types of it

        def format_ticks(self, values: Sequence[float]) -> list[str]:
            return short_times([num2date(value) for value in values])  # type: ignore[no-untyped-call] # nor here

    axes.xaxis.set_major_locator(AutoDateLocator(minticks=2, maxticks=most))  # type: ignore[no-untyped-call] # nor here
    axes.xaxis.set_major_formatter(Short())


def short_times(times: Sequence[datetime]) -> list[str]:
    r"""Times in rising order, each as short as it can be told apart, and larger units in a new line.

    Example:
        >>> short_times([datetime(2025, 12, 15), datetime(2026, 1, 1), datetime(2026, 1, 15), datetime(2026, 2, 1)])
        ['15\nDec 2025', '1\nJan 2026', '15', '1\nFeb']
    """
    small, large, largest = _units(times)
    texts, before = list[str](), ("", "")
    for time in times:
        now = _written(time, large), _written(time, largest)
        told = now if now[1] != before[1] else now[:1] if now[0] != before[0] else ()
        below = " ".join(text for text in told if text)
        texts.append(_written(time, small) + (f"\n{below}" if below else ""))
        before = now
    return texts


def _written(time: datetime, form: str) -> str:
    """A time in a form, without the first zero; nothing where the form says nothing."""
    return time.strftime(form).removeprefix("0")


def _units(times: Sequence[datetime]) -> tuple[str, str, str]:
    """How times are written on the first line, and on the second."""
    if any(time.second or time.microsecond for time in times):
        return "%H:%M:%S", "%d %b", "%Y"
    if any(time.hour or time.minute for time in times):
        return "%H:%M", "%d %b", "%Y"
    if any(time.day > 1 for time in times):
        return "%d", "%b", "%Y"
    return ("%b", "%Y", "") if any(time.month > 1 for time in times) else ("%Y", "", "")


def _require_text(**words: str) -> None:
    for name, text in words.items():
        of_kind(text, name, str, "text")


def numbers(*, are_finite: bool = False, **columns: Any) -> list[Array]:
    """Columns of numbers, as many in each and at least one; None and NaN are gaps, where such are drawn.

    Args:
        are_finite: Whether there is no place for NaN and infinities.
        **columns: By the names of the parameters.

    Raises:
        ParameterError: One is no list of numbers, is empty, or has another length than the first.

    Example:
        >>> [found.tolist() for found in numbers(places=[1, 2], heights=[5, None])]
        [[1.0, 2.0], [5.0, nan]]
    """
    found = {name: column(values, name) for name, values in columns.items()}
    same_length(**found)
    for name, values in found.items():
        if are_finite and not np.isfinite(values).all():
            raise ParameterError(name, values, "must be finite numbers")
    return list(found.values())


def pairs(values: ArrayLike, name: str) -> Array:
    """Pairs of numbers, one below the other.

    Raises:
        ParameterError: They are none.

    Example:
        >>> pairs([(0, 1), (2, 3)], "limits").tolist()
        [[0.0, 1.0], [2.0, 3.0]]
    """
    found = floats(values, name)
    if found.shape == (0,):
        return found.reshape(0, 2)
    if found.ndim != 2 or found.shape[1] != 2:  # noqa: PLR2004 # a pair
        raise ParameterError(name, values, "must be a list of pairs of numbers")
    return found


def by_name(values: Mapping[str, Any], name: str, *, of: str) -> Mapping[str, Any]:
    """Something for each of one or more names.

    Raises:
        ParameterError: It is no mapping, or an empty one.

    Example:
        >>> by_name({"ann": [1, 2]}, "samples_by_name", of="a list of numbers")
        {'ann': [1, 2]}
    """
    if not of_kind(values, name, Mapping, f"a mapping of names, with {of} for each"):
        raise ParameterError(name, {}, f"must have at least one name, with {of} for it")
    return values


def curve(values: Any, name: str) -> tuple[Array, Array]:
    """The two columns of a curve: where its points lie, and how high.

    Raises:
        ParameterError: They are not two lists of as many numbers.

    Example:
        >>> [column.tolist() for column in curve(([0, 1], [1, 0]), "curves['one']")]
        [[0.0, 1.0], [1.0, 0.0]]
    """
    both = listed(values, name, of="two columns")
    if len(both) != 2:  # noqa: PLR2004 # across and up
        raise ParameterError(name, values, "must be two lists of numbers")
    across, up = numbers(**{name: both[0], f"the second of {name}": both[1]})
    return across, up


def drawable(value: Number, name: str, *, may_be_infinite: bool = False) -> float:
    """A number that has a place in a picture, or lies beyond it.

    Args:
        value: The number.
        name: The parameter's name, for the error.
        may_be_infinite: Whether infinities may be marked too, which nobody sees.

    Raises:
        ParameterError: It is none, or beyond ±1e300, around which nothing could be drawn.

    Example:
        >>> drawable("0.5", "claimed")
        0.5
    """
    if may_be_infinite and isinstance(value, float) and isinf(value):
        return value
    number = real(value, name, is_finite=True)
    if abs(number) > _FARTHEST:
        raise ParameterError(name, value, f"must lie between -{_FARTHEST} and {_FARTHEST} to be drawn")
    return number


def same_length(**columns: Sized) -> None:
    """Refuse columns that are empty or differ in length.

    Raises:
        ParameterError: They do; the error names the column.
    """
    (first, wanted), *others = ((name, len(column)) for name, column in columns.items())
    if wanted == 0:
        raise ParameterError(first, (), "must not be empty")
    for name, length in others:
        if length != wanted:
            raise ParameterError(name, f"{length} values", f"must have as many values as {first}, {wanted}")
