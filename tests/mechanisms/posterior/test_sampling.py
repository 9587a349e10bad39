"""Posterior sampling: the exact law of a draw over neighboring databases, its price, and the draws themselves."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import exp, floor, inf, nan

import numpy as np
import pytest
from tests.laws import assert_law, assert_not_law, cdf_of
from tests.mechanisms.exhaustive import neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.posterior import sampling as module
from sfumato.mechanisms.posterior.models import BetaBernoulli, GammaPoisson, LaplaceLocation
from sfumato.mechanisms.posterior.sampling import PosteriorSampling
from sfumato.noise.choice.enclosed_choice import enclosed_choice
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

COIN = BetaBernoulli(low="0.2", high="0.7", alpha=2, beta="0.5", points=4)
VISITS = GammaPoisson(low="0.5", high=3, maximum=3, shape=2, rate=1, points=4)
CENTER = LaplaceLocation(low=-1, high=2, scale=4, resolution="0.5", points=4)
ROWS = {COIN: [0, 1], VISITS: [-4, 0, 1, 2, 3, 10], CENTER: [-50, -1, 0.5, 0.6, 2, 10**9]}
RELATIONS = [ADD_OR_REMOVE_ONE, REPLACE_ONE]
EPSILONS = [None, Fraction(1, 10), Fraction(1), Fraction(100)]


def weights_of(mechanism, rows):
    """The weights that the real code hands to the sampler: a function of the precision."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "enclosed_choice", lambda weights_at, _: asked.append(weights_at) or np.array([0]))
        mechanism.release(rows)
    return asked[0]


@cache
def law(mechanism, rows):
    """The probability of each θ, to 50 digits."""
    weights = weights_of(mechanism, rows)(512)
    total = sum(lower for lower, _ in weights)
    assert all(0 < lower <= upper <= lower * (1 + Fraction(1, 10**60)) for lower, upper in weights)
    with localcontext(prec=50):
        return [Decimal(lower) / total for lower, _ in weights]


def log_ratios(mechanism, first, second):
    with localcontext(prec=50):
        return [(p / q).ln() for p, q in zip(law(mechanism, first), law(mechanism, second), strict=True)]


def within(mechanism):
    return Decimal(float(mechanism.epsilon)) * (1 + Decimal("1e-15"))


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("model", [COIN, VISITS, CENTER], ids=["coin", "visits", "center"])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(model, relation, epsilon):
    mechanism = PosteriorSampling(model, epsilon=epsilon, neighboring_relation=relation)
    ratios = [log_ratios(mechanism, *pair) for pair in neighbours(ROWS[model], relation)]
    worst = max(max(of_pair) for of_pair in ratios)
    widest = max(max(of_pair) - min(of_pair) for of_pair in ratios)
    assert within(mechanism) / 4 < worst <= within(mechanism)
    assert within(mechanism) * Decimal("0.999999") < widest <= within(mechanism)  # what ExponentialEvent says


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("model", "many", "one", "other"), [(COIN, 0, 1, 0), (COIN, 1, 0, 1), (VISITS, 0, 3, 0)], ids=str
)
def test_large_databases_come_as_near_to_the_price_as_one_likes(model, many, one, other, relation):
    mechanism = PosteriorSampling(model, neighboring_relation=relation)
    rest = (many,) * 60
    pair = ((*rest, one), rest) if relation is ADD_OR_REMOVE_ONE else ((*rest, one), (*rest, other))
    worst = max(log_ratios(mechanism, *pair))
    price = max(log_ratios(mechanism, *pair)) - min(log_ratios(mechanism, *pair))
    assert price * Decimal("0.9999") < worst <= within(mechanism)


@pytest.mark.parametrize(("first", "second"), [(0, 0.4), (0, 1), (-0.3, 0.9), (1.5, 1.5), (-5, 70)])
def test_a_small_move_costs_no_more_than_its_length(first, second):
    mechanism = PosteriorSampling(CENTER, neighboring_relation=REPLACE_ONE)
    ratios = log_ratios(mechanism, (0.5, 0.5, first), (0.5, 0.5, second))
    limit = Decimal(float(CENTER.epsilon_of_move(abs(second - first))))
    assert max(ratios) - min(ratios) <= limit * (1 + Decimal("1e-15"))


@pytest.mark.parametrize("rows", [(), (0.5,), (-50, 0, 0.26, 10**9), (1.75,) * 5])
def test_the_law_of_a_center_is_that_of_its_distances(rows):
    rounded = [floor(Fraction(x) / CENTER.resolution + Fraction(1, 2)) * CENTER.resolution for x in rows]
    exponents = [float(sum(abs(x - theta) for x in rounded) / CENTER.scale) for theta in CENTER.grid]
    weights = np.exp(-(np.array(exponents) - min(exponents)))
    found = [float(p) for p in law(PosteriorSampling(CENTER), rows)]
    assert found == pytest.approx(weights / weights.sum(), rel=1e-6)


