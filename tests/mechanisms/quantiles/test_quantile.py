"""A quantile by the exponential mechanism: exhaustive privacy, exact sensitivity, the law, edge cases."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from tests.laws import assert_law, cdf_of
from tests.mechanisms.branching import law, worst_log_ratio
from tests.mechanisms.exhaustive import databases, neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.quantiles import grid
from sfumato.mechanisms.quantiles import quantile as module
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

GRID = range(4)
QUANTILES = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(1)]
RELATIONS = [ADD_OR_REMOVE_ONE, REPLACE_ONE]
PUBLIC = {"quantile": "1/2", "lower": 0, "upper": 3, "epsilon": 1}
SIZES = range(4)


def distance(rows, point, q):
    """As the definition has it, row by row."""
    below, up_to = sum(row < point for row in rows), sum(row <= point for row in rows)
    return max(Fraction(0), below - q * len(rows), q * len(rows) - up_to)


def exact_law(mechanism, rows):
    with pytest.MonkeyPatch.context() as patch:

        def replaced(branches):
            patch.setattr(grid, "exponential_choice_of", branches.exponential_choice_of)
            patch.setattr(grid, "uniform_below", branches.uniform_below)

        return law(replaced, lambda: mechanism.release(list(rows)))


def formula(mechanism, rows, points=GRID):
    with localcontext(prec=50):
        rate = mechanism.epsilon / mechanism.rank_range
        exponents = [rate * distance(rows, point, mechanism.quantile) for point in points]
        weights = [(-Decimal(e.numerator) / e.denominator).exp() for e in exponents]
        total = sum(weights)
        return {Fraction(point): weight / total for point, weight in zip(points, weights, strict=True)}


def worst_ratio(mechanism, pairs):
    laws = {rows: exact_law(mechanism, rows) for rows in {rows for pair in pairs for rows in pair}}
    return worst_log_ratio(laws, pairs)


@pytest.mark.parametrize("q", QUANTILES, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(relation, q):
    mechanism = Quantile(**PUBLIC | {"quantile": q, "neighboring_relation": relation})
    worst = worst_ratio(mechanism, neighbours([0, 1, 2, 3], relation, sizes=SIZES))
    assert Decimal("0.4") < worst <= 1


@pytest.mark.parametrize(
    ("q", "relation", "first", "second"),
    [
        ("1/2", ADD_OR_REMOVE_ONE, (390,) * 3, (390, 390, 390, 399)),
        ("1/2", REPLACE_ONE, (0, 390, 390, 390), (390, 390, 390, 399)),
        (1, ADD_OR_REMOVE_ONE, (0,), (0, 399)),
    ],
)
def test_on_a_wide_grid_a_pair_of_neighbours_comes_close_to_epsilon(q, relation, first, second):
    mechanism = Quantile(quantile=q, lower=0, upper=399, epsilon="0.1", neighboring_relation=relation)
    laws = {rows: formula(mechanism, rows, range(400)) for rows in (first, second)}
    assert Decimal("0.09") < worst_log_ratio(laws, [(first, second), (second, first)]) <= Decimal("0.1")


@pytest.mark.parametrize("relation", RELATIONS)
def test_half_the_noise_would_be_caught(relation):
    mechanism = Quantile(**PUBLIC | {"epsilon": 2, "quantile": "2/3", "neighboring_relation": relation})
    assert worst_ratio(mechanism, neighbours([0, 1, 2, 3], relation, sizes=SIZES)) > 1


@pytest.mark.parametrize("q", QUANTILES, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_range_is_exactly_the_most_that_a_value_moves_two_distances_apart(relation, q):
    moves = [
        [distance(first, point, q) - distance(second, point, q) for point in GRID]
        for first, second in neighbours([0, 1, 2, 3], relation, sizes=range(1, 10, 4))
    ]
    mechanism = Quantile(**PUBLIC | {"quantile": q, "neighboring_relation": relation})
    assert max(max(of_pair) - min(of_pair) for of_pair in moves) == mechanism.rank_range


@pytest.mark.parametrize("q", QUANTILES, ids=str)
def test_the_law_of_the_code_is_the_formula(q):
    mechanism = Quantile(**PUBLIC | {"quantile": q, "epsilon": "0.7"})
    for rows in databases([0, 1, 2, 3], SIZES):
        expected, found = formula(mechanism, rows), exact_law(mechanism, rows)
        assert found.keys() == expected.keys()
        assert all(abs(found[point] - expected[point]) < Decimal("1e-40") for point in found)


@pytest.mark.statistical
def test_releases_follow_the_formula():
    mechanism, rows = Quantile(**PUBLIC | {"quantile": "0.3"}), (0, 1, 1, 3, 3)
    draws = np.array([int(mechanism.release(rows)) for _ in range(2000)])
    assert_law(draws, cdf_of(np.array([float(p) for p in formula(mechanism, rows).values()])))


@pytest.mark.parametrize(
    ("values", "counted"),
    [
        ([nan, None, -inf, inf], [0, 0, 0, 3]),
        ([-7, 99, 1e300, 10**30], [0, 3, 3, 3]),
        ([0.49, 0.5, 2.5, Fraction(3, 2)], [0, 1, 3, 2]),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (np.array([-(2**63), 2**63 - 1]), [0, 3]),
        (np.array([2**64 - 1, 0], dtype=np.uint64), [3, 0]),
        (np.array([nan, -1.0, 1.4]), [0, 0, 1]),
        (Secret([2, 2]), [2, 2]),
    ],
)
def test_every_number_counts_as_a_grid_point(values, counted, monkeypatch):
    seen = []
    monkeypatch.setattr(module, "choose_step", lambda steps, *_, **__: seen.extend(steps.tolist()) or 0)
    Quantile(**PUBLIC).release(values)
    assert seen == counted


def test_the_grid_is_the_multiples_of_the_resolution_between_the_bounds():
    mechanism = Quantile(quantile=0, lower="-0.5", upper="0.55", resolution="0.2", epsilon=0)
    assert {mechanism.release([]) for _ in range(300)} == {Fraction(k, 5) for k in range(-2, 3)}


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "rows"), [(0, [3, 3, 3]), (1, [])], ids=["no epsilon", "no values"])
def test_without_epsilon_or_values_every_grid_point_is_as_likely(epsilon, rows):
    mechanism = Quantile(**PUBLIC | {"epsilon": epsilon})
    draws = np.array([int(mechanism.release(rows)) for _ in range(2000)])
    assert_law(draws, cdf_of(np.full(4, 0.25)))


@pytest.mark.parametrize(("q", "expected"), [(0, 7), ("1/4", 7), ("1/2", 50), (1, 90)])
def test_a_large_epsilon_finds_the_quantile(q, expected):
    mechanism = Quantile(quantile=q, lower=7, upper=90, epsilon=1000)
    assert mechanism.release([7, 7, 50, 50, 90] * 100) == expected


def test_a_grid_of_2_to_the_60_points_is_no_burden():
    mechanism = Quantile(quantile="1/2", lower=0, upper=2**60, epsilon=10)
    values = np.arange(1001) + 2**59
    assert abs(mechanism.release(values) - (2**59 + 500)) <= mechanism.accuracy("0.999999999")


def test_a_quantile_with_a_long_denominator_is_exact(monkeypatch):
    asked = []
    monkeypatch.setattr(grid, "exponential_choice_of", lambda *args, **_: asked.append(args) or [3])
    q = Fraction(10**40 + 1, 2 * 10**40)
    Quantile(**PUBLIC | {"quantile": q}).release([0, 3])
    numerators, denominator, _ = asked[0]
    distances = [Fraction(int(n), denominator) * 2 * q for n in numerators]  # ε = 1, W = 2q
    assert distances == [2 * q, 2 * q - 1, 2 * q - 1, 0, 2 - 2 * q]


def test_one_grid_point_is_always_the_answer():
    assert Quantile(**PUBLIC | {"lower": 2, "upper": "2.9"}).release([0, 1, 5]) == 2


def test_the_answer_is_a_multiple_of_the_resolution():
    answer = Quantile(quantile="1/2", lower=0, upper=1, resolution="0.1", epsilon=1000).release([0.3] * 99)
    assert answer == Fraction(3, 10)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.5", 4])
def test_the_accuracy_holds_with_its_confidence(relation, epsilon):
    mechanism = Quantile(**PUBLIC | {"quantile": "1/4", "epsilon": epsilon, "neighboring_relation": relation})
    reach = mechanism.accuracy(0.9)
    for rows in [(0,) * 9 + (3,) * 30, (1,) * 40, tuple(GRID) * 10]:
        inside = sum(
            p for point, p in formula(mechanism, rows).items() if distance(rows, point, Fraction(1, 4)) <= reach
        )
        assert inside >= Decimal("0.9")


def test_the_accuracy_is_the_formula():
    mechanism = Quantile(quantile="1/2", lower=0, upper=99, epsilon=2)
    assert mechanism.accuracy(0.95) == pytest.approx(np.log(100 / 0.05) / 2)
    assert Quantile(**PUBLIC | {"epsilon": 0}).accuracy() == inf


def test_the_event_is_one_choice():
    assert Quantile(**PUBLIC).event == ExponentialEvent(Fraction(1))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("quantile", {"quantile": "1.1"}),
        ("quantile", {"quantile": -1}),
        ("upper", {"lower": 4}),
        ("upper", {"lower": "0.2", "upper": "0.8"}),
        ("resolution", {"resolution": 0}),
        ("resolution", {"upper": 2**60 + 1}),
        ("epsilon", {"epsilon": -1}),
        ("lower", {"lower": inf}),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(name, wrong):
    with pytest.raises(ParameterError, match=name):
        Quantile(**PUBLIC | wrong)


def test_what_is_no_number_is_an_error():
    with pytest.raises(ParameterError, match="number"):
        Quantile(**PUBLIC).release(["a"])


@pytest.mark.parametrize("values", [[], [3], [3] * 5], ids=len)
def test_a_quantile_of_many_digits_is_no_error_however_few_the_values(values):
    for quantile in ("0.1234567890123456789012345", Fraction(0.0001)):
        mechanism = Quantile(quantile=quantile, lower=0, upper=9, epsilon=1)
        assert 0 <= mechanism.release(values) <= 9


@pytest.mark.parametrize("dtype", [int, float])
def test_a_table_is_no_column(dtype):
    with pytest.raises(ParameterError, match="2-dimensional"):
        Quantile(quantile=1, lower=0, upper=999, epsilon=1).release(np.array([[990] * 3], dtype=dtype))


# Ends that lie on one side of a quantile

SIDED = PUBLIC | {"is_upper": False}
INNER = [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]


def distance_with_added(rows, point, mechanism):
    """As the definition has it: of values with others added beyond one end, which the quantile does not count."""
    q, beyond = mechanism.quantile, (3 if mechanism.is_upper else 0,) * mechanism.margin
    everything = (*rows, *beyond)
    below, up_to = sum(row < point for row in everything), sum(row <= point for row in everything)
    if mechanism.is_upper:
        above, from_here = len(everything) - up_to, len(everything) - below
        return max(Fraction(0), above - (1 - q) * len(rows), (1 - q) * len(rows) - from_here)
    return max(Fraction(0), below - q * len(rows), q * len(rows) - up_to)


def formula_of_end(mechanism, rows, points=GRID):
    with localcontext(prec=50):
        rate = mechanism.epsilon / Quantile(**PUBLIC | {"quantile": mechanism.quantile}).rank_range
        if mechanism.neighboring_relation is REPLACE_ONE:
            rate = mechanism.epsilon / 2
        exponents = [rate * distance_with_added(rows, point, mechanism) for point in points]
        weights = [(-Decimal(e.numerator) / e.denominator).exp() for e in exponents]
        total = sum(weights)
        return {Fraction(point): weight / total for point, weight in zip(points, weights, strict=True)}


@pytest.mark.parametrize("is_upper", [False, True])
@pytest.mark.parametrize("q", INNER, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_pair_of_neighbours_is_told_apart_by_an_end_by_more_than_epsilon(relation, q, is_upper):
    """At a confidence of 1/20 hardly a value is added, so that the noise has much to hide."""
    parameters = {"quantile": q, "neighboring_relation": relation, "is_upper": is_upper, "confidence": "0.05"}
    mechanism = QuantileEnd(**SIDED | parameters)
    worst = worst_ratio(mechanism, neighbours([0, 1, 2, 3], relation, sizes=SIZES))
    assert Decimal("0.2") < worst <= 1


@pytest.mark.parametrize("is_upper", [False, True])
def test_half_the_noise_of_an_end_would_be_caught(is_upper):
    mechanism = QuantileEnd(**SIDED | {"epsilon": 2, "quantile": "2/3", "is_upper": is_upper, "confidence": "0.05"})
    assert worst_ratio(mechanism, neighbours([0, 1, 2, 3], REPLACE_ONE, sizes=SIZES)) > 1


@pytest.mark.parametrize("is_upper", [False, True])
@pytest.mark.parametrize("confidence", ["0.05", "0.9"])
@pytest.mark.parametrize("q", INNER, ids=str)
def test_the_law_of_an_end_is_the_formula(q, confidence, is_upper):
    mechanism = QuantileEnd(**SIDED | {"quantile": q, "epsilon": "1.7", "confidence": confidence, "is_upper": is_upper})
    for rows in databases([0, 1, 2, 3], SIZES):
        expected, found = formula_of_end(mechanism, rows), exact_law(mechanism, rows)
        assert found.keys() == expected.keys()
        assert all(abs(found[point] - expected[point]) < Decimal("1e-40") for point in found)


@pytest.mark.parametrize("is_upper", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.5", 4])
@pytest.mark.parametrize("q", INNER, ids=str)
def test_an_end_lies_on_its_side_with_its_confidence_and_not_far_off(q, epsilon, relation, is_upper):
    """Summed up over the law, of all databases of four values and of larger ones."""
    parameters = {"quantile": q, "epsilon": epsilon, "neighboring_relation": relation, "is_upper": is_upper}
    mechanism = QuantileEnd(**SIDED | parameters | {"confidence": "0.9"})
    reach = mechanism.accuracy(0.9)
    for rows in [*databases([0, 1, 2, 3], [1, 4]), (0,) * 9 + (3,) * 30, (1,) * 40, tuple(GRID) * 10, (0, 3) * 200]:
        law_here, target = formula_of_end(mechanism, rows), q * len(rows)
        if is_upper:
            inside = sum(p for point, p in law_here.items() if sum(row <= point for row in rows) >= target)
        else:
            inside = sum(p for point, p in law_here.items() if sum(row < point for row in rows) <= target)
        near = sum(p for point, p in law_here.items() if distance(rows, point, q) <= reach)
        assert inside >= Decimal("0.9")
        assert near >= Decimal("0.9")


def test_with_less_added_an_end_would_not_hold():
    rows, mechanism = (1, 1, 2, 2), QuantileEnd(**SIDED | {"epsilon": "0.2", "confidence": "0.975"})
    plain = formula(Quantile(**PUBLIC | {"epsilon": "0.2"}), rows)
    assert sum(p for point, p in plain.items() if sum(row < point for row in rows) <= 2) < Decimal("0.975")
    held = formula_of_end(mechanism, rows)
    assert sum(p for point, p in held.items() if sum(row < point for row in rows) <= 2) >= Decimal("0.975")


def test_two_ends_hold_the_median_of_many_values_closely():
    values = np.arange(10_001)
    for is_upper, side in ((False, -1), (True, 1)):
        mechanism = QuantileEnd(
            quantile="1/2", is_upper=is_upper, lower=0, upper=10_000, epsilon=1, confidence="0.999999"
        )
        off = side * (mechanism.release(values) - 5_000)
        assert 0 <= off <= mechanism.accuracy("0.999999")


def test_the_margin_is_the_accuracy_and_nothing_where_there_is_no_noise_to_hold():
    mechanism = QuantileEnd(**SIDED | {"upper": 120})
    assert mechanism.margin == 9 == np.ceil(np.log(121 / 0.025))
    assert QuantileEnd(**SIDED | {"epsilon": 0}).margin == 0
    assert QuantileEnd(**SIDED | {"epsilon": 0}).accuracy() == inf
    tiny = QuantileEnd(**SIDED | {"epsilon": Fraction(1, 10**30)})
    assert tiny.margin == 2**61
    assert tiny.release([1, 2, 3]) in GRID


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("quantile", {"quantile": 0}), ("quantile", {"quantile": 1}), ("confidence", {"confidence": 1}),
     ("is_upper", {"is_upper": "yes"}), ("epsilon", {"epsilon": -1}), ("upper", {"lower": 4})],
    ids=str,
)  # fmt: skip
def test_parameters_of_an_end_are_refused_by_name(name, wrong):
    with pytest.raises(ParameterError, match=name):
        QuantileEnd(**SIDED | wrong)


def test_the_event_of_an_end_is_one_choice():
    assert QuantileEnd(**SIDED).event == ExponentialEvent(Fraction(1))
