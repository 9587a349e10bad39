"""Published means of many attributes give their people away, whatever of three scores is used."""

from math import nan

import numpy as np
import pytest

from sfumato.attacks.core.membership_game import play
from sfumato.attacks.core.outcome import largest_success
from sfumato.attacks.members.means import (
    Roc,
    estimate,
    homer,
    judged,
    likelihood_ratio,
    membership,
    threshold_at,
    tracing,
)
from sfumato.errors import ParameterError

RNG = np.random.default_rng(2008)
SCORES = (homer, tracing, likelihood_ratio)


def people(count, frequencies):
    return (RNG.random((count, len(frequencies))) < frequencies).astype(float)


def study(*, members, attributes):
    frequencies = RNG.uniform(0.1, 0.9, attributes)
    sizes = {"members": members, "outsiders": members, "reference": 10 * members}
    return {name: people(size, frequencies) for name, size in sizes.items()}


@pytest.mark.statistical
@pytest.mark.parametrize("score", SCORES)
def test_exact_means_of_twenty_times_as_many_attributes_as_people_give_nearly_all_of_them_away(score):
    """The tracing score of a member is about √(d/n) = 4.5 standard deviations above that of an outsider."""
    groups = study(members=200, attributes=4000)
    found = membership(groups["members"].mean(axis=0), **groups, score=score)
    assert found.game.rates.true_positive_rate > 0.85
    assert found.game.rates.false_positive_rate < 0.16, "0.05 expected; type-I error 1e-5"
    assert found.roc.area > 0.96


@pytest.mark.statistical
def test_as_many_attributes_as_people_give_a_quarter_away():
    """d = n: nearly one standard deviation, so that at 5% false positives about a quarter are told; area 0.74."""
    areas, rates = [], []
    for _ in range(10):
        groups = study(members=300, attributes=300)
        found = membership(groups["members"].mean(axis=0), **groups)
        areas.append(found.roc.area)
        rates.append(found.game.rates.true_positive_rate)
    assert 0.69 < np.mean(areas) < 0.80
    assert 0.14 < np.mean(rates) < 0.36


@pytest.mark.statistical
@pytest.mark.parametrize("score", SCORES)
def test_means_of_other_people_tell_nothing(score):
    groups = study(members=600, attributes=2000)
    others = groups["outsiders"][300:].mean(axis=0)
    groups |= {"members": groups["members"][:300], "outsiders": groups["outsiders"][:300]}
    found = membership(others, **groups, score=score)
    assert abs(found.roc.area - 0.5) < 0.13, "type-I error 1e-6: the standard deviation is 0.024"


@pytest.mark.statistical
def test_the_threshold_is_for_those_who_taught_nothing():
    """Few people to learn from lean to their own mean: a threshold of theirs would be passed far too often."""
    alarms = 0
    for _ in range(20):
        groups = study(members=100, attributes=2000)
        groups["reference"] = groups["reference"][:80]
        alarms += membership(
            groups["members"].mean(axis=0), **groups, score=tracing, false_positive_rate=0.2
        ).game.rates.false_alarms
    assert alarms < 750, "400 of 2,000 expected; type-I error 1e-6, by the 40 that each threshold is taken from"


def test_scores_are_what_their_formulas_say():
    record, a, p = np.array([[1.0, 0.0, 1.0]]), np.array([0.9, 0.4, 0.5]), np.array([0.6, 0.5, 0.5])
    assert homer(record, a, p) == pytest.approx([0.3 + 0.1])
    assert tracing(record, a, p) == pytest.approx([0.4 * 0.3 + 0.5 * 0.1])
    assert likelihood_ratio(record, a, p) == pytest.approx([np.log(0.9 / 0.6) + np.log(0.6 / 0.5)])


def test_noisy_frequencies_beyond_0_and_1_are_scored_too():
    found = likelihood_ratio(np.array([[1.0, 0.0]]), np.array([1.3, -0.2]), np.array([0.5, 0.5]))
    assert np.isfinite(found).all()


def test_the_game_asks_for_each_attribute_of_each_database():
    record, population = np.array([1.0, 0.0, 1.0]), np.full(3, 0.5)
    asked = []

    def worlds(coins):
        for coin in coins:
            means = {"a": 0.9, "b": 0.1, "c": 0.8} if coin else {"a": 0.4, "b": 0.6, "c": 0.5}
            yield lambda question, means=means: asked.append(question) or means[question]

    game = play(worlds, estimate(record, population=population, questions="abc"), trials=50, threshold=0.0)
    assert game.outcome.success == 1
    assert asked == ["a", "b", "c"] * 50


