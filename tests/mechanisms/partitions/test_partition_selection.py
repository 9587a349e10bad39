"""What all strategies share: the split of δ, the look and the order of keys, the shape of a release."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.partitions.partition_selection import PartitionSelection, delta_per_key
from sfumato.mechanisms.partitions.thresholds import GaussianThreshold, LaplaceThreshold
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret


class Point(NamedTuple):
    """A tuple with a name."""

    x: Any
    y: Any


STRATEGIES = [TruncatedGeometricSelection, LaplaceThreshold, GaussianThreshold]
MIXED = [None, -2, 0, Fraction(1, 3), 0.5, 1.5, 7, inf, "", "B", "a", (1, "x"), (1, "y"), date(2026, 1, 31)]
EQUAL = [
    (True, 1),
    (-0.0, 0.0),
    (Decimal("1.00"), Decimal(1)),
    (1.0, 1),
    (np.int64(1), 1),
    (np.str_("a"), "a"),
    (Point(1, 2), (1, 2)),
    (datetime(2026, 1, 31, 13, tzinfo=timezone(timedelta(hours=1))), datetime(2026, 1, 31, 12, tzinfo=UTC)),
]


def of_one(strategy, **parameters):
    """A strategy for one key and one row of each unit, where nothing else is stated."""
    ones = {name: 1 for name in signature(strategy).parameters if name.startswith("max_")}
    return strategy(**(ones | parameters))


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
        of_one(strategy, epsilon=1, delta="1e-6", max_groups_per_unit=3, **relation)
        for relation in ({}, {"neighboring_relation": REPLACE_ONE})
    )
    doubled = of_one(strategy, epsilon=1, delta="1e-6", max_groups_per_unit=6)
    assert (adding.changed_keys, replacing.changed_keys) == (3, 6)
    assert all(replacing.keep_probability(n) == doubled.keep_probability(n) for n in range(300))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_relation_may_be_named_but_not_made_up(strategy):
    assert of_one(strategy, epsilon=1, delta="1e-6", neighboring_relation="replace_one").changed_keys == 2
    with pytest.raises(ParameterError, match="neighboring_relation"):
        of_one(strategy, epsilon=1, delta="1e-6", neighboring_relation="replace")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_plays_the_role(strategy):
    selection = of_one(strategy, epsilon=1, delta="1e-6")
    assert isinstance(selection, PartitionSelection)
    assert selection == of_one(strategy, epsilon="1", delta=1e-6)
    assert selection.release(Secret({"b": 10**6, "a": 10**6, "c": 1})) in {("a", "b"), ("a", "b", "c")}
    assert selection.kept(Secret([10**6, 0])).open_for_noise().tolist() == [True, False]
    with pytest.raises((AttributeError, TypeError)):
        selection.delta = 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_order_of_a_release_does_not_depend_on_the_order_of_the_data(strategy):
    selection = of_one(strategy, epsilon=1, delta="1e-6")
    for keys in (MIXED[::-1], MIXED[5:] + MIXED[:5], MIXED[1::2] + MIXED[::2]):
        assert list(selection.release(dict.fromkeys(keys, 10**6))) == MIXED


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("first", "others"), EQUAL, ids=repr)
def test_no_unit_decides_how_a_key_looks(strategy, first, others):
    selection = of_one(strategy, epsilon=1, delta="1e-6")
    with_it, without_it = Counter([first] + [others] * 1000), Counter([others] * 1000)
    assert (len(with_it), repr([*with_it]) == repr([*without_it])) == (1, False), "the rows alone would tell"
    assert repr(selection.release(with_it)) == repr(selection.release(without_it))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_keys_that_equal_nothing_are_never_shown(strategy):
    selection = of_one(strategy, epsilon=1, delta="1e-6")
    assert selection.release({nan: 10**6, np.float64(nan): 10**6, ("a", nan): 10**6, "a": 10**6}) == ("a",)


def test_keys_that_fall_together_are_decided_by_the_largest_of_their_counts():
    selection = TruncatedGeometricSelection(epsilon=1, delta="1e-6", max_groups_per_unit=1)
    moments = [pd.Timestamp(2026, 1, 31, nanosecond=n) for n in range(3)]
    certain, shown = selection.certain_count, (moments[0].to_pydatetime(),)
    assert selection.release(dict.fromkeys(moments, certain)) == shown
    assert selection.release(dict(zip(moments, (0, -certain, certain), strict=True))) == shown


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_key_of_a_type_without_a_canonical_look_is_refused_by_its_type(strategy):
    with pytest.raises(ParameterError, match="keys = 'frozenset'") as refused:
        of_one(strategy, epsilon=1, delta="1e-6").release({"a": 1, frozenset({"secret"}): 1})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_which_keys_of_the_data_are_kept_is_a_secret_outside_a_release(strategy):
    assert isinstance(of_one(strategy, epsilon=1, delta="1e-6").kept([1, 2]), Secret)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_masked_count_is_a_key_of_nobody(strategy):
    masked = np.ma.masked_array([10**6, 10**6], mask=[False, True])
    assert of_one(strategy, epsilon=1, delta="1e-6").kept(masked).open_for_noise().tolist() == [True, False]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_help_shows_every_parameter_by_its_name(strategy):
    assert {"epsilon", "delta", "max_groups_per_unit", "neighboring_relation"} <= {*signature(strategy).parameters}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("delta", [0, 1, 2, Fraction(1, 2**1001), nan])
def test_a_delta_outside_is_refused(strategy, delta):
    with pytest.raises(ParameterError, match="delta"):
        of_one(strategy, epsilon=1, delta=delta)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_tiny_delta_is_met(strategy):
    selection = of_one(strategy, epsilon=1, delta="1e-300", max_groups_per_unit=2)
    assert 0 < selection.keep_probability(1) <= 1e-300 / 2 * (1 + 1e-9)
    assert selection.reliable_count() > 600
