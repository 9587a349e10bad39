"""The process that plans answers each line, whatever is in it, and reads no rows."""

import io
import json

import pytest
from tests.learn.ordering.ordered import CASES, declared

from sfumato.learn.ordering import planner
from sfumato.learn.ordering.orders import order_of
from sfumato.learn.ordering.planning import planned_fit
from sfumato.session.wire.fits import decode_fit, encode_rows

ORDER = order_of(CASES["GaussianNB"][0])
LINE = json.dumps([ORDER.estimator, ORDER.arguments, encode_rows(declared("GaussianNB"))])


def test_it_is_ready_and_answers_line_by_line():
    answers = io.StringIO()
    planner.main(io.StringIO(f"{LINE}\n{LINE}\n"), answers)
    ready, *found = map(json.loads, answers.getvalue().splitlines())
    assert (ready, len(found)) == ({}, 2)
    assert decode_fit(found[0]["fit"]) == planned_fit(ORDER, declared("GaussianNB"))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_cannot_be_planned_is_an_answer_too(place):
    asked = json.loads(LINE)
    asked[place] = "nothing"
    found = json.loads(planner.answer_to(json.dumps(asked)))
    assert set(found) == {"name", "value", "requirement"}


def test_too_little_memory_is_an_answer_too(monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(planner, "planned_fit", exhausted)
    assert "cannot be planned" in planner.answer_to(LINE)