@pytest.mark.parametrize(("rate", "above"), [(0.0, 0), (0.25, 1), (0.5, 2), (0.99, 3)])
def test_no_more_than_the_chosen_share_of_the_reference_lies_at_the_threshold(rate, above):
    scores = np.array([3.0, 1.0, 4.0, 2.0])
    assert np.count_nonzero(scores >= threshold_at(rate, scores)) == above


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_a_rate_is_a_probability_below_one(rate):
    with pytest.raises(ParameterError, match="false_positive_rate"):
        threshold_at(rate, np.arange(4.0))


def test_the_curve_of_scores_that_tie_is_a_straight_line():
    curve = Roc(scores=[1.0] * 8, present=[True, False] * 4)
    assert [rates.tolist() for rates in curve.rates()] == [[0, 1], [0, 1]]
    assert curve.area == 0.5
    assert curve.true_positive_rate_at(0.9) == 0


def test_the_curve_counts_pairs_in_the_right_order():
    inside, outside = RNG.normal(1, 1, 60), RNG.normal(0, 1, 80)
    curve = Roc(scores=np.append(inside, outside), present=np.arange(140) < 60)
    assert curve.area == pytest.approx(np.mean(inside[:, None] > outside))


def test_the_picture_shows_misses_over_false_alarms():
    curve = Roc(scores=[3.0, 2.0, 1.0, 0.0], present=[True, False, True, False])
    (axes,) = curve.picture(title="who was there").axes
    measured = axes.get_lines()[1]
    assert measured.get_xdata().tolist() == [0, 0, 0.5, 0.5, 1]
    assert measured.get_ydata().tolist() == [1, 0.5, 0.5, 0, 0]
    assert axes.get_title(loc="left") == "who was there"


@pytest.mark.parametrize("present", [[True, True], [False, False], [True]])
def test_a_curve_needs_both_kinds(present):
    with pytest.raises(ParameterError, match="both True and False"):
        Roc(scores=[1.0, 2.0], present=present)


def test_what_a_guarantee_allows_stands_beside_it():
    found = judged(np.array([2.0, 3.0]), np.array([1.0, 2.5]), threshold=2.0, attack="x", epsilon=1)
    assert (found.outcome.successes, found.outcome.trials) == (3, 4)
    assert found.outcome.allowed == largest_success(epsilon=1)
    assert found.game.rates.advantage == 0.5
    assert "area under the curve 0.750" in str(found)


def test_unequal_sides_are_guessed_by_the_larger_one():
    assert judged(np.zeros(1), np.zeros(3), threshold=1.0, attack="x").outcome.baseline == 0.75


@pytest.mark.parametrize(("members", "outsiders"), [([nan, 2.0], [1.0]), ([2.0], [1.0, nan])])
def test_a_score_that_is_missing_is_no_score_below_the_threshold(members, outsiders):
    with pytest.raises(ParameterError, match="scores"):
        judged(np.array(members), np.array(outsiders), threshold=1.0, attack="x")


def test_there_is_a_mean_for_each_attribute():
    with pytest.raises(ParameterError, match="for each attribute"):
        membership(np.zeros(3), **study(members=4, attributes=5))


def test_means_are_finite():
    groups = {"members": [[1, 0]], "outsiders": [[0, 1]], "reference": [[1, 0], [0, 1]]}
    assert membership([0.5, 0.5], **groups).outcome.trials == 2, "lists will do"
    with pytest.raises(ParameterError, match="finite"):
        membership([0.5, np.nan], **groups)


GROUPS = {"members": [[1, 0]], "outsiders": [[0, 1]], "reference": [[1, 0], [0, 1]]}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("records", [None, [1, 0], [["Ada", 36]], [[1], [1, 0]]])
def test_records_are_a_matrix_of_numbers_and_the_error_shows_none(name, records):
    with pytest.raises(ParameterError, match=rf"^{name} = ") as refused:
        membership([0.5, 0.5], **GROUPS | {name: records})
    assert "Ada" not in str(refused.value)


@pytest.mark.parametrize("score", [None, lambda _: 1, lambda *_: None, lambda *_: [1, 2, 3]])
def test_a_score_is_a_number_for_each_record(score):
    with pytest.raises(ParameterError, match=r"^score"):
        membership([0.5, 0.5], **GROUPS, score=score)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("means", [None, 0.5, [0.5], np.ones((2, 2)), ["a", "b"]])
def test_scores_need_two_means_for_each_attribute(score, means):
    right = np.array([0.5, 0.5])
    with pytest.raises(ParameterError, match=r"^released = "):
        score(np.eye(2), means, right)
    with pytest.raises(ParameterError, match=r"^population = "):
        score(np.eye(2), right, means)


@pytest.mark.parametrize(
    ("name", "value"), [("scores", ["a", "b"]), ("scores", [nan, 1.0]), ("present", ["yes", "no"]), ("present", [2, 0])]
)
def test_a_curve_is_of_numbers_and_truths(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        Roc(**{"scores": [1.0, 2.0], "present": [True, False], name: value})
