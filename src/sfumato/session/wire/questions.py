"""Questions as text, from whoever builds them elsewhere to the session that plans and charges them; and tables back.

A client has the tables of a session as text, builds frames over them, and sends the finished question. Who asks is not
trusted: a text may hold any tree that the declared types allow.

**Guarantee**: what `decode_question` gives was built in this process, over the tables of its own policy, by the steps
that build the questions of frames and SQL (`query.python.rebuilding`), and is what the text says. So a text can ask
nothing that a frame or a statement could not.

Proof: proofs/session/wire/questions.md. Decision: docs/decisions/0043.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, get_args

from sfumato.errors import NotPrivateError, ParameterError, TicketError, UnboundedSensitivityError
from sfumato.query.model.columns import Column
from sfumato.query.model.expressions import Comparison, Expression
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    BoundRows,
    Fold,
    Folded,
    GroupBy,
    JoinKind,
    PeoplePart,
    Relation,
    RowFunction,
)
from sfumato.query.model.schema import Limits, Table, TableUnit
from sfumato.query.model.statement import Auto
from sfumato.query.planning.questions import Aggregate, Presented
from sfumato.query.planning.windows import OrderKey, RowsFrame, Window, WindowFunction
from sfumato.query.policy.policy import Policy
from sfumato.query.python.rebuilding import rebuilt_question
from sfumato.query.statistics.registry import STATISTICS
from sfumato.query.statistics.statistic import Statistic
from sfumato.session.wire.nodes import MISTAKES, Wire

VERSION: Final = 1
"""Of the way in which questions and tables are written."""


@dataclass(frozen=True, slots=True)
class Relations:
    """What a session can be asked about: the relation behind each name of a table or a view."""

    named: tuple[tuple[str, Relation], ...]


OF_SESSIONS: Final[tuple[type[Any], ...]] = (PeoplePart, BoundRows)
"""Relations that only sessions make: a question from elsewhere has none of them."""

RELATIONS: Final[tuple[type[Any], ...]] = tuple(one for one in get_args(Relation) if one not in OF_SESSIONS)
CLASSES: Final[tuple[type[Any], ...]] = (
    Relations, Presented, OrderKey, Window, RowsFrame, Aggregate, *STATISTICS, GroupBy, *RELATIONS, Folded,
    *get_args(Expression), Table, *get_args(TableUnit), Column, Limits,
)  # fmt: skip
"""Every class that such a text may hold; nothing else is written, and nothing else is made of a text."""

WORDS: Final = (Kind, Comparison, Function, JoinKind, Fold, RowFunction, WindowFunction, Auto)
"""Every enumeration of which it may hold members."""

_ROLES: Final[Mapping[type, tuple[type, ...]]] = {Statistic: STATISTICS}
QUESTIONS: Final = Wire(Presented, version=VERSION, classes=CLASSES, words=WORDS, roles=_ROLES, made={})
TABLES: Final = Wire(Relations, version=VERSION, classes=CLASSES, words=WORDS, roles=_ROLES, made={})


def encode_question(question: Presented) -> str:
    """A question as text, in ASCII; equal questions have one text.

    Raises:
        ParameterError: It is of a part of a partition, which only its own session can ask.
    """
    try:
        return QUESTIONS.encode(question)
    except TicketError as error:
        raise ParameterError("question", error.part, "is nothing that can be asked from elsewhere") from None


def decode_question(text: str, policy: Policy) -> Presented:
    """The question that `encode_question` wrote elsewhere, built anew.

    Args:
        text: What it wrote, or anything.
        policy: The policy by which this process plans.

    Raises:
        ParameterError: The text is no question about the tables of the policy, or not written as frames and SQL build
            it.
        NotPrivateError: It has no privacy meaning.
        UnboundedSensitivityError: Nothing bounds what a sub-query sums.
    """
    try:
        made = rebuilt_question(QUESTIONS.decode(text), policy.tables)
        is_as_sent = QUESTIONS.encode(made) == text
    except TicketError as error:
        requirement = f"cannot be read: its {error.part} {error.requirement}; use the same version of sfumato here"
        raise ParameterError("plan", "a text", requirement) from None
    except (ParameterError, NotPrivateError, UnboundedSensitivityError):
        raise
    except MISTAKES:
        raise ParameterError("plan", "a text", "must be of values that can be together") from None
    if not is_as_sent:
        raise ParameterError("plan", "a text", "must be a question as frames build it, over the tables as they are now")
    return made


def encode_relations(relations: Mapping[str, Relation]) -> str:
    """What a session can be asked about, as text: all that the owner declares of its tables, and nothing of data."""
    return TABLES.encode(Relations(tuple(relations.items())))


def decode_relations(text: str) -> Mapping[str, Relation]:
    """The relations that `encode_relations` wrote.

    Raises:
        ParameterError: The text is none that this version writes.
    """
    try:
        return MappingProxyType(dict(TABLES.decode(text).named))
    except TicketError as error:
        requirement = f"cannot be read: its {error.part} {error.requirement}; use the server's version of sfumato"
        raise ParameterError("relations", "a text", requirement) from None
