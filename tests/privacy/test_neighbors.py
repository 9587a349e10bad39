import pytest

from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.core.conversions import touched_parts
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    REPLACE_ONE,
    EachRow,
    NeighboringRelation,
    UnitColumn,
    as_relation,
)


def test_relations_are_read_as_policies_write_them():
    assert NeighboringRelation("add_or_remove_one") is ADD_OR_REMOVE_ONE
    assert NeighboringRelation("replace_one") is REPLACE_ONE
    assert set(NeighboringRelation) == {ADD_OR_REMOVE_ONE, REPLACE_ONE}


def test_units_are_values_that_people_can_read():
    assert EachRow() == EACH_ROW
    assert str(EACH_ROW) == "each row"
    assert UnitColumn("patient_id") == UnitColumn("patient_id")
    assert str(UnitColumn("patient_id")) == "patient_id"


@pytest.mark.parametrize("name", ["add_or_remove_one", "replace_one"])
def test_a_relation_may_be_given_by_its_name(name):
    assert as_relation(name) is as_relation(NeighboringRelation(name)) is NeighboringRelation(name)


@pytest.mark.parametrize("value", ["REPLACE_ONE", "", None, 1, "substitute"])
def test_an_unknown_relation_is_refused_and_never_taken_for_the_weaker_one(value):
    with pytest.raises(ParameterError, match="neighboring_relation"):
        as_relation(value)


@pytest.mark.parametrize(
    "take",
    [
        lambda relation: BasicAccountant(neighboring_relation=relation).neighboring_relation,
        lambda relation: {1: ADD_OR_REMOVE_ONE, 2: REPLACE_ONE}[touched_parts(1, relation)],
    ],
)
def test_whoever_takes_a_relation_takes_its_name_and_refuses_others(take):
    assert take("replace_one") is REPLACE_ONE
    with pytest.raises(ParameterError, match="neighboring_relation"):
        take("replace one")
