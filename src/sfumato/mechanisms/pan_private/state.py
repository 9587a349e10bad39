"""What running pan-private states share: one owner, counted copies, and the text of a copy."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import getpid
from threading import Lock
from typing import Any, NoReturn

from sfumato.errors import ParameterError


class PanPrivateState(ABC):
    """A running state that may be seen: once in memory, at a moment nobody announces, and in each of its saved copies.

    Subclasses say what a look at it reveals. Threads may share it; a forked process may not, and it is copied by
    `saved` alone.
    """

    __slots__ = ("_copies", "_lock", "_process")

    def __init__(self, copies: int) -> None:
        """For mechanisms, with the number of copies that may still be saved."""
        self._copies = copies
        self._lock = Lock()
        self._process = getpid()

    @property
    def remaining_copies(self) -> int:
        """How many more copies may be saved."""
        return self._copies

    def saved(self) -> str:
        """A copy to restore the state from, as text: the mechanism's `saved_copies` counts it as seen.

        Raises:
            ParameterError: All copies that the mechanism accounts for are saved.
        """
        with self._alone():
            if not self._copies:
                requirement = "are all saved; a mechanism with more saved_copies accounts for more"
                raise ParameterError("saved_copies", "the copies of this state", requirement)
            self._copies -= 1
            return json.dumps({"remaining_copies": self._copies, **self._parameters(), **self._copied()})

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """What a mechanism must have in common with a copy to restore it."""

    @abstractmethod
    def _copied(self) -> dict[str, Any]:
        """What a copy holds, with the noise that stands between it and all other looks at the state."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """For one thread at a time, of the process that started it."""
        if getpid() != self._process:
            requirement = "works only in the process that started it: a second one would go on from the same noise"
            raise ParameterError("state", "a copy in another process", requirement)
        with self._lock:
            yield

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a running state is copied by saved() alone, which adds the noise that a copy needs")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse


def read_copy(saved: str, parameters: Mapping[str, Any], *, most_copies: int) -> dict[str, Any]:
    """What `PanPrivateState.saved` wrote for a mechanism with these parameters.

    Raises:
        ParameterError: It is no such text.
    """
    requirement = "must be a text that saved() gave, of a mechanism with the same parameters"
    try:
        content = json.loads(saved)
    except (ValueError, RecursionError):
        content = None
    is_right = isinstance(content, dict) and all(content.get(name) == value for name, value in parameters.items())
    copies = content.get("remaining_copies") if is_right else None
    if type(copies) is not int or not 0 <= copies <= most_copies:
        raise ParameterError("saved", "a text", requirement)
    return dict(content)


def numbers_of(content: Mapping[str, Any], name: str, count: int) -> list[int]:
    """A list of so many whole numbers of a copy.

    Raises:
        ParameterError: The copy has none.
    """
    numbers: Any = content.get(name)
    is_list = isinstance(numbers, list) and len(numbers) == count
    if not is_list or not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
        raise ParameterError("saved", "a damaged text", f"must have {count:,} whole numbers as {name}")
    return list(numbers)
