import pytest
from tests.streams.accounts import stream
from tests.streams.one_draw import OneDraw

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.binary_tree import BinaryTree
from sfumato.mechanisms.continual.contribution import Contribution
from sfumato.mechanisms.continual.participation import Participation
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GroupEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import EACH_ROW, REPLACE_ONE
from sfumato.streams.counting.measures import ClampedSum, EventCount
from sfumato.streams.counting.plan import plan_counter

COUNT = EventCount()
NOTHING = {"horizon": None, "epsilon": None, "rho": None, "delta": None, "participation": None, "sums": None}


def planned(session, measure=COUNT, mechanism=OneDraw, **options):
    return plan_counter(session.payer, measure, mechanism=mechanism, **(NOTHING | options))


def test_the_mechanism_is_made_for_what_the_counter_enforces_and_charged_for_all_steps():
    with stream() as session:
        plan = planned(session, ClampedSum(-2, 7), horizon=30, epsilon="0.5", participation=Participation(3, 7))
    assert plan.mechanism.contribution == Contribution.clamped(-2, 7)
    assert plan.mechanism.participation == Participation(3, 7)
    assert (plan.horizon, plan.event, plan.charge) == (30, PureEvent("0.5"), PureDP("0.5"))


def test_a_ready_mechanism_must_be_for_just_that():
    with stream(unit=EACH_ROW) as session:
        made = BinaryTree(horizon=30, epsilon=1)
        assert planned(session, mechanism=made).mechanism is made
        for options in ({"horizon": 30}, {"epsilon": 1}, {"rho": 1}):
            with pytest.raises(ParameterError, match="leave it out"):
                planned(session, mechanism=made, **options)
        for other in ({"measure": ClampedSum(0, 5)}, {"participation": Participation(2)}):
            with pytest.raises(ParameterError, match="as the counter enforces"):
                planned(session, mechanism=made, **other)


def test_units_with_several_events_need_a_bound_of_them():
    with stream() as session, pytest.raises(ParameterError, match="the account protects each visitor"):
        planned(session, horizon=30, epsilon=1)
    with stream(unit=EACH_ROW) as session:
        assert planned(session, horizon=30, epsilon=1).participation is None


def test_a_replaced_unit_is_one_removed_and_one_added():
    """At other steps: so it is a group of two, and each has a half of ε, or a quarter of ρ."""
    with stream(neighboring_relation=REPLACE_ONE, budget=ZCDP(1)) as session:
        plan = planned(session, horizon=30, epsilon=1, participation=Participation(2))
        assert (plan.event, plan.charge) == (GroupEvent(PureEvent("0.5"), 2), PureDP(1))
        made = planned(session, mechanism=BinaryTree, horizon=30, rho=1, participation=Participation(2))
        assert made.mechanism.rho * 4 == 1
        assert made.charge.delta == ApproxDP(1, "1e-6").delta


@pytest.mark.parametrize("budget", [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"rho": -1}, {"epsilon": "much"}])
def test_a_budget_is_stated_once(budget):
    with stream() as session, pytest.raises(ParameterError):
        planned(session, horizon=30, participation=Participation(), **budget)


def test_gaussian_noise_needs_a_delta_where_an_account_is_kept_in_epsilon():
    part = {"mechanism": BinaryTree, "participation": Participation(2), "horizon": 30, "rho": "0.1"}
    with stream(budget=ApproxDP(10, "1e-5")) as session:
        with pytest.raises(ParameterError, match="delta is missing"):
            planned(session, **part)
        assert planned(session, **part, delta="1e-6").charge.delta == ApproxDP(1, "1e-6").delta
    with stream(budget=ZCDP(1)) as session:
        assert planned(session, **part).charge.delta == ApproxDP(1, "1e-6").delta


def test_parameters_say_all_that_the_state_depends_on():
    with stream() as session:
        options = {"horizon": 30, "epsilon": 1, "participation": Participation(2)}
        first = planned(session, **options).parameters
        assert planned(session, **options).parameters == first
        for other in ({"horizon": 31}, {"epsilon": 2}, {"participation": Participation(3)}, {"mechanism": BinaryTree}):
            assert planned(session, **(options | other)).parameters != first
        assert planned(session, EventCount(keys=("a",)), **options).parameters != first


@pytest.mark.parametrize("mechanism", [None, "tree", 5], ids=str)
def test_what_is_no_mechanism_is_refused(mechanism):
    with stream() as session, pytest.raises(ParameterError, match="mechanism"):
        planned(session, mechanism=mechanism, horizon=3, epsilon=1, participation=Participation())
