"""Basic RAPPOR: its published ε, its exact distribution, and its payloads; the contract of oracles does the rest."""

from fractions import Fraction
from itertools import product

import pytest
from tests.local.branches import payload_law, worst_ratio

from sfumato.errors import ParameterError
from sfumato.local import BasicRappor, SymmetricUnaryEncoding
from sfumato.local.rappor.device import RandomizedTwice
from sfumato.numeric.rounding import log_up

DRINKS = ("tea", "coffee", "water")
BASIC = BasicRappor(DRINKS, f="0.5", p="0.5", q="0.75")


def test_the_published_epsilons():
    assert float(BASIC.realized_epsilon) == pytest.approx(1.0743 / 2, abs=5e-5)
    assert float(BASIC.lifetime_epsilon) == pytest.approx(4.3944 / 2, abs=5e-5)
    assert BASIC.epsilon == BASIC.realized_epsilon


def test_the_largest_ratio_is_the_realized_epsilon():
    laws = [payload_law(BASIC, value) for value in DRINKS]
    assert log_up(worst_ratio(laws)) == BASIC.realized_epsilon


def test_a_first_report_is_a_permanent_response_randomized_again():
    """Bit by bit, because bits are independent in both."""
    high, low = BASIC.reported
    for f_bit, expected in ((1 - BASIC.f / 2, high), (BASIC.f / 2, low)):
        assert f_bit * BASIC.q + (1 - f_bit) * BASIC.p == expected
    law = payload_law(BASIC, "tea")
    for bits in product((0, 1), repeat=3):
        mass = Fraction(1)
        for at, one in enumerate(bits):
            share = high if at == 0 else low
            mass *= share if one else 1 - share
        assert law[bytes([bits[0] << 7 | bits[1] << 6 | bits[2] << 5])] == mass


def test_without_instantaneous_noise_it_is_symmetric_unary_encoding():
    once = BasicRappor(4, f="0.5", p=0, q=1)
    assert once.support_probabilities == (Fraction(3, 4), Fraction(1, 4))
    other = SymmetricUnaryEncoding(4, epsilon=once.realized_epsilon)
    assert [float(x) for x in other.support_probabilities] == pytest.approx([0.75, 0.25])


def test_devices_report_in_the_same_form():
    device = BASIC.client()
    assert isinstance(BASIC, RandomizedTwice)
    assert len(device.report("tea").payload) == BASIC.payload_bytes == 1
    aggregator = BASIC.aggregator()
    assert aggregator.add([BASIC.client().report("water") for _ in range(600)]).accepted == 600
    found = aggregator.estimate(["water"])
    assert abs(found.fractions[0] - 1) < 6 * found.standard_errors[0]


@pytest.mark.parametrize("wrong", [{"domain": 4097}, {"domain": 1}, {"f": 0}, {"p": "0.75"}, {"metric": 7}])
def test_parameters_out_of_range_are_refused(wrong):
    given = {"domain": 3, "f": "0.5", "p": "0.5", "q": "0.75"} | wrong
    with pytest.raises(ParameterError):
        BasicRappor(given.pop("domain"), **given)
