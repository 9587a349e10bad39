"""What goes wrong inside an engine is told without its text, which may quote rows."""

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.errors import EngineError, ParameterError


@contextmanager
def failing(engine: str, phase: str, failures: tuple[type[BaseException], ...]) -> Iterator[None]:
    """Inside, failures of an engine become one error of constant text.

    Args:
        engine: Its name.
        phase: What it did, as `EngineError` says it.
        failures: What it and its libraries raise. What is wrong with a declaration is none of them, whatever it is.

    Raises:
        EngineError: One of them was raised.

    Example:
        >>> try:
        ...     with failing("duckdb", "read a source", (OSError,)):
        ...         raise OSError("row 7: Alice")
        ... except EngineError as error:
        ...     print(error)
        the duckdb engine failed while it read a source; its message is withheld, as it may quote data
    """
    try:
        yield
    except ParameterError:
        raise
    except failures:
        raise EngineError(engine, phase) from None
