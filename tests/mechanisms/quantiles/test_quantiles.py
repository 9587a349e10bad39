"""Several quantiles: exhaustive privacy of the recursion, its shape, accuracy, edge cases."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from tests.mechanisms.branching import law, worst_log_ratio
from tests.mechanisms.exhaustive import neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.quantiles import grid, quantiles
from sfumato.mechanisms.quantiles.quantiles import Quantiles
from sfumato.privacy.events import ExponentialEvent, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

RELATIONS = [ADD_OR_REMOVE_ONE, REPLACE_ONE]
QUARTILES = ["1/4", "1/2", "3/4"]
PUBLIC = {"quantiles": QUARTILES, "lower": 0, "upper": 2, "epsilon": 1}


def worst_ratio(mechanism, pairs, *, places=1):
    """With fewer places than 2^20 the recursion is the same, and its law small enough to be enumerated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantiles, "PLACES", places)

        def replaced(branches):
            patch.setattr(grid, "exponential_choice_of", branches.exponential_choice_of)
            patch.setattr(grid, "uniform_below", branches.uniform_below)
            patch.setattr(quantiles, "uniform_below", branches.uniform_below)

        databases = {rows for pair in pairs for rows in pair}
        laws = {rows: law(replaced, lambda rows=rows: mechanism.release(list(rows))) for rows in databases}
    return worst_log_ratio(laws, pairs)


def nodes(node):
    """A choice and all below it."""
    return [] if node is None else [node, *nodes(node.left), *nodes(node.right)]


@pytest.mark.parametrize("chosen", [["1/2", "2/3"], QUARTILES, [0, "0.9", 1]], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(relation, chosen):
    mechanism = Quantiles(**PUBLIC | {"quantiles": chosen, "neighboring_relation": relation})
    worst = worst_ratio(mechanism, neighbours([0, 1, 2], relation, sizes=range(4)))
    assert Decimal("0.3") < worst <= 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_random_places_keep_it_private(relation):
    mechanism = Quantiles(**PUBLIC | {"quantiles": ["1/3", "2/3"], "upper": 1, "neighboring_relation": relation})
    worst = worst_ratio(mechanism, neighbours([0, 1], relation, sizes=range(3)), places=2)
    assert Decimal("0.2") < worst <= 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_less_noise_would_be_caught(relation):
    mechanism = Quantiles(**PUBLIC | {"epsilon": 3, "neighboring_relation": relation})
    assert worst_ratio(mechanism, neighbours([0, 1, 2], relation, sizes=range(3))) > 1


@pytest.mark.parametrize(("relation", "told_apart"), [(ADD_OR_REMOVE_ONE, True), (REPLACE_ONE, False)])
def test_the_noise_for_adding_would_not_do_for_replacing(relation, told_apart):
    mechanism = Quantiles(quantiles=["1/2"], lower=0, upper=99, epsilon="0.5", neighboring_relation=relation)
    first, second = (0, 95, 95, 95), (95, 95, 95, 99)
    worst = worst_ratio(mechanism, [(first, second), (second, first)])
    assert (worst > Decimal("0.7")) == told_apart
    assert (worst > Decimal("0.5")) == told_apart


@pytest.mark.parametrize(("number", "levels"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4)])
def test_there_are_about_log_2_levels(number, levels):
    mechanism = Quantiles(**PUBLIC | {"quantiles": [Fraction(k + 1, number + 1) for k in range(number)]})
    found = nodes(mechanism._root)
    assert mechanism.levels == levels == max(node.level for node in found) + 1
    assert sorted(node.index for node in found) == list(range(number))
    assert mechanism.event == SelfComposedEvent(ExponentialEvent(Fraction(1, levels)), levels)


def test_the_fractions_are_those_among_the_values_that_are_left():
    fractions = {node.index: node.fraction for node in nodes(Quantiles(**PUBLIC)._root)}
    assert fractions == {1: Fraction(1, 2), 0: Fraction(1, 2), 2: Fraction(1, 2)}
    skewed = {n.index: n.fraction for n in nodes(Quantiles(**PUBLIC | {"quantiles": [0, "0.2", "0.6"]})._root)}
    assert skewed == {1: Fraction(1, 5), 0: 0, 2: Fraction(1, 2)}


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_levels_share_epsilon(relation):
    mechanism = Quantiles(**PUBLIC | {"quantiles": ["0.1", "0.5", "0.8"], "neighboring_relation": relation})
    rates = {node.index: mechanism._rate(node) for node in nodes(mechanism._root)}
    shared = Fraction(1, 2)  # ε / levels
    if relation is ADD_OR_REMOVE_ONE:
        assert rates == {1: shared, 0: shared / Fraction(8, 5), 2: shared / Fraction(6, 5)}
    else:
        assert rates == {1: shared / 2, 0: shared / Fraction(16, 5), 2: shared / Fraction(12, 5)}


