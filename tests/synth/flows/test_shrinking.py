"""Flows from chosen origins: what both parts tell together, by brute force over databases, and the law they state."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from tests.laws import assert_law, cdf_of
from tests.synth.flows.test_drawing import Given
from tests.synth.flows.test_urn import mass, outputs

from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.privacy.events import ApproxEvent, ComposedEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation
from sfumato.synth.flows.priors import SMALLEST, flow_prior
from sfumato.synth.flows.shrinking import ShrunkFlowFit

LARGE = 10**6
"""So many that one more is hardly seen: what leaves tells the most beside them."""


def fit_of(*, draws, added, chosen, rest, relation=ADD_OR_REMOVE_ONE):
    selection = TruncatedGeometricSelection(
        epsilon=chosen.epsilon, delta=chosen.delta, max_groups_per_unit=1, neighboring_relation=relation
    )
    return ShrunkFlowFit(
        columns=("work", "home"), width=len(added[0]), draws=draws, added=added, selection=selection, rest=rest
    )


def law_of(fit, counts):
    """What is released, by its exact probability: a mask of all cells, and the flows to each destination."""
    origins, found = fit.width, {}
    keeps = [fit.selection.keep_probability(one) for one in counts]
    for mask in product((False, True), repeat=len(counts)):
        chance = Fraction(1)
        for keep, is_kept in zip(keeps, mask, strict=True):
            chance *= keep if is_kept else 1 - keep
        if not chance:
            continue
        laws = []
        for to, public in enumerate(fit.destinations(np.reshape(mask, (-1, origins)))):
            own = counts[to * origins : (to + 1) * origins]
            weights = [n + public.prior + one for n, one in zip(own, public.added, strict=True) if one is not None]
            drawn = outputs(len(weights), public.draws) if weights else [()]
            laws.append({out: mass(weights, out) if weights else Fraction(1) for out in drawn})
        for outs in product(*laws):
            each = chance
            for law, out in zip(laws, outs, strict=True):
                each *= law[out]
            found[mask, outs] = float(each)
    return found


def apart(one, other, epsilon):
    """The smallest δ with which the first law is not told from the second at this ε."""
    return sum(max(0.0, chance - exp(epsilon) * other.get(out, 0.0)) for out, chance in one.items())


def steps(counts):
    """All databases of one row more."""
    return [tuple(n + (at == place) for at, n in enumerate(counts)) for place in range(len(counts))]


def neighbors(databases, relation):
    """All pairs of databases of one domain that are neighbors, in both orders."""
    if relation is ADD_OR_REMOVE_ONE:
        pairs = [(one, more) for one in databases for more in steps(one)]
    else:
        pairs = [(one, other) for fewer in databases for one in steps(fewer) for other in (*steps(fewer), fewer)
                 if one != other]  # fmt: skip
    return {pair for one, other in pairs for pair in ((one, other), (other, one))}


CASES = {
    "δ for choosing alone": (ApproxDP(1, "0.3"), PureDP(1), (2, 2)),
    "δ for both": (ApproxDP("0.5", "0.2"), ApproxDP(1, "0.05"), (3, 2)),
    "choosing is nearly all": (ApproxDP(2, "0.4"), PureDP("0.2"), (1, 2)),
}


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("case", CASES)
def test_origins_and_flows_together_tell_no_more_than_is_charged(case, relation):
    """All databases of up to three rows in four cells, and their neighbors; and some with many rows beside."""
    chosen, rest, draws = CASES[case]
    fit = fit_of(draws=draws, added=((0, 0), (0, 0)), chosen=chosen, rest=rest, relation=relation)
    small = [counts for size in range(3 if relation is ADD_OR_REMOVE_ONE else 2) for counts in outputs(4, size)]
    surely = fit.selection.certain_count
    large = [(1, LARGE, 0, 0), (1, LARGE, 1, 1), (1, LARGE, 0, LARGE), (2, LARGE, 1, 1)]
    large += [(0, surely - 1, 0, 0), (0, LARGE, surely - 1, 0)]  # one more is kept for certain
    pairs = neighbors(small + large, relation)
    laws = {counts: law_of(fit, counts) for counts in {one for pair in pairs for one in pair}}
    price = fit.charge
    worst = max(apart(laws[one], laws[other], float(price.epsilon)) for one, other in pairs)
    assert worst <= float(price.delta) + 1e-12
    assert worst > float(chosen.delta) * (0.99 if relation is ADD_OR_REMOVE_ONE else 0.68)  # little of it is wasted


def test_a_kept_origin_has_a_worker_who_hides_others():
    """Beside many workers the prior and that worker together are worth the whole ε, and less would be too little."""
    fit = fit_of(draws=(3, 0), added=((0, 0), (0, 0)), chosen=ApproxDP(1, "0.3"), rest=PureDP(1))
    (public, _) = fit.destinations(np.array([[True, True], [False, False]]))
    assert public.prior == flow_prior(epsilon=1, draws=3, origins=2) - 1

    def loss(prior):
        one, other = ([2 + prior, LARGE + prior], [1 + prior, LARGE + prior])
        return mass(one, (3, 0)) / mass(other, (3, 0))

    assert 0.999 < loss(public.prior) / exp(1) <= 1
    assert loss(public.prior - Fraction(1, 10)) > exp(1)


def test_priors_are_for_the_origins_that_are_kept_and_never_vanish():
    added = ((0, 3, None, 0), (0, 0, 0, 0), (0, 0, 0, 0))
    kept = np.array([[True, False, False, True], [True, True, True, False], [False] * 4])
    rest = ApproxDP(1, "1e-3")
    fit = fit_of(draws=(20, 40, 30), added=added, chosen=ApproxDP(1, "0.1"), rest=rest)
    found = fit.destinations(kept)
    assert [one.draws for one in found] == [20, 40, 0]
    assert [one.added for one in found] == [(0, None, None, 0), (0, 0, 0, None), (None,) * 4]
    for public, origins in zip(found[:2], (2, 3), strict=True):
        own = flow_prior(epsilon=1, delta="1e-3", draws=public.draws, origins=origins)
        assert public.prior == own - 1
    assert (
        fit_of(draws=(1,), added=added[1:2], chosen=ApproxDP(1, "0.1"), rest=PureDP(8)).destinations(kept[1:2])[0].prior
        == SMALLEST
    )


def test_where_workers_replace_one_another_the_fewest_kept_origins_count():
    fit = fit_of(
        draws=(9, 9, 0), added=((0,) * 3,) * 3, chosen=ApproxDP(1, "0.1"), rest=PureDP(1), relation=REPLACE_ONE
    )
    asked = {"epsilon": 1, "draws": 9, "neighboring_relation": REPLACE_ONE}
    for kept, origins in (
        ([[1, 1, 1], [1, 1, 0], [1, 0, 0]], 2), ([[1, 1, 1], [0, 0, 0], [1, 0, 0]], 3),
        ([[1, 0, 0], [1, 1, 1], [0, 0, 0]], 1),
    ):  # fmt: skip
        found = fit.destinations(np.array(kept, dtype=bool))
        expected = flow_prior(origins=origins, **asked) - 1
        assert {one.prior for one in found if one.draws} == {expected}


@pytest.mark.statistical
def test_what_is_released_has_the_law_that_was_checked():
    """Type-I error 1e-6: two destinations, public flows, an origin without, and one that nobody comes from."""
    fit = fit_of(
        draws=(2, 1), added=((0, 2), (None, 0)), chosen=ApproxDP(1, "0.3"), rest=PureDP(1), relation=REPLACE_ONE
    )
    counts = [[1, 3], [5, 2]]
    law = law_of(fit, (1, 3, 0, 2))  # nobody named has the first origin of the second
    given, places, drawn = Given(counts), {out: place for place, out in enumerate(law)}, []
    for _ in range(1_000):
        found = fit.release(given)
        mask = np.zeros((2, 2), dtype=bool)
        for to, own in enumerate(found["kept"]):
            mask[to, own] = True
        flows = np.zeros((2, 2), dtype=int)
        for to, start, many in found["flows"]:
            flows[to, start] = many
        outs = tuple(tuple(row[own].tolist()) for row, own in zip(flows, mask, strict=True))
        drawn.append(places[tuple(mask.ravel().tolist()), outs])
    assert set(given.asked) == {("work", "home")}
    assert sum(law.values()) == pytest.approx(1)
    assert_law(np.array(drawn), cdf_of(np.array(list(law.values()))))


def test_only_origins_that_public_flows_name_are_kept():
    fit = fit_of(draws=(5,), added=((0, None),), chosen=ApproxDP(9, "0.9"), rest=PureDP(1))
    assert fit.release(Given([[0, 9]])) == {"flows": [], "kept": [[]]}
    assert fit.release(Given([[9, 9]])) == {"flows": [[0, 0, 5]], "kept": [[0]]}


def test_nobody_and_nothing_drawn_keep_no_origin():
    fit = fit_of(draws=(5, 0), added=((0, 0), (0, 0)), chosen=ApproxDP(9, "0.9"), rest=PureDP(1))
    assert fit.release(Given([[0, 0], [9, 9]])) == {"flows": [], "kept": [[], []]}
    kept = fit.release(Given([[0, 9], [9, 9]]))
    assert kept == {"flows": [[0, 1, 5]], "kept": [[1], []]}
    assert [one.draws for one in fit.drawn_from(kept)] == [5, 0]


@pytest.mark.parametrize("rest", [PureDP(2), ApproxDP(2, "1e-6")], ids=["without", "with"])
def test_the_event_is_both_parts_and_the_charge_their_sum(rest):
    fit = fit_of(draws=(1,), added=((0,),), chosen=ApproxDP("0.5", "1e-6"), rest=rest)
    flows = ApproxEvent(2, rest.delta) if rest.delta else PureEvent(2)
    assert fit.event == ComposedEvent((ApproxEvent("0.5", "1e-6"), flows))
    assert (fit.charge.epsilon, fit.charge.delta) == (Fraction("2.5"), Fraction("1e-6") + rest.delta)


def test_two_fits_with_other_parts_are_not_one():
    def document(**changed):
        facts = {"draws": (1,), "added": ((0,),), "chosen": ApproxDP(1, "1e-6"), "rest": PureDP(2)}
        return fit_of(**facts | changed).document()

    others = [
        {"draws": (2,)}, {"added": ((1,),)}, {"chosen": ApproxDP(1, "1e-7")}, {"chosen": ApproxDP("0.5", "1e-6")},
        {"rest": PureDP(1)}, {"rest": ApproxDP(2, "1e-6")}, {"relation": REPLACE_ONE},
    ]  # fmt: skip
    assert document() == document()
    assert all(document(**changed) != document() for changed in others)
