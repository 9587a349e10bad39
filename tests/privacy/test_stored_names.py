from dataclasses import dataclass

import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.stored_names import Names, StoredNames, unstored


@dataclass(frozen=True, slots=True)
class Sum:
    value: int
    bounds: int


@dataclass(frozen=True, slots=True)
class Total:
    value: int
    bounds: int


class Below(Sum):
    __slots__ = ()


def known(*fields, tag="Sum", **options):
    return StoredNames("statistic", {Sum: Names(tag, *fields, **options)})


def test_a_class_that_python_calls_otherwise_keeps_its_tag_and_fields():
    names = StoredNames("statistic", {Total: Names("Sum", "value", ("limits", "bounds"))}).of(Total(1, 2))
    assert names.tag == "Sum"
    assert names.fields == (("value", "value"), ("limits", "bounds"))


def test_a_class_is_found_by_its_tag():
    cls, names = known("value", "bounds").stored_as("Sum")
    assert (cls, names.attributes) == (Sum, {"value": "value", "bounds": "bounds"})


@pytest.mark.parametrize("tag", ["Total", "sum", "", None, 1, ["Sum"], {}])
def test_nothing_is_found_by_what_is_no_tag(tag):
    assert known("value", "bounds").stored_as(tag) is None


@pytest.mark.parametrize("value", [Total(1, 2), Below(1, 2), 1, None, Sum])
def test_whatever_has_no_names_is_refused_subclasses_too(value):
    with pytest.raises(ParameterError, match=r"statistic = .*has no stored name; give its class one"):
        known("value", "bounds").of(value)


@pytest.mark.parametrize(
    "fields", [(), ("value",), ("value", "limits"), ("value", "bounds", "root"), ("value", "value", "bounds")]
)
def test_a_field_that_is_new_gone_or_has_another_name_is_refused(fields):
    with pytest.raises(ParameterError, match=r"stores the fields .* but has value, bounds; keep the stored name"):
        known(*fields)


def test_a_field_that_is_not_stored_must_be_told():
    assert known("value", unwritten=("bounds",)).of(Sum(1, 2)).fields == (("value", "value"),)
    with pytest.raises(ParameterError, match="stores the fields"):
        known("value", "bounds", unwritten=("bounds",))


def test_fields_that_are_moved_are_stored_as_before():
    assert [stored for stored, _ in known("bounds", "value").of(Sum(1, 2)).fields] == ["bounds", "value"]


def test_one_tag_is_of_one_class_and_one_name_of_one_field():
    both = ("value", "bounds")
    with pytest.raises(ParameterError, match="'Sum': is the tag of two classes"):
        StoredNames("statistic", {Sum: Names("Sum", *both), Total: Names("Sum", *both)})
    with pytest.raises(ParameterError, match="stores two fields under one name"):
        known("value", ("value", "bounds"))


def test_what_a_match_does_not_know_is_refused_by_its_class():
    assert str(unstored("window", Sum(1, 2))).startswith("window = 'Sum': has no stored name")
