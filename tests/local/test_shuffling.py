"""The shuffle model: the published table, the pair of the theorem summed exactly, and real shuffled reports."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import comb, exp, inf

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from sfumato.accounting import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.local import DirectEncoding, shuffled, shuffled_epsilon, shuffled_epsilon_closed
from sfumato.privacy.codec import decode_event, encode_event

EPSILONS = ("0.5", 1, 2, 3, 4)
NUMERIC = (0.02042, 0.05304, 0.15515, 0.3208, 0.60107)
CLOSED = {
    10**4: (0.09387, 0.21403, 0.50092, 0.82411, inf),
    10**5: (0.03058, 0.07255, 0.18619, 0.3376, 0.53463),
    10**6: (0.00976, 0.0235, 0.06262, 0.11927, 0.20099),
    10**7: (0.0031, 0.00749, 0.02022, 0.03925, 0.06794),
}


@pytest.mark.parametrize(("epsilon", "expected"), list(zip(EPSILONS, NUMERIC, strict=True)))
def test_the_published_numeric_values_are_reached_from_above(epsilon, expected):
    found = shuffled_epsilon(epsilon, reports=10**4, delta="1e-6")
    assert expected * 0.9999 <= found <= expected * 1.004


@pytest.mark.parametrize("reports", CLOSED)
def test_the_published_values_of_the_closed_form(reports):
    for epsilon, expected in zip(EPSILONS, CLOSED[reports], strict=True):
        found = shuffled_epsilon_closed(epsilon, reports=reports, delta="1e-6")
        assert found == pytest.approx(expected, abs=6e-6)
        assert shuffled_epsilon(epsilon, reports=reports, delta="1e-6") < expected


@pytest.mark.parametrize(
    ("epsilon", "reports", "least"), [("0.5", 10**4, 0.0162), (1, 10**5, 0.0101), (4, 10**6, 0.0240)]
)
def test_no_bound_is_below_what_binary_answers_are_known_to_reveal(epsilon, reports, least):
    assert shuffled_epsilon(epsilon, reports=reports, delta="1e-6") >= least


@pytest.mark.parametrize("epsilon", ["0.5", 2])
def test_the_event_has_the_epsilon_of_the_function_and_composes(epsilon):
    event = shuffled(epsilon, reports=2000)
    alone = PLDAccountant().compose(event).epsilon(delta="1e-6")
    assert float(alone) == pytest.approx(shuffled_epsilon(epsilon, reports=2000, delta="1e-6"), rel=1e-3)
    ten = float(PLDAccountant().compose(event, count=10).epsilon(delta="1e-6"))
    assert float(alone) < ten < 10 * float(alone)
    assert sum(event.p) == sum(event.q) == 1
    assert decode_event(encode_event(event)) == event


def theorem(epsilon, reports):
    """The pair of theorem 3.1, every outcome by its definition."""
    clone, truth = exp(-epsilon), exp(epsilon) / (exp(epsilon) + 1)
    held, other = defaultdict(float), defaultdict(float)
    for clones in range(reports):
        mass = comb(reports - 1, clones) * clone**clones * (1 - clone) ** (reports - 1 - clones)
        for first in range(clones + 1):
            share = mass * comb(clones, first) / 2**clones
            for one, weight in ((1, truth), (0, 1 - truth)):
                held[first + one, clones - first + 1 - one] += share * weight
                other[first + 1 - one, clones - first + one] += share * weight
    return held, other


def above(pairs, epsilon):
    """Σ max(0, P − e^ε·Q)."""
    return sum(max(0.0, float(p) - exp(epsilon) * float(q)) for p, q in pairs)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("reports", [1, 2, 7, 60])
def test_the_event_dominates_the_pair_of_the_theorem_and_is_near_to_it(epsilon, reports):
    held, other = theorem(epsilon, reports)
    event = shuffled(Fraction(epsilon), reports=reports)
    for tried in np.linspace(0, epsilon, 9):
        exact = above([(held[outcome], other[outcome]) for outcome in held], tried)
        stated = above(zip(event.p, event.q, strict=True), tried)
        assert exact <= stated + 1e-12
        assert stated <= exact + 2e-3


def shuffled_law(protocol, values):
    """The multiset of reports of people with these values, exactly."""
    p, q = protocol.support_probabilities
    size, law = len(protocol.domain), defaultdict(Fraction)
    for said in product(range(size), repeat=len(values)):
        mass = Fraction(1)
        for answer, value in zip(said, values, strict=True):
            mass *= p if answer == value else q
        law[tuple(sorted(Counter(said).items()))] += mass
    return law


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("people", [1, 2, 4, 5])
@pytest.mark.parametrize("epsilon", [1, 3])
def test_shuffled_answers_reveal_no_more_than_the_event(size, people, epsilon):
    """Every multiset of reports, for every way the others may answer, by enumeration."""
    protocol = DirectEncoding(size, epsilon=epsilon)
    hidden = shuffled(epsilon, reports=people)
    event = list(zip(hidden.p, hidden.q, strict=True))
    for others in {tuple(sorted(rest)) for rest in product(range(size), repeat=people - 1)}:
        first, second = (shuffled_law(protocol, (value, *others)) for value in (0, 1))
        for tried in (0.0, 0.3, 0.9 * epsilon):
            pairs = [(mass, second[outcome]) for outcome, mass in first.items()]
            assert above(pairs, tried) <= above(event, tried) + 1e-12


def test_more_reports_hide_more_and_one_hides_nothing():
    found = [shuffled_epsilon(2, reports=reports, delta="1e-6") for reports in (1, 10, 100, 1000, 10**4, 10**6)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(2, abs=1e-5)


@pytest.mark.parametrize("total", [10**4, 10**6, 10**8])
def test_the_masses_that_are_added_up_are_right_to_far_less_than_is_taken_off(total):
    with mpmath.workdps(40):
        for away in (0, 3, 7):
            ahead = total // 2 + away * int(total**0.5) // 2
            exact = mpmath.binomial(total, ahead) / mpmath.mpf(2) ** total
            assert abs(binom.pmf(ahead, total, 0.5) / exact - 1) < 1e-11


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0}, {"reports": 0}, {"reports": 10**9}, {"reports": 2.5}, {"delta": 0}, {"delta": 1}]
)
def test_wrong_arguments_are_refused_by_name(wrong):
    arguments = {"epsilon": 1, "reports": 100, "delta": "1e-6"} | wrong
    for function in (shuffled_epsilon, shuffled_epsilon_closed):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            function(**arguments)
    if "delta" not in wrong:
        del arguments["delta"]
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            shuffled(**arguments)
