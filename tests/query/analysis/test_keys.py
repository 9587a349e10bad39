import datetime as dt
from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, VISITS, question, ref, relation_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.images import MAX_LISTED
from sfumato.query.analysis.keys import candidates, grouping_sets, key_columns
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import Call, Literal, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Fold, Folded, Grouped, Select
from sfumato.query.model.schema import Table, date, integer, text


def listed(child, name):
    """The public keys of a column."""
    (column,) = key_columns(relation_of(child), (name,))
    return column.values


def computed(expression):
    return Select(relation_of(PEOPLE), (("key", expression),))


def whole(number):
    return Literal(Fraction(number))


def test_declared_values_are_keys_in_their_order():
    days = (dt.date(2026, 2, 1), dt.date(2026, 1, 1))
    table = Table(name="t", columns={"sex": text(values=["m", "f"]), "day": date(values=days)})
    assert (listed(table, "sex"), listed(table, "day")) == (("m", "f"), days)


def test_truths_and_bounded_whole_numbers_are_keys():
    assert listed(PEOPLE, "smokes") == (False, True)
    assert listed(PEOPLE, "kids") == tuple(range(10))


def test_so_many_whole_numbers_are_listed_and_no_more():
    fits, too_many = (Table(name="t", columns={"k": integer(1, most)}) for most in (MAX_LISTED, MAX_LISTED + 1))
    assert (len(listed(fits, "k")), listed(too_many, "k")) == (MAX_LISTED, None)


@pytest.mark.parametrize("name", ["town", "born", "free"])
def test_columns_without_listed_values_have_private_keys(name):
    assert listed(PEOPLE, name) is None


def test_computed_columns_have_the_values_that_they_can_have():
    month = Call(Function.MONTH, (ref("born"),))
    decade = Call(Function.DIVIDE, (ref("age"), Literal(Fraction(10))))
    assert listed(computed(month), "key") == tuple(range(1, 13))
    assert listed(computed(decade), "key") == tuple(range(11))
    assert listed(computed(Null(Kind.TEXT)), "key") == ()


def test_fractions_are_no_keys():
    with pytest.raises(NotPrivateError, match="FLOOR"):
        listed(PEOPLE, "pay")


def test_more_public_groups_than_an_answer_can_hold_are_refused():
    table = Table(name="t", columns={name: integer(1, 1000) for name in "abc"})
    assert len(key_columns(relation_of(table), ("a", "b"))) == 2
    with pytest.raises(ParameterError, match="1,000,000,000 groups"):
        key_columns(relation_of(table), ("a", "b", "c"))


def test_a_question_groups_by_all_its_keys_or_by_its_grouping_sets():
    assert grouping_sets(question(VISITS, keys=("ward", "ill")).child) == (("ward", "ill"),)
    assert grouping_sets(question(VISITS).child) == ((),)
    sets = (("ward", "ill"), ("ill",), ())
    assert grouping_sets(question(VISITS, keys=("ward", "ill"), sets=sets).child) == sets


def test_what_only_limits_of_a_unit_bound_lists_no_keys_until_it_is_clamped():
    visits = Grouped(relation_of(VISITS), (), (Folded("n", Fold.COUNT_ROWS),))
    assert listed(visits, "n") is None
    more = Select(visits, (("key", Call(Function.ADD, (ref("n"), Literal(Fraction(1))))),))
    assert listed(more, "key") is None
    clamped = Select(visits, (("key", Call(Function.LEAST, (ref("n"), Literal(Fraction(3))))),))
    assert listed(clamped, "key") == (1, 2, 3)


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        (Call(Function.LEAST, (ref("n"), whole(20))), tuple(range(1, 21))),
        (Call(Function.LEAST, (Call(Function.DIVIDE, (ref("n"), whole(2))), whole(5))), tuple(range(6))),
        (Call(Function.LEAST, (Call(Function.SUBTRACT, (whole(10), ref("n"))), whole(7))), None),
        (Call(Function.LEAST, (ref("s"), whole(3))), None),
        (Call(Function.GREATEST, (Call(Function.LEAST, (ref("s"), whole(3))), whole(-2))), tuple(range(-2, 4))),
        (Call(Function.LEAST, (Call(Function.COALESCE, (ref("s"), ref("n"))), whole(2))), None),
    ],
)
def test_keys_hold_those_who_have_more_than_limits_of_a_unit_would_leave(key, keys):
    folds = (Folded("n", Fold.COUNT_ROWS), Folded("s", Fold.SUM, Call(Function.SUBTRACT, (ref("beds"), whole(5)))))
    visits = Grouped(relation_of(VISITS), (), folds)
    assert listed(Select(visits, (("key", key),)), "key") == keys


def test_the_most_frequent_are_chosen_from_as_many_values_as_there_are():
    sex, town = (shape_of(relation_of(PEOPLE)).column(name) for name in ("sex", "town"))
    assert len(candidates("x", sex, 2)) == 2
    with pytest.raises(ParameterError, match="number of public values"):
        candidates("x", sex, 3)
    with pytest.raises(NotPrivateError, match="the most frequent of x"):
        candidates("x", town, 1)
