"""A curator who adds noise need not refuse small groups: a tracker finds what ε allows, which is little."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from tests.attacks_through_curators.disjoint_worlds import with_and_without
from tests.laws import ALPHA

import sfumato as sf
from sfumato.attacks.core.membership_game import play
from sfumato.attacks.core.outcome import largest_advantage
from sfumato.attacks.questions.trackers import general_tracker, refuses_small_sets

TRIALS = 10_000


@dataclass(frozen=True)
class Sql:
    """A condition by its text, which is the question too."""

    text: str

    def __and__(self, other):
        return Sql(f"({self.text}) AND ({other.text})")

    def __or__(self, other):
        return Sql(f"({self.text}) OR ({other.text})")

    def __invert__(self):
        return Sql(f"NOT ({self.text})")


TARGET, TRACKER = Sql("person = 0"), Sql("person <= 1")
ASKED = (TRACKER, ~TRACKER, TARGET | TRACKER, TARGET | ~TRACKER)


def worlds_of_four_counts(epsilon):
    """Worlds of `membership_game` that answer the four questions of a general tracker."""
    counts = (f"COUNT(CASE WHEN {condition.text} THEN 1 END) AS q{place}" for place, condition in enumerate(ASKED))
    worlds = with_and_without(epsilon, statistics=", ".join(counts))

    def named(coins):
        return [lambda condition, answer=answer: answer(f"q{ASKED.index(condition)}") for answer in worlds(coins)]

    return named


ESTIMATE = partial(general_tracker, target=TARGET, tracker=TRACKER)


def test_without_noise_the_tracker_tells_each_time():
    assert play(worlds_of_four_counts(100_000), ESTIMATE, trials=300).outcome.success == 1


@pytest.mark.essential
@pytest.mark.statistical
def test_at_epsilon_1_the_tracker_tells_less_than_epsilon_allows():
    game = play(worlds_of_four_counts("1"), ESTIMATE, trials=TRIALS, epsilon=1, attack="tracker")
    limit = game.rates.advantage_limits(confidence=1 - 2 * ALPHA)[1]
    assert limit <= largest_advantage(epsilon=1), f"{game} (type-I error {ALPHA})"


def test_the_same_attack_on_frames_and_on_masks():
    ages = np.arange(40)
    old, third = ages >= 20, ages == 3
    exact = refuses_small_sets(np.ones(40), least=5)
    assert general_tracker(exact, target=third, tracker=old) == 1
    with sf.open(
        pa.table({"age": ages}), name="people", unit=sf.EACH_ROW, columns={"age": sf.integer(0, 39)},
        budget=sf.PureDP(4_000),
    ) as curator:  # fmt: skip
        people = curator.table("people")

        def answer(condition):
            return people.filter(condition).agg(n=sf.count()).release(epsilon=1_000)["n"][0].value

        assert answer(people.age == 3) == 1  # a group of one is not refused
        with pytest.raises(sf.errors.BudgetExceededError):
            general_tracker(answer, target=people.age == 3, tracker=people.age >= 20)
