"""Sums of shares: who is needed, moduli, and exactness."""

from math import nan

import numpy as np
import pandas as pd
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms import DistributedLaplace, DistributedSkellam
from sfumato.mechanisms.distributed.shares import Parties
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
        shares = [pair.share(10**80, unchanged), pair.share(total - 10**80, unchanged)]
        assert all(0 <= share < 2 * half for share in shares)
        assert pair.combine(shares) == total


def test_sums_beyond_the_modulus_wrap():
    assert Parties(parties=1, modulus_bits=8).combine([128]) == -128


def test_sums_beyond_int64_are_exact():
    assert Parties(parties=2).combine([2**63 - 1, 2**63 - 1]) == 2**64 - 2
    assert Parties(parties=2).combine([np.array([2**63 - 1]), np.array([1])]).tolist() == [2**63]
    assert Parties(parties=2).combine([np.array([2**80], dtype=object), np.array([1])]).tolist() == [2**80 + 1]


def test_shares_may_come_as_an_array():
    assert Parties(parties=2).combine(np.array([3, 4])) == 7
    assert Parties(parties=2).combine(np.array([[3, 4], [10, 20]])).tolist() == [13, 24]


MISSING = [
    None,
    nan,
    pd.NA,
    pd.NaT,
    np.ma.masked,
    "",
    True,
    1.0,
    np.float64(5),
    [5],
    [None],
    np.array([nan]),
    np.array([None]),
    np.array([5.0]),
    np.array([True]),
    np.array([1, None], dtype=object),
    np.array(["NaT"], dtype="timedelta64[s]"),
    np.ma.masked_array([5], mask=[True]),
    np.ma.masked_array([5], mask=[False]),
    pd.Series([5, None]),
    pd.array([5, None], dtype="Int64"),
    np.array([[5]]),
]


@pytest.mark.parametrize("missing", MISSING, ids=repr)
@pytest.mark.parametrize(
    "mechanism",
    [
        Parties(parties=100, max_dropouts=10),
        DistributedLaplace(parties=100, l1_sensitivity=1, epsilon="0.1", max_dropouts=10),
        DistributedSkellam(parties=100, linf_sensitivity=1, epsilon=1, delta="1e-6", max_dropouts=10),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_what_is_no_share_is_never_counted_as_one(mechanism, missing):
    """One share and 99 missing ones were the exact input in 1,910 of 2,000 runs."""
    for shares in ([7] + [missing] * 99, [7] * 99 + [missing], [missing] * 100):
        with pytest.raises(ParameterError, match="leave out missing ones"):
            mechanism.combine(shares)


def test_what_did_not_arrive_is_left_out():
    assert Parties(parties=4, max_dropouts=2).combine([5, 5]) == 10
    with pytest.raises(ParameterError, match="one of type NoneType"):
        Parties(parties=4, max_dropouts=2).combine([5, 5, None])
    with pytest.raises(ParameterError, match="leave out missing ones"):
        Parties(parties=2).combine(np.ma.masked_array([5, 6], mask=[False, True]))


def test_vectors_of_different_lengths_are_refused():
    with pytest.raises(ParameterError, match="one length"):
        Parties(parties=2).combine([np.array([1, 2]), np.array([1])])
    with pytest.raises(ParameterError, match="one length"):
        Parties(parties=2).combine([np.array([1]), 1])


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
