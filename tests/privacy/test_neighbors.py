from sfumato.privacy.neighbors import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    REPLACE_ONE,
    EachRow,
    NeighboringRelation,
    UnitColumn,
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
