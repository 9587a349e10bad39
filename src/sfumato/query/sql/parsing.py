"""Text to one parsed query, and what every step of the lowering asks of a node of it.

The grammar is PostgreSQL's, with a list of functions by name and the arguments that each takes. Other names parse to
`Anonymous` nodes, which are refused. sqlglot itself knows hundreds, and drops surplus arguments of some of them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Final, TypeAlias

from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.postgres import PostgresParser

from sfumato.errors import NotPrivateError, ParameterError, SfumatoError
from sfumato.query.model.schema import unicode_text
from sfumato.query.statistics.registry import SPELLINGS
from sfumato.query.statistics.statistic import Spelling

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


def _aggregate(name: str, spelling: Spelling) -> Build:
    """Builds the call of an aggregate; one of which sqlglot knows no class gets one."""
    node = getattr(exp, spelling.node, None)
    if node is None:
        fields = dict.fromkeys(spelling.arguments, True)
        node = type(spelling.node, (exp.Expression, exp.AggFunc), {"arg_types": fields, "_sql_names": [name]})
    if "expressions" in spelling.arguments:
        return _of_any(name, node)
    return _listed(name, node, *spelling.arguments, optional=spelling.optional)


def _of_place(given: Sequence[exp.Expr]) -> exp.Expr:
    """POSITION('b' IN x), which parses to the one argument IN."""
    match given:
        case [exp.In() as inner] if inner.args.get("field") is not None:
            return exp.StrPosition(this=inner.args["field"], substr=inner.this)
        case _:
            raise ParameterError("POSITION", f"{len(given)} arguments", "must be POSITION('word' IN text)")


_OF_ONE: Final[Mapping[str, type[exp.Expr]]] = {
    "ABS": exp.Abs, "SIGN": exp.Sign, "FLOOR": exp.Floor, "CEIL": exp.Ceil, "CEILING": exp.Ceil, "TRUNC": exp.Trunc,
    "SQRT": exp.Sqrt, "LN": exp.Ln, "EXP": exp.Exp, "LOWER": exp.Lower, "UPPER": exp.Upper, "LENGTH": exp.Length,
    "CHAR_LENGTH": exp.Length, "CHARACTER_LENGTH": exp.Length, "YEAR": exp.Year, "QUARTER": exp.Quarter,
    "MONTH": exp.Month, "WEEK": exp.Week, "WEEKOFYEAR": exp.WeekOfYear, "DAY": exp.Day, "DAYOFMONTH": exp.DayOfMonth,
    "DAYOFWEEK": exp.DayOfWeek, "ISODOW": exp.DayOfWeekIso, "DAYOFYEAR": exp.DayOfYear, "HOUR": exp.Hour,
    "MINUTE": exp.Minute, "SECOND": exp.Second, "COUNT_IF": exp.CountIf, "COUNTIF": exp.CountIf,
}  # fmt: skip
_OF_TWO: Final[Mapping[str, type[exp.Expr]]] = {
    "MOD": exp.Mod, "POWER": exp.Pow, "POW": exp.Pow, "LEFT": exp.Left, "RIGHT": exp.Right, "NULLIF": exp.Nullif,
    "STARTS_WITH": exp.StartsWith, "ENDS_WITH": exp.EndsWith, "CONTAINS": exp.Contains,
    "APPROX_QUANTILES": exp.ApproxQuantiles,
}  # fmt: skip
FUNCTIONS: Final[dict[str, Build]] = {
    **{name: _listed(name, node, "this") for name, node in _OF_ONE.items()},
    **{name: _listed(name, node, "this", "expression") for name, node in _OF_TWO.items()},
    "COALESCE": _of_any("COALESCE", exp.Coalesce),
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
    "POSITION": _of_place,
    "STRPOS": _listed("STRPOS", exp.StrPosition, "this", "substr"),
    "REPLACE": _listed("REPLACE", exp.Replace, "this", "expression", "replacement"),
    "TO_CHAR": _listed("TO_CHAR", exp.ToChar, "this", "format"),
    "WIDTH_BUCKET": _listed("WIDTH_BUCKET", exp.WidthBucket, "this", "min_value", "max_value", "num_buckets"),
    "GROUPING": _of_any("GROUPING", exp.Grouping, first=None),
    "ROW_NUMBER": _listed("ROW_NUMBER", exp.RowNumber),
    "RANK": _listed("RANK", exp.Rank),
    "DENSE_RANK": _listed("DENSE_RANK", exp.DenseRank),
    "PERCENT_RANK": _listed("PERCENT_RANK", exp.PercentRank),
    "CUME_DIST": _listed("CUME_DIST", exp.CumeDist),
    "NTILE": _listed("NTILE", exp.Ntile, "this"),
    "LAG": _listed("LAG", exp.Lag, "this", "offset", "default", optional=2),
    "LEAD": _listed("LEAD", exp.Lead, "this", "offset", "default", optional=2),
    "FIRST_VALUE": _listed("FIRST_VALUE", exp.FirstValue, "this"),
    "LAST_VALUE": _listed("LAST_VALUE", exp.LastValue, "this"),
    "DATE_TRUNC": _of_unit("DATE_TRUNC", exp.TimestampTrunc, "unit", "this"),
    "DATE_PART": _of_unit("DATE_PART", exp.Extract, "this", "expression"),
    **{name: _aggregate(name, spelling) for _, spelling in SPELLINGS for name in spelling.names},
    "MEAN": _listed("MEAN", exp.Avg, "this"),
}
"""The functions that are written as name(argument, …), in capitals."""

_SPECIAL: Final = ("CAST", "EXTRACT", "SUBSTRING", "TRIM")


class QuestionParser(PostgresParser):
    """PostgreSQL's parser, with the listed functions only."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = FUNCTIONS
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: PostgresParser.FUNCTION_PARSERS[name] for name in _SPECIAL
    }


