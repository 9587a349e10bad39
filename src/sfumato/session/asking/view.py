"""`View`: some tables about the same people, and the ways to ask about them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Part
from sfumato.numeric.arguments import is_one_of
from sfumato.numeric.rationals import Number, exact, flag
from sfumato.query.model.relations import Presented, Relation
from sfumato.query.planning.questions import with_intervals
from sfumato.query.printing.describe import described
from sfumato.query.python.frame import Frame
from sfumato.query.sql.options import Options, parse_options
from sfumato.query.sql.questions import parse_question
from sfumato.session.asking.pipeline import Desk
from sfumato.session.asking.question import Question
from sfumato.session.releases.release import Release

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
"""What stands for `$1`, `$2`, … in a question, in order; or for `:name`, by name."""


class View:
    """Some tables about the same people, and the ways to ask about them.

    Args:
        desk: Who answers.
        tables: The relation behind each name, of a table or of a view of the policy.
        part: The part of a partition that is read, if no other is.
    """

    def __init__(self, desk: Desk, tables: Mapping[str, Relation], part: Part | None = None) -> None:
        self._desk = desk
        self._tables = MappingProxyType(dict(tables))
        self._part = part

    def table(self, name: str | None = None) -> Frame[Question]:
        """A table or view to filter, join, group and aggregate in Python.

        Raises:
            ParameterError: There is no such table, or there are several and none is named.
        """
        if name is None and len(self._tables) == 1:
            name = next(iter(self._tables))
        if name is None or not is_one_of(name, self._tables):
            raise ParameterError("table", name, f"must be one of: {', '.join(self._tables)}")
        return Frame(self._tables[name], self._asked)

    def query(self, sql: str, *, parameters: Parameters = (), intervals: bool = False) -> Question:
        """The question of a SELECT statement, not yet answered: ask its cost and error first.

        Args:
            sql: One statement; values may be left open in it, as `$1` or `:name`.
            parameters: Their values: a sequence, or a mapping of names.
            intervals: Whether quantiles come with an interval of 95%, for two thirds of the ε of each.

        Raises:
            ParameterError: The text does not parse, names what does not exist, or states a price, which a question only
                has when it is released; or it has no quantile to buy an interval for.
            NotPrivateError: It asks for something that is not released here.
        """
        options, body = parse_options(sql)
        for name, stated in (("epsilon", options.epsilon), ("delta", options.delta)):
            if stated is not None:
                raise ParameterError(name, str(stated), "belongs to `sql`; leave it out of the text of a question")
        return self._question(body, options, text=sql, parameters=parameters, intervals=intervals)

    def sql(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        parameters: Parameters = (),
        intervals: bool = False,
    ) -> Release:
        """Answer a SELECT statement: `query(sql).release(...)`.

        Args:
            sql: One statement. The price may stand in it instead:
                ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) …``.
            epsilon: The total ε of the whole question; there is no default.
            delta: The total δ; 0 if nobody states one.
            parameters: The values of `$1` or `:name`.
            intervals: Whether quantiles come with an interval of 95%, for two thirds of the ε of each.

        Raises:
            ParameterError: As of `query`; or the price is stated nowhere, or twice and not the same.
        """
        options, body = parse_options(sql)
        asked = self._question(body, options, text=sql, parameters=parameters, intervals=intervals)
        stated = _once("delta", delta, options.delta)
        return asked.release(epsilon=_once("epsilon", epsilon, options.epsilon), delta=0 if stated is None else stated)

    def _question(
        self, body: str, options: Options, *, text: str, parameters: Parameters, intervals: bool = False
    ) -> Question:  # fmt: skip
        relation = parse_question(body, self._tables, parameters=parameters, options=options)
        if flag(intervals, "intervals"):
            relation = with_intervals(relation)
        # so that a receipt says what stood for `$1`, and what was bought
        shown = described(relation) if parameters or intervals else text
        return Question(relation=relation, text=shown, desk=self._desk, part=self._part)

    def _asked(self, relation: Presented) -> Question:
        return Question(relation=relation, text=described(relation), desk=self._desk, part=self._part)


def _once(name: str, argument: Number | None, option: Number | None) -> Number | None:
    """A number that is stated as an argument, or in the text, or in both and the same."""
    if argument is None or option is None:
        return option if argument is None else argument
    if exact(argument, name) != exact(option, name):
        raise ParameterError(name, argument, f"is not the {option} that stands in the text; state it once")
    return argument
