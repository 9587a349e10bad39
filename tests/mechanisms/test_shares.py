"""Sums of shares: who is needed, moduli, and exactness."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.shares import Parties
from sfumato.privacy.secret import Secret


def unchanged(values):
    return values


def one_more(values):
    return values + 1


def test_shares_add_up_to_contributions_and_noise():
    trio = Parties(parties=3)
    assert trio.combine([trio.share(value, one_more) for value in (10, 20, Secret(30))]) == 63


def test_vectors_add_up_number_by_number():
    pair = Parties(parties=2)
    shares = [pair.share([1, 2], one_more), pair.share(np.array([10, 20]), unchanged)]
    assert pair.combine(shares).tolist() == [12, 23]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_enough_shares_are_combined(count):
    assert Parties(parties=4, max_dropouts=2).combine([5] * count) == 5 * count


@pytest.mark.parametrize("count", [0, 1, 5])
def test_too_few_or_too_many_shares_are_refused(count):
    with pytest.raises(ParameterError, match="2 to 4"):
        Parties(parties=4, max_dropouts=2).combine([5] * count)


@pytest.mark.parametrize("bits", [1, 8, 61, 64, 200])
def test_sums_within_the_modulus_come_back(bits):
    pair, half = Parties(parties=2, modulus_bits=bits), 1 << bits - 1
    for total in (-half, -1, 0, half - 1):
        clamped = max(-(2**62), min(2**62, total))
        shares = [pair.share(clamped, unchanged), (total - clamped) % (2 * half)]
        assert all(0 <= share < 2 * half for share in shares)
        assert pair.combine(shares) == total


def test_sums_beyond_the_modulus_wrap():
    assert Parties(parties=1, modulus_bits=8).combine([128]) == -128


def test_sums_beyond_int64_are_exact():
    assert Parties(parties=2).combine([2**63 - 1, 2**63 - 1]) == 2**64 - 2
    assert Parties(parties=2).combine([[2**63 - 1], np.array([1])]).tolist() == [2**63]


def test_vectors_of_different_lengths_are_refused():
    with pytest.raises(ParameterError, match="one length"):
        Parties(parties=2).combine([[1, 2], [1]])


@pytest.mark.parametrize(
    "wrong",
    [
        {"parties": 0},
        {"parties": 1.5},
        {"max_dropouts": 3},
        {"max_dropouts": -1},
        {"modulus_bits": 0},
        {"modulus_bits": 5000},
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Parties(**({"parties": 3} | wrong))
