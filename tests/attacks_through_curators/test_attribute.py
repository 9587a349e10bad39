"""Everybody else's diagnosis is known, and so is that person 0 is in the table. Is person 0 ill?"""

import numpy as np
import pytest
from tests.attacks_through_curators.disjoint_worlds import looked_up, released

import sfumato as sf
from sfumato.attacks.core.answers import tossed
from sfumato.attacks.disclosure.attribute import attribute_from_model, attribute_from_sums, largest_inference

SURE = 1 - 2e-6
WORLDS, OTHERS, ILL = 2_000, 5, 3
PRIOR = {0: 0.5, 1: 0.5}


def table(own):
    """In each world person 0 and five others, three of whom are ill."""
    worlds = np.repeat(np.arange(len(own)), OTHERS + 1)
    ill = np.column_stack([own, np.tile(np.arange(OTHERS) < ILL, (len(own), 1))]).astype(int)
    return {"world": worlds, "ill": ill.reshape(-1)}


def test_exact_sums_leave_the_diagnosis():
    own = tossed(WORLDS).astype(int).tolist()
    exact = [((lambda _, sum_=ILL + value: sum_), ILL, value) for value in own]
    assert attribute_from_sums(exact, question="ill", prior=PRIOR).success == 1


@pytest.mark.statistical
def test_a_sum_at_an_epsilon_of_one_leaves_no_more_than_it_allows():
    """A sum of zeros and ones moves by one where a value changes, so that ε = 1 holds for the change too."""
    own = tossed(WORLDS).astype(int).tolist()
    question = "SELECT world, SUM(ill) AS ill FROM people GROUP BY world"
    answers = looked_up(released(table(own), {"ill": sf.integer(0, 1)}, question, "1"))
    outcome = attribute_from_sums(
        [(answer, ILL, value) for answer, value in zip(answers, own, strict=True)],
        question="ill", prior=PRIOR, scale=1.0, epsilon=1,
    )  # fmt: skip
    low, high = outcome.interval(confidence=SURE)
    assert low <= outcome.allowed == pytest.approx(0.731, abs=1e-3)
    assert high > 0.6, "it is no better than it need be: 0.66 expected"


def cells(own, labels):
    """Person 0 is the only one of a kind: a model has one cell for each value and label among these."""
    return {
        "world": np.arange(len(own)),
        **{
            f"c{value}{label}": ((own == value) & (labels == label)).astype(int) for value in (0, 1) for label in (0, 1)
        },
    }


def inferred(counts, own, labels, *, epsilon=None):
    """The value is independent of all else, and so is the label; only the model knows how they came together."""

    def likelihood(world, value):
        label = int(labels[world])
        other = max(counts[f"c{value}{1 - label}"][world], 0)
        this = max(counts[f"c{value}{label}"][world], 0)
        return (this + 0.5) / (this + other + 1)

    return attribute_from_model(likelihood, rows=range(len(own)), truths=own.tolist(), prior=PRIOR, epsilon=epsilon)


def test_a_model_of_exact_cells_gives_the_value_of_one_of_a_kind():
    own, labels = (tossed(WORLDS).astype(int) for _ in range(2))
    assert inferred(cells(own, labels), own, labels).success == 1


@pytest.mark.statistical
def test_a_model_of_cells_at_an_epsilon_of_one_gives_no_more_than_it_allows():
    """A person whose value changes is one less and one more: ε = 2 is what the guarantee says of that."""
    own, labels = (tossed(WORLDS).astype(int) for _ in range(2))
    rows = cells(own, labels)
    names = [name for name in rows if name != "world"]
    sums = ", ".join(f"SUM({name}) AS {name}" for name in names)
    question = f"SELECT world, {sums} FROM people GROUP BY world"
    counts = released(rows, {name: sf.integer(0, 1) for name in names}, question, "1")
    outcome = inferred(counts, own, labels, epsilon=2)
    assert outcome.allowed == largest_inference(PRIOR, epsilon=2)
    low, high = outcome.interval(confidence=SURE)
    assert low <= largest_inference(PRIOR, epsilon=1), "two sums of a quarter of ε each move by one"
    assert high < 0.7
