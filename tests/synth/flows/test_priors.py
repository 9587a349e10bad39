"""Priors: what flows cost, by brute force over all histograms and outputs, of one and of two destinations."""

from fractions import Fraction
from itertools import product
from math import exp, log

import pytest
from tests.synth.flows.test_urn import mass, outputs

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation
from sfumato.synth.flows.priors import cell_prior, flow_epsilon, flow_prior, growth_down

E86, E1, LIMIT = Fraction("8.6"), Fraction(1), Fraction(1, 10**5)


def law(counts, prior, draws):
    weights = [one + prior for one in counts]
    return {out: mass(weights, out) for out in outputs(len(counts), draws)}


def moved(counts, *, by):
    """All histograms in which one count is larger or smaller by one."""
    for place in range(len(counts)):
        if counts[place] + by >= 0:
            yield (*counts[:place], counts[place] + by, *counts[place + 1 :])


def largest_ratio(one, other):
    return max(one[out] / other[out] for out in one)


def test_the_golden_is_what_all_histograms_and_outputs_give():
    """K = 3, n = 4, m = 5, prior 2: a worker who comes from elsewhere."""
    laws = {counts: law(counts, 2, 5) for counts in outputs(3, 4)}
    worst = max(
        largest_ratio(laws[counts], laws[other])
        for counts in laws for fewer in moved(counts, by=-1) for other in moved(fewer, by=1)
    )  # fmt: skip
    assert worst == Fraction(7, 2)
    assert log(worst) == pytest.approx(1.252762968495, abs=1e-12)
    assert 0 <= flow_epsilon(2, draws=5) - Fraction(log(worst)) < Fraction(1, 10**12)


@pytest.mark.parametrize("prior", [[Fraction(1, 2), Fraction(3)], [Fraction(2), Fraction(2)]])
@pytest.mark.parametrize("draws", [1, 4])
def test_no_worker_who_enters_or_leaves_a_destination_costs_more_than_stated(prior, draws):
    """Over all histograms of up to 12 workers, with a prior for each origin; large ones come near to the price."""

    def of(counts):
        weights = [one + more for one, more in zip(counts, prior, strict=True)]
        return {out: mass(weights, out) for out in outputs(2, draws)}

    worst = Fraction(0)
    for counts in product(range(7), repeat=2):
        for more in moved(counts, by=1):
            worst = max(worst, largest_ratio(of(more), of(counts)), largest_ratio(of(counts), of(more)))
    price = exp(flow_epsilon(prior, draws=draws))
    assert worst <= price * (1 + 1e-12)
    assert largest_ratio(of((1, 10**6)), of((0, 10**6))) > price * 0.99 or prior[0] != min(prior)


@pytest.mark.parametrize("epsilon", ["0.3", "1", "3"])
@pytest.mark.parametrize("relation", NeighboringRelation)
def test_two_destinations_together_cost_no_more_than_was_asked(epsilon, relation):
    """All pairs of histograms of two destinations: a worker enters, leaves, or moves within one or between both."""
    draws, prior = 3, flow_prior(epsilon=epsilon, draws=3, origins=2, neighboring_relation=relation)
    small = [counts for size in range(4) for counts in outputs(2, size)] + [(0, 1000), (1, 1000)]
    laws = {counts: law(counts, prior, draws) for counts in small}
    enters = max(largest_ratio(laws[one], laws[more]) for one in small for more in moved(one, by=1) if more in laws)
    leaves = max(largest_ratio(laws[more], laws[one]) for one in small for more in moved(one, by=1) if more in laws)
    within = max(
        largest_ratio(laws[one], laws[other])
        for one in small for fewer in moved(one, by=-1) for other in moved(fewer, by=1) if other in laws
    )  # fmt: skip
    allowed = exp(float(epsilon)) * (1 + 1e-9)
    assert max(enters, leaves) <= allowed
    if relation is REPLACE_ONE:
        assert max(within, leaves * enters) <= allowed
        assert leaves * enters > 1 + (allowed - 1) * 0.97  # the price is no larger than it has to be
    else:
        assert leaves > 1 + (allowed - 1) * 0.97
        assert leaves * enters > allowed  # where a worker replaces another, this prior is too small


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.05"), ("2", "0.01")])
def test_with_a_delta_no_two_neighbors_differ_by_more(epsilon, delta, relation):
    """Hockey-stick divergences, exactly, over all small histograms of two destinations, both ways."""
    draws, cells, allowed = 4, 3, float(delta)
    prior = flow_prior(epsilon=epsilon, delta=delta, draws=draws, origins=cells, neighboring_relation=relation)
    assert prior <= flow_prior(epsilon=Fraction(epsilon) / 2, draws=draws, origins=cells)
    ratio, growth = exp(float(epsilon)), growth_down(Fraction(epsilon) / (2 if relation is REPLACE_ONE else 1))
    assert draws <= growth * cells * prior
    small = [counts for size in range(5) for counts in outputs(cells, size)]
    laws = {counts: {out: float(one) for out, one in law(counts, prior, draws).items()} for counts in small}
    for counts in small:
        is_bad = sum(
            chance for out, chance in laws[counts].items()
            if any(n and k > growth * (n - 1 + prior) for n, k in zip(counts, out, strict=True))
        )  # fmt: skip
        assert is_bad <= allowed  # no cell at all, not one by one
    steps = [(more, one) for one in small for more in moved(one, by=1) if more in laws]
    for more, one in steps:
        for first, second in ((more, one), (one, more)):
            assert sum(max(0.0, laws[first][out] - ratio * laws[second][out]) for out in laws[first]) <= allowed
    if relation is REPLACE_ONE:
        for (left, without), (entered, before) in product(steps[::7], steps[::11]):
            apart = sum(
                max(0.0, laws[left][a] * laws[before][b] - ratio * laws[without][a] * laws[entered][b])
                for a in laws[left] for b in laws[before]
            )  # fmt: skip
            assert apart <= allowed


