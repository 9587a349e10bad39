import pytest
from tests.query.asking import PEOPLE

from sfumato.query.expressions import And
from sfumato.query.relations import Bound, Filter, Part, Source, lineage, table_of
from sfumato.query.schema import Limits

SOURCE = Source(PEOPLE)
PART = Part(child=SOURCE, by="Sex", values=("m",), value="m", max_parts_per_unit=1, salt="00")
BOUND = Bound(Filter(PART, And(())), Limits(max_rows_per_unit=1))


def test_lineage_goes_from_the_outermost_to_the_source():
    assert [type(step) for step in lineage(BOUND)] == [Bound, Filter, Part, Source]
    assert table_of(BOUND) is PEOPLE


def test_relations_are_frozen_values():
    assert Filter(SOURCE, And(())) == Filter(Source(PEOPLE), And(()))
    with pytest.raises(AttributeError):
        BOUND.limits = Limits()
