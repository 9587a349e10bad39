"""What the sharp edges say of time is so: how much a question works depends on the data, and noise does not hide it.

No wall clock is read: time is the number of calls that Python makes, with the engine that is plain Python.
"""

import sys

import numpy as np
import pyarrow as pa
import pytest
from tests.meta.repository import ROOT

import sfumato as sf
from sfumato.attacks.implementation.side_channels import timing
from sfumato.errors import NotPrivateError

PEOPLE = 10
HEAVY = "CASE WHEN person = 0 THEN {} ELSE FALSE END".format(
    " AND ".join(f"LENGTH(TRIM(word)) <> {number}" for number in range(2, 42))
)
TOO_HEAVY = HEAVY.replace("TRIM", "LOWER")


class Calls:
    """A clock that goes on by one with each call, while it is wound up."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now

    def tick(self, _frame, event, _argument):
        self.now += event in {"call", "c_call"}

    def asks(self, condition, *, person):
        """A fresh session each time; the row in question is of person 0 or of another, as are half of the others."""
        rows = {"person": [person, *range(1, PEOPLE)], "word": ["x"] * PEOPLE}

        def ask():
            with sf.open(
                pa.table(rows),
                name="people",
                unit=sf.EACH_ROW,
                columns={"person": sf.integer(0, PEOPLE), "word": sf.text()},
                budget=sf.PureDP(1),
                engine="reference",
            ) as people:
                question = people.query(f"SELECT COUNT(*) AS n FROM people WHERE {condition}")
                sys.setprofile(self.tick)
                try:
                    question.release(epsilon="0.01")
                finally:
                    sys.setprofile(None)

        return ask


def attack(condition, *, rounds=50):
    clock = Calls()
    return timing(clock.asks(condition, person=0), clock.asks(condition, person=PEOPLE), clock=clock, rounds=rounds)


@pytest.mark.statistical
def test_a_branch_that_works_hard_for_one_person_tells_by_its_work_what_the_answer_does_not():
    """The answer of ε = 0.01 is right about the person with a chance of 0.5025 at most."""
    found = attack(HEAVY)
    assert found.tells(), "24 of 25 right, which chance is once in 10^6"
    assert found.medians[0] > found.medians[1]


def test_a_branch_that_works_harder_than_one_row_may_is_refused_before_the_data_is_read():
    with pytest.raises(NotPrivateError, match="its time could reveal a person"):
        Calls().asks(TOO_HEAVY, person=0)()


@pytest.mark.statistical
def test_a_branch_for_nobody_tells_nothing():
    found = attack(HEAVY.replace("person = 0", "person < 0"))
    assert not found.tells(), "type-I error 1e-6"


def test_the_sharp_edges_say_so():
    page = (ROOT / "docs" / "sharp-edges" / "README.md").read_text("utf-8")
    assert "Time and memory are not hidden" in page
    assert np.all([words in page for words in ("analysts measure time", "depends on the data")])
