"""Several quantiles by one choice: exhaustive privacy, the law, its certified errors, edge cases."""

from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import ceil, inf, log, nan

import numpy as np
import pytest
from tests.laws import assert_law, cdf_of
from tests.mechanisms.branching import law, worst_log_ratio
from tests.mechanisms.exhaustive import databases, neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.quantiles import joint
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import Quantile
from sfumato.noise.choice.selection import HOPELESS
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

RELATIONS = [ADD_OR_REMOVE_ONE, REPLACE_ONE]
SOME = [["1/2", "2/3"], ["1/4", "1/2", "3/4"], ["0", "0.9", "1"], ["0.3"]]
PUBLIC = {"quantiles": ["1/4", "2/3"], "lower": 0, "upper": 3, "epsilon": 1}


def distance(rows, points, mechanism):
    """As the definition has it, row by row."""
    found = []
    for q, point, move in zip(mechanism.quantiles, points, mechanism.moves, strict=True):
        below, up_to = sum(row < point for row in rows), sum(row <= point for row in rows)
        exact = max(Fraction(0), below - q * len(rows), q * len(rows) - up_to) / move
        found.append(Fraction(ceil(exact * 1024), 1024))
    return max(found)


def exact_law(mechanism, rows):
    with pytest.MonkeyPatch.context() as patch:

        def replaced(branches):
            patch.setattr(joint, "exponential_choice_of", branches.exponential_choice_of)
            patch.setattr(joint, "uniform_below", branches.uniform_below)

        return law(replaced, lambda: mechanism.release(list(rows)))


def formula(mechanism, rows):
    """Over all tuples of grid points."""
    points = range(int(mechanism.lower), int(mechanism.upper) + 1)
    with localcontext(prec=50):
        masses = {}
        for chosen in product(points, repeat=len(mechanism.quantiles)):
            exponent = mechanism.epsilon / 2 * distance(rows, chosen, mechanism)
            answer = tuple(map(Fraction, sorted(chosen)))
            masses[answer] = masses.get(answer, 0) + (-Decimal(exponent.numerator) / exponent.denominator).exp()
        return {answer: mass / sum(masses.values()) for answer, mass in masses.items()}


def worst_ratio(mechanism, pairs, of=exact_law):
    return worst_log_ratio({rows: of(mechanism, rows) for rows in {rows for pair in pairs for rows in pair}}, pairs)


