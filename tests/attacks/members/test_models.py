"""Models that learn by heart give away what they learned; those that cannot do not."""

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.attacks.members.models import likelihood_ratio_attack, lira_scores, logits, loss_threshold
from sfumato.errors import ParameterError

RNG = np.random.default_rng(2112)


def rows(count, *, features=6):
    """Features and a label that follows the first of them in four cases of five."""
    x = RNG.normal(size=(count, features))
    y = (x[:, 0] > 0) ^ (RNG.random(count) < 0.2)
    return [(*values, label) for values, label in zip(x.tolist(), y.tolist(), strict=True)]


def split(seen):
    table = np.array(seen)
    return table[:, :-1], table[:, -1]


def by_heart(trained):
    """The share of a label among the rows around, weighed by nearness; a row that was seen outweighs all others."""
    x, y = split(trained)

    def confidence(asked):
        at, label = split(asked)
        weights = np.exp(-2 * ((at[:, None, :] - x[None]) ** 2).sum(axis=2))
        own = (weights * (y[None] == label[:, None])).sum(axis=1)
        return (own + 0.01) / (weights.sum(axis=1) + 0.02)

    return confidence


def one_coin(trained):
    """The share of a label among those whose first feature has the same sign: four numbers, nothing by heart."""
    x, y = split(trained)
    shares = [(np.sum(y[(x[:, 0] > 0) == side]) + 1) / (np.sum((x[:, 0] > 0) == side) + 2) for side in (0, 1)]

    def confidence(asked):
        at, label = split(asked)
        p = np.where(at[:, 0] > 0, shares[1], shares[0])
        return np.where(label == 1, p, 1 - p)

    return confidence


def groups(*, size):
    return {"members": rows(size), "outsiders": rows(size)}


@pytest.mark.statistical
def test_a_threshold_on_the_loss_tells_what_was_learned_by_heart():
    found = loss_threshold(by_heart, **groups(size=500))
    low, _ = found.game.rates.advantage_limits(confidence=1 - 2e-6)
    assert low > 0.1
    assert found.roc.area > 0.6


@pytest.mark.statistical
def test_of_a_model_of_four_numbers_it_tells_nothing():
    found = loss_threshold(one_coin, **groups(size=1000))
    assert abs(found.roc.area - 0.5) < 0.07, "type-I error 1e-6: the standard deviation is 0.013"


@pytest.mark.parametrize("online", [True, False])
def test_a_row_is_compared_with_models_that_saw_it_and_with_others_that_did_not(online, monkeypatch):
    trained_on = []

    def train(rows):
        trained_on.append(set(rows))
        return lambda asked: np.array([0.9 if row in trained_on[-1] else 0.2 for row in asked])

    def scores(observed, *, without, included):
        told.append((without, included))
        return lira_scores(observed, without=without, included=included)

    told = []
    monkeypatch.setattr("sfumato.attacks.members.models.lira_scores", scores)
    likelihood_ratio_attack(train, **groups(size=20), population=rows(80), shadows=40, online=online)
    ((without, included),) = told
    high, low = logits(np.array([0.9, 0.2]))
    assert set(without[~np.isnan(without)]) == {low}
    if online:
        assert set(included[~np.isnan(included)]) == {high}
        assert (np.isnan(without) != np.isnan(included)).all()
    else:
        assert included is None
        assert not np.isnan(without).any()


@pytest.mark.statistical
@pytest.mark.parametrize("online", [True, False])
def test_likelihood_ratios_tell_what_was_learned_by_heart_at_few_false_alarms(online):
    sample = groups(size=300)
    found = likelihood_ratio_attack(by_heart, **sample, population=rows(900), shadows=40, online=online)
    low, _ = found.game.rates.advantage_limits(confidence=1 - 2e-6)
    assert found.game.rates.false_positive_rate < 0.17, "0.05 expected; type-I error 1e-6"
    assert low > 0.1
    assert found.roc.area > 0.75


@pytest.mark.statistical
def test_likelihood_ratios_tell_more_than_a_threshold_if_shadow_models_saw_the_rows():
    """Areas of 0.964 and 0.896: they differ by 0.068, give or take 0.010."""
    sample = groups(size=300)
    found = likelihood_ratio_attack(by_heart, **sample, population=rows(900), shadows=40)
    assert found.roc.area > loss_threshold(by_heart, **sample).roc.area


@pytest.mark.statistical
def test_of_a_model_of_four_numbers_they_tell_nothing():
    found = likelihood_ratio_attack(one_coin, **groups(size=400), population=rows(1600), shadows=20)
    assert abs(found.roc.area - 0.5) < 0.1, "type-I error 1e-6: the standard deviation is 0.02"


