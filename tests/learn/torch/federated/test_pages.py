"""The tutorial of hospitals and the page of federated learning, as a reader runs them."""

import re

import pytest
from tests.meta.repository import ROOT


def left_by(page):
    """The names that the code of a page leaves, run one block after the other."""
    names = {}
    for code in re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        exec(compile(code, page, "exec"), names)  # noqa: S102 # the page's own code
    return names


@pytest.fixture(scope="module")
def hospitals():
    return left_by("tutorials/hospitals.md")


def test_hospitals_train_a_model_that_is_better_than_a_guess(hospitals):
    assert hospitals["accuracy"] > 0.8
    assert hospitals["found"].shares == 23
    assert str(hospitals["plan"].result().guarantee) == "ε 8, δ 1e-05"


def test_a_careful_hospital_gets_what_the_page_says(hospitals):
    plan, careful = hospitals["plan"], hospitals["careful"]
    assert str(plan.guarantee_of(careful)) == "ε 1, δ 1e-05"
    assert round(plan.steps_of(careful) / 2**20, 2) == 0.16
    assert round(plan.epsilon_of_group(2)) == 19
    clinic = hospitals["Owner"]("careful", *hospitals["patients"](20), epsilon=1)
    assert round(float(hospitals["trusted"].probability_of(clinic)), 2) == 0.08


def test_the_page_of_federated_learning_runs_and_gives_what_it_says():
    found = left_by("reference/federated.md")["found"]
    assert (found.rounds, str(found.guarantee)) == (5, "ε 2, δ 1e-05")
