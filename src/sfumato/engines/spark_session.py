"""A session of Spark that is the engine's own: no setting of it is anybody else's, and none of theirs is its.

ANSI is on, times have no zone or are in UTC, text is what its bytes are, and no text of SQL is anything but SQL.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import SparkSession

from sfumato.engines.sources import Opened, SparkData
from sfumato.engines.spark_failures import FAILURES
from sfumato.engines.spark_java import found_java
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
}
"""What the meaning of a query depends on."""

_STARTED: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # what a task fails with may quote a row
}
"""What an application is started with, so that it shows nothing."""

_RETRIES: Final = 4
"""How often a server is asked that does not answer, the last time after some seconds."""

_REQUIREMENT: Final = "say which Spark is meant, by one of session=, master= or remote="


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
        self._views = {name: _view(frame, origin) for name, frame in frames.items()}
        self.spark = _connected(remote) if remote is not None else _cloned(origin)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # one of them is deprecated, but there
            for name, value in SETTINGS.items():
                self.spark.conf.set(name, value)
        self.spark.catalog.tableExists("sfumato")  # only now what the other session has is copied
        for view in self._views.values():
            origin.catalog.dropTempView(view)

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
            self.spark.stop()


def _is_frame(source: SparkData) -> bool:
    return not isinstance(source.where, str)


def _connected(remote: str) -> Any:
    """A session on a server; it is asked something at once, and not for minutes if it does not answer."""
    try:
        spark = import_module("pyspark.sql.connect.session").SparkSession.builder.remote(remote).create()
        patient = spark.client.get_retry_policies()
        retries = import_module("pyspark.sql.connect.client.retries")
        spark.client.set_retry_policies([retries.DefaultPolicy(max_retries=_RETRIES)])
        spark.conf.get("spark.sql.session.timeZone")
    except ImportError:
        raise ParameterError("remote", "sc://…", "needs the client of Spark; pip install 'pyspark[connect]'") from None
    except FAILURES:
        shown = remote.split(";", maxsplit=1)[0]  # behind it there may be a token
        raise ParameterError(
            "remote", shown, "is no Spark Connect server that lets one in; check its address"
        ) from None
    spark.client.set_retry_policies(patient)
    return spark


def _started(master: str) -> tuple[Any, Any]:
    """An application on a cluster, and its session; or None and that of the one which this process has already."""
    name = f"sfumato {uuid4()}"
    builder = SparkSession.builder.master(master).appName(name)
    for setting, value in _STARTED.items():
        builder = builder.config(setting, value)
    try:
        with found_java():
            spark = builder.getOrCreate()
    except FAILURES:
        raise ParameterError("master", master, "starts no application; check its address, and Java") from None
    if spark.sparkContext.master != master:
        requirement = "is not the cluster of the application that this process has; hand over its session=, or stop it"
        raise ParameterError("master", master, requirement)
    return (spark if spark.sparkContext.appName == name else None), spark


def _cloned(session: Any) -> Any:
    """A session of the same application with the same temporary views."""
    if _is_remote(session):
        session.conf.get("spark.sql.session.timeZone")  # a session that was asked nothing is not there yet
        return session.cloneSession()
    return SparkSession(session.sparkContext, session._jsparkSession.cloneSession())  # noqa: SLF001 # has no public name


def _view(frame: Any, session: Any) -> str:
    """A view of a DataFrame, for as long as it takes to make another session that has it too."""
    if frame.sparkSession is not session and not _is_remote(session):
        raise ParameterError("source", "a Spark DataFrame", "must be of the session that the engine is given")
    name = f"sfumato_{uuid4().hex}"
    frame.createTempView(name)
    return name


def _is_remote(session: Any) -> bool:
    return not hasattr(session, "_jsparkSession")
