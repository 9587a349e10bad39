"""What an event may add: bounds are kept by every event, and neighbors are as far apart as stated and no further."""

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms import Contribution
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

RELATIONS = (ADD_OR_REMOVE_ONE, REPLACE_ONE)
ROWS = np.array(list(product(range(-3, 4), repeat=2)))


def kinds(relation):
    return {
        "count": Contribution.count(relation),
        "clamped": Contribution.clamped(-1, 2, relation),
        "positive": Contribution.clamped(1, 3, relation),
        "one_of": Contribution.one_of(relation),
        "l1": Contribution.vector(l1=2, neighboring_relation=relation),
        "l2": Contribution.vector(l2="2.5", neighboring_relation=relation),
    }


def furthest(bound, relation):
    """The largest L0, L1 and squared L2 distance of neighbors, over all events that the bound lets through."""
    events = ROWS[:, 0] if bound.kind == "clamped" else ROWS
    kept = bound.bounded(events).reshape(len(events), -1)
    others = np.zeros((1, kept.shape[1]), dtype=int) if relation is ADD_OR_REMOVE_ONE else kept
    apart = np.abs(kept[:, None] - others[None]).reshape(-1, kept.shape[1])
    return (apart > 0).sum(axis=1).max(), apart.sum(axis=1).max(), (apart**2).sum(axis=1).max()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", sorted(kinds(ADD_OR_REMOVE_ONE)))
def test_neighbours_are_no_further_apart_than_stated(kind, relation):
    bound = kinds(relation)[kind]
    l0, l1, squared = furthest(bound, relation)
    assert l0 <= bound.l0_sensitivity
    assert squared <= bound.l2_sensitivity**2
    assert bound.l2_sensitivity**2 < squared + (6 if kind == "l2" else Fraction(1, 1000))
    if kind != "l2":
        assert l1 == bound.l1_sensitivity


@pytest.mark.parametrize("kind", ["one_of", "l1", "l2"])
def test_a_long_event_is_shortened_and_a_short_one_is_left(kind):
    bound = kinds(ADD_OR_REMOVE_ONE)[kind]
    events = [[1, 0], [10**30, 10**30], [-(2**62), 5]]
    kept = bound.bounded(events)
    assert kept[0].tolist() == [1, 0]
    assert all(sum(abs(v) ** 2 for v in row) <= 2.5**2 for row in kept.tolist())
    assert all(
        abs(v) <= abs(w)
        for row, event in zip(kept.tolist(), events, strict=True)
        for v, w in zip(row, event, strict=True)
    )


def test_a_vector_that_is_scaled_keeps_its_direction():
    kept = Contribution.vector(l2=100).bounded([[300, -400], [30, -40]])
    assert kept.tolist() == [[60, -80], [30, -40]]
    assert Contribution.vector(l1=70).bounded([[300, -400]]).tolist() == [[30, -40]]


def test_a_replaced_key_is_root_two_away():
    exact = Contribution.one_of(REPLACE_ONE)
    assert float(exact.l2_sensitivity) == pytest.approx(sqrt(2))
    assert exact.l2_sensitivity**2 >= 2
    assert exact.l1_sensitivity == exact.l0_sensitivity == 2


@pytest.mark.parametrize(
    "made",
    [
        lambda: Contribution.clamped(2, 1),
        lambda: Contribution.clamped(0, 0),
        lambda: Contribution.clamped(3, 3, REPLACE_ONE),
        lambda: Contribution.clamped(0, 1 << 41),
        lambda: Contribution.clamped(0, True),
        lambda: Contribution.vector(l1="0.5"),
        lambda: Contribution.vector(l1=1, l2=1),
        Contribution.vector,
        lambda: Contribution.count().bounded([[1]]),
        lambda: Contribution.one_of().bounded([1]),
        lambda: Contribution.count().bounded([0.5]),
        lambda: Contribution.vector(l2=1).l1_sensitivity,
        lambda: Contribution.count("replace"),
    ],
)  # fmt: skip
def test_what_is_no_bound_is_refused(made):
    with pytest.raises(ParameterError):
        made()
