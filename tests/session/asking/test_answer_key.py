"""What stored answers are found by never changes by accident: else all that was bought would be charged again."""

import json

import pytest
from tests.session.stored_keys import BATCHES, CASES, FILE, FILE_OF_BATCHES, FORMAT, stored, stored_batch

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Limits, Table, UnitPath, integer, text
from sfumato.session.asking.answer_key import declared_text

FROZEN = json.loads(FILE.read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_question_has_the_text_the_hash_and_the_keys_that_it_had(name):
    assert stored(CASES[name]) == FROZEN[name]


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_has_the_keys_that_it_had(name):
    """Also those of strategies that are found by floats."""
    assert stored_batch(name) == json.loads(FILE_OF_BATCHES.read_text("ascii"))[name]


def test_every_frozen_question_is_asked():
    assert list(FROZEN) == list(CASES)


def test_declarations_are_written_as_the_first_versions_wrote_them():
    people = Table(name="people", columns={"id": text()}, unit=UnitColumn("id"), limits=Limits(max_rows_per_unit=2))
    visits = Table(
        name="visits", columns={"who": text(), "day": integer(values=[1])}, unit=UnitPath("who", people, "id"),
        limits=Limits(max_rows_per_unit=3), matches={("who",): 4}, keeps_rows=True,
    )  # fmt: skip
    limits = "max_groups_per_unit=None, max_rows_per_group_per_unit=None"
    free = "lower=None, upper=None, resolution=Fraction(1, 1)"
    words = f"Column(kind=<Kind.TEXT: 'text'>, {free}, values=None, nullable=True)"
    days = f"Column(kind=<Kind.INTEGER: 'integer'>, {free}, values=(1,), nullable=True)"
    assert declared_text(visits) == (
        f"Table(name='visits', columns=mappingproxy({{'who': {words}, 'day': {days}}}), unit=UnitPath(column='who', "
        f"table=Table(name='people', columns=mappingproxy({{'id': {words}}}), unit=UnitColumn(column='id'), "
        f"limits=Limits(max_rows_per_unit=2, {limits}), matches=mappingproxy({{}}), keeps_rows=False), key='id'), "
        f"limits=Limits(max_rows_per_unit=3, {limits}), matches=mappingproxy({{('who',): 4}}), keeps_rows=True)"
    )
    assert declared_text(FORMAT) == (
        "CsvFormat(delimiter=';', encoding='iso8859-1', decimal=',', thousands='.', dates=('%d.%m.%Y',), "
        "null=('NA',), skip_lines=0)"
    )
