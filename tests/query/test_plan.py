from tests.query.asking import PEOPLE, parsed

from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.compile import compile_plan
from sfumato.query.measures import RowCount
from sfumato.query.plan import KeyColumn, Statement
from sfumato.query.relations import Source


def test_the_number_of_groups_is_the_product_of_the_keys():
    keys = (KeyColumn(name="a", values=(1, 2, 3)), KeyColumn(name="b", values=("x", "y")))
    assert Statement(rows=Source(PEOPLE), keys=keys, measures=(RowCount(),)).group_count == 6
    assert Statement(rows=Source(PEOPLE), keys=(), measures=(RowCount(),)).group_count == 1


def test_the_event_of_a_plan_is_all_that_it_releases():
    plan = compile_plan(
        parsed("SELECT COUNT(*), AVG(age) FROM people"), PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE
    )
    assert plan.event == ComposedEvent(tuple(mechanism.event for mechanism in plan.mechanisms))
