"""Draws for destinations: with the law they state, and priors of which none is for a destination without draws."""

from fractions import Fraction

import numpy as np
import pytest
from tests.laws import assert_law, cdf_of
from tests.synth.flows.test_urn import mass, outputs

from sfumato.audit import audit
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret
from sfumato.synth.flows.drawing import Destination, FlowFit, destinations_of
from sfumato.synth.flows.priors import SMALLEST, flow_prior


class Given:
    """Marginals with these counts, which remember for which columns they were asked."""

    def __init__(self, counts):
        self.counted, self.asked = np.array(counts, dtype=np.int64), []

    def counts(self, names):
        self.asked.append(tuple(names))
        return Secret(self.counted.reshape(-1))


def fit_of(*destinations, width):
    return FlowFit(columns=("work", "home"), width=width, destinations=destinations, charge=PureDP(1))


@pytest.mark.statistical
def test_drawn_flows_have_the_law_of_counts_priors_and_public_flows():
    """Type-I error 1e-6: the weights are 2 + 1/2 + 3 and 0 + 1/2 + 0, and the origin in between has no flow."""
    fit = fit_of(Destination(draws=4, prior=Fraction(1, 2), added=(3, None, 0)), width=4)
    given = Given([[2, 9, 0, 7]])
    drawn = np.array([{at: n for _, at, n in fit.release(given)["flows"]}.get(0, 0) for _ in range(4000)])
    assert set(given.asked) == {("work", "home")}
    law = [float(mass([Fraction(11, 2), Fraction(1, 2)], (k, 4 - k))) for k in range(5)]
    assert_law(drawn, cdf_of(np.array(law)))
    assert sum(law) == pytest.approx(1)
    assert len(outputs(2, 4)) == 5


@pytest.mark.statistical
def test_an_audit_refutes_a_tenth_of_the_price_and_not_the_price():
    """Type-I error 1e-6 each: one worker of an origin that nobody else comes from."""
    prior = flow_prior(epsilon=1, draws=1, origins=2)
    fit = fit_of(Destination(draws=1, prior=prior, added=(0, 0)), width=2)

    def mechanism(counts):
        return fit.release(Given([counts]))["flows"][0][1]

    pairs = [((1, 3), (0, 3))]

    def run(counts, size):
        return [mechanism(counts) for _ in range(size)]

    assert not audit(run, pairs, epsilon=1, samples=2_000).is_refuted
    assert audit(run, pairs, epsilon="0.1", samples=6_000).is_refuted


def test_a_destination_without_draws_makes_no_other_prior_larger():
    added, asked = ((0, 0, 0), (None, 0, None)), {"charge": PureDP(1), "neighboring_relation": REPLACE_ONE}
    (public, _) = destinations_of((9, 0), added, **asked)
    assert public.prior == flow_prior(epsilon=1, draws=9, origins=3, neighboring_relation=REPLACE_ONE)
    assert destinations_of((9, 1), added, **asked)[0].prior > public.prior
    assert [one.draws for one in destinations_of((0, 0), added, **asked)] == [0, 0]


def test_workers_who_are_there_in_any_case_are_worth_a_prior():
    asked = {"charge": ApproxDP(1, "1e-3"), "neighboring_relation": ADD_OR_REMOVE_ONE}
    (plain,), (less,) = (destinations_of((30,), ((0, 0),), counted=many, **asked) for many in (0, 2))
    assert less.prior == plain.prior - 2
    (none,) = destinations_of((30,), ((0, 0),), counted=10**6, **asked)
    assert none.prior == SMALLEST
