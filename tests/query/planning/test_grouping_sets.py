import pytest

from sfumato.errors import ParameterError
from sfumato.query.planning.grouping_sets import MAX_GROUPING_SETS, checked_sets, cube, rollup

KEYS = ("a", "b")


def test_rollup_drops_one_key_after_the_other():
    assert rollup(("a", "b", "c")) == (("a", "b", "c"), ("a", "b"), ("a",), ())


def test_cube_has_every_choice_once():
    assert cube(("a", "b", "c"))[0] == ("a", "b", "c")
    assert {frozenset(kept) for kept in cube(("a", "b", "c"))} == {
        frozenset(kept) for kept in ("abc", "ab", "ac", "bc", "a", "b", "c", "")
    }


def test_a_cube_of_too_many_keys_is_refused_before_it_is_made():
    assert len(cube(tuple("abcdef"))) == MAX_GROUPING_SETS
    with pytest.raises(ParameterError, match="at most 64"):
        cube(tuple(map(str, range(60))))


def test_sets_have_their_keys_in_the_order_of_all():
    assert checked_sets(KEYS, (("b", "a"), ("b",))) == (("a", "b"), ("b",))
    assert checked_sets(KEYS, ()) == ()
    assert checked_sets((), ((),)) == ((),)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ((("a", "c"),), "of the keys"),
        ((("a", "a"), ("b",)), "named once"),
        ((("a", "b"), ("b", "a")), "differ"),
        ((("a",), ()), "every key"),
        (tuple((str(i),) for i in range(65)), "at most 64"),
    ],
)
def test_sets_that_are_not_of_the_keys_are_refused(sets, message):
    with pytest.raises(ParameterError, match=message):
        checked_sets(KEYS, sets)