@pytest.mark.parametrize(
    "values",
    [
        list(range(1001)),
        [0] * 400 + [500] * 201 + [1000] * 400,
        np.arange(1001),
        Secret([Fraction(k) for k in range(1001)]),
    ],
    ids=["even", "three points", "array", "secret"],
)
def test_the_quantiles_are_near_and_ascending(values):
    mechanism = Quantiles(quantiles=["0.1", "0.3", "0.5", "0.7", "0.9"], lower=0, upper=1000, epsilon=100)
    answers = mechanism.release(values)
    numbers = [int(value) for value in (values.open_for_noise() if isinstance(values, Secret) else values)]
    assert list(answers) == sorted(answers)
    for q, answer in zip(mechanism.quantiles, answers, strict=True):
        below, up_to = sum(n < answer for n in numbers), sum(n <= answer for n in numbers)
        reach = mechanism.accuracy("0.9999999")
        assert reach < 5
        assert below - reach <= q * 1001 <= up_to + reach


def test_equal_values_are_divided_evenly():
    answers = Quantiles(quantiles=["0.1", "0.2", "0.3", "0.4"], lower=0, upper=1000, epsilon=10).release([7] * 2000)
    assert answers == (7, 7, 7, 7)


@pytest.mark.statistical
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_accuracy_holds_with_its_confidence(relation):
    mechanism = Quantiles(quantiles=QUARTILES, lower=0, upper=99, epsilon=1, neighboring_relation=relation)
    values, reach = np.arange(4000) % 100, mechanism.accuracy(0.9)
    assert reach < 300
    misses = sum(
        any(abs(40 * float(x) + 20 - q * 4000) > reach + 20 for q, x in zip((0.25, 0.5, 0.75), xs, strict=True))
        for xs in (mechanism.release(values) for _ in range(100))
    )
    assert misses <= 30  # of 100 with a chance of at most 1/10 each: more have a chance below 1e-7


def test_the_accuracy_adds_to_the_error_of_a_choice_a_mean_of_those_around_it():
    mechanism = Quantiles(quantiles=QUARTILES, lower=0, upper=99, epsilon=1)
    assert mechanism.accuracy(0.95) == pytest.approx((2 + 2 / 2) * np.log(100 * 2**20 * 3 / 0.05))
    assert Quantiles(**PUBLIC | {"epsilon": 0}).accuracy() == inf


@pytest.mark.parametrize("chosen", [QUARTILES, [Fraction(k, 10) for k in range(1, 10)], ["0.01", "0.02", "0.9", "1"]])
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_answer_is_farther_off_than_the_accuracy_if_no_choice_is_farther_off_than_its_own(
    monkeypatch, chosen, relation
):
    """All choices are as far off as they may be, in all directions; one that leads to the largest error reaches it."""
    n = 10**6
    mechanism = Quantiles(
        quantiles=chosen, lower=0, upper=n, epsilon="0.001", neighboring_relation=relation
    )  # whose bound is far above 1, and far below n
    bound = 10 * float(mechanism._largest_error(mechanism._root))
    largest, direction = 0, np.random.default_rng(1)

    def farthest(places, _ends, fraction, rate):
        off = float(10 / rate) * direction.choice([-1, 1])
        return np.sort(places)[int(np.clip(float(fraction) * len(places) + off, 0, len(places) - 1))]

    monkeypatch.setattr(quantiles, "choose_step", farthest)
    for _ in range(40):
        answers = mechanism.release(np.arange(n) + 1)
        errors = [abs(float(x) - float(q) * n) for q, x in zip(mechanism.quantiles, answers, strict=True)]
        assert max(errors) <= bound + 10
        largest = max(largest, *errors)
    assert largest >= 0.8 * bound


@pytest.mark.parametrize("values", [[], [nan, None, inf, -inf, 10**30], np.array([2**64 - 1], dtype=np.uint64)])
@pytest.mark.parametrize("epsilon", [0, 1])
def test_no_value_is_an_error(values, epsilon):
    answers = Quantiles(**PUBLIC | {"epsilon": epsilon}).release(values)
    assert len(answers) == 3
    assert list(answers) == sorted(answers)
    assert set(answers) <= {0, 1, 2}


def test_a_single_quantile_is_one_choice_at_full_price():
    mechanism = Quantiles(quantiles=["0.5"], lower=0, upper=10, resolution="0.5", epsilon=1000)
    assert mechanism.release([3.5] * 9) == (Fraction(7, 2),)
    assert mechanism.event == SelfComposedEvent(ExponentialEvent(Fraction(1000)), 1)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("quantiles", {"quantiles": []}),
        ("quantiles", {"quantiles": ["0.5", "0.5"]}),
        ("quantiles", {"quantiles": ["0.5", "0.4"]}),
        ("quantiles", {"quantiles": ["1.5"]}),
        ("upper", {"lower": 3}),
        ("resolution", {"upper": 2**40 + 1}),
        ("resolution", {"resolution": -1}),
        ("epsilon", {"epsilon": -1}),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(name, wrong):
    with pytest.raises(ParameterError, match=name):
        Quantiles(**PUBLIC | wrong)


def test_quantiles_of_many_digits_are_no_error_where_a_part_is_empty():
    mechanism = Quantiles(quantiles=[Fraction(0.0001), "0.5"], lower=0, upper=9, epsilon=1)
    for _ in range(20):
        assert len(mechanism.release([3])) == 2
