"""Pan-private density: the exact distribution of all looks at the state, from the code itself, and its errors."""

from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from scipy.stats import chisquare, norm
from tests.laws import ALPHA
from tests.mechanisms.branching import Branches

from sfumato.errors import ParameterError
from sfumato.mechanisms.pan_private import density as module
from sfumato.mechanisms.pan_private.density import PanPrivateDensity
from sfumato.numeric.rounding import exp_bounds, exp_up
from sfumato.privacy.events import PureEvent
from sfumato.privacy.secret import Secret

LOOKS = {
    0: [("look",), ()],
    1: [("look", "save"), ("save", "look"), ("save", "restore", "look"), ("look", "save", "restore")],
    2: [("save", "save", "look"), ("save", "restore", "save", "restore", "look")],
}
"""What may be seen before the release, by the number of copies."""


class Rational(Branches):
    """Every way the coins can fall, with its exact probability."""

    def start(self):
        self.weight, self.taken = Fraction(1), []

    def bernoulli(self, probability, size):
        return np.array([self.take([1 - probability, probability]) for _ in range(size)], dtype=np.bool_)


def seen(mechanism, steps, arrivals):
    """What a stream of arrivals lets be seen, and the bits that the release is made of."""
    running, views, copy = mechanism.start(), [], None
    for step, arriving in zip((*steps, "release"), arrivals, strict=True):
        running.see(list(arriving))
        if step == "look":
            views.append(tuple(running._bits.tolist()))
        elif step == "save":
            copy = running.saved()
            views.append(copy)
        elif step == "restore":
            running = mechanism.restored(copy)
    return tuple(views), int(np.count_nonzero(running._bits))


def distribution(monkeypatch, mechanism, steps, arrivals):
    """Of each view, the exact probability that it is seen with so many true bits at the end."""
    found, branches = defaultdict(lambda: defaultdict(Fraction)), Rational()
    monkeypatch.setattr(module, "bernoulli", branches.bernoulli)
    while True:
        branches.start()
        views, bits = seen(mechanism, steps, arrivals)
        found[views][bits] += branches.weight
        if not branches.advance():
            assert sum(sum(masses.values()) for masses in found.values()) == 1
            return found


def released(masses, omega, least, most):
    """Proportional to P(Σ bits + noise = y), for each y at which the ratio of two such distributions may change."""
    return [
        sum(decimal(mass) * (-omega * abs(y - bits)).exp() for bits, mass in masses.items())
        for y in range(least, most + 1)
    ]


def decimal(value):
    return Decimal(value.numerator) / value.denominator


def largest_ratio(first, second, omega, items):
    with localcontext(prec=40):
        return max(
            a / b
            for views in first
            for a, b in zip(
                released(first[views], omega, 0, items), released(second[views], omega, 0, items), strict=True
            )
        )


@pytest.mark.parametrize("copies", LOOKS)
def test_no_two_streams_of_one_item_are_told_apart_by_more_than_epsilon(copies, monkeypatch):
    mechanism = PanPrivateDensity(universe=1, epsilon=2, saved_copies=copies)
    worst = Decimal(0)
    for steps in LOOKS[copies]:
        by_arrivals = {
            arrivals: distribution(monkeypatch, mechanism, steps, arrivals)
            for arrivals in product(((), (0,)), repeat=len(steps) + 1)
            if arrivals.count((0,)) in {0, len(arrivals)} or (len(steps) < 4 and arrivals.count((0,)) == 1)
        }
        never = by_arrivals[((),) * (len(steps) + 1)]
        for arrivals in by_arrivals.values():
            assert arrivals.keys() == never.keys()
            worst = max(
                worst,
                largest_ratio(arrivals, never, decimal(mechanism.output_epsilon), 1),
                largest_ratio(never, arrivals, decimal(mechanism.output_epsilon), 1),
            )
    with localcontext(prec=40):
        assert Decimal("1.2") < worst.ln() <= 2