def test_a_threshold_can_be_given():
    def sure(asked):
        return [0.9 if row < 5 else 0.6 for row in asked]

    found = loss_threshold(lambda _: sure, members=range(10), outsiders=range(10), threshold=-np.log(0.8))
    assert found.game.rates.hits == found.game.rates.false_alarms == 5


def test_equal_losses_are_all_at_their_mean():
    found = loss_threshold(lambda _: lambda asked: [0.7] * len(asked), members=range(10), outsiders=range(10))
    assert found.game.rates.true_positive_rate == 1


def test_scores_are_those_of_gaussian_fits():
    without, included = RNG.normal(0, 1, (200, 3)), RNG.normal(2, 0.5, (200, 3))
    observed = np.array([0.0, 1.0, 2.0])
    mean, spread = without.mean(axis=0), without.std(axis=0, ddof=1)
    assert lira_scores(observed, without=without) == pytest.approx((observed - mean) / spread)
    expected = norm.logpdf(observed, included.mean(axis=0), included.std(axis=0, ddof=1))
    expected -= norm.logpdf(observed, mean, spread)
    assert lira_scores(observed, without=without, included=included) == pytest.approx(expected)


def test_few_shadow_models_share_one_spread():
    without = np.array([[0.0, 10.0], [2.0, 14.0], [np.nan, 12.0]])
    spread = np.sqrt((1 + 1 + 4 + 4) / 3)
    assert lira_scores(np.array([1.0, 12.0]) + spread, without=without) == pytest.approx([1, 1])


def test_a_row_that_no_shadow_model_saw_is_an_error():
    with pytest.raises(ParameterError, match="no shadow model"):
        lira_scores(np.zeros(2), without=np.zeros((4, 2)), included=np.array([[0.0, np.nan]]))


def test_certain_models_have_finite_logits():
    assert np.isfinite(logits([0.0, 1.0])).all()
    assert logits([0.5])[0] == 0


def test_shadow_models_are_of_the_size_of_the_model_and_see_nothing_that_is_attacked_offline():
    sizes, seen = [], set()

    def train(given):
        sizes.append(len(given))
        seen.update(given if len(sizes) > 1 else ())
        return lambda asked: [0.5 + 0.01 * (row % 7) for row in asked]

    arguments = {"members": range(10), "outsiders": range(10, 20), "population": range(20, 60), "shadows": 6}
    likelihood_ratio_attack(train, **arguments, online=False)
    assert sizes == [10] * 7
    assert seen <= set(range(20, 50)), "ten are kept for the threshold"
    sizes.clear()
    likelihood_ratio_attack(train, **{**arguments, "shadows": 30}, online=True)
    assert sizes == [10] * 31


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"members": []}, "at least one each"),
        ({"outsiders": []}, "at least one each"),
        ({"population": range(5)}, "at least 8 rows"),
        ({"shadows": 3}, "from 4 to"),
    ],
)
def test_too_little_to_attack_with_is_refused(change, match):
    arguments = {"members": range(4), "outsiders": range(4), "population": range(40), **change}
    with pytest.raises(ParameterError, match=match):
        likelihood_ratio_attack(lambda _: lambda asked: [0.5] * len(asked), **arguments)


@pytest.mark.parametrize("says", [lambda _: [0.5], lambda rows: [np.nan] * len(rows)], ids=["one for all", "nan"])
def test_a_model_gives_a_probability_to_each_row(says):
    sample = {"members": range(4), "outsiders": range(4)}
    with pytest.raises(ParameterError, match="each of 4 rows"):
        loss_threshold(lambda _: says, **sample)
    with pytest.raises(ParameterError, match="each of 12 rows"):
        likelihood_ratio_attack(lambda _: says, **sample, population=range(40))


@pytest.mark.parametrize("train", [None, lambda: 1, lambda _: None, lambda _: lambda rows: rows])
@pytest.mark.parametrize("attack", [loss_threshold, likelihood_ratio_attack])
def test_training_makes_a_model_of_probabilities_and_the_error_shows_no_rows(attack, train):
    sample = {"members": ["Ada", "Bob"], "outsiders": ["Cyd"]}
    more = {"population": ["Dee"] * 4} if attack is likelihood_ratio_attack else {}
    with pytest.raises(ParameterError, match=r"^train") as refused:
        attack(train, **sample, **more)
    assert "Ada" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("members", 1), ("population", None), ("shadows", 10**400), ("online", "no"), ("false_positive_rate", None)],
)
def test_what_else_is_wrong_is_refused_by_its_name_before_anything_is_trained(name, value):
    arguments = {"members": range(4), "outsiders": range(4), "population": range(40), name: value}
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        likelihood_ratio_attack(lambda _: 1 / 0, **arguments)


def test_a_threshold_is_a_number():
    with pytest.raises(ParameterError, match=r"^threshold = "):
        loss_threshold(lambda _: 1 / 0, members=range(4), outsiders=range(4), threshold="abc")
