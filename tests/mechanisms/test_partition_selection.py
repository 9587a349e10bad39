"""What all strategies share: the split of δ, the order of keys, the shape of a release."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.partition_selection import PartitionSelection, delta_per_key, key_rank
from sfumato.mechanisms.thresholds import GaussianThreshold, LaplaceThreshold
from sfumato.mechanisms.truncated_geometric import TruncatedGeometricSelection
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret

STRATEGIES = [TruncatedGeometricSelection, LaplaceThreshold, GaussianThreshold]
MIXED = [
    None,
    -2,
    False,
    Fraction(1, 3),
    Decimal("0.5"),
    1.5,
    np.int64(7),
    inf,
    "",
    "B",
    "a",
    (1, "x"),
    (1, "y"),
    date(2026, 1, 31),
]


@pytest.mark.parametrize("keys", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("delta", ["1e-300", "1e-12", "1e-6", "0.01", "0.5", "0.999"])
def test_independent_keys_have_delta_together_and_little_is_wasted(delta, keys):
    whole = Fraction(delta)
    each = delta_per_key(whole, keys)
    together = 1 - (1 - each) ** keys
    assert whole * (1 - whole**2 / 3 - Fraction(1, 2**60)) <= together <= whole
    assert each >= whole / keys * (1 - Fraction(1, 2**63))
    assert each.denominator.bit_count() == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_replacing_a_unit_changes_twice_as_many_keys(strategy):
    adding, replacing = (
        strategy(epsilon=1, delta="1e-6", max_groups_per_unit=3, **relation)
        for relation in ({}, {"neighboring_relation": REPLACE_ONE})
    )
    doubled = strategy(epsilon=1, delta="1e-6", max_groups_per_unit=6)
    assert (adding.changed_keys, replacing.changed_keys) == (3, 6)
    assert all(replacing.keep_probability(n) == doubled.keep_probability(n) for n in range(300))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_relation_may_be_named_but_not_made_up(strategy):
    assert strategy(epsilon=1, delta="1e-6", neighboring_relation="replace_one").changed_keys == 2
    with pytest.raises(ParameterError, match="neighboring_relation"):
        strategy(epsilon=1, delta="1e-6", neighboring_relation="replace")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_plays_the_role(strategy):
    selection = strategy(epsilon=1, delta="1e-6")
    assert isinstance(selection, PartitionSelection)
    assert selection == strategy(epsilon="1", delta=1e-6)
    assert selection.release(Secret({"b": 10**6, "a": 10**6, "c": 1})) in {("a", "b"), ("a", "b", "c")}
    assert selection.kept(Secret([10**6, 0])).tolist() == [True, False]
    with pytest.raises((AttributeError, TypeError)):
        selection.delta = 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_order_of_a_release_does_not_depend_on_the_order_of_the_data(strategy):
    selection = strategy(epsilon=1, delta="1e-6")
    for keys in (MIXED[::-1], MIXED[5:] + MIXED[:5], MIXED[1::2] + MIXED[::2]):
        assert list(selection.release(dict.fromkeys(keys, 10**6))) == MIXED


def test_keys_that_do_not_compare_are_ordered_all_the_same():
    assert min([nan, 1, "1", None, (None,), (1,), b"x", Decimal("NaN")], key=key_rank) is None
    assert sorted([Decimal("1.5"), Fraction(4, 3)], key=key_rank) == [Fraction(4, 3), Decimal("1.5")]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("delta", [0, 1, 2, Fraction(1, 2**1001), nan])
def test_a_delta_outside_is_refused(strategy, delta):
    with pytest.raises(ParameterError, match="delta"):
        strategy(epsilon=1, delta=delta)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_tiny_delta_is_met(strategy):
    selection = strategy(epsilon=1, delta="1e-300", max_groups_per_unit=2)
    assert 0 < selection.keep_probability(1) <= 1e-300 / 2 * (1 + 1e-9)
    assert selection.reliable_count() > 600
