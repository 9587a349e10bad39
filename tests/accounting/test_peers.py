"""Known faults of the field's reference, as controls: the same questions, its answers, and ours.

dp-accounting 0.6.0 is an oracle of many tests here; where it is wrong we must not agree with it.
"""

import math

import dp_accounting
import pytest
from dp_accounting import pld, rdp
from dp_accounting.pld import accountant as peer_composition
from dp_accounting.pld import common

from sfumato.accounting.composition.optimal import OptimalAccountant
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.privacy.events import GaussianEvent, PureEvent, RandomizedResponseEvent
from sfumato.privacy.neighbors import NeighboringRelation

DELTA = 1e-6
REPLACED = dp_accounting.NeighboringRelation.REPLACE_ONE


def test_a_count_of_randomized_responses_is_lost_there_and_counted_here():
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.RandomizedResponseDpEvent(0.5, 2), 100)
    theirs = pld.PLDAccountant(REPLACED).compose(event).get_epsilon(DELTA)
    ours = PLDAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    found = ours.compose(RandomizedResponseEvent("0.5", 2), count=100).interval(DELTA)
    assert theirs == pytest.approx(1.0987, abs=1e-4)
    assert 94.28 < found.lower <= found.upper < 94.30


def test_replacing_one_has_two_meanings_there_and_one_here():
    event = dp_accounting.GaussianDpEvent(10)
    by_divergence = rdp.RdpAccountant(neighboring_relation=REPLACED).compose(event, 10).get_epsilon(DELTA)
    by_loss = pld.PLDAccountant(REPLACED).compose(event, 10).get_epsilon(DELTA)
    assert by_loss > 1.9 * by_divergence
    kinds = (PLDAccountant, GDPAccountant)
    ours = [
        kind(neighboring_relation=NeighboringRelation.REPLACE_ONE).compose(GaussianEvent(10), count=10)
        for kind in kinds
    ]
    assert ours[0].epsilon(DELTA) == pytest.approx(float(ours[1].epsilon(DELTA)), rel=1e-6)
    assert ours[0].epsilon(DELTA) == pytest.approx(1.3676, abs=1e-4)


def test_optimal_composition_overflows_there_at_1029_and_not_here():
    single = common.DifferentialPrivacyParameters(0.1, 0)
    with pytest.raises((OverflowError, RuntimeWarning)):
        peer_composition.advanced_composition(single, 1029, DELTA)
    found = OptimalAccountant().compose(PureEvent("0.1"), count=1029).interval(DELTA)
    assert 19.3 < found.lower <= found.upper < 20
    huge = OptimalAccountant().compose(PureEvent("1e-6"), count=10**12).epsilon(DELTA)
    assert math.isfinite(huge)
