import pytest
from tests.engines.running import question

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.bounding import enforce_limits
from sfumato.query.relations import Bound, Filter
from sfumato.query.schema import Limits, Table, text


def visits(unit=UnitColumn("u"), **limits):  # noqa: B008 # a frozen value
    return Table(name="t", columns={"u": text(), "k": text(values=["x"])}, unit=unit, limits=Limits(**limits))


ALL = {"max_rows_per_unit": 9, "max_groups_per_unit": 2, "max_rows_per_group_per_unit": 4}


def test_the_bound_lies_right_above_the_filters():
    bounded = enforce_limits(question("SELECT COUNT(*) FROM t WHERE k = 'x' GROUP BY k", visits(**ALL)))
    assert isinstance(bounded.child.child, Bound)
    assert isinstance(bounded.child.child.child, Filter)
    assert bounded.child.child.limits == Limits(**ALL)


@pytest.mark.parametrize(
    ("limits", "most"),
    [(ALL, 4), ({"max_rows_per_unit": 3}, 3), ({"max_rows_per_group_per_unit": 5, "max_groups_per_unit": 2}, 5)],
)
def test_without_keys_all_rows_are_one_group(limits, most):
    bounded = enforce_limits(question("SELECT COUNT(*) FROM t", visits(**limits)))
    assert bounded.child.child.limits == Limits(max_rows_per_unit=most)


def test_single_rows_need_no_bound():
    from sfumato.privacy.neighbors import EACH_ROW

    asked = question("SELECT COUNT(*) FROM t", visits(unit=EACH_ROW))
    assert enforce_limits(asked) is asked
