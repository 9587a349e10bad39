"""What all pictures share: an empty figure with a quiet frame, the palette, legends, and checks of the numbers."""

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

Numbers: TypeAlias = Sequence[float]

BLUE, ORANGE, GREEN, RED, PURPLE = PALETTE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
"""Safe for color-blind readers [OI08]."""
INK, GREY, LIGHT = "#333333", "#8C8C8C", "#DDDDDD"
Place: TypeAlias = Literal["best", "upper left", "upper right", "beside"]
_PLACES: Final[dict[Place, Literal["best", "upper left", "upper right", "center left"]]] = {
    "best": "best", "upper left": "upper left", "upper right": "upper right", "beside": "center left",
}  # fmt: skip


def new_figure(
    title: str, *, panels: int = 1, x_label: str = "", y_label: str = ""
) -> "tuple[Figure, tuple[Axes, ...]]":
    """An empty figure of one or more panels above each other, with a quiet frame."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("matplotlib", None, "is needed for pictures; run: pip install matplotlib") from None
    figure = Figure(figsize=(8, 4.2 if panels == 1 else 6), layout="constrained")
    rows = figure.subplots(panels, 1, sharex=True, squeeze=False)
    for axes in rows[:, 0]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
        axes.grid(axis="y", color=LIGHT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(color=GREY, labelcolor=INK)
    rows[0, 0].set_title(title, loc="left", color=INK, fontweight="bold", pad=12)
    figure.align_ylabels()
    rows[-1, 0].set(xlabel=x_label, ylabel=y_label)
    return figure, tuple(rows[:, 0])


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


def dates(axes: "Axes") -> None:
    """Times along the bottom, as short as they can be told apart."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call] # matplotlib tells no types of it
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call] # nor of this


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
