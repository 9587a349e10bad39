"""The names by which classes and fields are stored: texts of their own, so that names in Python are free to change.

What is stored lasts for ever, and so do these names. One that was ever written is never given to anything else.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, Generic, Never, TypeVar

from sfumato.errors import ParameterError

_T = TypeVar("_T")


class Names:
    """How values of a class are stored: under a tag, and each field under a name.

    Args:
        tag: What the class is called.
        fields: What its fields are called, in the order in which they are written: a text where Python has the same
            name, a pair of the stored name and Python's where it has another.
        unwritten: Fields, as Python calls them, that are not stored.

    Example:
        >>> Names("PureEvent", ("epsilon", "eps"), "delta").fields
        (('epsilon', 'eps'), ('delta', 'delta'))
    """

    __slots__ = ("attributes", "fields", "tag", "unwritten")

    def __init__(self, tag: str, *fields: str | tuple[str, str], unwritten: tuple[str, ...] = ()) -> None:
        self.tag: Final = tag
        self.fields: Final = tuple((one, one) if isinstance(one, str) else one for one in fields)
        self.attributes: Final = dict(self.fields)
        self.unwritten: Final = unwritten


class StoredNames(Generic[_T]):
    """The names of all classes that one codec writes; whatever has none is refused.

    Args:
        what: What errors call a value of them.
        names: Of each class.

    Raises:
        ParameterError: Two classes have one tag, or a class has other fields than its names say.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> StoredNames[PureEvent]("event", {PureEvent: Names("PureEvent", "eps")})
        Traceback (most recent call last):
        sfumato.errors.ParameterError: event = 'PureEvent': stores the fields eps, but has epsilon; keep the stored...
    """

    __slots__ = ("_names", "_stored", "_what")

    def __init__(self, what: str, names: Mapping[Any, Names]) -> None:
        self._what: Final = what
        self._names: Final[dict[type, Names]] = dict(names)
        self._stored: Final[dict[str, tuple[Callable[..., _T], Names]]] = {}
        for cls, own in self._names.items():
            if self._stored.setdefault(own.tag, (cls, own))[0] is not cls:
                raise ParameterError(what, own.tag, "is the tag of two classes; give one of them another")
            _check_fields(what, cls, own)

    def of(self, value: _T) -> Names:
        """The names of a value's class.

        Raises:
            ParameterError: It has none.
        """
        try:
            return self._names[type(value)]
        except KeyError:
            raise _unstored(self._what, value) from None

    def stored_as(self, tag: object) -> tuple[Callable[..., _T], Names] | None:
        """The class that is stored under a tag, and its names; None if none is."""
        return self._stored.get(tag) if isinstance(tag, str) else None

    @property
    def table(self) -> Mapping[type, Names]:
        """Of each class its names."""
        return self._names


def unstored(what: str, value: Never) -> ParameterError:
    """The error at the end of a match over all classes that are stored, of which mypy then checks that it has all."""
    return _unstored(what, value)


def _unstored(what: str, value: object) -> ParameterError:
    requirement = "has no stored name; give its class one where the others have theirs"
    return ParameterError(what, type(value).__name__, requirement)


def _check_fields(what: str, cls: type, names: Names) -> None:
    """A field that is new or has a new name needs a decision about what is stored."""
    told, found = [*(own for _, own in names.fields), *names.unwritten], [one.name for one in fields(cls)]
    if sorted(told) != sorted(found):
        requirement = f"stores the fields {', '.join(told)}, but has {', '.join(found)}; keep the stored name of each"
        raise ParameterError(what, names.tag, requirement)
    if len({stored for stored, _ in names.fields}) < len(names.fields):
        raise ParameterError(what, names.tag, "stores two fields under one name")
