"""`View`: some tables about the same people, and the ways to ask about them."""

from collections.abc import Mapping
from types import MappingProxyType

from sfumato.errors import ParameterError
from sfumato.ledger.entry import Part
from sfumato.numeric.rationals import Number
from sfumato.query.describe import described
from sfumato.query.frame import Frame
from sfumato.query.relations import Aggregate, Rows
from sfumato.query.sql import parse_question
from sfumato.session.pipeline import Desk
from sfumato.session.question import Question
from sfumato.session.release import Release


class View:
    """Some tables about the same people, and the ways to ask about them.

    Args:
        desk: Who answers.
        tables: The relation behind each table name.
        part: The part of a partition that is read, if no other is.
    """

    def __init__(self, desk: Desk, tables: Mapping[str, Rows], part: Part | None = None) -> None:
        self._desk = desk
        self._tables = MappingProxyType(dict(tables))
        self._part = part

    def table(self, name: str | None = None) -> Frame[Question]:
        """A table to filter, group and aggregate in Python; the name may be left out where there is one table.

        Raises:
            ParameterError: There is no such table, or there are several and none is named.
        """
        if name is None and len(self._tables) == 1:
            name = next(iter(self._tables))
        if name is None or name not in self._tables:
            raise ParameterError("table", name, f"must be one of: {', '.join(self._tables)}")
        return Frame(self._tables[name], self._asked)

    def query(self, sql: str) -> Question:
        """The question of a SELECT statement, not yet answered: ask its cost and error first.

        Raises:
            ParameterError: The text does not parse, or names what does not exist.
            NotPrivateError: It asks for something that is not released here.
        """
        return Question(relation=parse_question(sql, self._tables), text=sql, desk=self._desk, part=self._part)

    def sql(self, sql: str, *, epsilon: Number, delta: Number = 0) -> Release:
        """Answer a SELECT statement: `query(sql).release(...)`."""
        return self.query(sql).release(epsilon=epsilon, delta=delta)

    def _asked(self, relation: Aggregate) -> Question:
        return Question(relation=relation, text=described(relation), desk=self._desk, part=self._part)
