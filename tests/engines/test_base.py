import pytest
from tests.query.asking import PEOPLE

from sfumato.engines.base import aligned, groups
from sfumato.query.measures import RowCount, ValueCount
from sfumato.query.plan import KeyColumn, Statement
from sfumato.query.relations import Source


def statement(*keys):
    columns = tuple(KeyColumn(name=f"k{index}", values=values) for index, values in enumerate(keys))
    return Statement(rows=Source(PEOPLE), keys=columns, measures=(RowCount(), ValueCount("age", nullable=True)))


def test_groups_are_listed_as_the_policy_lists_their_keys():
    assert groups(statement(("b", "a"), (2, 1))) == [("b", 2), ("b", 1), ("a", 2), ("a", 1)]
    assert groups(statement()) == [()]


def test_what_was_found_is_put_on_the_public_groups_in_their_order():
    found = {("a",): [1, 2], ("unlisted",): [9, 9]}
    assert aligned(statement(("c", "a")), found).open_for_noise().tolist() == [[0, 0], [1, 2]]


def test_integers_never_wrap():
    assert aligned(statement(), {(): [2**100, -(2**100)]}).open_for_noise().tolist() == [[2**100, -(2**100)]]


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_in_which_groups_were_found_does_not_matter(order):
    found = dict([(("a",), [1, 1]), (("b",), [2, 2])][::order])
    assert aligned(statement(("a", "b")), found).open_for_noise().tolist() == [[1, 1], [2, 2]]