@pytest.mark.parametrize("chosen", SOME, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(relation, chosen):
    mechanism = JointQuantiles(**PUBLIC | {"quantiles": chosen, "upper": 2, "neighboring_relation": relation})
    worst = worst_ratio(mechanism, neighbours([0, 1, 2], relation, sizes=range(4)))
    assert Decimal("0.3") < worst <= 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_on_a_wide_grid_a_pair_of_neighbours_comes_close_to_epsilon(relation):
    mechanism = JointQuantiles(
        quantiles=["0.45", "0.5"], lower=0, upper=60, epsilon="0.2", neighboring_relation=relation
    )
    pair = ((58,) * 3, (58, 58, 58, 60)) if relation is ADD_OR_REMOVE_ONE else ((0, 58, 58, 58), (58, 58, 58, 60))
    worst = worst_ratio(mechanism, [pair, pair[::-1]], formula)
    assert Decimal("0.17") < worst <= Decimal("0.2")


@pytest.mark.parametrize("relation", RELATIONS)
def test_half_the_noise_would_be_caught(relation):
    mechanism = JointQuantiles(**PUBLIC | {"epsilon": 2, "neighboring_relation": relation})
    assert worst_ratio(mechanism, neighbours([0, 1, 2, 3], relation, sizes=range(4))) > 1


@pytest.mark.parametrize("chosen", SOME, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_one_value_changes_the_largest_distance_by_1_at_most_and_some_do(relation, chosen):
    mechanism = JointQuantiles(**PUBLIC | {"quantiles": chosen, "upper": 2, "neighboring_relation": relation})
    changes = [
        distance(first, points, mechanism) - distance(second, points, mechanism)
        for first, second in neighbours([0, 1, 2], relation, sizes=range(1, 8, 2))
        for points in product(range(3), repeat=len(chosen))
    ]
    assert max(changes) == -min(changes) == 1


@pytest.mark.parametrize("chosen", SOME, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_law_of_the_code_is_the_formula(relation, chosen):
    mechanism = JointQuantiles(
        **PUBLIC | {"quantiles": chosen, "epsilon": "0.7", "upper": 2, "neighboring_relation": relation}
    )
    for rows in databases([0, 1, 2], range(5)):
        expected, found = formula(mechanism, rows), exact_law(mechanism, rows)
        assert found.keys() == expected.keys()
        assert all(abs(found[answer] - expected[answer]) < Decimal("1e-40") for answer in found)


@pytest.mark.parametrize("quantiles", [[Fraction(1, 10**9 + 7), Fraction(10**12, 10**12 + 39)], ["0.1", "0.7"]])
def test_ranks_of_any_size_are_exact(quantiles):
    mechanism = JointQuantiles(**PUBLIC | {"quantiles": quantiles, "epsilon": Fraction(10**9, 10**9 + 1)})
    rows = (0, 1, 1, 3)
    expected, found = formula(mechanism, rows), exact_law(mechanism, rows)
    assert all(abs(found[answer] - expected[answer]) < Decimal("1e-40") for answer in expected)


@pytest.mark.statistical
def test_releases_follow_the_formula():
    mechanism, rows = JointQuantiles(**PUBLIC | {"quantiles": ["0.3", "0.5", "0.9"]}), (0, 1, 1, 3, 3)
    follow([mechanism.release(rows) for _ in range(2000)], formula(mechanism, rows))


@pytest.mark.statistical
def test_releases_follow_the_formula_where_there_are_more_tuples_than_machine_integers_hold():
    """On a wide grid the distance of nearly all points depends on the quarter in which they are."""
    quarter = 2**30
    rows = [quarter - 1] * 2 + [3 * quarter - 1] * 3
    mechanism = JointQuantiles(**PUBLIC | {"quantiles": ["0.1", "0.5", "0.9"], "upper": 4 * quarter - 1})
    masses = defaultdict(float)
    for chosen in product(range(4), repeat=3):
        points = [quarter * one for one in chosen]
        masses[tuple(sorted(chosen))] += np.exp(-float(distance(rows, points, mechanism)) / 2)
    expected = {answer: mass / sum(masses.values()) for answer, mass in masses.items()}
    follow([tuple(int(x) // quarter for x in mechanism.release(rows)) for _ in range(2000)], expected)


def follow(draws, expected):
    places = {answer: place for place, answer in enumerate(expected)}
    assert_law(np.array([places[answer] for answer in draws]), cdf_of(np.array([float(p) for p in expected.values()])))


# Certified errors


def wrong(rows, answer, mechanism, most):
    """Whether a quantile is off by more ranks than it may."""
    for q, point, ranks in zip(mechanism.quantiles, answer, most, strict=True):
        below, up_to = sum(row < point for row in rows), sum(row <= point for row in rows)
        if max(below - q * len(rows), q * len(rows) - up_to) > ranks:
            return True
    return False


@pytest.mark.parametrize("confidence", ["0.5", "0.9"])
@pytest.mark.parametrize("chosen", [["0.1", "0.9"], ["0.4", "0.5", "0.6"], ["0.05", "0.2"]], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_error_is_within_the_bound_for_all_small_databases(relation, chosen, confidence):
    """Also of the points in order, which are other tuples than were chosen."""
    mechanism = JointQuantiles(quantiles=chosen, lower=0, upper=2, epsilon=4, neighboring_relation=relation)
    most, is_tried = mechanism.accuracies(confidence), False
    for rows in databases([0, 1, 2], range(9)):
        missed = sum(p for answer, p in formula(mechanism, rows).items() if wrong(rows, answer, mechanism, most))
        assert missed <= 1 - Decimal(confidence)
        is_tried = is_tried or missed > 0
    assert is_tried


def test_the_bound_is_nearly_reached():
    """All values are at one point: of all tuples of N points those without it are as wrong."""
    mechanism = JointQuantiles(quantiles=["0.49", "0.5", "0.51"], lower=0, upper=10**6, epsilon=1)
    n, others = 100, 10**6
    exponents = float(distance([5 * 10**5] * n, [0, 0, 0], mechanism)) / 2
    missed = others**3 * np.exp(-exponents)
    assert 0 < missed < 1
    assert mechanism.accuracy(1 - missed) == pytest.approx(n / 2, rel=0.05)


@pytest.mark.parametrize("epsilon", ["0.1", 1])
@pytest.mark.parametrize("points", [2, 101, 1001, 65_536])
@pytest.mark.parametrize("number", range(2, 10))
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_bound_is_below_that_of_choices_apart(number, points, epsilon, relation):
    bounds = {"lower": 0, "upper": points - 1, "neighboring_relation": relation}
    quantiles = [Fraction(k + 1, number + 1) for k in range(number)]
    together = JointQuantiles(quantiles=quantiles, epsilon=epsilon, **bounds).accuracies()
    apart = [Quantile(quantile=q, epsilon=Fraction(epsilon) / number, **bounds).accuracy() for q in quantiles]
    saved = (number - 1) * log(20) / (number * log(20 * points))
    assert [one / other for one, other in zip(together, apart, strict=True)] == pytest.approx([1 - saved] * number)


def test_the_bound_of_one_quantile_is_that_of_a_choice_alone():
    bounds = {"lower": 0, "upper": 99, "epsilon": "0.3"}
    alone = Quantile(quantile="0.8", **bounds)
    assert JointQuantiles(quantiles=["0.8"], **bounds).accuracy("0.9") == alone.accuracy("0.9")


def test_accuracy_is_the_largest_of_all():
    mechanism = JointQuantiles(quantiles=["0.1", "0.5"], lower=0, upper=99, epsilon=1)
    small, large = sorted(mechanism.accuracies())
    assert (mechanism.accuracy(), large / small) == (large, pytest.approx(1.8))
    assert JointQuantiles(**PUBLIC | {"epsilon": 0}).accuracies() == (inf, inf)


@pytest.mark.statistical
def test_errors_are_far_below_those_of_choices_apart():
    values = np.arange(5000) % 101
    quantiles = [Fraction(k, 10) for k in range(1, 10)]
    bounds = {"lower": 0, "upper": 100}
    together = JointQuantiles(quantiles=quantiles, epsilon="0.1", **bounds)
    apart = [Quantile(quantile=q, epsilon=Fraction(1, 90), **bounds) for q in quantiles]

    def errors(points):
        ranks = [float(q) * 5000 for q in quantiles]
        return [
            max(0, np.sum(values < int(x)) - rank, rank - np.sum(values <= int(x)))
            for x, rank in zip(points, ranks, strict=True)
        ]

    joint_error = np.mean([errors(together.release(values)) for _ in range(40)])
    assert joint_error < np.mean([errors([one.release(values) for one in apart]) for _ in range(40)]) * 3 / 4


# The answer


@pytest.mark.parametrize("values", [[], [nan, None, inf, -inf, 10**30], np.array([2**64 - 1], dtype=np.uint64)])
@pytest.mark.parametrize("epsilon", [0, 1])
def test_no_value_is_an_error(values, epsilon):
    answers = JointQuantiles(**PUBLIC | {"epsilon": epsilon}).release(values)
    assert len(answers) == 2
    assert list(answers) == sorted(answers)
    assert set(answers) <= {0, 1, 2, 3}


def test_without_values_or_epsilon_all_tuples_are_as_likely():
    found = exact_law(JointQuantiles(**PUBLIC | {"upper": 2}), ())
    assert found == exact_law(JointQuantiles(**PUBLIC | {"upper": 2, "epsilon": 0}), (1, 2, 2))
    for one, other in combinations_with_replacement([Fraction(k) for k in range(3)], 2):
        assert found[one, other] == pytest.approx(Decimal(1 + (one != other)) / 9)


@pytest.mark.parametrize("values", [list(range(1001)), np.arange(1001), Secret([Fraction(k) for k in range(1001)])])
def test_the_quantiles_are_near_and_ascending(values):
    mechanism = JointQuantiles(quantiles=["0.1", "0.3", "0.5", "0.7", "0.9"], lower=0, upper=1000, epsilon=100)
    answers = mechanism.release(values)
    assert list(answers) == sorted(answers)
    reach = mechanism.accuracy("0.9999999")
    assert reach < 2
    assert all(abs(answer - q * 1000) <= reach + 1 for q, answer in zip(mechanism.quantiles, answers, strict=True))


def test_the_grid_is_the_multiples_of_the_resolution_between_the_bounds():
    mechanism = JointQuantiles(quantiles=[0, 1], lower="-0.5", upper="0.55", resolution="0.2", epsilon=0)
    assert {point for _ in range(200) for point in mechanism.release([])} == {Fraction(k, 5) for k in range(-2, 3)}
    assert JointQuantiles(quantiles=[0, 1], lower=3, upper=3, epsilon=1).release([9]) == (3, 3)


def test_it_costs_one_choice():
    assert JointQuantiles(**PUBLIC).event == ExponentialEvent(Fraction(1))


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 50), Fraction(8)])
def test_every_tuple_belongs_to_one_candidate(rate):
    """Of nine quantiles on 65,536 points there are more tuples than machine integers hold."""
    quantiles, n = [Fraction(k, 10) for k in range(1, 10)], 50
    moves = JointQuantiles(quantiles=quantiles, lower=0, upper=1, epsilon=1).moves
    steps = np.random.default_rng(0).integers(0, 65_536, n)
    ranks = joint._Ranks.of(steps, (0, 65_535), quantiles, moves)
    exponents = np.concatenate(ranks.distances) * float(rate / 2048)
    weights = ranks.weights(exponents)
    exact = [weights[index] for index in range(len(weights))]
    assert sum(exact) == 65_536**9
    for weight, known, exponent in zip(exact, weights.logarithms.tolist(), exponents.tolist(), strict=True):
        logarithm = log(weight) if weight else -inf
        is_hopeless = known + HOPELESS < exponent
        assert known == pytest.approx(logarithm, abs=2**-20) or (is_hopeless and known > logarithm)
    assert (rate == 8) == bool(exponents.max() > 9 * log(65_536) + HOPELESS)
    below, up_to = (np.searchsorted(np.sort(steps), np.arange(65_536), side=side) for side in ("left", "right"))
    for candidate in np.flatnonzero(exact)[::40].tolist():
        assert np.prod([count for _, count in ranks.ranges(candidate)], dtype=object) == exact[candidate]
        farthest = 0
        for q, move, (first, _) in zip(quantiles, moves, ranks.ranges(candidate), strict=True):
            off = max(below[first] - q * n, q * n - up_to[first], Fraction(0)) / move
            farthest = max(farthest, ceil(off * joint.PARTS))
        assert farthest <= np.concatenate(ranks.distances)[candidate]


@pytest.mark.parametrize(
    ("name", "wrong_one"),
    [
        ("quantiles", {"quantiles": []}),
        ("quantiles", {"quantiles": ["0.5", "0.5"]}),
        ("quantiles", {"quantiles": ["0.5", "0.4"]}),
        ("quantiles", {"quantiles": ["1.5"]}),
        ("upper", {"lower": 4}),
        ("resolution", {"upper": 2**60 + 1}),
        ("resolution", {"resolution": -1}),
        ("epsilon", {"epsilon": -1}),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(name, wrong_one):
    with pytest.raises(ParameterError, match=name):
        JointQuantiles(**PUBLIC | wrong_one)
