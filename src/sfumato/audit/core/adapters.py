"""Any mechanism as one that an audit can run, recognized by what it can do, so that no other library is imported."""

from collections.abc import Callable
from inspect import signature
from typing import Any, Final

from sfumato.audit.core.outputs import Outputs
from sfumato.audit.core.roles import AuditedMechanism
from sfumato.errors import ParameterError
from sfumato.mechanisms import GaussianNoise, Geometric, Laplace
from sfumato.numeric.arguments import called, of_kind

METHODS: Final = ("release", "randomise", "randomize", "invoke")
"""The methods that release: ours first, then those of diffprivlib, of other libraries, and of OpenDP."""


def adapted(thing: Any, *, method: str | None = None) -> AuditedMechanism:
    """A mechanism of an audit, from whatever adds noise to the exact answer on one database.

    It calls the named method, or the first of `METHODS` that the object has, or the object itself: a measurement of
    OpenDP, or a function of one database. The error of a run is an output like any other, as in `one_by_one`. Integers
    for the Laplace, Gaussian and geometric noise of this package are released all at once.

    Args:
        thing: A mechanism, a measurement, or a function of one database.
        method: The name of the method to call with the database.

    Raises:
        ParameterError: The object has no such method, cannot be called, or is a class.

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
        raise ParameterError(
            "mechanism", thing.__name__, "must be an object, not its class; call the class with its parameters"
        )
    if method is not None:
        of_kind(method, "method", str, "the name of a method, or None")
    release = _release(thing, method)
    draws_each_alone = type(thing) in {GaussianNoise, Geometric} or (
        type(thing) is Laplace and thing.resolution is None
    )
    if method not in {None, "release"} or not draws_each_alone:
        return one_by_one(release)

    def at_once(database: Any, count: int, /) -> Outputs:
        """The noise of a vector is, coordinate by coordinate, that of single integers."""
        if type(database) is int:
            outputs: list[Any] = release([database] * count).tolist()
            return outputs
        return one_by_one(release)(database, count)

    return at_once


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


def one_by_one(release: Callable[[Any], Any]) -> AuditedMechanism:
    """A mechanism from a function that releases one answer for a database.

    An error is an output like any other, because an analyst sees it: the output is its type and text.

    Example:
        >>> one_by_one(lambda database: 1 // len(database))((), 1)
        ('ZeroDivisionError: integer division or modulo by zero',)

    Raises:
        ParameterError: `release` is not a function.
    """
    called(release, "release", "a function of one database")

    def outcome(database: Any) -> Any:
        try:
            return release(database)
        except (Exception, SystemExit) as error:  # noqa: BLE001 # the audited code may raise anything, and it is seen
            return f"{type(error).__name__}: {error}"

    def mechanism(database: Any, count: int, /) -> Outputs:
        return tuple(outcome(database) for _ in range(count))

    return mechanism


def as_mechanism(given: Any) -> AuditedMechanism:
    """A mechanism from a function of a database and a count, a function of a database, or an object with `release`.

    Raises:
        ParameterError: It is none of these.
    """
    if not callable(given) and callable(getattr(given, "release", None)):
        return one_by_one(given.release)
    if isinstance(given, type) or not callable(given):
        wanted = "must be called as mechanism(database, count) or mechanism(database), or be a mechanism with release"
        raise ParameterError("mechanism", given, wanted)
    try:
        parameters = signature(given)
    except ValueError:  # of functions in C nothing is known
        return given  # type: ignore[no-any-return]
    try:
        parameters.bind(None, 1)
    except TypeError:
        return one_by_one(given)
    return given  # type: ignore[no-any-return]
