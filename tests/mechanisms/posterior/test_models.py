"""The models of posterior sampling: their prices against brute force, their densities against floats, their poles."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf, log

import pytest

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.mechanisms.posterior.models import BetaBernoulli, GammaPoisson, LaplaceLocation
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

MODELS = {
    "fair coin": BetaBernoulli(low="0.25", high="0.75", points=5),
    "rare event": BetaBernoulli(low="0.01", high="0.3", alpha="0.5", beta=7, points=4),
    "maximum above the rates": GammaPoisson(low="0.5", high=3, maximum=5, points=6),
    "maximum among the rates": GammaPoisson(low="0.5", high=9, maximum=4, shape="0.3", rate=2, points=18),
    "maximum below the rates": GammaPoisson(low=3, high=7, maximum=2, points=5),
    "a single visit": GammaPoisson(low="0.1", high="0.2", maximum=1, points=2),
}


def log_likelihood(model, x, theta):
    if isinstance(model, BetaBernoulli):
        return log(theta) if x else log(1 - theta)
    return x * log(theta) - float(theta)


def log_density(model, theta, count, total):
    if isinstance(model, BetaBernoulli):
        return float(model.alpha - 1 + total) * log(theta) + float(model.beta - 1 + count - total) * log(1 - theta)
    return float(model.shape - 1 + total) * log(theta) - float((model.rate + count) * theta)


def moves(model, relation):
    """How one unit may move the log-likelihood of each θ: by each of these vectors."""
    of = [[log_likelihood(model, x, theta) for theta in model.grid] for x in range(model.maximum + 1)]
    if relation is ADD_OR_REMOVE_ONE:
        return of
    return [[a - b for a, b in zip(first, second, strict=True)] for first, second in product(of, repeat=2)]


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_price_is_the_widest_range_that_any_observation_moves(model, relation):
    widest = max(max(move) - min(move) for move in moves(model, relation))
    assert float(model.epsilon(relation)) == pytest.approx(widest, rel=1e-12)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_the_price_is_rounded_up(relation):
    ratio = Decimal(3) if relation is ADD_OR_REMOVE_ONE else Decimal(9)
    assert 0 <= Decimal(float(MODELS["fair coin"].epsilon(relation))) - ratio.ln() < Decimal("1e-13")


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_relation_may_be_its_name_and_nothing_else(model):
    assert model.epsilon("replace_one") == model.epsilon(REPLACE_ONE)
    assert model.epsilon("add_or_remove_one") == model.epsilon(ADD_OR_REMOVE_ONE)
    with pytest.raises(AssertionError):
        model.epsilon("none")


@pytest.mark.parametrize("bits", [4, 64, 300])
@pytest.mark.parametrize(("count", "total"), [(0, 0), (1, 1), (1000, 3), (Fraction(10**6, 7), Fraction(10**5, 7))])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_densities_are_enclosed_as_closely_as_asked(model, count, total, bits):
    count, total = Fraction(count), Fraction(total)
    for theta in model.grid:
        lower, upper = model.log_density(theta, count=count, total=total, bits=bits)
        finer = model.log_density(theta, count=count, total=total, bits=bits + 100)
        assert lower <= finer[0] <= finer[1] <= upper
        assert upper - lower <= Fraction(1, 1 << bits)
        assert float(finer[0]) == pytest.approx(log_density(model, theta, count, total), rel=1e-9, abs=1e-9)


def test_the_grid_is_equally_spaced_and_holds_both_ends():
    assert [str(theta) for theta in MODELS["fair coin"].grid] == ["1/4", "3/8", "1/2", "5/8", "3/4"]
    assert len(BetaBernoulli(low="0.1", high="0.2").grid) == 101
    assert MODELS["fair coin"].maximum == 1


@pytest.mark.parametrize(
    ("model", "bounds"),
    [
        (BetaBernoulli, {"low": 0, "high": "0.5"}),
        (BetaBernoulli, {"low": "0.5", "high": 1}),
        (BetaBernoulli, {"low": 0, "high": 1}),
        (GammaPoisson, {"low": 0, "high": 5, "maximum": 3}),
        (GammaPoisson, {"low": 1, "high": inf, "maximum": 3}),
        (GammaPoisson, {"low": 1, "high": Decimal("Infinity"), "maximum": 3}),
    ],
)
def test_where_the_likelihood_has_a_pole_nothing_is_private(model, bounds):
    with pytest.raises(NotPrivateError, match="no finite ε") as caught:
        model(**bounds)
    assert "choose 0 < low < high" in caught.value.suggestion


@pytest.mark.parametrize(
    "wrong",
    [{"low": -1}, {"high": 2}, {"high": "0.1"}, {"alpha": 0}, {"beta": -1}, {"points": 1}, {"points": 2.5}],
    ids=str,
)
def test_parameters_of_a_coin_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        BetaBernoulli(**({"low": "0.25", "high": "0.75"} | wrong))


@pytest.mark.parametrize(
    "wrong",
    [{"low": -1}, {"high": "0.5"}, {"maximum": 0}, {"maximum": inf}, {"shape": 0}, {"rate": -1}, {"points": 1}],
    ids=str,
)
def test_parameters_of_counts_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        GammaPoisson(**({"low": 1, "high": 4, "maximum": 3} | wrong))


CENTER = LaplaceLocation(low=-1, high=2, scale=4, resolution="0.5", points=7)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_the_price_of_a_center_is_the_widest_range_that_any_observation_moves(relation):
    of = [[-abs(x - theta) / CENTER.scale for theta in CENTER.grid] for x in (-50, -1, 0, Fraction(1, 2), 2, 10**9)]
    replaced = [[a - b for a, b in zip(*pair, strict=True)] for pair in product(of, repeat=2)]
    ranges = [max(move) - min(move) for move in (of if relation is ADD_OR_REMOVE_ONE else replaced)]
    assert CENTER.epsilon(relation) == max(ranges)


def test_the_price_of_a_move_grows_with_its_length_up_to_that_of_any():
    prices = [CENTER.epsilon_of_move(distance) for distance in (0, "0.1", "0.5", "0.51", 2, 1000)]
    assert prices == [0, Fraction(1, 4), Fraction(1, 4), Fraction(1, 2), 1, CENTER.epsilon(REPLACE_ONE)]
    with pytest.raises(ParameterError, match="distance"):
        CENTER.epsilon_of_move(-1)


@pytest.mark.parametrize("wrong", [{"high": -1}, {"scale": 0}, {"resolution": 0}, {"points": 1}, {"low": inf}], ids=str)
def test_a_center_that_cannot_be_is_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        LaplaceLocation(**({"low": -1, "high": 2, "scale": 4, "resolution": 1} | wrong))
