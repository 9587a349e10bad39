import pyarrow as pa
import pytest
from tests.session.opened import opened

import sfumato as sf
from sfumato.query.model.schema import PUBLIC
from sfumato.query.policy.policy import AtMost, HasOwner
from sfumato.session.asking.preparation import EPSILONS, Preparation

PREPARATION = Preparation(
    violations={"wards": {AtMost(("code",), 1): 1}, "stays": {HasOwner("who"): 1234}, "beds": {}}
)  # fmt: skip


def test_numbers_are_shown_only_when_they_are_printed():
    assert "1,234" not in repr(PREPARATION)
    assert "1234" not in repr(PREPARATION)
    assert str(PREPARATION).splitlines() == [
        "Exact numbers of private rows, for the owner only: do not show them to anybody else.",
        "",
        "wards:",
        "  at most one row for each code: 1 row violates it",
        "",
        "stays:",
        "  each row has an owner: who: 1,234 rows violate it",
        "",
        "beds: no claims to check",
    ]


def test_a_preparation_is_not_changed_from_outside():
    claims = {HasOwner("who"): 3}
    preparation = Preparation(violations={"stays": claims})
    claims.clear()
    assert preparation.violations == {"stays": {HasOwner("who"): 3}}


DATA = pa.table({"age": [20, None, 40], "ward": ["a", "b", "z"], "ill": [True, False, None], "name": ["x", "y", "z"]})
COLUMNS = {
    "ill": sf.boolean(), "name": sf.text(), "age": sf.integer(0, 100), "ward": sf.text(values=["a", "b"]),
}  # fmt: skip


def told(*names, **options):
    """The errors that are told of a table with some columns; and the session that can be asked for them."""
    session = opened(DATA, columns={name: COLUMNS[name] for name in names or COLUMNS}, **options)
    return session.check().errors["people"], session


@pytest.mark.parametrize(
    ("names", "questions"),
    [
        ((), ["COUNT(*)", "AVG(age)", "ward, COUNT(*)"]),
        (("age",), ["COUNT(*)", "AVG(age)", "SUM(age)"]),
        (("name",), ["COUNT(*)", "COUNT(name)"]),
        (("ill", "name"), ["COUNT(*)", "ill, COUNT(*)", "COUNT(ill)"]),
    ],
)
def test_three_questions_are_asked_of_what_is_declared(names, questions):
    errors, session = told(*names)
    session.close()
    asked = [error.question.removeprefix("SELECT ").split(" AS ")[0] for error in errors]
    assert asked == questions


def test_errors_are_those_of_the_questions_with_as_many_values_as_there_are():
    errors, session = told()
    with session:
        for error in errors:
            found = [session.query(error.question).error(epsilon=e, size=2)[0] for e in EPSILONS]
            assert error.half_widths == tuple(one.half_width for one in found)
            assert error.assumption == found[0].assumption
        assert "over 2 values" in errors[1].assumption
        assert session.spent == sf.PureDP(0)


def test_public_tables_have_no_errors():
    errors, session = told(unit=PUBLIC)
    session.close()
    assert errors == ()


def test_where_no_noise_can_be_drawn_that_is_said():
    with opened(pa.table({"x": [1]}), columns={"x": sf.integer(0, 2**52)}) as session:
        report = session.check()
    assert [error.half_widths[0] is None for error in report.errors["people"]] == [False, True, True]
    assert "no such noise exists" in str(report)


def test_no_count_is_in_a_repr():
    errors, session = told()
    session.close()
    assert all("2 values" in error.assumption or not error.assumption for error in errors)
    assert "values" not in repr(errors)
