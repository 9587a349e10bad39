"""Surveys on paper: the form says what the event says, and estimates and numbers of people are right."""

import re
from fractions import Fraction
from math import log

import pytest

from sfumato.errors import ParameterError
from sfumato.local import Survey
from sfumato.privacy.events import RandomizedResponseEvent

SMOKED = Survey("Did you ever smoke marijuana?")
SURVEYS = [
    SMOKED,
    Survey("Which drink?", ["tea", "coffee", "water"], truth="2/3"),
    Survey("Which drink?", list("abcde"), truth="7/10"),
    Survey("Which side?", ["left", "right"], truth="1/3"),
    Survey("Which number?", range(6), truth="5/6"),
    Survey("Which season?", ["spring", "summer", "fall", "winter"], truth="1/4"),
]


def sides(action):
    return 2 if "coin" in action else 6 if "die" in action else int(re.search(r"one of (\d+)", action)[1])


def share(outcomes, of):
    """How many of the outcomes a text names: "Heads", "3" or "1 to 4"."""
    first, _, last = outcomes.partition(" to ")
    return Fraction(1 if not first.isdigit() else int(last or first) - int(first) + 1, of)


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.question)
def test_the_throws_of_the_form_have_the_probabilities_of_the_event(survey):
    question, first, second = survey.form().splitlines()
    assert question == survey.question
    assert survey.event == RandomizedResponseEvent(survey.truth, len(survey.answers))
    tells = re.search(r"(?:coin|die|put it back)\. (.*): write your true answer", first)[1]
    assert share(tells, sides(first)) == survey.truth
    action, _, says = second.removesuffix(".").partition(", and write what it says. ")
    for step in (first, second):  # a ticket that is kept cannot be drawn again
        assert ("put it back" in step) == ("ticket" in step)
    assert "nobody sees you" in first  # who throws twice does not write the truth
    shares = {
        answer: share(outcome, sides(action)) for outcome, answer in (part.split(": ") for part in says.split(". "))
    }
    assert shares == {str(answer): Fraction(1, len(survey.answers)) for answer in survey.answers}


def test_the_survey_of_the_texts():
    assert float(SMOKED.epsilon) == pytest.approx(log(3))
    found = SMOKED.estimate({"yes": 45, "no": 55})
    assert found["yes"].fraction == pytest.approx(0.4)
    assert found["no"].fraction == pytest.approx(0.6)
    assert found == SMOKED.estimate(["yes"] * 45 + ["no"] * 55)
    assert found["yes"].low < 0.4 < found["yes"].high


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.question)
@pytest.mark.parametrize("error", ["0.1", "0.03"])
def test_so_many_people_are_enough(survey, error):
    people = survey.people_for(error=error, confidence="0.9")
    assert survey.accuracy("0.9", people=people) <= float(error) < survey.accuracy("0.9", people=people - 1)


@pytest.mark.parametrize(
    "papers", [[], ["maybe"], ["yes", None], {"yes": -1}, {"yes": 1.5}, {"yes": True}, {"maybe": 3}]
)
def test_papers_without_an_answer_are_refused(papers):
    with pytest.raises(ParameterError, match=r"papers|answers"):
        SMOKED.estimate(papers)


@pytest.mark.parametrize(
    "wrong",
    [
        {"answers": ["one"]},
        {"answers": 3},
        {"answers": range(101)},
        {"truth": 0},
        {"truth": 1},
        {"truth": "1/1001"},
        {"question": 7},
    ],
    ids=str,
)
def test_wrong_surveys_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=r"answers|truth|question|domain"):
        Survey(**({"question": "Which?"} | wrong))


@pytest.mark.parametrize("wrong", [{"error": 0}, {"error": "0.1", "confidence": 1}])
def test_wrong_errors_are_refused(wrong):
    with pytest.raises(ParameterError):
        SMOKED.people_for(**wrong)