def test_the_center_of_many_numbers_is_near_their_median():
    mechanism = PosteriorSampling(LaplaceLocation(low=0, high=100, scale=10, resolution=1))
    assert abs(mechanism.release([*range(2001), *[10**300] * 5, *[-7] * 1990]) - 10) < 20


def test_a_posterior_that_is_not_tempered_would_be_caught():
    mechanism = PosteriorSampling(COIN, epsilon="0.5")
    object.__setattr__(mechanism, "power", Fraction(1))
    assert max(log_ratios(mechanism, (*(0,) * 30, 1), (0,) * 30)) > within(mechanism)


def test_the_price_for_adding_would_not_do_for_replacing():
    mechanism = PosteriorSampling(COIN, neighboring_relation=ADD_OR_REMOVE_ONE)
    assert max(log_ratios(mechanism, (*(0,) * 30, 1), (*(0,) * 30, 0))) > within(mechanism)


def test_counts_that_are_not_clamped_would_be_caught():
    unclamped = PosteriorSampling(GammaPoisson(low="0.5", high=3, maximum=10, shape=2, rate=1, points=4))
    assert max(log_ratios(unclamped, (*(0,) * 30, 10), (0,) * 30)) > within(PosteriorSampling(VISITS))


@pytest.mark.parametrize("rows", [(), (1,), (0, 1, 1), (1,) * 40 + (0,) * 13])
def test_the_law_is_that_of_bayes(rows):
    weights = [float(t) ** (1 + sum(rows)) * float(1 - t) ** (-0.5 + len(rows) - sum(rows)) for t in COIN.grid]
    expected = np.array(weights) / sum(weights)
    assert [float(p) for p in law(PosteriorSampling(COIN), rows)] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rows", [(), (1,), (0, 2, 3), (3,) * 40])
def test_a_tempered_law_is_that_of_as_many_observations_to_the_power(rows):
    mechanism = PosteriorSampling(VISITS, epsilon="0.7")
    count, total = (float(mechanism.power * n) for n in (len(rows), sum(rows)))
    weights = [float(t) ** (1 + total) * exp(-(1 + count) * float(t)) for t in VISITS.grid]
    expected = np.array(weights) / sum(weights)
    assert [float(p) for p in law(mechanism, rows)] == pytest.approx(expected, rel=1e-12)


@pytest.mark.statistical
def test_draws_follow_the_posterior_and_not_the_one_of_another_database():
    mechanism = PosteriorSampling(VISITS, epsilon=2)
    draws = enclosed_choice(weights_of(mechanism, (0, 2, 3)), 50_000)
    assert_law(draws, cdf_of(np.array([float(p) for p in law(mechanism, (0, 2, 3))])))
    assert_not_law(draws, cdf_of(np.array([float(p) for p in law(mechanism, (0, 2, 2))])))


@pytest.mark.parametrize(
    ("rows", "same"),
    [
        ((-5, 7, 2), (0, 3, 2)),
        ((nan, inf, -inf), (0, 3, 0)),
        ((None, 1e300, 1.5), (0, 3, 2)),
        ((True, np.int8(2)), (1, 2)),
    ],
    ids=str,
)
def test_observations_outside_count_as_the_nearest_inside(rows, same):
    assert law(PosteriorSampling(VISITS), rows) == law(PosteriorSampling(VISITS), same)


def test_a_large_database_gives_the_nearest_parameter_of_the_grid():
    model = BetaBernoulli(low="0.1", high="0.9", points=9)
    rows = np.arange(20_000) % 10 < 3
    assert PosteriorSampling(model).release(Secret(rows)) == Fraction(3, 10)
    assert isinstance(PosteriorSampling(model).release([]), Fraction)


def test_the_power_is_what_the_price_allows():
    price = COIN.epsilon(REPLACE_ONE)
    tempered = PosteriorSampling(COIN, epsilon="0.1", neighboring_relation=REPLACE_ONE)
    assert (tempered.power, tempered.event) == (Fraction(1, 10) / price, ExponentialEvent(Fraction(1, 10)))


@pytest.mark.parametrize("epsilon", [None, 100])
def test_no_more_is_charged_than_the_posterior_costs(epsilon):
    mechanism = PosteriorSampling(COIN, epsilon=epsilon)
    assert (mechanism.power, mechanism.event) == (1, ExponentialEvent(COIN.epsilon(ADD_OR_REMOVE_ONE)))


def test_without_epsilon_the_draw_is_one_of_the_prior():
    mechanism = PosteriorSampling(COIN, epsilon=0)
    assert law(mechanism, (1,) * 50) == law(mechanism, ())
    assert mechanism.event == ExponentialEvent(Fraction(0))


@pytest.mark.parametrize("epsilon", [-1, nan, inf])
def test_an_epsilon_outside_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        PosteriorSampling(COIN, epsilon=epsilon)


def test_what_is_no_number_is_refused():
    with pytest.raises(ParameterError, match="number"):
        PosteriorSampling(COIN).release(["heads"])
