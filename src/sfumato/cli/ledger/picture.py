"""The picture of `sfumato ledger history --plot`: what was left of each budget by when."""

from collections.abc import Collection, Mapping
from fractions import Fraction
from pathlib import Path

from sfumato.errors import ParameterError
from sfumato.ledger.core.clock import MICROSECONDS
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.reading.spending import Point, Projection, project, spending
from sfumato.plots.burn_down import Course, burn_down
from sfumato.plots.files import save

_SIGNS = {"epsilon": "ε", "rho": "ρ"}


def draw(ledger: Ledger, names: Collection[str], *, days: int, path: str) -> Path:
    """Draw the budgets of some accounts into a file.

    Raises:
        ParameterError: None of them has a budget and a time, the ending is none of a picture, or matplotlib is missing.
    """
    found = spending(ledger.entries(), accounts=names, now=ledger.now())
    points = {name: told for name, all_of_it in found.items() if (told := _drawable(all_of_it))}
    if not points:
        raise ParameterError("--plot", path, "needs an account with a budget, in a ledger that told times")
    number = _common_number(points)
    projections = {
        name: (told, until)
        for name, told in points.items()
        if (until := project(told, ledger.opened(name).window, days=days)) is not None
    }
    figure = burn_down(
        {name: _course(told, number) for name, told in points.items()},
        projected_by_name={
            name: course
            for name, (told, until) in projections.items()
            if (course := _projected(told[-1], until, number)) is not None
        },
        budget=_budget(points, number),
        unit=None if number is None else _SIGNS[number],
    )
    return save(figure, path)


def _drawable(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Those of which the time is known, if anything limits them."""
    return tuple(point for point in points if point.at > 0 and point.allowed is not None)


def _common_number(points: Mapping[str, tuple[Point, ...]]) -> str | None:
    """ε or ρ where all budgets are stated in it alone; None where shares of budgets have to be drawn."""
    kinds = {_numbers(point) for told in points.values() for point in told}
    (kind, *others) = kinds
    return kind[0] if not others and len(kind) == 1 and kind[0] in _SIGNS else None


def _numbers(point: Point) -> tuple[str, ...]:
    return () if point.allowed is None else tuple(name for name, allowed in point.allowed.numbers if allowed)


def _course(points: tuple[Point, ...], number: str | None) -> Course:
    return [point.at / MICROSECONDS for point in points], [_left(point, number) for point in points]


def _left(point: Point, number: str | None) -> float:
    if number is None or point.left is None:
        return float(point.share_left)
    return max(float(point.left[number]), 0.0)


def _budget(points: Mapping[str, tuple[Point, ...]], number: str | None) -> float | None:
    """The height of a whole budget, where there is one for all."""
    if number is None:
        return 1
    heights = {last.allowed[number] for *_, last in points.values() if last.allowed is not None}
    return float(max(heights))


def _projected(last: Point, projection: Projection, number: str | None) -> Course | None:
    """A straight line to the end of the budget, or to where it comes back."""
    if projection.lasts_until is None:
        return None
    end = min(projection.lasts_until, projection.returns or projection.lasts_until)
    whole = projection.lasts_until - last.at
    rest = Fraction(projection.lasts_until - end, whole) if whole else Fraction(0)
    left = _left(last, number)
    return [last.at / MICROSECONDS, end / MICROSECONDS], [left, left * float(rest)]
