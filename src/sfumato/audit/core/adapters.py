"""Foreign mechanisms, recognised by what they can do, so that none of their libraries is imported here."""

from collections.abc import Callable
from typing import Any, Final

from sfumato.audit.core.columns import Outputs
from sfumato.audit.core.roles import Mechanism
from sfumato.audit.core.runs import one_by_one
from sfumato.errors import ParameterError
from sfumato.mechanisms import GaussianNoise, Geometric, Laplace
from sfumato.numeric.arguments import of_kind

METHODS: Final = ("release", "randomise", "randomize", "invoke")
"""How mechanisms are asked, first ours; then those of diffprivlib, of others, and of OpenDP."""


def adapted(thing: Any, *, method: str | None = None) -> Mechanism:
    """A mechanism of an audit, from whatever adds noise to the exact answer on one database.

    Taken is the method that was named, or the first one it has of `METHODS`, or the object itself if it can be called:
    a measurement of OpenDP, or a function of one database. An error of a run is an output like any other, as in
    `one_by_one`. Integers for our own Laplace, Gaussian and geometric noise are released all at once.

    Args:
        thing: A mechanism, a measurement, or a function of one database.
        method: The name of the method to call with the database.

    Raises:
        ParameterError: It has no such method, or none of them and cannot be called, or is a class and no object of it.

    Example:
        >>> class Doubled:
        ...     def randomise(self, value):
        ...         return 2 * value
        >>> adapted(Doubled())(21, 3)
        (42, 42, 42)
        >>> len(adapted(Laplace(l1_sensitivity=1, epsilon=1))(5, 1000))
        1000
    """
    if isinstance(thing, type):
        raise ParameterError("mechanism", thing.__name__, "must be an object, not its class; state its parameters")
    if method is not None:
        of_kind(method, "method", str, "the name of a method, or None")
    release = _release(thing, method)
    if method in {None, "release"} and _draws_each_alone(thing):
        return lambda database, count: _at_once(release, database, count)
    return one_by_one(release)


def _release(thing: Any, method: str | None) -> Callable[[Any], Any]:
    for name in METHODS if method is None else (method,):
        found = getattr(thing, name, None)
        if callable(found):
            release: Callable[[Any], Any] = found
            return release
    if method is None and callable(thing):
        function: Callable[[Any], Any] = thing
        return function
    wanted = (
        f"a method {method!r}" if method is not None else f"one of the methods {', '.join(METHODS)}, or be callable"
    )
    raise ParameterError("mechanism", type(thing).__name__, f"must have {wanted}, to be called with one database")


def _draws_each_alone(thing: Any) -> bool:
    """Whether the noise of a vector is, coordinate by coordinate, that of single integers."""
    return type(thing) in {GaussianNoise, Geometric} or (type(thing) is Laplace and thing.resolution is None)


def _at_once(release: Callable[[Any], Any], database: Any, count: int) -> Outputs:
    if type(database) is int:
        outputs: list[Any] = release([database] * count).tolist()
        return outputs
    return one_by_one(release)(database, count)
