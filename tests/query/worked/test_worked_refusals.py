"""Questions that are refused: with an error that names the fragment, before anything is spent or read."""

from fractions import Fraction

import pytest
from tests.query.worked.cases import shown
from tests.query.worked.oracles import fresh_view
from tests.query.worked.refusals import REFUSALS

import sfumato as sf


def test_there_are_at_least_45_and_no_two_are_alike():
    assert len({(case.on, case.sql, str(case.parameters), case.price) for case in REFUSALS}) == len(REFUSALS) >= 45


@pytest.mark.parametrize("case", REFUSALS, ids=shown)
def test_it_is_refused_by_name_and_nothing_is_spent_or_read(case):
    view = fresh_view(case.on, "reference", budget=sf.ApproxDP(1, "1e-6"))
    with pytest.raises(case.error) as caught:
        view.sql(case.sql, parameters=case.parameters, **dict(case.price))
    assert type(caught.value) is case.error
    assert [word for word in case.words if word not in str(caught.value)] == []
    assert view._desk.engine.statements == []
    assert view._desk.ledger.spent(view._desk.account).epsilon == Fraction(0)


@pytest.mark.parametrize("case", [case for case in REFUSALS if dict(case.price) == {"epsilon": 1}], ids=shown)
def test_its_cost_is_refused_alike(case):
    view = fresh_view(case.on, "reference")
    with pytest.raises(case.error):
        view.query(case.sql, parameters=case.parameters).cost(epsilon=1)
