"""What Spark, its clients and its sources raise, and where they would tell of it."""

import csv
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from threading import get_ident
from typing import Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

_OF_CONNECT: Final = (import_module("grpc").RpcError,) if find_spec("grpc") else ()

FAILURES: Final = (
    PySparkException, Py4JError, *_OF_CONNECT, pa.ArrowException, OSError, csv.Error, UnicodeError, MemoryError,
    RuntimeError, AssertionError, AttributeError,
)  # fmt: skip
"""The last two are what a session that was stopped answers."""

_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""To these Spark's client writes what a query failed with, which may quote a row."""


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that fails in this thread is logged by Spark's client."""
    own = get_ident()

    def is_of_others(record: logging.LogRecord) -> bool:
        return record.thread != own

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(is_of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_of_others)
