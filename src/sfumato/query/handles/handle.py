"""What all handles are: an expression, and what is publicly known of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Self

from sfumato.errors import ParameterError
from sfumato.query.analysis.conditions import literal
from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import Call, ColumnRef, Expression, Literal
from sfumato.query.model.facts import Facts, literal_facts
from sfumato.query.model.functions import Function


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """An expression over the columns of a frame, never its values.

    Attributes:
        expression: What it stands for.
        facts: What is publicly known of it.
    """

    expression: Expression
    facts: Facts

    @classmethod
    def of(cls, value: object) -> Self:
        """A handle as it is, or the handle of a constant.

        Raises:
            ParameterError: It is neither.
        """
        if isinstance(value, cls):
            return value
        constant = literal(value)
        return cls(constant, literal_facts(constant.value))

    @classmethod
    def made(cls, make: Callable[..., Expression], *operands: object) -> Self:
        """A handle of what is made of others, its kinds checked at once.

        Facts follow from those of the operands, not from all below them, so that a long chain costs what it is long.

        Raises:
            ParameterError: It mixes kinds.
        """
        handles = [cls.of(operand) for operand in operands]
        known = {str(place): handle.facts for place, handle in enumerate(handles)}
        places = [_place(str(place), handle.expression) for place, handle in enumerate(handles)]
        return cls(make(*(handle.expression for handle in handles)), facts_of(make(*places), known))

    @classmethod
    def call(cls, function: Function, *arguments: object) -> Self:
        """A handle of a function of others and of constants.

        Raises:
            ParameterError: It is none of the `Function` there are, or mixes kinds.
        """
        if not isinstance(function, Function):
            raise ParameterError("function", function, "must be a Function")
        return cls.made(lambda *expressions: Call(function, expressions), *arguments)

    def __bool__(self) -> NoReturn:
        raise ParameterError(
            "condition", "and / or / not", "must be combined with &, | and ~; a < x < b is x.between(a, b)"
        )


def _place(name: str, expression: Expression) -> Expression:
    """A constant as it is, because some functions read it; anything else by the place where it stands."""
    return expression if isinstance(expression, Literal) else ColumnRef(name)
