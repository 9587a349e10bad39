import pytest
from sqlglot import exp
from tests.query.asking import SOURCES

from sfumato.errors import ParameterError
from sfumato.query.sql import functions, logic
from sfumato.query.sql.context import RULES, Context, Named
from sfumato.query.sql.names import scope_of

CONTEXT = Context(sources=SOURCES)


def name(text, *, quoted=False):
    return exp.to_identifier(text, quoted=quoted)


def test_each_class_of_nodes_has_one_rule():
    assert len(logic.RULES) + len(functions.RULES) == len(RULES)


def test_tables_are_found_without_regard_to_case_unless_quoted():
    assert CONTEXT.source(name("VISITS")) == ("visits", SOURCES["visits"])
    assert CONTEXT.source(name("visits", quoted=True)) == ("visits", SOURCES["visits"])
    with pytest.raises(ParameterError, match="people, customers"):
        CONTEXT.source(name("Visits", quoted=True))


def test_the_innermost_cte_of_a_name_is_meant():
    scope = scope_of(SOURCES["visits"])
    inner, outer = Named("A", scope, 1), Named("a", scope, 2)
    context = Context(sources=SOURCES, ctes=(inner, outer))
    assert context.cte(name("a")) is inner
    assert context.cte(name("a", quoted=True)) is outer
    assert context.cte(name("b")) is None
