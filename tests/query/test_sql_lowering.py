import pytest
from sqlglot import exp, parse_one
from tests.query.asking import PEOPLE, parsed

from sfumato.errors import NotPrivateError, SfumatoError
from sfumato.query.expressions import ColumnRef, Compare, IsNull, Not
from sfumato.query.relations import CountRows, CountValues, Mean, Sum
from sfumato.query.sql_lowering import DIALECT, Lowering, shown

KNOWN = {"COUNT", "SUM", "AVG"}
LOWERING = Lowering(PEOPLE, {name.lower(): name for name in PEOPLE.columns})


def expression(sql):
    return parse_one(sql, dialect=DIALECT)


@pytest.mark.parametrize(
    ("sql", "statistic"),
    [
        ("COUNT(*)", CountRows()),
        ("COUNT(sex)", CountValues("Sex")),
        ("SUM(age)", Sum("age")),
        ("AVG(pay)", Mean("pay")),
    ],
)
def test_four_statistics_are_known(sql, statistic):
    assert LOWERING.statistic(expression(sql)) == statistic


def test_is_not_null_is_the_opposite_of_is_null():
    assert LOWERING.condition(expression("age IS NULL")) == IsNull(ColumnRef("age"))
    assert LOWERING.condition(expression("age IS NOT NULL")) == Not(IsNull(ColumnRef("age")))


def test_what_a_parser_notes_beside_the_known_arguments_is_refused_and_not_left_out():
    node = expression("age = 1")
    assert isinstance(LOWERING.condition(node), Compare)
    node.set("negate_in_some_later_version", True)
    with pytest.raises(NotPrivateError, match="not supported"):
        LOWERING.condition(node)
    count = expression("COUNT(age)")
    count.set("only_some", exp.true())
    with pytest.raises(NotPrivateError, match="no statistic"):
        LOWERING.statistic(count)


@pytest.mark.parametrize("arguments", ["", "age", "age, 1", "age, 1, 'x'"])
def test_no_function_that_the_parser_knows_is_let_through(arguments):
    known = {name for name in exp.FUNCTION_BY_NAME if name.isidentifier()}
    for name in sorted(known | {"PG_SLEEP", "READ_CSV", "SETSEED", "DBLINK", "GETENV", "ERROR"}):
        for sql in (
            f"WHERE {name}({arguments})",
            f"WHERE age = {name}({arguments})",
            f"WHERE {name}({arguments}) IS NULL",
        ):
            with pytest.raises(SfumatoError):
                parsed(f"SELECT COUNT(*) FROM people {sql}")


def test_no_other_aggregate_is_let_through():
    for name in sorted(name for name in exp.FUNCTION_BY_NAME if name.isidentifier() and name not in KNOWN):
        with pytest.raises(SfumatoError):
            parsed(f"SELECT {name}(age) FROM people")


def test_a_long_fragment_is_shortened():
    assert len(shown(expression("'" + "a" * 500 + "'"))) == 80
