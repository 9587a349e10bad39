"""Asking what is attacked: answers and refusals, and random choices of the referee and of the adversary."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from numbers import Real
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BudgetError, NotPrivateError, ParameterError
from sfumato.numeric.arguments import called, each, result

Answer: TypeAlias = Callable[[Any], float]
"""Answers a query about one database, or raises one of `REFUSALS`; what a query is, attack and caller agree on."""

REFUSALS: Final = (BudgetError, NotPrivateError)
"""The errors by which an interface refuses: the budget is spent, or the query is not allowed."""


def asked(answer: Callable[[Any], Any], question: Any, *, name: str = "answer") -> Any:
    """The answer to a query: a number, of whatever type.

    Args:
        answer: A function that answers queries.
        question: The query.
        name: The parameter that holds the function, for the error.

    Raises:
        ParameterError: `answer` cannot be called, or does not return a number.

    Example:
        >>> asked({"how many?": 41}.get, "how many?")
        41
    """
    wanted = "a function that answers a query with a number"
    found = called(answer, name, wanted)(question)
    is_of_an_array = getattr(found, "ndim", None) == 0 and found.dtype.kind in "biuf"
    if not (is_of_an_array or isinstance(found, Real | Decimal)):
        raise ParameterError(name, f"an answer of type {type(found).__name__}", f"must be {wanted}")
    return found


def allowed(function: Callable[[Any], float], argument: Any, name: str = "answer") -> float | None:
    """The answer, or an estimate from answers, as a float; None if it was refused, or is None.

    Args:
        function: Answers a query, or makes an estimate by asking.
        argument: The query, or the function to ask.
        name: The parameter that holds the function, for the error.

    Raises:
        ParameterError: The function cannot be called so, or does not return a number.
    """
    try:
        found = result(function, name, argument)
    except REFUSALS:
        return None
    try:
        return None if found is None else float(found)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name}(…)", type(found), "must be a number, or None") from None


def refused(times: int, trials: int) -> tuple[str, ...]:
    """A note on refusals, if there were any."""
    return (f"refused {times:,} of {trials:,} times; those guesses were blind",) if times else ()


def groups(values: Iterable[Any], name: str, *, size: int, of: str) -> Iterator[tuple[Any, ...]]:
    """Tuples of one size, checked one after the other as they are consumed.

    Args:
        values: The tuples.
        name: The parameter that holds them, for the error.
        size: The length of each tuple.
        of: What a tuple holds, for the error: "an answer and the truth".

    Raises:
        ParameterError: There are none, or one is not a tuple of that size.

    Example:
        >>> list(groups([(1, 2), [3, 4]], "targets", size=2, of="two numbers"))
        [(1, 2), (3, 4)]
    """
    wanted = f"tuples, each of {of}"
    for value in each(values, name, of=wanted):
        group = tuple(value) if isinstance(value, Iterable) else ()
        if len(group) != size:
            raise ParameterError(name, f"a {type(value).__name__}", f"must be a list of {wanted}")
        yield group


def dice() -> np.random.Generator:  # noqa: TID251 # what a referee or an adversary draws protects nobody
    """A generator for the coins of games, for blind guesses, and for interfaces that are made to be broken."""
    return np.random.default_rng()  # noqa: TID251 # the same


def tossed(count: int) -> NDArray[np.bool_]:
    """Independent fair coins, as True and False."""
    return dice().integers(2, size=count).astype(np.bool_)