DIALECT: Final = "postgres"
MAX_LENGTH: Final = 200_000
"""How many characters a query may have: room for a list of 25,000 constants, which is read in about a second."""

MAX_NESTING: Final = 100
"""How deep a query may be nested as text; a plan may be nested less, see `sizes`."""

MAX_OPEN: Final = 25
"""How many parentheses, brackets, CASEs, NOTs and signs may be open at once in the text.

The parser calls itself up to 25 times for each, in a stack that has room for 1,000 calls and in which others stand.
"""

MAX_NAME: Final = 200
"""How many characters a name may have."""

_SHOWN: Final = 80
_CHAINS: Final = (exp.And, exp.Or, exp.DPipe)
# what sqlglot raises on calls of known functions with arguments of a shape that it does not expect
_SLIPS_OF_THE_PARSER: Final = (SqlglotError, TypeError, ValueError, LookupError, AttributeError)
_CLOSING: Final = {
    TokenType.R_PAREN: TokenType.L_PAREN,
    TokenType.R_BRACKET: TokenType.L_BRACKET,
    TokenType.R_BRACE: TokenType.L_BRACE,
    TokenType.END: TokenType.CASE,
}
_OPENING: Final = frozenset(_CLOSING.values())
_QUERIES: Final = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM})


class _Fragments(PostgresGenerator):
    """Fragments as they are written: parameters as `:name`, and DISTINCT of several columns as a list of them."""

    MULTI_ARG_DISTINCT = True

    def placeholder_sql(self, expression: exp.Placeholder) -> str:
        return f":{expression.name}" if expression.this else "?"

    def countif_sql(self, expression: exp.CountIf) -> str:
        return self.func("COUNT_IF", expression.this)


def parsed(text: str) -> exp.Query:
    """The one query of a text.

    Raises:
        ParameterError: The text does not parse, or holds no statement, or several.
        NotPrivateError: It is no query.
    """
    statements = split_statements(tokens_of(text))
    if len(statements) != 1:
        raise ParameterError("sql", f"{len(statements)} statements", "must be exactly one SELECT")
    if statements[0][0].token_type not in _QUERIES:
        raise _no_query(text)
    if any(token.token_type is TokenType.PARAMETER and token.text == "@" for token in statements[0]):
        raise ParameterError("parameters", "@", "must be written as $1 or :name; the absolute value as ABS(x)")
    _check_open(statements[0], text)
    try:
        found = QuestionParser(dialect=DIALECT).parse(list(statements[0]), text)
    except ParseError as error:
        raise ParameterError("sql", text, _place(error)) from None
    except SfumatoError:
        raise
    except _SLIPS_OF_THE_PARSER:
        raise ParameterError(
            "sql", text[:_SHOWN], "holds a call with arguments of a shape that cannot be read"
        ) from None
    if len(found) != 1 or not isinstance(found[0], exp.Query):
        raise _no_query(text)
    _check_nesting(found[0], text)
    _check_names(found[0])
    return found[0]


def tokens_of(text: str) -> list[Token]:
    """The words of a text.

    Raises:
        ParameterError: It is empty, too long, no Unicode, or ends within a literal.
    """
    if not isinstance(text, str):
        raise ParameterError("sql", type(text).__name__, "must be text")
    if not text.strip():
        raise ParameterError("sql", text[:_SHOWN], "must be a SELECT statement")
    if len(text) > MAX_LENGTH:
        raise ParameterError("sql", f"{len(text)} characters", f"must have at most {MAX_LENGTH}")
    unicode_text(text, "sql")
    try:
        return Dialect.get_or_raise(DIALECT).tokenize(text)
    except TokenError:
        raise ParameterError("sql", text[:_SHOWN], "must be one well-formed SELECT") from None


def split_statements(tokens: Sequence[Token]) -> list[list[Token]]:
    """The words of each statement that is not empty."""
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            statements.append([])
        else:
            statements[-1].append(token)
    return list(filter(None, statements))


