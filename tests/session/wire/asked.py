"""Questions of all sorts, and what a server makes of the texts of others."""

import pytest
from tests.session.stored_keys import CASES, curator

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.wire.questions import (
    QUESTIONS,
    decode_question,
    encode_question,
)

REFUSALS = (ParameterError, NotPrivateError, UnboundedSensitivityError)
ASKED = {name: asked.question for name, asked in CASES.items() if name not in {"bound", "part"}}
POLICY = curator(CASES["rows"]).policy


def policy_of(*tables):
    return Policy(
        dataset="d", version="1", data_version="1", unit_name="person", tables={table.name: table for table in tables},
        sources={table.name: SourceFacts(source=None) for table in tables},
    )  # fmt: skip


def asked_as_sent(text, policy):
    """What a server makes of a text; None if it refuses it."""
    try:
        found = decode_question(text, policy)
    except REFUSALS:
        return None
    assert encode_question(found) == text
    return found


def refused(question, match=None, policy=POLICY):
    with pytest.raises(REFUSALS, match=match):
        decode_question(QUESTIONS.encode(question), policy)
