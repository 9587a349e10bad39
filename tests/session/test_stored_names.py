"""Whatever is stored has a name of its own, and every such name stays: names in Python are free to change.

Where one of these tests fails after something was renamed in Python, its stored name was lost: write it in the table of
its codec, beside the new name. The golden file only ever grows.
"""

import json
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from itertools import product
from typing import get_args, get_type_hints

import pytest
from tests.query.planned import PEOPLE, N, question
from tests.session.stored_keys import BATCHES, CASES, curator, prepared, stored, stored_batch
from tests.session.stored_tables import CODECS, FILE, tables

from sfumato.errors import ParameterError
from sfumato.ledger.core import entry
from sfumato.ledger.core.codec import ENTRIES, encode_entry
from sfumato.privacy import budgets, events, guarantees
from sfumato.privacy.codec import BUDGETS, EVENTS, encode_budget, encode_event, encode_guarantee
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.stored_names import StoredNames
from sfumato.query.analysis.simplify import document_of
from sfumato.query.model import expressions, relations
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
)
from sfumato.query.model.facts import Edition
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Relation, lineage
from sfumato.query.model.schema import Table
from sfumato.query.printing.canonical import _form, question_text
from sfumato.query.statistics.measurements import Section
from sfumato.query.statistics.registry import OUTPUTS, STATISTICS, STORED
from sfumato.session.asking import answer_key
from sfumato.session.asking.answer_key import DECLARED, MEMBERS, PLANS, declared_text

