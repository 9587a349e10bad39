"""Truncated geometric selection: the law of the set of shown keys, the optimum, the coins."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import inf, nan

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.mechanisms.selections import delta_of_changes, units, worst_delta

from sfumato.errors import ParameterError
from sfumato.mechanisms.partitions import truncated_geometric as module
from sfumato.mechanisms.partitions.partition_selection import delta_per_key
from sfumato.mechanisms.partitions.thresholds import LaplaceThreshold
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

KEYS = "abc"
SMALL = [("1", "0.1"), ("0", "0.3"), ("2.5", "0.05"), ("4", "0.4")]  # so that three units are enough to see all of π
USUAL = [
    ("1", "1e-6"),
    ("0.1", "1e-8"),
    ("0.01", "1e-5"),
    ("8", "1e-12"),
    ("0", "1e-3"),
    ("1e-9", "0.01"),
    ("30", "0.5"),
]
WORD = 1 << 62


def key_law(selection):
    def law(count):
        shown = selection.keep_probability(count)
        return {True: shown, None: 1 - shown}

    return law


def kept(selection, counts):
    return selection.kept(counts).open_for_noise().tolist()


def delta_over_databases(selection, *, max_groups, relation):
    return worst_delta(
        key_law(selection), epsilon=selection.epsilon, held=units(KEYS, max_groups), keys=KEYS, relation=relation
    )


def e_to(epsilon):
    """Two rationals around e^ε, 60 digits apart from any float."""
    with localcontext(prec=80):
        value = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        return Fraction(value * (1 - Decimal("1e-70"))), Fraction(value * (1 + Decimal("1e-70")))


def optimum(epsilon, delta):
    """The recurrence of the paper in 80 digits, not rounded down."""
    growth, found = e_to(epsilon)[0], [Fraction(0)]
    while found[-1] < 1:
        now = found[-1]
        following = min(growth * now + delta, 1 - (1 - now - delta) / growth, Fraction(1))
        found.append(Fraction(int(following * 10**80), 10**80))
    return found


def closed_form(epsilon, delta, count):
    """The solution of the recurrence in the paper, in 50 digits."""
    with localcontext(prec=50):
        e, d = (Decimal(value.numerator) / value.denominator for value in (epsilon, delta))
        growth = e.exp()
        turn = 1 + int((((growth + 2 * d - 1) / (d * (growth + 1))).ln() / e).to_integral_value("ROUND_FLOOR"))
        rising = ((min(count, turn) * e).exp() - 1) / (growth - 1) * d
        if count <= turn:
            return rising
        shrink = (-(count - turn) * e).exp()
        return min(Decimal(1), (1 - shrink) * (1 + d / (growth - 1)) + shrink * rising)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("max_groups", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), SMALL)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon_and_delta(epsilon, delta, max_groups, relation):
    selection = TruncatedGeometricSelection(
        epsilon=epsilon, delta=delta, max_groups_per_unit=max_groups, neighboring_relation=relation
    )
    worst = delta_over_databases(selection, max_groups=max_groups, relation=relation)
    wasted = selection.delta**2 / 3 + Fraction(1, 2**50)
    seen = 1 - wasted if relation is ADD_OR_REMOVE_ONE else Fraction(45, 100)  # for the rest see the next test
    assert seen * selection.delta <= worst <= selection.delta


@pytest.mark.parametrize("max_groups", [1, 2, 3])
def test_a_replaced_unit_may_use_the_whole_delta(max_groups):
    selection = TruncatedGeometricSelection(
        epsilon=1, delta="1e-3", max_groups_per_unit=max_groups, neighboring_relation=REPLACE_ONE
    )
    certain = selection.certain_count
    changes = [(1, 0)] * max_groups + [(certain - 1, certain)] * max_groups  # the last may be hidden by no more than δ₀
    used = delta_of_changes(key_law(selection), changes, epsilon=selection.epsilon)
    assert 0.75 * selection.delta <= used <= selection.delta


@pytest.mark.parametrize("max_groups", [2, 3])
def test_a_delta_that_is_not_split_over_the_keys_is_caught(max_groups):
    unsplit = TruncatedGeometricSelection(epsilon=1, delta="0.1", max_groups_per_unit=1)
    assert delta_over_databases(unsplit, max_groups=max_groups, relation=ADD_OR_REMOVE_ONE) > unsplit.delta * 3 / 2


def test_the_split_for_adding_would_not_do_for_replacing():
    selection = TruncatedGeometricSelection(epsilon=1, delta="0.1", max_groups_per_unit=1)
    assert delta_over_databases(selection, max_groups=1, relation=REPLACE_ONE) > selection.delta * 3 / 2


@pytest.mark.parametrize(("epsilon", "delta"), USUAL)
def test_every_step_of_the_rounded_probabilities_keeps_both_inequalities(epsilon, delta):
    selection = TruncatedGeometricSelection(epsilon=epsilon, delta=delta, max_groups_per_unit=1)
    below = e_to(selection.epsilon)[0] if selection.epsilon else Fraction(1)
    steps = [selection.keep_probability(count) for count in range(selection.certain_count + 2)]
    assert (steps[0], steps[-1], steps[-2]) == (0, 1, 1)
    for now, following in pairwise(steps):
        assert now <= following <= below * now + selection.delta
        assert 1 - now <= below * (1 - following) + selection.delta


@pytest.mark.parametrize(("epsilon", "delta"), USUAL)
def test_the_probabilities_are_the_optimum_but_for_rounding(epsilon, delta):
    selection = TruncatedGeometricSelection(epsilon=epsilon, delta=delta, max_groups_per_unit=1)
    best = optimum(selection.epsilon, selection.delta)
    assert selection.certain_count in {len(best) - 1, len(best)}
    for count, allowed in enumerate(best):
        assert allowed * (1 - Fraction(1, 10**9)) <= selection.keep_probability(count) <= allowed + Fraction(1, 10**79)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-8"), ("3", "0.01")])
def test_the_probabilities_are_the_closed_form_of_the_paper(epsilon, delta):
    selection = TruncatedGeometricSelection(epsilon=epsilon, delta=delta, max_groups_per_unit=1)
    for count in range(selection.certain_count + 3):
        expected = closed_form(selection.epsilon, selection.delta, count)
        assert float(selection.keep_probability(count)) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-8"), ("4", "0.01")])
def test_no_count_is_kept_less_often_than_by_a_laplace_threshold(epsilon, delta):
    best = TruncatedGeometricSelection(epsilon=epsilon, delta=delta, max_groups_per_unit=1)
    other = LaplaceThreshold(epsilon=epsilon, delta=delta, max_groups_per_unit=1, max_rows_per_group_per_unit=1)
    chances = [(best.keep_probability(n), other.keep_probability(n)) for n in range(best.certain_count + 50)]
    assert all(chance >= rival * (1 - 1e-12) for chance, rival in chances)
    assert max(chance - rival for chance, rival in chances) > 0.2


@pytest.mark.parametrize("max_groups", [1, 2, 7, 1000])
def test_a_key_of_one_unit_is_shown_with_delta_per_key(max_groups):
    selection = TruncatedGeometricSelection(epsilon=1, delta="1e-6", max_groups_per_unit=max_groups)
    assert selection.keep_probability(1) == delta_per_key(selection.delta, max_groups)
    assert 1 - (1 - selection.keep_probability(1)) ** max_groups <= selection.delta


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("3", "1e-30"), ("0.5", "0.25")])
def test_the_coin_of_a_key_has_exactly_its_probability(monkeypatch, epsilon, delta):
    selection, tails = TruncatedGeometricSelection(epsilon=epsilon, delta=delta, max_groups_per_unit=1), []
    monkeypatch.setattr(module, "bernoulli", lambda probability, size: tails.append(probability) or [True] * size)
    for count in range(selection.certain_count):
        head, tail = divmod(selection.keep_probability(count) * WORD, 1)
        words = np.array([word for word in (0, head - 1, head, head + 1, WORD - 1) if word >= 0])
        monkeypatch.setattr(module, "uniform_below", lambda n, size, words=words: {(WORD, len(words)): words}[n, size])
        tails.clear()
        assert kept(selection, [count] * len(words)) == [bool(word <= head) for word in words]
        assert set(tails) == {tail}


def test_a_certain_key_is_shown_whatever_the_word(monkeypatch):
    selection = TruncatedGeometricSelection(epsilon=1, delta="0.1", max_groups_per_unit=1)
    monkeypatch.setattr(module, "uniform_below", lambda _, size: np.full(size, WORD - 1))
    assert kept(selection, [selection.certain_count, selection.certain_count - 1, 10**30]) == [True, False, True]


@pytest.mark.statistical
def test_keys_are_kept_as_often_as_their_probability_says():
    selection, size = TruncatedGeometricSelection(epsilon=1, delta="0.01", max_groups_per_unit=1), 20_000
    for count in range(1, selection.certain_count):
        found = sum(kept(selection, np.full(size, count)))
        assert binomtest(found, size, float(selection.keep_probability(count))).pvalue >= ALPHA


@pytest.mark.statistical
def test_keys_are_kept_independently():
    selection = TruncatedGeometricSelection(epsilon=1, delta="0.2", max_groups_per_unit=1)
    single = float(selection.keep_probability(2))
    both = sum(all(kept(selection, [2, 2])) for _ in range(5000))
    assert binomtest(both, 5000, single**2).pvalue >= ALPHA


def test_keys_of_nobody_are_never_shown_and_well_known_keys_always():
    selection = TruncatedGeometricSelection(epsilon=1, delta="0.9", max_groups_per_unit=1)
    assert selection.release(Secret({"a": 0, "b": -3, "c": 10**30, "d": 50})) == ("c", "d")
    assert (selection.release({}), kept(selection, np.array([], dtype=np.int64))) == ((), [])
    assert (selection.keep_probability(-1), selection.keep_probability(10**30)) == (0, 1)


@pytest.mark.parametrize(("confidence", "epsilon"), [("0.95", 1), ("0.5", "0.3"), ("0.001", 2)])
def test_the_reliable_count_is_the_smallest_with_its_confidence(confidence, epsilon):
    selection = TruncatedGeometricSelection(epsilon=epsilon, delta="1e-5", max_groups_per_unit=1)
    count = selection.reliable_count(confidence)
    assert selection.keep_probability(count - 1) < Fraction(confidence) <= selection.keep_probability(count)


def test_without_epsilon_delta_is_added_for_each_unit():
    selection = TruncatedGeometricSelection(epsilon=0, delta="1/4", max_groups_per_unit=1)
    assert [selection.keep_probability(count) for count in range(6)] == [0, *(Fraction(n, 4) for n in (1, 2, 3, 4, 4))]


def test_the_event_is_the_guarantee():
    selection = TruncatedGeometricSelection(epsilon="0.1", delta="1e-6", max_groups_per_unit=3)
    assert selection.event == ApproxEvent(Fraction(1, 10), Fraction(1, 10**6))


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": -1}, {"epsilon": nan}, {"epsilon": inf}, {"delta": 0}, {"delta": 1}, {"delta": -1},
     {"delta": Fraction(1, 2**1001)}, {"max_groups_per_unit": 0}, {"max_groups_per_unit": 1.5}],
    ids=str,
)  # fmt: skip
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        TruncatedGeometricSelection(**({"epsilon": 1, "delta": "1e-6", "max_groups_per_unit": 1} | wrong))


def test_an_epsilon_that_would_need_a_million_units_is_refused_when_constructed():
    with pytest.raises(ParameterError, match="epsilon"):
        TruncatedGeometricSelection(epsilon="1e-9", delta="1e-9", max_groups_per_unit=1)


@pytest.mark.parametrize("counts", [[1.5], ["a"], np.array([0.5])])
def test_what_is_no_count_is_an_error(counts):
    with pytest.raises(ParameterError, match="integer"):
        TruncatedGeometricSelection(epsilon=1, delta="1e-6", max_groups_per_unit=1).kept(counts)
