"""Every law is kept by our accountants; the count that a peer loses is found."""

import dp_accounting
import pytest
from dp_accounting import pld
from tests.audit.accountants.test_properties import COUNTED, FEW, TRUE, Sum, broken
from tests.sizes import FULL_SIZE

from sfumato.accounting.comparison import ACCOUNTANTS, BestAccountant
from sfumato.accounting.composition.advanced import AdvancedAccountant
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.audit.accountants.accountants import ForeignAccount, check_accountant
from sfumato.audit.accountants.properties import true_profile
from sfumato.errors import ParameterError
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

ASKED = {} if FULL_SIZE else {"counts": (1, 9), "deltas": (1e-5,), "epsilons": (0.1, 1.0)}
KINDS = (*ACCOUNTANTS.values(), BestAccountant) if FULL_SIZE else tuple(ACCOUNTANTS.values())


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_our_accountants_keep_every_law(kind, relation):
    findings = check_accountant(
        kind(neighboring_relation=relation), name=kind.__name__, neighboring_relation=relation, **ASKED
    )
    assert broken(findings) == set(), "\n".join(map(str, findings))
    errors = [words for finding in findings for words in finding.unchecked if not words.startswith("unsupported")]
    assert errors == []
    assert sum(finding.checks for finding in findings) > 60


def test_what_has_no_price_or_fails_is_listed_and_breaks_nothing():
    class Failing(Sum):
        def epsilon(self, delta=0):
            raise RuntimeError(f"no figure at {delta}")

    findings = check_accountant(Failing(), events=(PureEvent("0.5"), GaussianEvent(1)), **FEW)
    assert broken(findings) == set()
    listed = {words for finding in findings for words in finding.unchecked}
    assert {
        "RuntimeError: no figure at 0.01",
        "unsupported: GaussianEvent",
        "unsupported: GroupEvent of GaussianEvent",
    } <= listed


@pytest.mark.parametrize(
    ("name", "values"),
    [("counts", ()), ("deltas", ()), ("epsilons", ()), ("counts", (0, 1)), ("counts", (2, 1)), ("counts", (1, 1))],
)
def test_impossible_parameters_are_refused_by_name(name, values):
    with pytest.raises(ParameterError, match=name):
        check_accountant(BasicAccountant(), **{name: values})


def test_an_accountant_that_is_too_strict_is_no_bug():
    """Advanced composition is far above the truth, and allowed to be."""
    findings = check_accountant(AdvancedAccountant(), events=(PureEvent("0.5"),), **FEW)
    assert broken(findings) == set()


def theirs(event):
    """The peer's event for one of ours."""
    match event:
        case GaussianEvent(noise):
            return dp_accounting.GaussianDpEvent(float(noise))
        case LaplaceEvent(noise):
            return dp_accounting.LaplaceDpEvent(float(noise))
        case RandomizedResponseEvent(kept, categories):
            return dp_accounting.RandomizedResponseDpEvent(1 - float(kept), categories)
        case SelfComposedEvent(inside, count):
            translated = theirs(inside)
            return None if translated is None else dp_accounting.SelfComposedDpEvent(translated, count)
        case ComposedEvent(inside):
            translated = [theirs(single) for single in inside]
            return None if None in translated else dp_accounting.ComposedDpEvent(translated)
        case _:
            return None


def peer(relation):
    """dp-accounting 0.6.0, on a coarse grid."""
    return ForeignAccount(
        make=lambda: pld.PLDAccountant(relation, value_discretization_interval=1e-2),
        translate=theirs,
        add=lambda accountant, event, count: accountant.compose(event, count),
        epsilon_at=lambda accountant, delta: accountant.get_epsilon(delta),
        delta_at=lambda accountant, epsilon: accountant.get_delta(epsilon),
    )


def test_the_count_that_a_peer_loses_is_found():
    """100 binary responses that tell the truth three times of four: ε = 1.1 there, 94.3 truly."""
    findings = check_accountant(
        peer(dp_accounting.NeighboringRelation.REPLACE_ONE),
        events=(RandomizedResponseEvent("0.5", 2),),
        counts=(1, 100),
        deltas=(1e-6,),
        epsilons=(1.0,),
        tolerance=0.01,
        neighboring_relation=REPLACE_ONE,
    )
    assert broken(findings) == {COUNTED, TRUE}
    assert "ε = 1.1 for 100 × RandomizedResponseEvent(probability=1/2, categories=2)" in "\n".join(map(str, findings))


def test_the_same_peer_keeps_the_laws_for_other_events():
    findings = check_accountant(
        peer(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE),
        events=(GaussianEvent(10), LaplaceEvent(2)),
        counts=(1, 9),
        deltas=(1e-5,),
        epsilons=(1.0,),
        tolerance=0.01,
        neighboring_relation=ADD_OR_REMOVE_ONE,
    )
    assert broken(findings) == set(), "\n".join(map(str, findings))
    assert sum(finding.checks for finding in findings) > 20


@pytest.mark.parametrize("event", [PureEvent("0.5"), ApproxEvent("0.5", "1e-3"), GaussianEvent(10)], ids=str)
def test_the_closed_forms_are_met_by_accountants_that_are_exact(event):
    """Else the law of the truth would be kept by whatever is too large, and by a closed form of 0."""
    account, profile = BestAccountant().compose(event, count=3), true_profile(event, 3, relation=ADD_OR_REMOVE_ONE)
    for epsilon in (0.1, 0.5, 1.0):
        assert float(account.delta(epsilon)) == pytest.approx(profile(epsilon), rel=1e-6)


def test_what_a_foreign_function_answers_is_a_number_or_refused_by_its_name():
    account = ForeignAccount(
        make=list, translate=str, add=lambda *_: None, epsilon_at=lambda *_: None, delta_at=lambda *_: "much"
    )
    with pytest.raises(ParameterError, match=r"^epsilon_at = None: must be a function that returns a number$"):
        account.epsilon()
    with pytest.raises(ParameterError, match=r"^delta_at = 'much'"):
        account.delta(1)
    with pytest.raises(ParameterError, match=r"^make = 3"):
        ForeignAccount(make=3, translate=str, add=print, epsilon_at=print, delta_at=print)


@pytest.mark.parametrize(
    ("name", "value"),
    [("empty", BasicAccountant), ("events", [3]), ("counts", [1.5]), ("deltas", [2]), ("tolerance", -1)],
)
def test_what_is_of_another_kind_is_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        check_accountant(**{"empty": BasicAccountant()} | FEW | {name: value})