FROZEN = json.loads(FILE.read_text("ascii"))
X, TRUTH = ColumnRef("x"), Literal(value=True)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Of no codec."""

    account: str = "a"


def made_in(*modules):
    """The dataclasses that modules define."""
    found = [one for module in modules for one in vars(module).values() if is_dataclass(one) and isinstance(one, type)]
    return {one for one in found if one.__module__ in {module.__name__ for module in modules}}


def reached(*roots):
    """The dataclasses and enumerations that values of some classes may hold; expressions and relations are others."""
    found, waiting = set(), [*roots]
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        if kind in found or kind in {*get_args(Expression), *get_args(Relation)} or not isinstance(kind, type):
            continue
        if is_dataclass(kind) or issubclass(kind, Enum):
            found.add(kind)
        if is_dataclass(kind):
            hints = get_type_hints(kind)
            left_out = PLANS.table[kind].unwritten if kind in PLANS.table else ()  # follows from what is stored
            waiting += [hints[field.name] for field in fields(kind) if field.name not in left_out]
    return found


# All names


def test_every_name_that_was_ever_stored_is_stored_still():
    assert tables() == FROZEN


@pytest.mark.parametrize("what", CODECS)
def test_no_tag_stands_for_two_classes(what):
    tags = [names.tag for names in CODECS[what].table.values()]
    assert len(set(tags)) == len(tags) > 0


def test_no_two_members_are_written_alike():
    for kind in {type(member) for member in MEMBERS}:
        assert len({MEMBERS[member] for member in kind}) == len(kind)


# All classes


def test_every_event_has_names():
    assert EVENTS.table.keys() == set(get_args(events.Event)) == made_in(events)


def test_every_guarantee_and_every_other_budget_has_names():
    assert BUDGETS.table.keys() == set(get_args(budgets.Budget)) == made_in(budgets, guarantees)


def test_every_entry_has_names():
    parts = {entry.PartitionPart, entry.AccountPrice}  # which the codec writes field by field
    assert ENTRIES.table.keys() == set(get_args(entry.Entry)) == made_in(entry) - parts


def test_every_statistic_has_names_and_every_node_is_a_relation_or_a_part_of_one():
    assert STORED.table.keys() == set(STATISTICS)
    assert made_in(relations) == {*get_args(Relation), relations.Folded, relations.GroupBy}


def test_whatever_a_plan_may_hold_has_names():
    found = reached(Section, *OUTPUTS) - set(get_args(Expression))
    written_apart = {Section, *get_args(events.Event), *(one for one in found if one.__name__ == "Statement")}
    assert {one for one in found if is_dataclass(one)} - written_apart == set(PLANS.table)
    assert {one for one in found if not is_dataclass(one)} <= {type(member) for member in MEMBERS}


def test_whatever_a_declaration_may_hold_has_names():
    found = reached(Table, CsvFormat, entry.PartitionPart)
    assert {one for one in found if is_dataclass(one)} == set(DECLARED.table)
    assert {one for one in found if not is_dataclass(one)} <= {type(member) for member in MEMBERS}
    assert set(MEMBERS) == {member for kind in {type(one) for one in MEMBERS} for member in kind}


EXPRESSIONS = {
    X: ["column", "x"],
    TRUTH: ["boolean", "true"],
    Null(Kind.DATE): ["null", "date"],
    Call(Function.ADD, (X, X)): ["call", "add", ["column", "x"], ["column", "x"]],
    Case(((TRUTH, X),), X): ["case", [["boolean", "true"], ["column", "x"]], ["column", "x"]],
    Compare(Comparison.LESS, X, X): ["compare", "<", ["column", "x"], ["column", "x"]],
    IsIn(X, (TRUTH,)): ["in", ["column", "x"], ["boolean", "true"]],
    IsNull(X): ["is null", ["column", "x"]],
    Not(X): ["not", ["column", "x"]],
    And((X,)): ["and", ["column", "x"]],
    Or((X,)): ["or", ["column", "x"]],
}


def test_every_expression_is_written_under_a_tag_of_its_own():
    assert {type(one) for one in EXPRESSIONS} == set(get_args(Expression)) == made_in(expressions)
    assert len({document[0] for document in EXPRESSIONS.values()}) == len(EXPRESSIONS)
    assert [document_of(one) for one in EXPRESSIONS] == list(EXPRESSIONS.values())


def test_every_relation_is_in_a_frozen_question():
    found = {type(one) for asked in CASES.values() for one in lineage(asked.question.child.child.child)}
    assert found == set(get_args(Relation))


def test_every_name_is_in_a_frozen_key(monkeypatch):
    """So that a tag which is given to another class, or a field to another name, shows in a hash."""
    seen, members = set(), set()

    def of(self, value):
        seen.add(type(value))
        return known(self, value)

    def text(value):
        members.update({value} if isinstance(value, Enum) else ())
        return written(value)

    known, written = StoredNames.of, declared_text
    monkeypatch.setattr(StoredNames, "of", of)
    monkeypatch.setattr(answer_key, "declared_text", text)
    for asked, edition in product(CASES.values(), Edition):
        stored(asked, edition)
    for name in BATCHES:
        stored_batch(name)
    assert {*STORED.table, *PLANS.table, *DECLARED.table} - seen == set()
    assert set(MEMBERS) - members == set()


# What has no name


@pytest.mark.parametrize("encode", [encode_event, encode_guarantee, encode_budget, encode_entry, declared_text])
def test_what_has_no_name_is_refused(encode):
    with pytest.raises(ParameterError, match="'Unknown': has no stored name"):
        encode(Unknown())


def test_an_expression_a_relation_and_a_statistic_need_names():
    asked = question(PEOPLE, N)
    with pytest.raises(ParameterError, match="expression = 'Unknown': has no stored name"):
        document_of(Not(Unknown()))
    with pytest.raises(ParameterError, match="relation = 'Unknown': has no stored name"):
        _form(Unknown())
    with pytest.raises(ParameterError, match="statistic = 'Unknown': has no stored name"):
        question_text(replace(asked, statistics=(("n", Unknown()),)))


def test_a_window_needs_a_name():
    opened = entry.Opened(
        account="a", budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="row", window=Unknown()
    )
    with pytest.raises(ParameterError):
        encode_entry(opened)


def test_a_part_of_a_plan_needs_a_name():
    asked = CASES["rows"]
    found = prepared(asked)
    section = replace(found.plan.sections[0], outputs=(Unknown(),))
    with pytest.raises(ParameterError, match="plan = 'Unknown': has no stored name"):
        answer_key.answer_key(curator(asked).policy, replace(found.plan, sections=(section,)), "question", {})