def test_a_look_costs_the_odds_of_a_bit_exactly_and_the_others_bits_do_not_matter(monkeypatch):
    mechanism = PanPrivateDensity(universe=2, epsilon=2)
    never, visits = (distribution(monkeypatch, mechanism, ("look",), [a, ()]) for a in ([1], [0, 1, 0]))
    odds = mechanism.truth / (1 - mechanism.truth)
    ratios = {sum(visits[view].values()) / sum(never[view].values()) for view in never}
    assert ratios == {odds, 1 / odds}
    looked_at = mechanism.view_epsilon
    assert odds <= exp_up(looked_at)
    assert float(odds) == pytest.approx(exp(looked_at), rel=1e-12)


def test_two_looks_that_nobody_announces_are_not_private(monkeypatch):
    mechanism = PanPrivateDensity(universe=1, epsilon=2)
    never, between = (
        distribution(monkeypatch, mechanism, ("look", "look"), [(), arriving, ()]) for arriving in ((), (0,))
    )
    assert between.keys() - never.keys() == {((True,), (False,)), ((False,), (True,))}


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "0.5", 1, "3.7", 40])
def test_the_odds_of_a_bit_lie_just_below_e_to_the_epsilon(epsilon):
    mechanism = PanPrivateDensity(universe=1, epsilon=epsilon)
    odds, view = mechanism.truth / (1 - mechanism.truth), mechanism.view_epsilon
    lower, upper = exp_bounds(view, 400)
    assert Fraction(2**400, 1) / upper * (1 - Fraction(1, 2**59)) <= odds <= Fraction(2**400, 1) / lower
    assert odds <= Fraction(2**400) / upper


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_the_bits_of_the_paper_are_private_too_and_say_less(epsilon):
    theirs = Fraction(1, 2) + epsilon / 4
    lower, upper = exp_bounds(epsilon, 100)
    assert max(2 * theirs, 1 / (2 * (1 - theirs))) <= Fraction(2**100) / upper  # 1 + ε/2 and 1/(1 − ε/2) are below e^ε
    ours = PanPrivateDensity(universe=1, epsilon=epsilon / (1 - Fraction(1, 4)))
    assert ours.view_epsilon == epsilon
    assert ours.gain > Fraction(9, 5) * (theirs - Fraction(1, 2))
    assert lower <= upper


def test_the_release_is_the_number_of_true_bits_with_noise(monkeypatch):
    mechanism = PanPrivateDensity(universe=4, epsilon=2, saved_copies=1)
    asked = []
    monkeypatch.setattr(module, "discrete_laplace_one", lambda scale: asked.append(scale) or 3)
    for restores in (0, 1):
        running = mechanism.start() if restores == 0 else mechanism.restored(mechanism.start().saved())
        running._bits[:] = [True, False, True, True]
        expected = (Fraction(3 + 3, 4) - Fraction(1, 2)) / mechanism.gain ** (1 + 2 * restores) + Fraction(1, 2)
        assert running.release() == expected
    assert asked == [1 / mechanism.output_epsilon] * 2
    assert mechanism.output_epsilon + 2 * mechanism.view_epsilon == 2


def outcomes(mechanism, visited, runs, *, restored=False):
    values = []
    for _ in range(runs):
        running = mechanism.start()
        running.see(np.arange(visited))
        if restored:
            running = mechanism.restored(running.saved())
        values.append(float(running.release()))
    return np.array(values)


@pytest.mark.statistical
@pytest.mark.parametrize(("restored", "sample"), [(False, 100), (False, 40), (True, 100)])
def test_the_density_is_unbiased_and_errs_as_is_said(restored, sample):
    mechanism = PanPrivateDensity(universe=100, sample=sample, epsilon=4, saved_copies=int(restored))
    runs = 500
    values, stddev = (
        outcomes(mechanism, 30, runs, restored=restored),
        mechanism.stddev("0.3", restores=int(restored)),
    )
    assert abs(values.mean() - 0.3) <= norm.isf(ALPHA / 2) * stddev / runs**0.5
    assert values.std() == pytest.approx(stddev, rel=0.25)  # more than 7 standard errors
    assert np.mean(abs(values - 0.3) <= mechanism.half_width("0.9", restores=int(restored))) >= 0.83


