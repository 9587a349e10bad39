"""A federation without a trusted server: shares of noise, dropouts, and nothing saved by drawing owners."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.learn.torch.federated.federations import line, odd_owners, one_owner, shared, weights_of

from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.federated.owners import STEPS, square_of
from sfumato.local import Party, PartySum, SecureSum
from sfumato.mechanisms.distributed.gaussian import DistributedGaussian
from sfumato.privacy.events import GroupEvent, PoissonSampledEvent, PureEvent, SelfComposedEvent, ZCDPEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

RELATIONS = (ADD_OR_REMOVE_ONE, REPLACE_ONE)
QUIET = {"parties": 7, "l2_sensitivity": STEPS, "l0_sensitivity": 3, "max_dropouts": 2, "rho": 10**13}
"""Noise of a step or so: no promise, but sums that can be checked."""


def cost(event, relation=ADD_OR_REMOVE_ONE):
    return PLDAccountant(neighboring_relation=relation).compose(event).epsilon("1e-5")


def summed(plan, owners, *, lost=()):
    """The secure sum of a round, in which some owners drop out after they dealt."""
    protocol = PartySum(plan.noise, low=-STEPS, high=STEPS, numbers=plan.public.width, max_colluders=1)
    run = SecureSum(protocol)
    parties = [Party(protocol, number, run.session) for number in range(len(owners))]
    for party in parties:
        run.join(party.keys())
    roster = run.roster()
    for party in parties:
        run.deal(party.number, party.deal(roster))
    sending = [party for party in parties if party.number not in lost]
    for party in sending:
        value = plan.contribution(owners[party.number])
        run.add(party.number, party.contribute(value, run.dealt_to(party.number)))
    senders = run.senders()
    for party in sending:
        run.reveal(party.reveal(senders))
    return run.estimate()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("dropouts", [0, 2])
def test_those_who_may_remain_make_the_noise_that_the_charge_needs(relation, dropouts):
    plan = shared(max_dropouts=dropouts, neighboring_relation=relation)
    distance = STEPS * (2 if relation is REPLACE_ONE else 1)
    variance = (7 - dropouts) * plan.noise.share_stddev**2  # of the fewest shares
    assert plan.noise.l2_sensitivity == distance
    rho = Fraction(distance**2) / (2 * variance)
    assert 0.99 * plan.noise.rho < rho <= plan.noise.rho
    assert 1.97 < cost(SelfComposedEvent(ZCDPEvent(rho), 3), relation) <= 2


def test_drawing_owners_saves_nothing_as_the_server_sees_who_takes_part():
    plan = shared()
    assert plan.event == SelfComposedEvent(ZCDPEvent(plan.noise.rho), 3)
    sampled = SelfComposedEvent(PoissonSampledEvent(Fraction(1, 2), ZCDPEvent(plan.noise.rho)), 3)
    assert cost(plan.event) > cost(sampled)


def test_a_secure_sum_with_dropouts_is_the_sum_of_the_contributions_that_came():
    plan, model = shared(), line()
    plan = replace(plan, public=type(plan.public)(model, plan.public.optimizer.__class__(model.parameters(), lr=1)))
    plan = replace(plan, noise=DistributedGaussian(**QUIET))
    owners = [*(one_owner(str(i), i - 2) for i in range(4)), *odd_owners()[2:5]]
    found = summed(plan, owners, lost=(1,))
    sent = [plan.contribution(owner).open_for_noise() for i, owner in enumerate(owners) if i != 1]
    assert found.shares == 6
    assert np.abs(np.array(found.totals) - sum(sent)).max() < 40
    before = weights_of(model)
    plan.move(found.totals, shares=found.shares)
    assert np.allclose(before - weights_of(model), sum(sent) / STEPS / 6, atol=1e-4)


def test_fewer_shares_than_were_promised_move_nothing():
    plan = shared()
    for shares in (0, 4, 8):
        with pytest.raises(ParameterError, match="shares"):
            plan.move([0, 0, 0], shares=shares)
    with pytest.raises(ParameterError, match="one for each weight"):
        plan.move([0, 0], shares=5)
    assert plan.result().rounds == 0
    assert plan.result().event == PureEvent(0)
    assert plan.public.rounds == 0


def test_no_round_is_done_that_was_not_charged():
    plan = shared(rounds=2)
    for _ in range(2):
        plan.move([0, 0, 0], shares=5)
    assert plan.result().event == plan.event
    assert plan.result().guarantee == plan.charge
    with pytest.raises(ParameterError, match="were not charged"):
        plan.move([0, 0, 0], shares=5)


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_owner_clips_so_far_that_its_own_epsilon_is_kept(relation):
    plan = shared(neighboring_relation=relation, clip="0.01")
    for own in ("0.01", "0.5", 1):
        owner = one_owner(epsilon=own)
        assert 0.97 * float(Fraction(own)) < cost(plan.event_of(owner), relation) <= Fraction(own)
        most = plan.steps_of(owner)
        assert 0.99 * most**2 < square_of(plan.contribution(owner).open_for_noise()) <= most**2
        move = most * (2 if relation is REPLACE_ONE else 1)
        rho = plan.event_of(owner).event.rho
        assert rho >= Fraction(move**2) / (2 * 5 * plan.noise.share_stddev**2)
        assert str(plan.guarantee_of(owner)) == f"ε {own}, δ 1e-05"
    for usual in (one_owner(), one_owner(epsilon=3)):
        assert (plan.steps_of(usual), plan.event_of(usual)) == (STEPS, plan.event)
        assert plan.guarantee_of(usual) == plan.charge
    plan, silent = shared(neighboring_relation=relation, delta="1e-12"), one_owner(epsilon="1e-12")
    assert plan.steps_of(silent) == 0
    assert not plan.contribution(silent).open_for_noise().any()
    assert cost(plan.event_of(silent)) == 0


def test_contributions_are_clipped_and_those_that_fail_are_0_and_get_noise_all_the_same():
    plan = shared()
    for owner in odd_owners():
        steps = plan.contribution(owner).open_for_noise()
        assert square_of(steps) <= STEPS**2
        assert np.array(plan.noise.share(plan.contribution(owner))).any()


def test_a_group_costs_what_the_accountant_says():
    plan = shared()
    assert 2 < plan.epsilon_of_group(2) == cost(GroupEvent(plan.event, 2))


def test_arguments_out_of_range_are_refused():
    for arguments in ({"owners": 0}, {"max_dropouts": 7}, {"rounds": 0}, {"clip": 0}, {"delta": 0}, {"owners": 2.5}):
        with pytest.raises(ParameterError):
            shared(**arguments)
    with pytest.raises(TypeError, match="owners_per_round"):
        shared(owners_per_round=3)
