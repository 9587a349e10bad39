"""Hierarchies are declared: each value is in one group, and numbers are split at public edges alone."""

from datetime import date
from fractions import Fraction

import pytest
from tests.synth.generalization.small import AGE, PET, PETS

from sfumato.errors import ParameterError
from sfumato.query.model.kinds import Kind
from sfumato.session.training.attributes import Attribute
from sfumato.synth.generalization.hierarchies import DEEPEST, BinRange, Group, hierarchy_of


def labels(node):
    return [[part.label for part in parts] for parts in node.specializations]


def nested(levels):
    return ["cat", "owl", "dog"] if levels == 0 else {f"level {levels}": nested(levels - 1)}


def test_groups_are_as_declared_and_missing_values_where_none_is():
    everything = hierarchy_of(PET, PETS)
    assert everything.codes == (2, 0, 1, 3)
    assert labels(everything) == [["mammal", "other"]]
    mammal, other = everything.below
    assert (mammal.codes, labels(mammal)) == ((2, 0), [["dog", "cat"]])
    assert (other.codes, labels(other)) == ((1, 3), [["bird", "none"]])
    assert all(one.specializations == () for one in (*mammal.below, *other.below))
    assert everything.document()[2][0] == ["mammal", [2, 0], [["dog", [2], []], ["cat", [0], []]]]


def test_without_a_declaration_each_value_is_a_group_and_missing_ones_are_another():
    assert labels(hierarchy_of(PET)) == [["cat", "owl", "dog", "missing"]]
    grouped = hierarchy_of(PET, {"all of them": ["cat", "owl", "dog"]})
    assert labels(grouped) == [["all of them", "missing"]]
    assert labels(hierarchy_of(PET, {"all of them": ["cat", "owl", None, "dog"]})) == [["cat", "owl", "missing", "dog"]]


def test_numbers_are_split_at_every_edge_of_their_bins():
    ages = hierarchy_of(AGE)
    assert ages == BinRange(attribute=AGE, first=0, end=3)
    assert labels(ages) == [["0 to 9", "10 to 29"], ["0 to 19", "20 to 29"]]
    low, high = ages.specializations[0]
    assert (low.codes, low.specializations, labels(high)) == ((0,), (), [["10 to 19", "20 to 29"]])
    assert high.document() == [1, 3, False]


def test_missing_numbers_leave_with_the_first_split():
    rate = Attribute(name="rate", kind=Kind.FLOAT, edges=(Fraction(0), Fraction(1, 2), Fraction(1)), missing=2)
    rates = hierarchy_of(rate)
    assert (rates.codes, rates.label) == ((0, 1, 2), "any")
    assert labels(rates) == [["0 to below 0.5", "0.5 to below 1", "missing"]]
    one = hierarchy_of(Attribute(name="rate", kind=Kind.FLOAT, edges=(Fraction(0), Fraction(1)), missing=1))
    assert labels(one) == [["0 to below 1", "missing"]]
    assert one.specializations[0][0].specializations == ()


def test_dates_are_split_between_periods():
    days = tuple(date(2026, month, 1) for month in (1, 2, 3))
    found = hierarchy_of(Attribute(name="day", kind=Kind.DATE, values=days, missing=date(2027, 1, 1)))
    assert labels(found)[1] == ["2026-01-01 to 2026-02-01", "2026-03-01 to 2026-03-01", "missing"]


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"mammal": ["dog", "cat"]}, "in exactly one group"),
        (["cat", "owl", "dog", "dog"], "in exactly one group"),
        (["cat", "owl", "dog", None, None], "in exactly one group"),
        (["cat", "owl", "fox"], "must be a value of pet"),
        ({"dog": ["cat", "owl"], "rest": ["dog", None]}, "a name for each group"),
        ({"owl": ["dog", "cat"], "others": ["owl", None]}, "a name for each group"),
        ({"any": ["dog", "cat"], "bird": ["owl"]}, "a name for each group"),
        ({1: ["dog", "cat"], "bird": ["owl"]}, "text"),
        ({"": ["dog", "cat"], "bird": ["owl"]}, "text"),
        ({"mammal": 5, "bird": ["owl"]}, "hierarchies"),
        (nested(DEEPEST + 1), "levels"),
    ],
)  # fmt: skip
def test_what_is_no_hierarchy_is_refused(declared, told):
    with pytest.raises(ParameterError, match=told):
        hierarchy_of(PET, declared)


def test_numbers_and_dates_have_no_groups():
    with pytest.raises(ParameterError, match="split at its bins"):
        hierarchy_of(AGE, {"young": [0]})


def test_a_group_of_one_value_is_not_specialized():
    assert hierarchy_of(PET, {"dog": ["dog"], "other": ["cat", "owl", None]}).below[0] == Group(label="dog", codes=(2,))
