import json
from dataclasses import fields, replace

import pytest
from tests.query.planned import PEOPLE, N, ref
from tests.session.desk import asked, desk, rows
from tests.session.opened import shop

import sfumato as sf
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.errors import ParameterError
from sfumato.privacy.codec import encode_guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.model.statement import AUTO
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.statistics.means import Mean
from sfumato.session.releases.receipt import Receipt, receipt_from_dict


def question(*statistics, relation=ADD_OR_REMOVE_ONE):
    curator = desk((PEOPLE, rows(PEOPLE)), budget=sf.PureDP(1), version="2026-11", data_version="7", relation=relation)
    return asked(curator, PEOPLE, statistics=statistics or (N,))


@pytest.fixture(scope="module")
def receipt():
    return question().release(epsilon="0.3").receipt


def test_a_receipt_survives_json(receipt):
    assert receipt_from_dict(json.loads(receipt.to_json())) == receipt


def test_the_json_has_every_field_and_nothing_else(receipt):
    stored = {"remaining": "left"}  # as answers have it that were stored before the field had this name
    assert set(json.loads(receipt.to_json())) == {stored.get(field.name, field.name) for field in fields(Receipt)}


def test_a_receipt_says_who_asked_what_under_which_promise(receipt):
    assert (receipt.question, receipt.guarantee, receipt.spent) == ("a question", sf.PureDP("0.3"), sf.PureDP("0.3"))
    assert (receipt.remaining, receipt.privacy_unit, receipt.neighboring_relation) == (
        sf.PureDP("0.7"), "person", "add_or_remove_one",
    )  # fmt: skip
    assert (receipt.policy_version, receipt.data_version, receipt.library) == ("2026-11", "7", sf.__version__)
    assert len(receipt.request) == 32
    assert question(relation=REPLACE_ONE).release(epsilon="0.3").receipt.neighboring_relation == "replace_one"


def test_the_hash_is_that_of_the_canonical_question(receipt):
    assert receipt.plan_hash == question_hash(question_text(question().relation.child))
    assert receipt.plan_hash != question(("m", Mean(ref("age")))).release(epsilon="0.3").receipt.plan_hash


@pytest.mark.parametrize("statistics", [(N,), (("m", Mean(ref("age"))), N), (("m", Mean(ref("free"), AUTO)), N)])
def test_the_event_is_priced_at_the_guarantee(statistics):
    receipt = question(*statistics).release(epsilon="0.3").receipt
    assert BasicAccountant().compose(receipt.event).epsilon(0) == receipt.guarantee.epsilon
    assert receipt_from_dict(json.loads(receipt.to_json())).event == receipt.event


def test_a_receipt_without_a_finite_guarantee_is_refused(receipt):
    with pytest.raises(ParameterError, match="finite"):
        receipt_from_dict(receipt.to_dict() | {"guarantee": encode_guarantee(sf.NO_GUARANTEE)})


@pytest.mark.parametrize(("options", "named"), [({}, "native (duckdb)"), ({"sampling": "md5"}, "md5")])
def test_a_receipt_names_the_hash_by_which_rows_above_a_bound_were_chosen(options, named):
    with shop(engine_options=options) as session:
        receipt = session.sql("SELECT COUNT(*) AS n FROM lines", epsilon=1).receipt
    assert receipt.sampling == named
    assert receipt_from_dict(json.loads(receipt.to_json())).sampling == named


def test_a_receipt_of_an_older_version_names_no_hash(receipt):
    stored = json.loads(receipt.to_json())
    del stored["sampling"]
    assert receipt_from_dict(stored) == replace(receipt, sampling=None)