@pytest.mark.parametrize(
    ("total", "epsilon", "pure", "golden"),
    [
        (1000, E86, ".18414", ".00295"), (1000, E1, "581.98", "13.97"), (10, E86, ".00184", ".00166"),
        (10, E1, "5.82", "2.33"),
    ],
)  # fmt: skip
def test_the_table_of_priors_of_one_cell(total, epsilon, pure, golden):
    growth = growth_down(epsilon)
    assert round(float(total / growth), len(pure.split(".")[1])) == float(pure)
    found = cell_prior(growth, LIMIT, draws=total, origins=100, total=total)
    assert round(float(found), len(golden.split(".")[1])) == float(golden)


def test_what_is_charged_divides_delta_over_all_cells():
    own = flow_prior(epsilon=1, draws=40, origins=30, delta="1e-5")  # both have few binary digits
    growth = growth_down(E1)
    assert own == cell_prior(growth, LIMIT / 30, draws=40, origins=30, least=Fraction(40) / (growth * 30))
    assert own > cell_prior(growth, LIMIT, draws=40, origins=30)


def test_one_prior_is_for_all_numbers_of_origins_with_the_same_first_digits():
    """From 64 to 67: the tail of fewer origins, and δ divided over the most of them."""
    growth, draws = growth_down(E1), 40
    found = {flow_prior(epsilon=1, draws=draws, origins=n, delta="1e-5") for n in range(64, 68)}
    assert len(found) == 1
    of = {
        (most, origins): cell_prior(growth, LIMIT / most, draws=draws, origins=origins)
        for most in (64, 67) for origins in (64, 67)
    }  # fmt: skip
    assert found == {of[67, 64]}
    assert of[67, 64] > max(of[64, 64], of[67, 67])


def test_who_enters_is_priced_where_there_is_a_delta():
    """A large δ allows what a worker leaves to tell; that one entered tells without any chance."""
    prior = flow_prior(epsilon="0.5", delta="0.9", draws=8, origins=2)
    one, more = law((0, 0), prior, 8), law((1, 0), prior, 8)
    assert largest_ratio(one, more) <= exp(0.5) * (1 + 1e-9)


def test_priors_grow_with_draws_and_fall_with_epsilon():
    for delta in ("0", "1e-5"):
        priors = [flow_prior(epsilon=2, draws=draws, origins=20, delta=delta) for draws in (8, 16, 17, 30)]
        assert priors == sorted(priors)
        prices = [flow_prior(epsilon=one, draws=16, origins=20, delta=delta) for one in ("0.01", "1", "5", 10**9)]
        assert prices == sorted(prices, reverse=True)


def test_one_origin_has_a_price_too():
    assert flow_prior(epsilon=1, draws=5, origins=1, neighboring_relation=REPLACE_ONE) > flow_prior(
        epsilon=1, draws=5, origins=1, neighboring_relation=ADD_OR_REMOVE_ONE
    )
    assert flow_prior(epsilon=1, draws=5, origins=1, delta="1e-3") > 0


@pytest.mark.parametrize(
    "changed",
    [{"epsilon": 0}, {"draws": 0}, {"draws": 100_001}, {"draws": 10_001, "delta": "1e-6"}, {"origins": 0},
     {"delta": 1}, {"delta": -1}],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(changed):
    with pytest.raises(ParameterError):
        flow_prior(**{"epsilon": 1, "draws": 10, "origins": 5} | changed)


def test_a_price_needs_a_prior():
    for prior in ([], [1, 0], "a"):
        with pytest.raises(ParameterError):
            flow_epsilon(prior, draws=5)
