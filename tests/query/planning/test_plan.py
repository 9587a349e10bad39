"""Plans as values: what they tell, for the accountants."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, ref

from sfumato.privacy.events import ApproxEvent, ComposedEvent, DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.model.measures import AUTO
from sfumato.query.planning.plan import BoundsFirst
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.top_values import TopValues


def test_a_plan_tells_all_its_sections():
    plan = planned(VISITS, N, ("t", TopValues(ref("ward"))), keys=("ward",), sets=(("ward",), ()))
    assert plan.event == ComposedEvent((*plan.sections[0].events, *plan.sections[1].events))
    assert [type(event) for event in plan.event.events] == [DiscreteLaplaceEvent, PureEvent] * 2


@pytest.mark.parametrize(
    ("rest", "event"),
    [
        (PureDP("0.75"), PureEvent(Fraction(3, 4))),
        (ApproxDP("0.75", "1e-9"), ApproxEvent(Fraction(3, 4), Fraction("1e-9"))),
    ],
)
def test_where_bounds_come_first_a_plan_tells_them_and_what_is_kept_for_the_rest(rest, event):
    plan = planned(PEOPLE, Sum(ref("free"), AUTO))
    plan = replace(plan, bounds=BoundsFirst(section=plan.bounds.section, rest=rest, law=None))
    assert plan.event == ComposedEvent((DiscreteLaplaceEvent(Fraction(4), 1), event))


def test_a_plan_is_a_value():
    assert planned(TOWNS, N) == planned(TOWNS, N)
    assert planned(PEOPLE, N) != planned(PEOPLE, N, epsilon=2)
