"""What was asked of a query that takes long is kept for whoever asked, and for nobody else."""

import pytest

from sfumato.errors import NotFoundError
from sfumato.server.identity.questions import Questions

OF_ANN = {
    "person": "ann", "api_key": "ab12", "dataset": "adult", "account": "adult/ann", "key": "ann:1",
    "ask": '{"sql":"é"}',
}  # fmt: skip


@pytest.fixture
def questions(database):
    return Questions(database)


def test_a_question_is_kept_as_it_was_asked(questions, clock):
    kept = questions.get(questions.keep(**OF_ANN), "ann")
    assert {name: getattr(kept, name) for name in OF_ANN} == OF_ANN
    assert kept.at == clock()


def test_names_are_new_each_time_and_tell_nothing(questions):
    names = {questions.keep(**OF_ANN) for _ in range(3)}
    assert len(names) == 3
    assert all(len(name) == 32 for name in names)


@pytest.mark.parametrize("person", ["bob", ""])
def test_a_question_of_somebody_else_is_none(questions, person):
    name = questions.keep(**OF_ANN)
    with pytest.raises(NotFoundError):
        questions.get(name, person)
    with pytest.raises(NotFoundError):
        questions.get("f" * 32, "ann")


def test_a_question_is_forgotten_after_a_week(questions, clock):
    old = questions.keep(**OF_ANN)
    clock.wait(6 * 86_400)
    new = questions.keep(**OF_ANN)
    assert questions.get(old, "ann").id == old
    clock.wait(2 * 86_400)
    questions.keep(**OF_ANN)
    assert questions.get(new, "ann").id == new
    with pytest.raises(NotFoundError):
        questions.get(old, "ann")
