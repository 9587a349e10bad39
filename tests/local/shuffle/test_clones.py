"""What shuffling will be worth: the published table, lower bounds of binary answers, and what is refused."""

from math import inf

import pytest
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import DirectEncoding, OptimizedUnaryEncoding, shuffled_epsilon, shuffled_epsilon_closed

EPSILONS = ("0.5", 1, 2, 3, 4)
NUMERIC = (0.02042, 0.05304, 0.15515, 0.3208, 0.60107)
CLOSED = {
    10**4: (0.09387, 0.21403, 0.50092, 0.82411, inf),
    10**5: (0.03058, 0.07255, 0.18619, 0.3376, 0.53463),
    10**6: (0.00976, 0.0235, 0.06262, 0.11927, 0.20099),
    10**7: (0.0031, 0.00749, 0.02022, 0.03925, 0.06794),
}
BINARY = [("0.5", 10**4, 0.0162), (1, 10**5, 0.0101), (4, 10**6, 0.0240)]
"""What binary answers are known to reveal at least, computed exactly."""


@pytest.mark.parametrize(("epsilon", "expected"), list(zip(EPSILONS, NUMERIC, strict=True)))
def test_the_published_numeric_values_are_reached_from_above(epsilon, expected):
    found = shuffled_epsilon(epsilon, reports=10**4, delta="1e-6")
    assert expected * 0.9999 <= found <= expected * 1.004


@pytest.mark.parametrize("reports", CLOSED)
def test_the_published_values_of_the_closed_form(reports):
    for epsilon, expected in zip(EPSILONS, CLOSED[reports], strict=True):
        found = shuffled_epsilon_closed(epsilon, reports=reports, delta="1e-6")
        assert found == pytest.approx(expected, abs=6e-6)
        if FULL_SIZE or epsilon == 1:
            assert shuffled_epsilon(epsilon, reports=reports, delta="1e-6") < expected


@pytest.mark.parametrize(("epsilon", "reports", "least"), BINARY)
def test_no_bound_is_below_what_binary_answers_are_known_to_reveal(epsilon, reports, least):
    of_answers = shuffled_epsilon(DirectEncoding(2, epsilon=epsilon), reports=reports, delta="1e-6")
    assert least <= of_answers <= 1.45 * least
    assert of_answers <= shuffled_epsilon(epsilon, reports=reports, delta="1e-6")


def test_a_protocol_without_a_crowd_of_its_own_has_that_of_its_epsilon():
    protocol = OptimizedUnaryEncoding(9, epsilon=2)
    expected = shuffled_epsilon(protocol.realized_epsilon, reports=10**4, delta="1e-6")
    assert shuffled_epsilon(protocol, reports=10**4, delta="1e-6") == expected


def test_more_reports_hide_more_and_one_hides_nothing():
    crowds = (1, 10, 100, 1000, 10**4, 10**6, 10**8) if FULL_SIZE else (1, 10, 1000)
    for reported in (2, DirectEncoding(3, epsilon=2)):
        found = [shuffled_epsilon(reported, reports=reports, delta="1e-6") for reports in crowds]
        assert found == sorted(found, reverse=True)
        assert found[0] == pytest.approx(2, abs=1e-5)


@pytest.mark.parametrize("reports", [1, 50, 10**4])
def test_the_ends_of_the_range_are_bounded_too(reports):
    """Hardly any privacy alone, hardly anything to hide, and more values than people."""
    for reported, most in ((100, 100.0), ("0.000001", 1e-6), (DirectEncoding(2**20, epsilon=100), 100.0)):
        assert 0 <= shuffled_epsilon(reported, reports=reports, delta="1e-9") <= most * (1 + 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"reported": 0}, {"reported": "much"}, {"reports": 0}, {"reports": 10**9}, {"reports": 2.5}, {"delta": 0},
        {"delta": 1},
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_by_name(wrong):
    arguments = {"reported": 1, "reports": 100, "delta": "1e-6"} | wrong
    name = next(iter(wrong)).replace("reported", "epsilon")
    with pytest.raises(ParameterError, match=name):
        shuffled_epsilon(arguments["reported"], reports=arguments["reports"], delta=arguments["delta"])
    with pytest.raises(ParameterError, match=name):
        shuffled_epsilon_closed(arguments["reported"], reports=arguments["reports"], delta=arguments["delta"])