@pytest.mark.statistical
def test_every_item_is_as_likely_in_the_sample():
    mechanism = PanPrivateDensity(universe=6, sample=2, epsilon=1)
    pairs = [tuple(mechanism.start()._members.tolist()) for _ in range(800)]
    assert all(first < second for first, second in pairs)
    counts = [pairs.count((i, j)) for j in range(6) for i in range(j)]
    assert chisquare(counts).pvalue >= ALPHA


def test_items_outside_the_universe_or_the_sample_count_for_nothing(monkeypatch):
    mechanism = PanPrivateDensity(universe=1000, sample=5, epsilon=1)
    running = mechanism.start()
    asked = []
    monkeypatch.setattr(module, "bernoulli", lambda _, size: asked.append(size) or np.ones(size, dtype=np.bool_))
    outside = sorted(set(range(1000)) - set(running._members.tolist()))
    running.see([-1, 1000, 2**70, -(2**70), *outside])
    running.see(Secret(np.array([], dtype=np.int64)))
    assert sum(asked) == 0
    running.see(Secret(running._members[[1, 1, 4]]))
    assert asked[-1] == 3
    assert running._bits[[1, 4]].all()


def test_nothing_is_counted_or_saved_after_the_release():
    running = PanPrivateDensity(universe=3, epsilon=1, saved_copies=2).start()
    running.see(0)
    running.release()
    for late in (lambda: running.see("none"), running.release, running.saved):
        with pytest.raises(ParameterError, match="over"):
            late()


def test_a_restored_state_has_the_sample_and_the_copies_of_the_saved_one():
    mechanism = PanPrivateDensity(universe=500, sample=4, epsilon=30, saved_copies=3)
    running = mechanism.start()
    running.saved()
    restored = mechanism.restored(running.saved())
    assert restored._members.tolist() == running._members.tolist()
    assert (restored.remaining_copies, restored.restores, running.restores) == (1, 1, 0)
    assert mechanism.restored(restored.saved()).restores == 2
    assert mechanism.weight(2) == mechanism.gain**5


def test_errors_shrink_with_epsilon_and_grow_with_copies_and_restores():
    def errors(restores=0, **facts):
        mechanism = PanPrivateDensity(universe=10_000, **facts)
        return mechanism.stddev(restores=restores), mechanism.half_width(restores=restores)

    usual = errors(epsilon=1)
    assert all(a < b for a, b in zip(errors(epsilon=2), usual, strict=True))
    assert all(a > b for a, b in zip(errors(epsilon=1, saved_copies=1), usual, strict=True))
    assert all(a > b for a, b in zip(errors(epsilon=1, sample=1000), usual, strict=True))
    assert errors(1, epsilon=1, saved_copies=1) > errors(epsilon=1, saved_copies=1)
    assert usual[0] == pytest.approx(1 / (0.75 * 100), rel=0.05)  # 1/(v·√sample) for small v


def test_the_event_is_pure():
    assert PanPrivateDensity(universe=9, epsilon="0.3", saved_copies=4).event == PureEvent(Fraction(3, 10))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("universe", {"universe": 0}),
        ("epsilon", {"epsilon": 0}),
        ("epsilon", {"epsilon": 65}),
        ("epsilon", {"epsilon": "1e-10"}),
        ("sample", {"sample": 11}),
        ("sample", {"universe": 10**8}),
        ("saved_copies", {"saved_copies": -1}),
        ("output_share", {"output_share": 1}),
        ("output_share", {"output_share": 0}),
    ],
)
def test_parameters_out_of_range_are_refused(name, wrong):
    with pytest.raises(ParameterError, match=name):
        PanPrivateDensity(**{"universe": 10, "epsilon": 1, **wrong})


def test_numbers_of_restores_and_densities_are_checked():
    mechanism = PanPrivateDensity(universe=10, epsilon=1, saved_copies=1)
    with pytest.raises(ParameterError, match="restores"):
        mechanism.weight(2)
    with pytest.raises(ParameterError, match="density"):
        mechanism.stddev(2)
    with pytest.raises(ParameterError, match="integer"):
        mechanism.start().see([0.5])
