"""The engine's session is its own: it is said which Spark is meant, and only what was started is stopped."""

import pytest
from tests.engines.spark_application import MASTER, address, application

from sfumato.engines.sources import SparkData
from sfumato.engines.spark_session import SETTINGS, OwnSession
from sfumato.errors import ParameterError
from sfumato.query.schema import Table, integer

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


def test_another_cluster_than_that_of_the_application_is_refused():
    with pytest.raises(ParameterError, match="is not the cluster"):
        own(master="local[7]")


@pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED:UserWarning")
def test_a_server_that_does_not_answer_is_named_without_a_token():
    with pytest.raises(ParameterError, match="no Spark Connect server") as caught:
        own(remote="sc://127.0.0.1:1/;token=canary")
    assert "canary" not in str(caught.value)


def test_frames_are_of_the_session_that_is_given():
    frame = application().newSession().sql("SELECT 1 AS v")
    with pytest.raises(ParameterError, match="must be of the session"):
        own({"t": SparkData(frame, TABLE)}, session=application())


def test_a_session_of_a_server_is_left_when_it_is_closed():
    mine = own(remote=address())
    assert mine.spark.sql("SELECT 1").collect()[0][0] == 1
    mine.close()
    assert mine.spark.is_stopped
