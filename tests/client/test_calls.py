"""Requests are values, and answers mean what the package says they do."""

import json

import pytest
from tests.client.curator import TOKEN

import sfumato as sf
from sfumato.client import calls
from sfumato.client.problems import Answer
from sfumato.errors import ParameterError


def answer(document, **headers):
    return Answer(status=200, headers=headers, body=json.dumps(document).encode())


def test_which_dataset_is_meant_must_be_clear(served):
    with pytest.raises(ParameterError, match="must be one of: people"):
        sf.connect(served[1], token=TOKEN, dataset="others")
    with pytest.raises(ParameterError, match="as text"):
        sf.connect(served[1], token=TOKEN, dataset=7)
    with sf.connect(served[1], token=TOKEN, dataset="people") as session:
        assert repr(session) == f"<RemoteSession on people at {served[1]}>"


def test_names_are_written_into_addresses_as_names():
    assert calls.label("../people?x").path == "datasets/..%2Fpeople%3Fx/label"
    assert calls.release("a/b").path == "releases/a%2Fb"


def test_an_analyst_without_an_account_hears_whom_to_ask():
    with pytest.raises(ParameterError, match="ask an owner"):
        calls.account_name("people").read(answer({"account": None}))
    assert calls.account_name("people").read(answer({"account": "people/ann"})) == "people/ann"


def test_an_account_with_a_window_says_it():
    budget = {"type": "PureDP", "epsilon": "1/2"}
    found = {
        "name": "people",
        "budget": budget,
        "spent": budget,
        "remaining": budget,
        "window": "weekly",
        "state": "open",
    }
    account = calls.account("people", "people").read(answer([found]))
    assert (account.budget, account.window) == (sf.PureDP("0.5"), "weekly")
