"""What stored answers are found by never changes by accident: else all that was bought would be charged again."""

import json

import pytest
from tests.session.stored_keys import CASES, FILE, stored

FROZEN = json.loads(FILE.read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_question_has_the_text_the_hash_and_the_keys_that_it_had(name):
    assert stored(CASES[name]) == FROZEN[name]


def test_every_frozen_question_is_asked():
    assert list(FROZEN) == list(CASES)
