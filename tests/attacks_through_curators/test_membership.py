"""Was person 0 averaged, or trained on? Exact sums of ten people say so, and the same sums at ε = 1 in all do not.

One release answers about all worlds. Models are made of released counts, so that whatever is asked of them is free.
"""

import numpy as np
import pytest
from tests.attacks_through_curators.disjoint_worlds import looked_up, released

import sfumato as sf
from sfumato.attacks.core.answers import tossed
from sfumato.attacks.core.membership_game import Rates, play
from sfumato.attacks.core.outcome import largest_advantage
from sfumato.attacks.members.means import estimate, homer, tracing
from sfumato.attacks.members.models import lira_scores, logits

RNG = np.random.default_rng(2015)
SURE = 1 - 4e-6
"""Of an interval, each of whose four limits fails with a chance of 1e-6."""

OTHERS, ATTRIBUTES, WORLDS = 9, 60, 1_000
RECORD = (np.arange(ATTRIBUTES) % 2).astype(float)
NAMES = [f"a{number}" for number in range(ATTRIBUTES)]
POPULATION = np.full(ATTRIBUTES, 0.5)
THRESHOLD = {tracing: ATTRIBUTES / 8 / (OTHERS + 1), homer: ATTRIBUTES / 4 / (OTHERS + 1)}
"""Of each score half of what the person's own record adds to it; with p = ½ one is twice the other."""


def databases(coins):
    """In each world nine people with random bits, and person 0 where the coin says so."""
    worlds = np.repeat(np.arange(len(coins)), OTHERS)
    bits = RNG.integers(2, size=(len(worlds), ATTRIBUTES))
    there = np.flatnonzero(coins)
    return np.append(worlds, there), np.vstack([bits, np.tile(RECORD.astype(int), (len(there), 1))])


def exact_means(coins):
    worlds, bits = databases(coins)
    for world in range(len(coins)):
        means = bits[worlds == world].sum(axis=0) / (OTHERS + 1)
        yield lambda name, means=means: means[NAMES.index(name)]


def private_means(coins):
    worlds, bits = databases(coins)
    rows = {"world": worlds, **{name: bits[:, at] for at, name in enumerate(NAMES)}}
    sums = ", ".join(f"SUM({name}) AS {name}" for name in NAMES)
    columns = {name: sf.integer(0, 1) for name in NAMES}
    answers = released(rows, columns, f"SELECT world, {sums} FROM people GROUP BY world", "1")
    return [lambda name, answer=answer: answer(name) / (OTHERS + 1) for answer in looked_up(answers)]


@pytest.mark.statistical
@pytest.mark.parametrize("score", [tracing, homer])
def test_exact_means_of_sixty_attributes_say_who_is_among_ten(score):
    game = play(
        exact_means,
        estimate(RECORD, population=POPULATION, questions=NAMES, score=score),
        trials=WORLDS,
        threshold=THRESHOLD[score],
    )
    assert game.rates.advantage_limits(confidence=SURE)[0] > 0.5, "0.78 expected: 2.4 standard deviations apart"


@pytest.mark.statistical
def test_the_same_means_at_an_epsilon_of_one_in_all_say_no_more_than_it_allows():
    game = play(
        private_means,
        estimate(RECORD, population=POPULATION, questions=NAMES),
        trials=WORLDS,
        threshold=THRESHOLD[tracing],
        epsilon=1,
    )
    low, high = game.rates.advantage_limits(confidence=SURE)
    assert low <= largest_advantage(epsilon=1)
    assert high < 0.4, "0.05 expected: noise of scale 60 in each of 60 sums"


FEATURES, SHADOWS, MODELS = 3, 4_000, 2_000
CELLS = [f"c{label}{at}" for label in (0, 1) for at in ("n", *range(FEATURES))]
TARGET, LABEL = np.array([1, 1, 1]), 1
FEW = 3


def training_sums(coins):
    """For each label the number of its rows and of each feature among them: what naive Bayes needs."""
    count = len(coins)
    x, y = RNG.integers(2, size=(count, FEW, FEATURES)), RNG.integers(2, size=(count, FEW))
    rows = np.concatenate([np.repeat(np.arange(count), FEW), np.flatnonzero(coins)])
    features = np.vstack([x.reshape(-1, FEATURES), np.tile(TARGET, (int(np.sum(coins)), 1))])
    labels = np.append(y.reshape(-1), np.full(int(np.sum(coins)), LABEL))
    table = {"world": rows}
    for label in (0, 1):
        own = (labels == label).astype(int)
        table |= {f"c{label}n": own, **{f"c{label}{at}": own * features[:, at] for at in range(FEATURES)}}
    return table


def exact_counts(coins):
    table = training_sums(coins)
    return {name: np.bincount(table["world"], weights=table[name], minlength=len(coins)) for name in CELLS}


def private_counts(coins):
    sums = ", ".join(f"SUM({name}) AS {name}" for name in CELLS)
    question = f"SELECT world, {sums} FROM people GROUP BY world"
    answers = released(training_sums(coins), {name: sf.integer(0, 1) for name in CELLS}, question, "1")
    return {name: np.array(answers[name], float) for name in CELLS}


def simulated_counts(coins):
    """What the adversary makes of the same noise, whose law is public: ε = 1 shared by eight sums."""
    noise = sf.mechanisms.Laplace(l1_sensitivity=1, epsilon="0.125")
    return {name: np.array(noise.release(sums.astype(int))) for name, sums in exact_counts(coins).items()}


def confidences(counts):
    """What naive Bayes, with half a row added everywhere, says of the target's label, one model a world."""
    odds = []
    for label in (0, 1):
        total = np.maximum(counts[f"c{label}n"], 0) + 1
        shares = [np.clip((counts[f"c{label}{at}"] + 0.5) / total, 0.01, 0.99) for at in range(FEATURES)]
        odds.append(total * np.prod(shares, axis=0))
    return odds[LABEL] / (odds[0] + odds[1])


def rates_of(counts, shadow_counts):
    coins, shadow_coins = tossed(MODELS), tossed(SHADOWS)
    observed, shadow = (logits(confidences(made(c))) for made, c in ((counts, coins), (shadow_counts, shadow_coins)))
    scores = lira_scores(observed, without=shadow[~shadow_coins, None], included=shadow[shadow_coins, None])
    said = scores >= 0
    return Rates(
        hits=int(np.sum(said & coins)),
        present=int(coins.sum()),
        false_alarms=int(np.sum(said & ~coins)),
        absent=int((~coins).sum()),
    )


@pytest.mark.statistical
def test_a_model_of_exact_counts_of_few_rows_says_whether_it_was_trained_on_one():
    """The advantage is 0.40 and its lower limit 0.26, give or take 0.027: below 0.1 once in 10^8."""
    rates = rates_of(exact_counts, exact_counts)
    assert rates.advantage_limits(confidence=SURE)[0] > 0.1


@pytest.mark.statistical
def test_a_model_of_counts_at_an_epsilon_of_one_says_no_more_than_it_allows():
    rates = rates_of(private_counts, simulated_counts)
    low, high = rates.advantage_limits(confidence=SURE)
    assert low <= largest_advantage(epsilon=1)
    assert high < 0.35
