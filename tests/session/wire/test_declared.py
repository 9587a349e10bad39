"""Fields hold values of exactly the types that they declare."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

import pytest

from sfumato.session.wire.declared import check_of

N = TypeVar("N", int, str)


@dataclass(frozen=True)
class Holds(Generic[N]):
    """A value of a class with a parameter."""

    held: N


class Word(Enum):
    """A word."""

    ONE = 1


class Role:
    """What `Holds` fulfils."""


def shown(**values):
    """A mapping that nobody changes."""
    return MappingProxyType(values)


NOW = datetime(2026, 1, 31)  # noqa: DTZ001 # as in plans
ACCEPTED = [
    (int, [0, -1, 1 << 70], [True, 1.0, "1", None, Fraction(1)]),
    (bool, [True, False], [0, 1, None]),
    (float, [0.5], [1, Fraction(1)]),
    (None, [None], [0, False]),
    (date, [date(2026, 1, 31), NOW], ["2026-01-31"]),
    (datetime, [NOW], [date(2026, 1, 31)]),
    (int | None, [1, None], [True]),
    (Literal["a", "b"], ["a"], ["c", 0, None, ["a"]]),
    (Literal["a"] | int | None, ["a", 1, None], ["b", True]),
    (tuple[int, ...], [(), (1,), (1, 2)], [[1], (True,), ("1",), 1]),
    (tuple[int, str], [(1, "a")], [(1,), (1, 2), (1, "a", 2), [1, "a"]]),
    (tuple[tuple[str, int | None], ...], [(("a", None),)], [("a", None), (("a",),)]),
    (Mapping[str, tuple[int, ...]], [shown(a=(1,))], [MappingProxyType({1: (1,)}), shown(a=1), 1]),
    (N, [1, "a"], [1.5, True]),
    (Holds[int], [Holds(1)], [1, Role()]),
    (Word, [Word.ONE], [1, "ONE"]),
    (Role, [Holds(1)], [Role(), 1]),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "right", "wrong"), ACCEPTED, ids=[str(one[0]) for one in ACCEPTED])
def test_a_value_is_of_a_type_exactly(declared, right, wrong):
    check = check_of(declared, {Role: (Holds,)})
    assert all(map(check, right))
    assert not any(map(check, wrong))


@pytest.mark.parametrize("declared", [list[int], set[int], dict, "int"])
def test_a_type_that_no_field_of_a_plan_has_is_refused(declared):
    if declared is dict:
        assert not check_of(declared, {})(MappingProxyType({}))
    else:
        with pytest.raises(TypeError, match="no field of a plan"):
            check_of(declared, {})
