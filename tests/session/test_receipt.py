import json
from dataclasses import fields

import pytest
from tests.session.opening import COUNT, opened

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.bounding import enforce_limits
from sfumato.query.canonical import question_hash
from sfumato.session.receipt import Receipt, receipt_from_dict


@pytest.fixture(scope="module")
def receipt():
    return opened(version="2026-11").sql(COUNT, epsilon="0.3").receipt


def test_a_receipt_survives_json(receipt):
    assert receipt_from_dict(json.loads(receipt.to_json())) == receipt


def test_the_json_has_every_field_and_nothing_else(receipt):
    assert set(json.loads(receipt.to_json())) == {field.name for field in fields(Receipt)}


def test_a_receipt_says_who_asked_what_under_which_promise(receipt):
    assert (receipt.question, receipt.guarantee, receipt.spent) == (COUNT, sf.PureDP("0.3"), sf.PureDP("0.3"))
    assert (receipt.left, receipt.privacy_unit, receipt.neighboring_relation) == (
        sf.PureDP("0.7"), "row", "add_or_remove_one",
    )  # fmt: skip
    assert (receipt.policy_version, receipt.data_version, receipt.library) == ("2026-11", "2026-11", sf.__version__)
    assert len(receipt.request) == 32


def test_the_hash_is_that_of_the_canonical_question(receipt):
    assert receipt.plan_hash == question_hash(enforce_limits(opened().query(COUNT).relation))


def test_the_event_is_priced_at_the_guarantee(receipt):
    accountant = sf.accounting.BasicAccountant()
    assert accountant.compose(receipt.event).epsilon(0) == receipt.guarantee.epsilon


def test_a_receipt_without_a_finite_guarantee_is_refused(receipt):
    from sfumato.privacy.codec import encode_guarantee

    with pytest.raises(ParameterError, match="finite"):
        receipt_from_dict(receipt.to_dict() | {"guarantee": encode_guarantee(sf.NO_GUARANTEE)})
