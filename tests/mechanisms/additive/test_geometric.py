"""The geometric mechanism on a range: exhaustive privacy with the mass folded onto the ends, and its optimality."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.laws import SAMPLES, assert_law, cdf_of
from tests.mechanisms.exhaustive import answers_by_noise, neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.additive.geometric import Geometric
from sfumato.privacy.events import DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

EPSILONS = [Fraction(1, 2), Fraction(1), Fraction(7, 3)]
PEOPLE = 3


def law(mechanism, exact):
    """The chance of each answer from the real `release`, given every noise that has more than 1e-40 of the mass."""
    reach = int(92 * mechanism.noise.scale)
    with pytest.MonkeyPatch.context() as patch:
        noises = [(k,) for k in range(-reach, reach + 1)]
        answers = answers_by_noise(patch, laplace, "discrete_laplace", lambda: mechanism.release([exact]), noises)
    masses = Counter()
    for (k,), ((answer,), scale) in answers.items():
        masses[answer] += (-Decimal(abs(k)) * scale.denominator / scale.numerator).exp()
    return {answer: mass / masses.total() for answer, mass in masses.items()}


def worst_ratio(mechanism, query, pairs):
    with localcontext(prec=50):
        laws = {value: law(mechanism, value) for value in {query(database) for pair in pairs for database in pair}}
        assert len({frozenset(found) for found in laws.values()}) == 1  # no answer gives a value away
        of_pairs = [(laws[query(first)], laws[query(second)]) for first, second in pairs]
        return float(max((first[answer] / second[answer]).ln() for first, second in of_pairs for answer in first))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("relation", "query", "l1_sensitivity"), [(ADD_OR_REMOVE_ONE, len, 1), (REPLACE_ONE, sum, 4)])
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon(relation, query, l1_sensitivity, epsilon):
    mechanism = Geometric(lower=0, upper=PEOPLE, epsilon=epsilon, l1_sensitivity=l1_sensitivity)
    worst = worst_ratio(mechanism, query, neighbours([-1, 3], relation))
    assert worst == pytest.approx(epsilon, rel=1e-12)  # never more, and no noise is wasted


def test_half_the_noise_would_be_caught():
    mechanism = Geometric(lower=0, upper=PEOPLE, epsilon=1, l1_sensitivity="0.5")
    assert worst_ratio(mechanism, len, neighbours([0], ADD_OR_REMOVE_ONE)) == pytest.approx(2)


@pytest.mark.parametrize("exact", [-2, 0, 1, 3, 7])
def test_the_stated_probabilities_are_those_of_the_real_release(exact):
    mechanism = Geometric(lower=0, upper=PEOPLE, epsilon=1, l1_sensitivity=1)
    found = law(mechanism, exact)
    assert mechanism.probabilities(exact) == pytest.approx([float(found[answer]) for answer in range(PEOPLE + 1)])


LOSSES = {
    "distance": lambda exact, answer: abs(exact - answer),
    "square": lambda exact, answer: (exact - answer) ** 2,
    "any error": lambda exact, answer: float(exact != answer),
}
BELIEFS = {"uniform": [0.25] * 4, "few": [0.6, 0.3, 0.08, 0.02], "extremes": [0.45, 0.1, 0.0, 0.45]}


def best_expected_loss(belief, loss, epsilon):
    """The least loss of all ε-differentially private mechanisms for one analyst, by linear programming."""
    numbers = range(PEOPLE + 1)
    cost = [belief[exact] * loss(exact, answer) for exact, answer in product(numbers, numbers)]
    rows = []
    for exact, answer in product(range(PEOPLE), numbers):
        for one, other in [(exact, exact + 1), (exact + 1, exact)]:
            row = np.zeros((PEOPLE + 1, PEOPLE + 1))
            row[one, answer], row[other, answer] = np.exp(-epsilon), -1
            rows.append(row.ravel())
    total = np.kron(np.eye(PEOPLE + 1), np.ones(PEOPLE + 1))
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=total, b_eq=np.ones(PEOPLE + 1))
    return found.fun


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("belief", BELIEFS.values(), ids=BELIEFS)
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_remapped_for_an_analyst_it_is_as_good_as_the_best_mechanism_for_that_analyst(loss, belief, epsilon):
    mechanism, numbers = Geometric(lower=0, upper=PEOPLE, epsilon=epsilon, l1_sensitivity=1), range(PEOPLE + 1)
    joint = [belief[exact] * mechanism.probabilities(exact) for exact in numbers]
    remapped = sum(
        min(sum(joint[exact][answer] * loss(exact, choice) for exact in numbers) for choice in numbers)
        for answer in numbers
    )
    assert remapped == pytest.approx(best_expected_loss(belief, loss, epsilon), abs=1e-9)


@pytest.mark.statistical
def test_releases_follow_the_stated_probabilities():
    mechanism = Geometric(lower=-2, upper=5, epsilon="0.7", l1_sensitivity=1)
    assert_law(mechanism.release(np.full(SAMPLES, 1)) + 2, cdf_of(mechanism.probabilities(1)))


@pytest.mark.parametrize("exact", [0, 4, 10])
def test_the_accuracy_covers_every_exact_value_of_the_range(exact):
    mechanism = Geometric(lower=0, upper=10, epsilon=1, l1_sensitivity=1)
    half_width = mechanism.accuracy("0.9")
    inside = [abs(answer - exact) <= half_width for answer in range(11)]
    assert mechanism.probabilities(exact)[inside].sum() >= 0.9
    assert Geometric(lower=0, upper=2, epsilon="0.01", l1_sensitivity=1).accuracy() == 2


def test_answers_keep_the_shape_and_are_clamped_whatever_their_size():
    mechanism = Geometric(lower=0, upper=2**70, epsilon=1, l1_sensitivity=1)
    assert mechanism.release(Secret([10**30, -(10**30)])).tolist() == [2**70, 0]
    assert type(mechanism.release(5)) is int
    assert Geometric(lower=3, upper=3, epsilon=1, l1_sensitivity=1).release([1, 2]).tolist() == [3, 3]


def test_the_event_is_that_of_the_noise():
    mechanism = Geometric(lower=0, upper=9, epsilon="0.5", l1_sensitivity=2)
    assert mechanism.event == DiscreteLaplaceEvent(Fraction(4), Fraction(2))
    assert mechanism.epsilon == Fraction(1, 2)


@pytest.mark.parametrize(
    ("parameters", "answer", "accuracy"),
    [({"epsilon": 0, "l1_sensitivity": 1}, 1, 8), ({"epsilon": 1, "l1_sensitivity": 0}, 7, 0)],
)
def test_without_noise_the_answer_is_certain(parameters, answer, accuracy):
    mechanism = Geometric(lower=1, upper=9, **parameters)
    assert mechanism.release(7) == answer
    assert mechanism.probabilities(7).tolist() == [float(number == answer) for number in range(1, 10)]
    assert (mechanism.accuracy(), mechanism.event) == (accuracy, PureEvent(Fraction(0)))


@pytest.mark.parametrize(
    "wrong",
    [{"lower": 0.5}, {"upper": inf}, {"upper": -1}, {"lower": True}, {"epsilon": -1}, {"l1_sensitivity": -1}],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Geometric(**({"lower": 0, "upper": 9, "epsilon": 1, "l1_sensitivity": 1} | wrong))


def test_what_is_no_integer_is_refused():
    with pytest.raises(ParameterError, match="integer"):
        Geometric(lower=0, upper=9, epsilon=1, l1_sensitivity=1).release(1.5)


BEYOND = 2**63


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(0, 9), (-3, 2**70), (-(2**70), 5), (2**70, 2**71), (-(2**71), -(2**70)), (BEYOND - 1, BEYOND), (7, 7)],
)
def test_a_vector_is_clamped_as_its_numbers_are(lower, upper, monkeypatch):
    monkeypatch.setattr(laplace, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))
    mechanism = Geometric(lower=lower, upper=upper, epsilon=1, l1_sensitivity=1)
    for exact in ([5, -5, 0], [BEYOND - 1, -BEYOND, 8], [2**80, -(2**80)]):
        clamped = [min(max(value, lower), upper) for value in exact]
        answer = mechanism.release(exact)
        assert answer.tolist() == clamped
        assert (answer.dtype == np.int64) == all(-BEYOND <= value < BEYOND for value in clamped)


GRADES = {"lower": 1, "upper": 2, "l1_sensitivity": Fraction(1, 2), "resolution": Fraction(1, 4)}


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_real_numbers_stay_within_epsilon_on_the_lattice(epsilon):
    mechanism, lattice = Geometric(epsilon=epsilon, **GRADES), [Fraction(step, 4) for step in range(4, 9)]
    pairs = [(Fraction(a), Fraction(a) + Fraction(1, 2)) for a in (0, 1, "1.2", "1.5", "1.99", 7)]
    laws = {exact: mechanism.probabilities(exact) for pair in pairs for exact in pair}
    ratios = [np.abs(np.log(laws[a] / laws[b])).max() for a, b in pairs]
    assert len(laws[Fraction(1)]) == len(lattice)
    assert float(epsilon) / 2 < max(ratios) <= float(epsilon) * (1 + 1e-9)


@pytest.mark.statistical
def test_releases_of_real_numbers_follow_the_stated_probabilities():
    mechanism = Geometric(epsilon=2, dimension=SAMPLES, l0_sensitivity=1, **GRADES)
    answers = mechanism.release(np.full(SAMPLES, 1.3))
    assert answers.dtype == np.float64
    assert_law(((answers - 1) * 4).astype(np.int64), cdf_of(mechanism.probabilities(1.3)))


def test_a_real_number_gives_a_lattice_point_of_the_range():
    mechanism = Geometric(epsilon="0.1", **GRADES)
    answers = {mechanism.release(exact) for exact in [0, 1.5, 99, np.nan, np.inf] * 20}
    assert answers <= {Fraction(step, 4) for step in range(4, 9)}
    assert {Fraction(1), Fraction(2)} <= answers
    assert mechanism.accuracy() == 1
    assert Geometric(epsilon=1000, **GRADES | {"upper": 99}).accuracy() == Fraction(1, 8)


def test_an_end_that_is_no_lattice_point_is_refused():
    with pytest.raises(ParameterError, match="multiple of the resolution"):
        Geometric(epsilon=1, **GRADES | {"upper": "2.1"})


@pytest.mark.parametrize("epsilon", [0, 1])
def test_without_noise_the_only_answer_is_certain_on_the_lattice_too(epsilon):
    mechanism = Geometric(epsilon=epsilon, **GRADES | ({} if epsilon == 0 else {"l1_sensitivity": 0}))
    expected = 0 if epsilon == 0 else 2
    assert mechanism.probabilities(1.5).tolist() == [float(place == expected) for place in range(5)]
    assert mechanism.release(1.5) == 1 + Fraction(expected, 4)
