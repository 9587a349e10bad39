"""What attacks ask, and what comes with it, checked: answers that are no numbers, databases without their truth."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from numbers import Real
from typing import Any

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, each


def asked(answer: Callable[[Any], Any], question: Any, *, name: str = "answer") -> Any:
    """The answer to a question: a number, of whatever type.

    Args:
        answer: Whatever answers.
        question: What it is asked.
        name: By which parameter it came, for the error.

    Raises:
        ParameterError: It cannot be called, or gives no number.

    Example:
        >>> asked({"how many?": 41}.get, "how many?")
        41
    """
    wanted = "a function that answers a question with a number"
    found = called(answer, name, wanted)(question)
    is_of_an_array = getattr(found, "ndim", None) == 0 and found.dtype.kind in "biuf"
    if not (is_of_an_array or isinstance(found, Real | Decimal)):
        raise ParameterError(name, f"an answer of type {type(found).__name__}", f"must be {wanted}")
    return found


def groups(values: Iterable[Any], name: str, *, size: int, of: str) -> Iterator[tuple[Any, ...]]:
    """Tuples of one size, one after the other, as they are asked for.

    Args:
        values: The tuples.
        name: By which parameter they came, for the error.
        size: How much each holds.
        of: What, for the error: "an answer and the truth".

    Raises:
        ParameterError: They are none, or one is no tuple or of another size.

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