def statements_of(text: str) -> list[str]:
    """The statements of a text, which semicolons separate; those inside of texts and names do not.

    Raises:
        ParameterError: It is empty, too long, no Unicode, or ends within a literal.

    Example:
        >>> statements_of("SELECT ';' AS x; SELECT 2;")
        ["SELECT ';' AS x", 'SELECT 2']
    """
    return [text[words[0].start : words[-1].end + 1] for words in split_statements(tokens_of(text))]


def shown(node: object) -> str:
    """A fragment of the query as SQL, shortened."""
    if isinstance(node, exp.Expr):
        return shortened(_Fragments(dialect=DIALECT, unsupported_level=ErrorLevel.IGNORE).generate(node))
    return shortened(str(node))


def shortened(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def require_only(node: exp.Expr, arguments: Collection[str]) -> None:
    """Refuse a node of which the parser noted more than what is read here, so that nothing is ever left out.

    Raises:
        NotPrivateError: It notes something else.
    """
    for name, value in node.args.items():
        if value and name not in arguments:
            what = name.strip("_").replace("_", " ").upper()
            raise NotPrivateError(shown(node), f"{what} is not supported here", "Leave it out.")


def unnested(node: exp.Expr) -> exp.Expr:
    """What stands inside parentheses."""
    while isinstance(node, exp.Paren):
        require_only(node, {"this"})
        node = node.this
    return node


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that AND connects, at whatever depth."""
    if node is None:
        return []
    inner = unnested(node)
    match inner:
        case exp.And():
            return [condition for side in inner.flatten() for condition in conjuncts(side)]
        case exp.Or():
            return _of_alternatives(inner)
        case _:
            return [inner]


def _of_alternatives(node: exp.Or) -> list[exp.Expr]:
    """An equality of columns that all sides of OR have, as a join may need it, stands before what they differ in."""
    sides = [conjuncts(side) for side in node.flatten()]
    first, *others = sides
    equal = [one for one in first if isinstance(one, exp.EQ)]
    links = [one for one in equal if isinstance(one.this, exp.Column) and isinstance(one.expression, exp.Column)]
    common = [one for one in links if all(one in side for side in others)]
    if not common:
        return [node]
    rest = [[condition for condition in side if condition not in common] for side in sides]
    if not all(rest):
        return [*common]
    return [*common, exp.or_(*(exp.and_(*side) for side in rest))]


def _no_query(text: str) -> NotPrivateError:
    return NotPrivateError(text.strip()[:_SHOWN], "only a single SELECT is answered", "Write SELECT … FROM a table.")


def _check_open(tokens: Sequence[Token], text: str) -> None:
    """Refuse what is nested too deeply for the parser, before it reads it."""
    opened: list[tuple[TokenType, int]] = []
    depth = signs = 0
    before = None
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.NOT or (kind is before is TokenType.DASH):  # a first dash may subtract
            signs += 1
        elif kind in _OPENING:
            opened.append((kind, signs + 1))
            depth, signs = depth + signs + 1, 0
        elif kind is not TokenType.DASH:
            signs = 0
            if opened and _CLOSING.get(kind) is opened[-1][0]:
                depth -= opened.pop()[1]
        before = kind
        if depth + signs > MAX_OPEN:
            requirement = f"must not be nested so deeply: at most {MAX_OPEN} parentheses, CASEs and NOTs in one another"
            raise ParameterError("sql", shortened(text), requirement)


def _check_nesting(query: exp.Query, text: str) -> None:
    """Refuse what is nested too deeply for functions that call themselves; a chain of one connective is flat."""
    level: list[exp.Expr] = [query]
    for _ in range(MAX_NESTING):
        level = list(chain.from_iterable(map(_inside, level)))
        if not level:
            return
    raise ParameterError("sql", text[:_SHOWN], "must not be nested so deeply")


def _check_names(query: exp.Query) -> None:
    """Refuse names that cannot be shown, or stored by every engine, and what is no name where one belongs."""
    for node in query.walk():
        match node:
            case exp.Identifier(name=name) if not name or not name.isprintable() or len(name) > MAX_NAME:
                raise ParameterError("name", name, f"must be 1 to {MAX_NAME} printable characters")
            case exp.Alias():
                aliases = [node.args.get("alias")]
            case exp.TableAlias():
                aliases = [node.args.get("this"), *node.columns]
            case _:
                continue
        for alias in aliases:
            if alias is not None and not isinstance(alias, exp.Identifier):
                raise ParameterError("alias", shown(alias), "must be a plain name")


def _inside(node: exp.Expr) -> list[exp.Expr]:
    alike: list[exp.Expr] = [node]
    inside: list[exp.Expr] = []
    while alike:
        for inner in alike.pop().iter_expressions():
            (alike if isinstance(node, _CHAINS) and type(inner) is type(node) else inside).append(inner)
    return inside


def _place(error: ParseError) -> str:
    """Where the text stops making sense; what the parser says of its own classes is left out."""
    first = error.errors[0] if error.errors else {}
    said = str(first.get("description"))
    what = "something is missing before or after this position" if "<" in said else said
    return f"does not parse at line {first.get('line')}, column {first.get('col')}: {what}"
