"""What Spark has by a name or as a frame stays there; all else is read as for every engine."""

from pathlib import Path

import pyarrow as pa
import pytest
from tests.engines.spark_application import application

from sfumato.engines.sources import ArrowData, SparkData, keeps_rows
from sfumato.engines.spark_sources import open_in_place
from sfumato.errors import ParameterError
from sfumato.query.schema import Table, integer

TABLE = Table(name="t", columns={"v": integer()})


def test_a_name_is_kept_without_its_scheme_and_nothing_is_asked_of_it():
    assert open_in_place("spark:catalog.schema.t", TABLE) == SparkData("catalog.schema.t", TABLE)


def test_a_frame_of_spark_stays_one_and_does_not_print():
    frame = application().sql("SELECT 1 AS v")
    opened = open_in_place(frame, TABLE)
    assert opened.where is frame
    assert "DataFrame" not in repr(opened)


def test_it_is_not_said_that_every_record_is_a_row():
    assert not keeps_rows(open_in_place("spark:t", TABLE))


def test_other_sources_are_read_as_for_every_engine(tmp_path):
    assert isinstance(open_in_place(pa.table({"v": [1], "w": [2]}), TABLE), ArrowData)
    (tmp_path / "t.csv").write_text("v\n1\n")
    assert open_in_place(tmp_path / "t.csv", TABLE, names=None).names == ("v",)
    with pytest.raises(ParameterError):
        open_in_place(Path("spark:t"), TABLE)
