"""Every relation has the same rows in Polars as in plain Python, cell by cell; and so have joins and sources."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.in_frames import rows_of
from tests.engines.sql.test_relations import drawn_relation, in_python
from tests.strategies import database, stored

from sfumato.engines.frames.relations import lower_relation
from sfumato.engines.frames.tables import TypedFrames
from sfumato.engines.sources import ArrowData
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.query.expressions import Literal
from sfumato.query.relations import Select, Source
from sfumato.query.schema import Table, integer

SALT = "00112233445566778899aabbccddeeff"


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@given(st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_relations_have_the_rows_that_they_have_in_python(depth, random):
    own, relation = drawn_relation(random, depth)
    rows = database(random, own)
    data = {name: ArrowData(stored(cells, own.storage[name]), tuple(own.storage[name])) for name, cells in rows.items()}
    lowered = lower_relation(relation, TypedFrames(data).named, salt=SALT)
    expected = in_python(relation, {name: source.table.to_pylist() for name, source in data.items()})
    assert Counter(rows_of(lowered.frame.select(lowered.selected))) == expected


def test_constants_have_as_many_rows_as_there_were():
    table = Table(name="t", columns={"v": integer()}, unit=EACH_ROW)
    data = ArrowData(stored([{"v": 1}, {"v": 2}], {"v": "int64"}), ("v",))
    constants = Select(Source(table), (("x", Literal("a")),))
    assert rows_of(lower_relation(constants, TypedFrames({"t": data}).named, salt=SALT).frame) == [("a",), ("a",)]
