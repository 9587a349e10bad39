"""`Secret[T]`: a value computed from private rows, which only a mechanism opens."""

from typing import Generic, NoReturn, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Secret(Generic[T_co]):
    """A value that refuses to print, compare, hash, iterate or serialize.

    It guards against slips (a log line, a repr, a pickle), not against code that sets out to break it:
    the one way in, `open_for_noise`, is named so that a reader finds every place that uses it.

    Example:
        >>> Secret(42)
        Secret(…)
    """

    __slots__ = ("__value",)

    def __init__(self, value: T_co) -> None:
        self.__value = value

    def open_for_noise(self) -> T_co:
        """The value itself, for a mechanism that adds noise to it."""
        return self.__value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __format__(self, format_spec: str) -> str:
        return repr(self)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a Secret does not compare, hash, convert or serialize; release it through a mechanism")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = _refuse
    __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
