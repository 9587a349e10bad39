"""Laplace noise made of shares: its law, exhaustive privacy with and without dropouts, edge cases."""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import exp, gamma, inf, prod

import numpy as np
import pytest
from scipy.stats import nbinom
from tests.laws import SAMPLES, assert_law, assert_not_law

from sfumato.errors import ParameterError
from sfumato.mechanisms.distributed import laplace as module
from sfumato.mechanisms.distributed.laplace import DistributedLaplace
from sfumato.mechanisms.distributed.shares import Parties
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.privacy.events import DiscreteLaplaceEvent, PureEvent


def polya_mass(k, shape, scale):
    ratio = exp(-1 / scale)
    return gamma(k + shape) / gamma(k + 1) / gamma(shape) * (1 - ratio) ** shape * ratio**k


def answers(mechanism, contributions, reach):
    """The law of the combined answer from the real code, each Pólya integer replaced by every one up to a reach."""
    law = defaultdict(float)
    for noise in product(range(reach + 1), repeat=2 * len(contributions)):
        with pytest.MonkeyPatch.context() as patch:
            left, asked = list(noise), []

            def draw(shape, scale, size, left=left, asked=asked):
                asked.append((float(shape), float(scale)))
                return np.array([left.pop() for _ in range(size)])

            patch.setattr(module, "polya", draw)
            answer = mechanism.combine([mechanism.share(contribution) for contribution in contributions])
        law[answer] += prod(polya_mass(k, *parameters) for k, parameters in zip(reversed(noise), asked, strict=True))
    return law


def excess(first, second, epsilon):
    """Σ max(0, P − e^ε Q), and what the reach of the noise leaves out."""
    return sum(max(0.0, p - exp(epsilon) * second[z]) for z, p in first.items()), 1 - sum(second.values())


@pytest.mark.parametrize(("contributions", "neighbour"), [((0, 1), (0, 0)), ((1, 1), (1, 0)), ((0, 1), (1, 1))])
def test_the_sum_of_two_shares_is_private_and_no_more_than_that(contributions, neighbour):
    mechanism = DistributedLaplace(parties=2, l1_sensitivity=1, epsilon=2)
    first, second = (answers(mechanism, rows, 7) for rows in (contributions, neighbour))
    found, missing = excess(first, second, 2)
    assert found <= exp(2) * missing
    assert missing < 1e-5
    assert excess(first, second, 1.9)[0] > 100 * exp(2) * missing  # tight


@pytest.mark.parametrize("sending", [2, 3])
def test_with_a_dropout_whoever_sends_makes_noise_enough(sending):
    mechanism = DistributedLaplace(parties=3, max_dropouts=1, l1_sensitivity=1, epsilon=3)
    first, second = (answers(mechanism, [value] + [0] * (sending - 1), 3) for value in (1, 0))
    found, missing = excess(first, second, 3)
    assert found <= exp(3) * missing
    assert missing < 1e-4


def test_shares_sized_without_the_dropout_would_be_caught():
    mechanism = DistributedLaplace(parties=3, l1_sensitivity=1, epsilon=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Parties, "combine", lambda _, shares: sum(shares))  # of two parties where three are needed
        first, second = (answers(mechanism, [value, 0], 7) for value in (1, 0))
    found, missing = excess(first, second, 2)
    assert found > 10 * exp(2) * missing


@pytest.mark.statistical
@pytest.mark.parametrize(("parties", "epsilon"), [(1, "1"), (2, "1/2"), (7, "1/10"), (40, "1/1000")])
def test_all_shares_together_have_exactly_the_laplace_law(parties, epsilon):
    mechanism = DistributedLaplace(parties=parties, l1_sensitivity=1, epsilon=epsilon)
    zeros = np.zeros(SAMPLES, dtype=np.int64)
    total = mechanism.combine([mechanism.share(zeros) for _ in range(parties)])
    assert_law(total, lambda k: discrete_laplace_cdf(1 / Fraction(epsilon), k))
    assert_not_law(total, lambda k: discrete_laplace_cdf(Fraction(11, 10) / Fraction(epsilon), k))


@pytest.mark.statistical
def test_those_who_did_not_drop_out_have_the_laplace_law_too():
    mechanism = DistributedLaplace(parties=5, max_dropouts=2, l1_sensitivity=3, epsilon="1/2")
    zeros = np.zeros(SAMPLES, dtype=np.int64)
    total = mechanism.combine([mechanism.share(zeros) for _ in range(3)])
    assert_law(total, lambda k: discrete_laplace_cdf(Fraction(6), k))


@pytest.mark.statistical
@pytest.mark.parametrize("max_dropouts", [0, 1, 2, 3])
def test_a_release_has_the_law_of_all_shares(max_dropouts):
    mechanism = DistributedLaplace(parties=5, max_dropouts=max_dropouts, l1_sensitivity=1, epsilon="1/4")
    shape = 5 / (5 - max_dropouts)
    masses = nbinom.pmf(np.arange(600), shape, 1 - exp(-1 / 4))
    cumulative = np.cumsum(np.convolve(masses, masses[::-1]))
    for sample in (
        mechanism.release(np.zeros(SAMPLES // 2, dtype=np.int64)),
        mechanism.combine([mechanism.share(np.zeros(SAMPLES // 2, dtype=np.int64)) for _ in range(5)]),
    ):
        assert_law(sample, lambda k: float(cumulative[min(max(k + 599, 0), 1198)]) if k > -600 else 0.0)
        assert (abs(sample) <= mechanism.accuracy("0.95")).mean() >= 0.945


def test_the_sum_wraps_where_it_is_asked_to():
    mechanism = DistributedLaplace(parties=3, l1_sensitivity=1, epsilon=20, modulus_bits=10)
    shares = [mechanism.share(value) for value in (300, -200, -400)]
    assert all(0 <= share < 1024 for share in shares)
    assert abs(mechanism.combine(shares) + 300) <= mechanism.accuracy("0.99999999")


def test_the_event_is_that_of_the_sum():
    mechanism = DistributedLaplace(parties=9, max_dropouts=4, l1_sensitivity=3, epsilon="1/2")
    assert mechanism.event == DiscreteLaplaceEvent(Fraction(6), Fraction(3))


def test_what_nobody_moves_is_added_up_exactly():
    mechanism = DistributedLaplace(parties=2, l1_sensitivity=0, epsilon=1)
    assert mechanism.combine([mechanism.share(10**30), mechanism.share(1)]) == 10**30 + 1
    assert (mechanism.accuracy(), mechanism.event) == (0, PureEvent(Fraction(0)))


def test_at_epsilon_zero_nothing_of_the_data_is_released():
    mechanism = DistributedLaplace(parties=2, l1_sensitivity=1, epsilon=0)
    assert mechanism.combine([mechanism.share([7, 8]), mechanism.share([1, 1])]).tolist() == [0, 0]
    assert (mechanism.release(5), mechanism.accuracy(), mechanism.event) == (0, inf, PureEvent(Fraction(0)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"parties": 0},
        {"l1_sensitivity": -1},
        {"epsilon": -1},
        {"max_dropouts": 4},
        {"modulus_bits": 0},
        {"epsilon": "1e-20"},
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match="scale" if wrong == {"epsilon": "1e-20"} else next(iter(wrong))):
        DistributedLaplace(**({"parties": 4, "l1_sensitivity": 1, "epsilon": 1} | wrong))
