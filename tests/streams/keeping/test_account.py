import pytest
from tests.streams.accounts import stream

import sfumato as sf
from sfumato.errors import LedgerError, ParameterError, UnsupportedEventError
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import DiscreteGaussianEvent, NonPrivateEvent, PureEvent, ZCDPEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from sfumato.streams.keeping.account import StreamSession, payer_of


def test_an_account_has_a_budget_and_says_whom_it_protects():
    with stream(unit=EACH_ROW) as rows, stream(neighboring_relation="replace_one") as people:
        assert (rows.budget, str(rows.spent), rows.remaining) == (PureDP(10_000), "ε 0", PureDP(10_000))
        assert (payer_of(rows).is_each_row, payer_of(rows).privacy_unit) == (True, "row")
        assert (payer_of(people).is_each_row, payer_of(people).privacy_unit) == (False, "visitor")
        assert payer_of(people).neighboring_relation is REPLACE_ONE
        assert "visits: spent ε 0 of" in repr(rows)


def test_an_account_that_lasts_keeps_its_facts(tmp_path):
    stream(tmp_path).close()
    stream(tmp_path).close()
    for other in ({"unit": EACH_ROW}, {"budget": PureDP(7)}, {"neighboring_relation": REPLACE_ONE}):
        with pytest.raises(LedgerError):
            stream(tmp_path, **other)


def test_a_session_pays_for_its_unit():
    table = sf.datasets.votes()
    session = sf.open(table, name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
    payer = payer_of(session)
    assert (payer.account, payer.is_each_row, payer.neighboring_relation) == ("votes", True, ADD_OR_REMOVE_ONE)
    assert payer_of(session.open_account("ann", budget=sf.PureDP(1))).account == "votes/ann"


@pytest.mark.parametrize("session", [None, "visits", 5, object()], ids=["none", "text", "number", "object"])
def test_what_is_no_session_is_refused(session):
    with pytest.raises(ParameterError, match="session"):
        payer_of(session)


@pytest.mark.parametrize(
    "wrong",
    [{"name": 5}, {"name": ""}, {"budget": 1}, {"unit": 5}, {"ledger": 5}, {"neighboring_relation": "none"}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_wrong_declaration_is_refused(wrong):
    with pytest.raises(ParameterError):
        StreamSession(**({"name": "visits", "budget": PureDP(1)} | wrong))


def test_a_charge_is_the_cost_of_the_event_rounded_up():
    with stream(budget=ApproxDP(10, "1e-5")) as approximate:
        payer = payer_of(approximate)
        assert payer.charge_of(PureEvent("0.1"), delta=None) == PureDP("0.1")
        third = payer.charge_of(PureEvent("1/3"), delta=None)
        assert PureEvent("1/3").epsilon < third.epsilon < PureEvent("1/3").epsilon + PureDP("1e-15").epsilon
        noisy = DiscreteGaussianEvent(stddev=5, l2_sensitivity=3)
        with pytest.raises(ParameterError, match="delta is missing"):
            payer.charge_of(noisy, delta=None)
        assert payer.charge_of(noisy, delta="1e-6").delta == ApproxDP(1, "1e-6").delta
        with pytest.raises(UnsupportedEventError):
            payer.charge_of(NonPrivateEvent(), delta="1e-6")
    with stream(budget=ZCDP(10)) as concentrated:
        charge = payer_of(concentrated).charge_of(ZCDPEvent("0.5"), delta=None)
        assert (round(float(charge.epsilon), 3), float(charge.delta)) == (5.222, 1e-6)
