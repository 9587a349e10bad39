"""Which method is taken if none is asked for: by public facts alone, never by the data."""

from collections.abc import Mapping
from typing import Final, cast

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import one_of
from sfumato.synth.methods.plan import METHODS, Method
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.shape import TableShape

MOST_FOR_AIM: Final = 30
"""So many columns have 4,525 groups of up to three, of which each is looked at in each round."""

MOST_FOR_TREES: Final = 100
"""So many columns have 4,950 pairs, of which each is counted."""

_SOON: Final = 16
"""With so many columns AIM takes no more than some minutes."""

LIMITS: Final[Mapping[Method, int]] = {
    "aim": MOST_FOR_AIM, "mwem": MOST_FOR_AIM, "privbayes": MOST_FOR_AIM, "mst": MOST_FOR_TREES,
    "independent": MOST_FOR_TREES,
}  # fmt: skip
"""How many columns each method takes, at most."""

WEIGHING: Final[frozenset[Method]] = frozenset({"aim", "mwem"})
"""Methods that go by a workload."""


def chosen_method(shape: TableShape, stated: Stated) -> tuple[Method, str]:
    """A method that fits, and the reason in words.

    Args:
        shape: The columns; sizes are declared.
        stated: The workload, and what is impossible.

    Example:
        >>> chosen_method(TableShape({"age": 10, "sex": 2}), Stated())
        ('aim', '2 columns are few enough to look at all groups of three')
    """
    columns = len(shape.sizes)
    if stated.workload:
        return "aim", "a workload is given"
    if columns == 1:
        return "independent", "one column has nothing to depend on"
    if columns <= _SOON:
        return "aim", f"{columns} columns are few enough to look at all groups of three"
    return "mst", f"{columns} columns have too many groups of three: beyond {_SOON}, pairs are looked at"


def taken_method(method: str, shape: TableShape, stated: Stated) -> tuple[Method, str]:
    """The method that was asked for, or one that fits for ``"auto"``; and the reason in words.

    Raises:
        ParameterError: There is no such method, or it cannot do what is asked for.

    Example:
        >>> taken_method("mst", TableShape({"age": 10, "sex": 2}), Stated())
        ('mst', 'it was asked for')
    """
    one_of(method, "method", ("auto", *METHODS))
    if method == "auto":
        taken, reason = chosen_method(shape, stated)
    else:
        taken, reason = cast("Method", method), "it was asked for"
    check_method(taken, len(shape.sizes), stated)
    return taken, reason


def check_method(method: Method, columns: int, stated: Stated) -> None:
    """Refuse a method that cannot do what is asked for.

    Raises:
        ParameterError: There are too many columns, or a workload that the method does not go by.
    """
    if stated.workload and method not in WEIGHING:
        raise ParameterError("workload", method, f"is for methods {' and '.join(sorted(WEIGHING))}; leave it out")
    if columns > LIMITS[method]:
        requirement = f"takes at most {LIMITS[method]} columns; leave some out, or take 'mst'"
        raise ParameterError("method", method, requirement)
