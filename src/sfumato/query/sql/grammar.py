"""The grammar of questions: PostgreSQL's, with a list of functions by name and the arguments that each takes.

Other names parse to `Anonymous` nodes, which are refused. sqlglot itself knows hundreds, and drops surplus arguments of
some of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from sqlglot import exp
from sqlglot.parsers.postgres import PostgresParser

from sfumato.errors import ParameterError

Build: TypeAlias = Callable[[Sequence[exp.Expr]], exp.Expr]


def _listed(name: str, node: type[exp.Expr], *arguments: str, optional: int = 0, **constant: object) -> Build:
    """Builds a node of named arguments, the last ones of which may be left out."""

    def build(given: Sequence[exp.Expr]) -> exp.Expr:
        least, most = len(arguments) - optional, len(arguments)
        if not least <= len(given) <= most:
            wanted = str(most) if least == most else f"{least} to {most}"
            raise ParameterError(name, f"{len(given)} arguments", f"must have {wanted}")
        return node(**dict(zip(arguments, given, strict=False)), **constant)

    return build


def _of_any(name: str, node: type[exp.Expr], first: str | None = "this", **constant: object) -> Build:
    """Builds a node of one or more arguments."""

    def build(given: Sequence[exp.Expr]) -> exp.Expr:
        if not given:
            raise ParameterError(name, "no arguments", "must have at least one")
        if first is None:
            return node(expressions=list(given), **constant)
        return node(this=given[0], expressions=list(given[1:]), **constant)

    return build


def _of_unit(name: str, node: type[exp.Expr], unit: str, value: str) -> Build:
    """Builds a node of a unit of time, which is constant text, and a value."""

    def build(given: Sequence[exp.Expr]) -> exp.Expr:
        match given:
            case [exp.Literal(is_string=True, name=text), inner]:
                return node(**{unit: exp.var(text.upper()), value: inner})
            case _:
                requirement = "must have 2, the first of them text such as 'month'"
                raise ParameterError(name, f"{len(given)} arguments", requirement)

    return build


_OF_ONE: Final[Mapping[str, type[exp.Expr]]] = {
    "ABS": exp.Abs, "SIGN": exp.Sign, "FLOOR": exp.Floor, "CEIL": exp.Ceil, "CEILING": exp.Ceil, "TRUNC": exp.Trunc,
    "SQRT": exp.Sqrt, "LN": exp.Ln, "EXP": exp.Exp, "LOWER": exp.Lower, "UPPER": exp.Upper, "LENGTH": exp.Length,
    "CHAR_LENGTH": exp.Length, "CHARACTER_LENGTH": exp.Length, "SUM": exp.Sum, "AVG": exp.Avg, "MIN": exp.Min,
    "MAX": exp.Max, "MEDIAN": exp.Median, "VARIANCE": exp.Variance, "VAR_SAMP": exp.Variance,
    "VAR_POP": exp.VariancePop, "STDDEV": exp.Stddev, "STDDEV_SAMP": exp.StddevSamp, "STDDEV_POP": exp.StddevPop,
    "PERCENTILE_CONT": exp.PercentileCont, "PERCENTILE_DISC": exp.PercentileDisc,
}  # fmt: skip
_OF_TWO: Final[Mapping[str, type[exp.Expr]]] = {
    "MOD": exp.Mod, "POWER": exp.Pow, "POW": exp.Pow, "LEFT": exp.Left, "NULLIF": exp.Nullif,
    "COVAR_SAMP": exp.CovarSamp, "COVAR_POP": exp.CovarPop, "CORR": exp.Corr,
}  # fmt: skip
FUNCTIONS: Final[dict[str, Build]] = {
    **{name: _listed(name, node, "this") for name, node in _OF_ONE.items()},
    **{name: _listed(name, node, "this", "expression") for name, node in _OF_TWO.items()},
    "COALESCE": _of_any("COALESCE", exp.Coalesce),
    "COUNT": _of_any("COUNT", exp.Count),
    "LEAST": _of_any("LEAST", exp.Least, ignore_nulls=True),
    "GREATEST": _of_any("GREATEST", exp.Greatest, ignore_nulls=True),
    "CONCAT": _of_any("CONCAT", exp.Concat, first=None),
    "ROUND": _listed("ROUND", exp.Round, "this", "decimals", optional=1),
    "LOG": _listed("LOG", exp.Log, "this", "expression", optional=1),
    "LOG10": _listed("LOG10", exp.Log, "this"),
    "SUBSTR": _listed("SUBSTR", exp.Substring, "this", "start", "length", optional=1),
    "BTRIM": _listed("BTRIM", exp.Trim, "this", "expression", optional=1),
    "LTRIM": _listed("LTRIM", exp.Trim, "this", "expression", optional=1, position="LEADING"),
    "RTRIM": _listed("RTRIM", exp.Trim, "this", "expression", optional=1, position="TRAILING"),
    "DATE_TRUNC": _of_unit("DATE_TRUNC", exp.TimestampTrunc, "unit", "this"),
    "DATE_PART": _of_unit("DATE_PART", exp.Extract, "this", "expression"),
    "QUANTILE": _listed("QUANTILE", exp.Quantile, "this", "quantile"),
    "MODE": _listed("MODE", exp.Mode, "this", optional=1),
}
"""The functions that are written as name(argument, …), in capitals."""

_SPECIAL: Final = ("CAST", "EXTRACT", "SUBSTRING", "TRIM")


class QuestionParser(PostgresParser):
    """PostgreSQL's parser, with the listed functions only."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = FUNCTIONS
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: PostgresParser.FUNCTION_PARSERS[name] for name in _SPECIAL
    }
