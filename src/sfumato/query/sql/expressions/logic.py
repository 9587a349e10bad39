"""Truth in SQL: AND, OR, NOT, comparisons, IN, BETWEEN, IS, CASE, COALESCE, NULLIF."""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import (
    FALSE,
    OPERATORS,
    TRUE,
    And,
    Call,
    Case,
    Compare,
    Comparison,
    Condition,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
)
from sfumato.query.model.functions import Function
from sfumato.query.sql.expressions.constants import bare
from sfumato.query.sql.expressions.scalars import Rule, Rules, Scalars
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.refusals import refusal

COMPARISONS: Final[Mapping[type[exp.Expr], Comparison]] = {
    exp.EQ: Comparison.EQUAL,
    exp.NEQ: Comparison.NOT_EQUAL,
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.LESS_EQUAL,
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.GREATER_EQUAL,
}


def compared(scalars: Scalars, comparison: Comparison, first: exp.Expr, second: exp.Expr) -> Condition:
    """A comparison; of two constants, what it comes to exactly, because engines would round them.

    Raises:
        NotPrivateError: A side is NULL, with which nothing compares.
    """
    if isinstance(unnested(first), exp.Null) or isinstance(unnested(second), exp.Null):
        literal(None)
    left, right = map(bare, scalars.in_time((scalars.lower(first), scalars.lower(second))))
    if isinstance(left, Literal) and isinstance(right, Literal) and type(left.value) is type(right.value):
        return TRUE if OPERATORS[comparison](left.value, right.value) else FALSE
    return Compare(comparison, left, right)


def _comparison(scalars: Scalars, node: exp.Binary) -> Condition:
    if isinstance(node.this, tuple(COMPARISONS)) or isinstance(node.expression, tuple(COMPARISONS)):
        raise NotPrivateError(
            shown(node), "comparisons cannot be chained", "Connect two with AND, or put the inner one into parentheses."
        )
    return compared(scalars, COMPARISONS[type(node)], node.this, node.expression)


def _between(scalars: Scalars, node: exp.Between) -> Condition:
    if node.args.get("symmetric"):
        raise NotPrivateError(shown(node), "SYMMETRIC is not supported", "Write the lower bound first.")
    return And(
        (
            compared(scalars, Comparison.GREATER_EQUAL, node.this, node.args["low"]),
            compared(scalars, Comparison.LESS_EQUAL, node.this, node.args["high"]),
        )
    )


def _in(scalars: Scalars, node: exp.In) -> Condition:
    if node.args.get("query") is not None:
        raise refusal(exp.Subquery(this=node.args["query"]))
    constants = [scalars.constant(member) for member in node.expressions]
    value, *members = scalars.in_time((bare(scalars.lower(node.this)), *constants))
    return IsIn(value, tuple(member for member in members if isinstance(member, Literal)))


def _is(scalars: Scalars, node: exp.Is) -> Condition:
    match node.expression:
        case exp.Null():
            inner = _is_null(scalars, node.this)
        case exp.Boolean(this=wanted):
            condition = scalars.condition(node.this)
            inner = And((Not(_is_null(scalars, node.this)), condition if wanted else Not(condition)))
        case _:
            raise refusal(node)
    return Not(inner) if node.args.get("negate") else inner


def _is_null(scalars: Scalars, node: exp.Expr) -> Condition:
    """Lowers its node anew, so that what stands in several places counts as often."""
    return IsNull(scalars.lower(node))


def _not_distinct(scalars: Scalars, node: exp.NullSafeEQ | exp.NullSafeNEQ) -> Condition:
    """Equal, or both NULL; never NULL itself."""
    match [side for side in (node.this, node.expression) if not isinstance(unnested(side), exp.Null)]:
        case [first, second]:
            both_null = And((_is_null(scalars, first), _is_null(scalars, second)))
            neither = (Not(_is_null(scalars, first)), Not(_is_null(scalars, second)))
            return Or((both_null, And((*neither, compared(scalars, Comparison.EQUAL, first, second)))))
        case [side]:
            return _is_null(scalars, side)
        case _:
            return TRUE


def _case(scalars: Scalars, node: exp.Case) -> Expression:
    branches = node.args["ifs"]
    for branch in branches:
        require_only(branch, {"this", "true"})
    conditions = [
        scalars.condition(branch.this)
        if node.this is None
        else compared(scalars, Comparison.EQUAL, node.this, branch.this)
        for branch in branches
    ]
    default = node.args.get("default")
    nodes = [branch.args["true"] for branch in branches] + ([] if default is None else [default])
    values = scalars.alternatives(nodes)
    otherwise = values[-1] if default is not None else Null(scalars.kind(values[0]))
    return Case(tuple(zip(conditions, values[: len(conditions)], strict=True)), otherwise)


_SIDES: Final = frozenset({"this", "expression"})
RULES: Final[Rules] = {
    exp.Paren: Rule(frozenset({"this"}), lambda scalars, node: scalars.lower(node.this)),
    exp.And: Rule(_SIDES, lambda scalars, node: And(tuple(scalars.condition(side) for side in node.flatten()))),
    exp.Or: Rule(_SIDES, lambda scalars, node: Or(tuple(scalars.condition(side) for side in node.flatten()))),
    exp.Not: Rule(frozenset({"this"}), lambda scalars, node: Not(scalars.condition(node.this))),
    exp.Boolean: Rule(frozenset({"this"}), lambda _, node: Literal(bool(node.this))),
    **dict.fromkeys(COMPARISONS, Rule(_SIDES, _comparison)),
    exp.Between: Rule(frozenset({"this", "low", "high", "symmetric"}), _between),
    exp.In: Rule(frozenset({"this", "expressions", "query"}), _in),
    exp.Is: Rule(_SIDES | {"negate"}, _is),
    exp.NullSafeEQ: Rule(_SIDES, _not_distinct),
    exp.NullSafeNEQ: Rule(_SIDES, lambda scalars, node: Not(_not_distinct(scalars, node))),
    exp.Case: Rule(frozenset({"this", "ifs", "default"}), _case),
    exp.Coalesce: Rule(
        frozenset({"this", "expressions"}),
        lambda scalars, node: Call(Function.COALESCE, scalars.alternatives((node.this, *node.expressions))),
    ),
    exp.Nullif: Rule(
        _SIDES, lambda scalars, node: Call(Function.NULL_IF, scalars.alternatives((node.this, node.expression)))
    ),
}
"""What connects, compares and chooses."""
