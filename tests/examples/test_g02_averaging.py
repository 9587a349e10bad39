import pytest

import sfumato as sf
from examples import g02_averaging as example
from sfumato.attacks.questions.repetition import repeated


@pytest.mark.statistical
@pytest.mark.parametrize(("times", "chance"), [(1, 0.393), (10, 0.746), (100, 0.9995)])
def test_means_of_fresh_answers_are_right_as_often_as_the_text_says(times, chance):
    low, high = example.against_fresh_noise(times).interval(confidence=1 - 1e-6)
    assert low <= chance <= high


def test_a_hundred_repeats_are_one_answer():
    with example.curator() as patients:
        found = repeated(lambda _: example.ask(patients, "1"), question="how many?", times=100)
        assert (found.different, found.refused) == (1, 0)
        assert patients.spent == sf.PureDP(1)


def test_other_questions_are_refused_when_the_budget_is_spent():
    with example.curator() as patients:
        ages = iter(range(100))
        found = repeated(lambda _: example.ask(patients, "0.1", next(ages)), question="how many?", times=20)
        assert (len(found.answers), found.refused) == (10, 10)
        assert patients.remaining == sf.PureDP(0)
