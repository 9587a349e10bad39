"""A statement as a question: its options, its relations, its keys and statistics."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sfumato.errors import ParameterError
from sfumato.query.analysis.sizes import check_size
from sfumato.query.model.relations import Presented, Relation
from sfumato.query.sql.answers import question_of
from sfumato.query.sql.constants import Parameters
from sfumato.query.sql.context import Context
from sfumato.query.sql.options import Options
from sfumato.query.sql.parsing import parsed, shortened
from sfumato.query.sql.relations import relation_of


def parse_question(
    text: str,
    sources: Mapping[str, Relation],
    *,
    parameters: Sequence[object] | Mapping[str, object] = (),
    options: Options | None = None,
) -> Presented:
    """The question that a SELECT statement asks.

    Args:
        text: One statement, such as ``SELECT sex, AVG(age) FROM people WHERE age > 50 GROUP BY sex``.
        sources: The relation behind each name of a table or a view.
        parameters: The values of ``$1``, ``$2``, …, or those of ``:name`` by name; each must be used.
        options: What a header said that `parse_options` took off.

    Raises:
        ParameterError: The text does not parse, names what does not exist, or mixes kinds.
        NotPrivateError: It asks for something that is not released here.
        UnboundedSensitivityError: A sub-query sums what has no bounds.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> parse_question("SELECT AVG(age) AS a FROM people", {"people": people}).child.statistics
        (('a', Mean(value=ColumnRef(name='age'), bounds=None)),)
    """
    values = Parameters(parameters)
    context = Context(sources=MappingProxyType(dict(sources)), parameters=values)
    asked = options or Options()
    try:
        question = question_of(context, parsed(text), asked.limits)
    except RecursionError:
        raise _too_deep(text) from None
    asked.check_unit(question.child.child.child)
    values.check_used()
    return question


def parse_view(text: str, sources: Mapping[str, Relation]) -> Relation:
    """The relation that a SELECT statement of the policy defines: rows, each of the unit that it belonged to before.

    Args:
        text: One statement without aggregates over all people, such as ``SELECT * FROM people WHERE age >= 18``.
        sources: The relation behind each name of a table, or of a view defined before.

    Raises:
        ParameterError: The text does not parse, names what does not exist, or mixes kinds.
        NotPrivateError: It would put rows of two people together.
        UnboundedSensitivityError: It sums what has no bounds.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> type(parse_view("SELECT * FROM people WHERE age >= 18", {"people": people})).__name__
        'Filter'
    """
    context = Context(sources=MappingProxyType(dict(sources)))
    try:
        relation = relation_of(context, parsed(text)).relation
    except RecursionError:
        raise _too_deep(text) from None
    check_size(relation)
    return relation


def _too_deep(text: str) -> ParameterError:
    return ParameterError("sql", shortened(text), "must not be nested so deeply")
