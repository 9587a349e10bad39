import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.explained import risk_table
from sfumato.errors import ParameterError

EPSILONS = st.floats(0, 5)
SHARES = st.fractions(0, 1, max_denominator=1000)
DELTAS = st.fractions(0, Fraction(1, 2), max_denominator=1000)


def worst(epsilon, delta):
    """The laws of the mechanism from which all of (ε, δ) are made: it tells the secret with δ, else it responds."""
    told, kept = float(delta), (1 - float(delta)) / (1 + math.exp(epsilon))
    return [(told, 0.0), (0.0, told), (kept * math.exp(epsilon), kept), (kept, kept * math.exp(epsilon))]


@given(EPSILONS, SHARES)
def test_randomized_response_moves_a_belief_exactly_to_the_limits(epsilon, prior):
    (belief,) = risk_table(epsilon, priors=[prior]).beliefs
    posteriors = []
    for with_secret, without in worst(epsilon, 0)[2:]:
        weights = float(prior) * with_secret, (1 - float(prior)) * without
        posteriors.append(weights[0] / sum(weights))
    assert float(belief.lowest) == pytest.approx(min(posteriors), abs=1e-12)
    assert float(belief.highest) == pytest.approx(max(posteriors), abs=1e-12)


@given(EPSILONS, DELTAS, SHARES)
def test_the_best_guess_against_the_worst_mechanism_is_right_as_often_as_stated(epsilon, delta, prior):
    (belief,) = risk_table(epsilon, delta=delta, priors=[prior]).beliefs
    right = sum(max(float(prior) * p, (1 - float(prior)) * q) for p, q in worst(epsilon, delta))
    assert right - 1e-12 <= float(belief.right_guess) <= right + 1e-9
    assert belief.right_guess >= max(prior, 1 - prior)


@given(EPSILONS, DELTAS, SHARES)
def test_the_best_test_against_the_worst_mechanism_finds_as_much_as_stated(epsilon, delta, false_alarms):
    (detection,) = risk_table(epsilon, delta=delta, false_alarms=[false_alarms]).detections
    left, found = float(false_alarms), 0.0
    for p, q in sorted(worst(epsilon, delta), key=lambda pair: pair[1] / max(pair[0], 1e-300)):
        share = 1.0 if q <= left else left / q
        left, found = left - share * q, found + share * p
    assert float(detection.found) == pytest.approx(min(found, 1), abs=1e-9)


@given(EPSILONS, DELTAS)
def test_the_advantage_is_that_of_a_guess_from_even_odds(epsilon, delta):
    table = risk_table(epsilon, delta=delta, priors=["0.5"])
    assert table.advantage == 2 * table.beliefs[0].right_guess - 1


@given(EPSILONS, st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000))
def test_limits_are_rounded_outward(epsilon, prior):
    (belief,) = risk_table(epsilon, priors=[prior]).beliefs
    odds = Fraction(Context(prec=60).exp(Decimal(repr(epsilon)))) * (1 - Fraction(1, 10**58))
    assert belief.highest >= prior * odds / (1 - prior + prior * odds)
    assert belief.lowest <= prior / (prior + (1 - prior) * odds)


def test_epsilon_of_zero_moves_nothing():
    table = risk_table(0)
    assert all(belief.lowest == belief.prior == belief.highest for belief in table.beliefs)
    assert all(detection.found == detection.false_alarms for detection in table.detections)
    assert table.advantage == 0


def test_the_table_reads_outward_and_names_delta_where_there_is_one():
    shown = str(risk_table("1", priors=["0.1"], false_alarms=["0.05"]))
    assert "10%             3.92%    23.20%                     90.00%" in shown
    assert "5%                        13.60%" in shown
    assert "at most 46.22%" in shown
    assert "except with a probability of 1e-6" in str(risk_table(1, delta="1e-6"))
    assert "except" not in shown


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": 701}, "epsilon"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "priors": [2]}, "priors"),
        ({"epsilon": 1, "false_alarms": [-1]}, "false_alarms"),
    ],
)
def test_numbers_outside_are_refused(arguments, name):
    with pytest.raises(ParameterError, match=name):
        risk_table(**arguments)
