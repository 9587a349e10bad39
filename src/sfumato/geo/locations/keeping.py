"""What a device keeps between its reports: one file for all processes, or the memory of a single one."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, getpid
from threading import Lock
from typing import Final, NoReturn

from sfumato.errors import ParameterError
from sfumato.ledger.keeping.files import locked
from sfumato.numeric.arguments import path_of


class DeviceMemory:
    """What a device must not forget and must not have twice: what it has spent, or what it has already reported.

    With a second copy a device could spend a budget twice, or report one place with fresh noise again. So nothing but a
    file is ever shared.

    **Guarantee**: inside of `_alone` there is one thread at a time, of all that use the object or its file. Proof:
    proofs/geo/locations/keeping.md.

    ====================================================  =====================================================
    Edge case                                             Behavior
    ====================================================  =====================================================
    threads share an object                               they take turns
    processes open one file                               they take turns; beside it a file `.lock` stays
    a process is forked, and nothing is in a file         an error in the new process, before anything is drawn
    an object is copied or pickled                        TypeError; open its file again, or start a new one
    ====================================================  =====================================================

    Args:
        path: The file; None to keep everything in the memory of this process.

    Raises:
        ParameterError: The path is none.

    Example:
        >>> kept = DeviceMemory()
        >>> with kept._alone():
        ...     pass
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self._path: Final = None if path is None else path_of(path, "path")
        self._lock: Final = Lock()
        self._process: Final = getpid()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """For one thread at a time: of all processes with the file, or of the one that started without a file.

        Raises:
            ParameterError: Nothing is in a file, and this is a forked process.
            OSError: The file cannot be locked.
        """
        if self._path is not None:
            with locked(self._path.with_name(f"{self._path.name}.lock")):
                yield
            return
        if getpid() != self._process:  # before the lock, which may be held in this process for ever
            requirement = "works only in the process that made it: a second one would spend the same budget again"
            raise ParameterError("process", "a copy in another process", requirement)
        with self._lock:
            yield

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("what a device keeps cannot be copied: two copies would spend one budget twice")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse
