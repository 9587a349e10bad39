"""Sparse vector: the exact law of the replies over neighboring answers, the split of the budget, edge cases."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import inf, nan

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA

from sfumato.errors import ParameterError
from sfumato.mechanisms.selection import sparse_vector_session as module
from sfumato.mechanisms.selection.sparse_vector import SparseVector
from sfumato.privacy.events import PureEvent
from sfumato.privacy.secret import Secret

VECTORS = list(product((-1, 0, 1), repeat=3))


def decimal(value):
    return Decimal(value.numerator) / value.denominator


@cache
def mass(scale, k):
    """P(X = k)."""
    ratio = (-1 / scale).exp()
    return (1 - ratio) / (1 + ratio) * (-abs(k) / scale).exp()


@cache
def at_least(scale, k):
    """P(X ≥ k)."""
    tail = (-abs(k if k > 0 else k - 1) / scale).exp() / (1 + (-1 / scale).exp())
    return tail if k > 0 else 1 - tail


def outcomes(length, cutoff):
    """All sequences of replies, up to the halt."""
    for replies in product((False, True), repeat=length):
        ends = [end for end in range(1, length + 1) if sum(replies[:end]) == cutoff]
        yield replies[: ends[0]] if ends else replies


def law(mechanism, answers, reach=40):
    """P(replies) = Σ_z P(ρ = z) · Π P(νᵢ ≥ z − answerᵢ) or its complement, for a threshold of 0."""
    wide, narrow = decimal(mechanism.threshold_scale), decimal(mechanism.comparison_scale)
    found = dict.fromkeys(outcomes(len(answers), mechanism.cutoff), Decimal(0))
    window = int(reach * wide)
    for z in range(-window, window + 1):
        above = [at_least(narrow, z - answer) for answer in answers]
        for replies in found:
            chance = mass(wide, z)
            for said, probability in zip(replies, above, strict=False):
                chance *= probability if said else 1 - probability
            found[replies] += chance
    return found


def neighbours(mechanism, vectors):
    """Answers that one unit can move to others, both ways: each by at most 1, in one direction if monotonic."""
    steps = list(product((0, 1), repeat=3)) if mechanism.monotonic else list(product((-1, 0, 1), repeat=3))
    pairs = [(first, tuple(a + s for a, s in zip(first, step, strict=True))) for first in vectors for step in steps]
    return pairs + [(second, first) for first, second in pairs]


def worst_ratio(mechanism, pairs, reach=40):
    """The largest log-ratio over all replies, and over all values told with them."""
    with localcontext(prec=50):
        laws = {answers: law(mechanism, answers, reach) for answers in {answers for pair in pairs for answers in pair}}
        assert all(abs(sum(found.values()) - 1) < Decimal("1e-15") for found in laws.values())
        return max(
            (laws[first][replies] / laws[second][replies]).ln() + told(mechanism, first, second, replies)
            for first, second in pairs
            for replies in laws[first]
        )


def told(mechanism, first, second, replies):
    """The largest log-ratio of the values: that of a shifted discrete Laplace law is the shift over its scale."""
    moved = sum(abs(a - b) for a, b, said in zip(first, second, replies, strict=False) if said)
    return moved / decimal(mechanism.answer_scale) if mechanism.answer_scale else 0


@pytest.mark.parametrize("answer_share", [0, "1/3"])
@pytest.mark.parametrize("cutoff", [1, 2, 3])
@pytest.mark.parametrize("monotonic", [False, True])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(monotonic, cutoff, answer_share):
    mechanism = SparseVector(
        epsilon=2, cutoff=cutoff, monotonic=monotonic, answer_share=answer_share, linf_sensitivity=1
    )
    assert Decimal("0.5") < worst_ratio(mechanism, neighbours(mechanism, VECTORS)) <= 2


@pytest.mark.parametrize(
    ("monotonic", "cutoff", "first", "second"),
    [
        (False, 1, (20, 20, 20, -30), (21, 21, 21, -31)),
        (True, 1, (20, 20, 20, -30), (21, 21, 21, -30)),
        (False, 2, (20, 20, 20, 20, -30, -30), (21, 21, 21, 21, -31, -31)),
        (True, 2, (20, 20, 20, 20, -30, -30), (21, 21, 21, 21, -30, -30)),
    ],
)
def test_far_from_the_threshold_a_pair_of_neighbours_comes_close_to_epsilon(monotonic, cutoff, first, second):
    mechanism = SparseVector(epsilon=1, cutoff=cutoff, monotonic=monotonic, linf_sensitivity=1)
    assert Decimal("0.95") < worst_ratio(mechanism, [(first, second)], reach=80) <= 1


@pytest.mark.parametrize("monotonic", [False, True])
def test_half_the_noise_would_be_caught(monotonic):
    mechanism = SparseVector(epsilon=4, cutoff=2, monotonic=monotonic, linf_sensitivity=1)
    assert worst_ratio(mechanism, neighbours(mechanism, VECTORS)) > 2


def test_a_false_claim_of_monotonic_answers_would_be_caught():
    mechanism = SparseVector(epsilon=1, monotonic=True, linf_sensitivity=1)
    assert worst_ratio(mechanism, [((20, 20, 20, -30), (21, 21, 21, -31))], reach=80) > 1


def law_of_gaps(mechanism, answers, largest=5, reach=40):
    """P(replies with gaps), for a threshold of 0 and gaps of at most so much: −1 stands for False."""
    wide, narrow = decimal(mechanism.threshold_scale), decimal(mechanism.comparison_scale)
    told = [
        replies
        for said in outcomes(len(answers), mechanism.cutoff)
        for replies in product(*(range(largest + 1) if one else (-1,) for one in said))
    ]
    found = dict.fromkeys(told, Decimal(0))
    for z in range(-int(reach * wide), int(reach * wide) + 1):
        below = [1 - at_least(narrow, z - answer) for answer in answers]
        for replies in found:
            chance = mass(wide, z)
            for gap, answer, is_below in zip(replies, answers, below, strict=False):
                chance *= is_below if gap < 0 else mass(narrow, gap + z - answer)
            found[replies] += chance
    return found


@pytest.mark.parametrize("cutoff", [1, 2])
@pytest.mark.parametrize("monotonic", [False, True])
def test_gaps_cost_nothing_more(monotonic, cutoff):
    mechanism = SparseVector(epsilon=2, cutoff=cutoff, monotonic=monotonic, linf_sensitivity=1)
    steps = list(product((0, 1) if monotonic else (-1, 0, 1), repeat=2))
    with localcontext(prec=30):
        exact = [(0, 0), (1, -1), (2, 1)]
        pairs = [(first, tuple(map(sum, zip(first, step, strict=True)))) for first in exact for step in steps]
        laws = {answers: law_of_gaps(mechanism, answers) for answers in {answers for pair in pairs for answers in pair}}
        worst = max((laws[a][told] / laws[b][told]).ln().copy_abs() for a, b in pairs for told in laws[a])
    assert Decimal("0.5") < worst <= 2


def test_gaps_are_those_of_the_definition_for_every_noise(monkeypatch):
    mechanism, answers = SparseVector(epsilon=1, cutoff=2, linf_sensitivity=1), (1, 0, 2)
    for threshold_noise, *noises in product((-1, 0, 1), repeat=4):
        supply(monkeypatch, mechanism, threshold_noise, noises)
        gaps = [answer + noise - (1 + threshold_noise) for answer, noise in zip(answers, noises, strict=True)]
        told = tuple(gap if gap >= 0 else None for gap in gaps)
        assert mechanism.release_with_gaps(answers, 1) == (told[:2] if None not in told[:2] else told)


def test_gaps_of_a_session_are_in_the_unit_of_the_answers():
    session = SparseVector(epsilon=1000, linf_sensitivity=1, resolution="0.5", cutoff=2).start("0.75")
    assert session.gap(-1000) is None
    assert abs(session.gap(101) - 100) < 50
    assert isinstance(session.gap(101), Fraction)
    assert session.halted


def test_without_epsilon_there_are_no_gaps():
    mechanism = SparseVector(epsilon=0, linf_sensitivity=1)
    assert mechanism.release_with_gaps([5, 10**9]) == (None, None)
    assert mechanism.gap_stddev == inf


@pytest.mark.statistical
def test_a_gap_far_above_the_threshold_estimates_the_answer_as_well_as_is_said():
    mechanism = SparseVector(epsilon=1, cutoff=20_000, linf_sensitivity="0.001", resolution="0.001")
    errors = [float(gap) - 10**6 for gap in (mechanism.start().gap(10**6) for _ in range(3000))]
    assert np.std(errors) == pytest.approx(mechanism.gap_stddev, rel=0.2)  # more than 5 standard errors


def test_the_replies_are_the_comparisons_of_the_definition_for_every_noise(monkeypatch):
    mechanism, answers = SparseVector(epsilon=1, cutoff=2, answer_share="0.5", linf_sensitivity=1), (1, 0, 2)
    for threshold_noise, *noises in product((-1, 0, 1), repeat=4):
        supply(monkeypatch, mechanism, threshold_noise, noises)
        said = tuple(answer + noise >= 1 + threshold_noise for answer, noise in zip(answers, noises, strict=True))
        expected = said[:2] if said[:2] == (True, True) else said
        assert mechanism.release(answers, 1) == expected
        supply(monkeypatch, mechanism, threshold_noise, noises)
        told = tuple(answer + 10 if above else None for answer, above in zip(answers, expected, strict=False))
        assert mechanism.release_with_values(answers, 1) == told


def supply(monkeypatch, mechanism, threshold_noise, noises):
    """Noise by the scale that is asked for: of the threshold, of comparisons in order, and 10 for every value."""
    left = list(noises)

    def draw(scale, size):
        if scale == mechanism.threshold_scale:
            return np.array([threshold_noise] * size)
        if scale == mechanism.comparison_scale:
            return np.array([left.pop(0) for _ in range(size)])
        assert scale == mechanism.answer_scale
        return np.full(size, 10)

    monkeypatch.setattr(module, "discrete_laplace", draw)


def test_a_session_replies_as_a_release_does(monkeypatch):
    mechanism = SparseVector(epsilon=1, cutoff=2, answer_share="0.5", linf_sensitivity=1)
    for noises in product((-1, 0, 1), repeat=3):
        supply(monkeypatch, mechanism, 0, noises)
        whole = mechanism.release([0, 0, 0])
        supply(monkeypatch, mechanism, 0, noises)
        session = mechanism.start()
        assert tuple(session.above(0) for _ in whole) == whole
        assert (session.remaining, session.halted) == (2 - sum(whole), sum(whole) == 2)


@pytest.mark.statistical
def test_releases_follow_the_exact_law():
    mechanism, answers = SparseVector(epsilon=2, cutoff=1, linf_sensitivity=1), (0, 1, 2)
    with localcontext(prec=50):
        expected = law(mechanism, answers)
    draws = [mechanism.release(answers) for _ in range(3000)]
    for replies, probability in expected.items():
        assert binomtest(draws.count(replies), 3000, float(probability)).pvalue >= ALPHA


@pytest.mark.parametrize("share", [0, "0.25"])
@pytest.mark.parametrize("cutoff", [1, 2, 50])
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_parts_of_epsilon_add_up_and_have_the_best_ratio(monotonic, cutoff, share):
    mechanism = SparseVector(epsilon="0.3", cutoff=cutoff, monotonic=monotonic, answer_share=share, linf_sensitivity=1)
    parts = (mechanism.threshold_epsilon, mechanism.comparison_epsilon, mechanism.answer_epsilon)
    assert sum(parts) == Fraction(3, 10)
    assert parts[2] == Fraction(3, 10) * Fraction(share)
    assert float(parts[1] / parts[0]) == pytest.approx((cutoff if monotonic else 2 * cutoff) ** (2 / 3), abs=1e-3)


def test_the_scales_are_those_of_the_definition():
    mechanism = SparseVector(epsilon=1, cutoff=4, linf_sensitivity="1.5", resolution="0.2", answer_share="0.5")
    assert mechanism.threshold_scale == 8 / mechanism.threshold_epsilon
    assert mechanism.comparison_scale == 2 * 4 * 8 / mechanism.comparison_epsilon
    assert mechanism.answer_scale == 4 * 8 / Fraction(1, 2)
    assert SparseVector(epsilon=1, monotonic=True, linf_sensitivity=1).comparison_scale == 2


@pytest.mark.parametrize(("threshold", "steps"), [(3, 3), ("2.5", 3), (-2.5, -2), (10**30, 10**30)])
def test_a_threshold_between_whole_numbers_is_the_one_above(threshold, steps, monkeypatch):
    monkeypatch.setattr(module, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))
    mechanism = SparseVector(epsilon=1, linf_sensitivity=1)
    assert mechanism.release([steps - 1, steps], threshold) == (False, True)


def test_real_answers_and_thresholds_go_onto_the_lattice():
    mechanism = SparseVector(epsilon=1000, cutoff=5, resolution="0.01", linf_sensitivity="0.01", answer_share="0.5")
    assert mechanism.release([nan, None, -inf, 0.99, inf, 1.3], threshold="0.5") == (False,) * 3 + (True,) * 3
    values = mechanism.release_with_values([0.25, 0.75], threshold="0.5")
    assert values[0] is None
    assert abs(values[1] - Fraction(3, 4)) < Fraction(1, 2)
    assert (values[1] * 100).denominator == 1


def test_epsilon_zero_says_false_throughout():
    mechanism = SparseVector(epsilon=0, answer_share="0.5", linf_sensitivity=1)
    assert mechanism.release([10**9] * 3) == (False,) * 3
    assert mechanism.release_with_values([10**9] * 3) == (None,) * 3
    assert mechanism.start().above(10**9) is False
    assert (mechanism.event, mechanism.accuracy(queries=1)) == (PureEvent(Fraction(0)), inf)


def test_no_answers_have_no_replies():
    assert SparseVector(epsilon=1, linf_sensitivity=1).release([]) == ()
    assert SparseVector(epsilon=1, answer_share="0.5", linf_sensitivity=1).release_with_values(Secret([])) == ()


@pytest.mark.parametrize("huge", [2**63 - 1, 2**100])
def test_huge_answers_do_not_wrap(huge):
    assert SparseVector(epsilon=1, cutoff=9, linf_sensitivity=1).release([huge, -huge, huge]) == (True, False, True)


def test_the_event_is_pure_and_for_all_replies():
    assert SparseVector(epsilon="0.1", cutoff=7, linf_sensitivity=1).event == PureEvent(Fraction(1, 10))


def test_values_need_a_share():
    with pytest.raises(ParameterError, match="answer_share"):
        SparseVector(epsilon=1, linf_sensitivity=1).release_with_values([1])
    with pytest.raises(ParameterError, match="answer_share"):
        SparseVector(epsilon=1, linf_sensitivity=1).start().value(1)


def test_the_accuracy_holds_with_its_confidence():
    mechanism = SparseVector(epsilon=2, cutoff=1, linf_sensitivity=1)
    alpha = mechanism.accuracy("0.9", queries=3)
    answers = (-alpha - 1, -alpha - 1, alpha)
    with localcontext(prec=50):
        assert law(mechanism, answers)[False, False, True] >= Decimal("0.9")


def test_more_queries_or_confidence_have_a_wider_error():
    mechanism = SparseVector(epsilon=1, resolution="0.1", linf_sensitivity=1)
    by_queries = [mechanism.accuracy(queries=queries) for queries in (1, 10, 1000)]
    by_confidence = [mechanism.accuracy(confidence, queries=10) for confidence in ("0.5", "0.95", "0.999")]
    assert all(first < second for errors in (by_queries, by_confidence) for first, second in pairwise(errors))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("epsilon", {"epsilon": -1}),
        ("cutoff", {"cutoff": 0}),
        ("cutoff", {"cutoff": 1.5}),
        ("linf_sensitivity", {"linf_sensitivity": 0}),
        ("resolution", {"resolution": 0}),
        ("answer_share", {"answer_share": 1}),
        ("answer_share", {"answer_share": -1}),
        ("threshold_scale", {"epsilon": 10**5}),
        ("comparison_scale", {"cutoff": 2**50}),
        ("answer_scale", {"answer_share": Fraction(1, 2**51)}),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(name, wrong):
    with pytest.raises(ParameterError, match=name):
        SparseVector(**{"epsilon": 1, "linf_sensitivity": 1} | wrong)


@pytest.mark.parametrize("answers", [[1.5], ["a"]])
def test_what_is_no_integer_is_an_error(answers):
    with pytest.raises(ParameterError, match="integer"):
        SparseVector(epsilon=1, linf_sensitivity=1).release(answers)


def test_a_threshold_that_is_no_number_is_an_error():
    with pytest.raises(ParameterError, match="threshold"):
        SparseVector(epsilon=1, linf_sensitivity=1).start("high")
