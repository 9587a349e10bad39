"""The attacks must win against textbook floating-point noise, and see nothing in what this package releases."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.attacks.floating_point import precision_attack, support_attack, textbook_laplace_reaches
from sfumato.errors import ParameterError
from sfumato.mechanisms import Gaussian, Laplace

SAMPLES = 4_000
EPSILON = 1  # of each mechanism below, all its parts together
RNG = np.random.default_rng(2012)
CENT = Fraction(1, 100)

LAPLACE = Laplace(l1_sensitivity=1, epsilon=1)
LAPLACE_CENTS = Laplace(l1_sensitivity=1, epsilon=1, resolution=CENT)
GAUSSIAN = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", l0_sensitivity=1)
GAUSSIAN_CENTS = Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6", resolution=CENT, l0_sensitivity=1)
HALF = Laplace(l1_sensitivity=1, epsilon="0.5")
HALF_CENTS = Laplace(l1_sensitivity=1, epsilon="0.5", resolution=CENT)


def each(release, exact):
    """One release after the other, as many as asked for."""
    return lambda count: [release(exact) for _ in range(count)]


def at_once(mechanism, exact):
    """A vector of equal integers, which costs no more noise than one number where there is no resolution."""
    return lambda count: mechanism.release(np.full(count, exact)).tolist()


def as_float(mechanism):
    return lambda exact: float(mechanism.release(exact))


def of_array(mechanism):
    return lambda exact: mechanism.release(np.array([exact]))[0]


def scaled(exact):
    """Integers in hundredths, in whole units."""
    return float(LAPLACE.release(exact) * CENT)


def in_thousands(exact):
    return float(LAPLACE_CENTS.release(exact)) / 1000


def mean(totals):
    """A noisy sum over a noisy count, each half of the budget; never over the exact count."""
    total, count = totals
    return float(HALF_CENTS.release(total) / max(1, HALF.release(count)))


RELEASES = [
    ("Laplace on integers", at_once(LAPLACE, 0), at_once(LAPLACE, 1)),
    ("Laplace on reals", each(LAPLACE_CENTS.release, 0.0), each(LAPLACE_CENTS.release, 1.0)),
    ("Laplace on an array", each(of_array(LAPLACE_CENTS), 0.1), each(of_array(LAPLACE_CENTS), 1.1)),
    ("Laplace, as a float", each(as_float(LAPLACE_CENTS), 0), each(as_float(LAPLACE_CENTS), 1)),
    ("Laplace, scaled afterwards", each(scaled, 0), each(scaled, 1)),
    ("Laplace, in another unit afterwards", each(in_thousands, 0), each(in_thousands, 1)),
    ("Gaussian on integers", at_once(GAUSSIAN, 0), at_once(GAUSSIAN, 1)),
    ("Gaussian on reals", each(GAUSSIAN_CENTS.release, 0.0), each(GAUSSIAN_CENTS.release, 1.0)),
    ("Gaussian on an array", each(of_array(GAUSSIAN_CENTS), 0.1), each(of_array(GAUSSIAN_CENTS), 1.1)),
    ("Gaussian, as a float", each(as_float(GAUSSIAN_CENTS), 0), each(as_float(GAUSSIAN_CENTS), 1)),
    ("mean, as noisy sum over noisy count", each(mean, (5.0, 5)), each(mean, (6.0, 6))),
]
"""Name, releases on a database, releases on its neighbour; ε = 1 for each, all its parts together."""


def naive_laplace(exact, *, epsilon=EPSILON):
    return lambda count: RNG.laplace(exact, 1 / epsilon, count).tolist()


def naive_gaussian(exact):
    return lambda count: RNG.normal(exact, 4.2, count).tolist()


def mean_over_exact_count(count):
    """The classic bug: exact noise, divided by what should stay secret."""
    return each(lambda n: float(LAPLACE.release(5 * n) / n), count)


def reaches_from(location):
    return lambda value: textbook_laplace_reaches(value, location=location, scale=4)


@pytest.mark.parametrize(("first", "second"), [case[1:] for case in RELEASES], ids=[case[0] for case in RELEASES])
def test_no_output_of_ours_gives_its_database_away(first, second):
    assert precision_attack(first, second, epsilon=EPSILON, samples=SAMPLES).fraction == 0


@pytest.mark.parametrize("mechanism", [LAPLACE_CENTS, GAUSSIAN_CENTS], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("convert", [lambda answer: answer, float], ids=["as released", "as floats"])
def test_every_output_of_ours_is_possible_on_the_neighbour(mechanism, convert):
    """Noise reaches every lattice point from everywhere, so that what must be shown is that outputs are such points."""
    outputs = [convert(mechanism.release(0)) for _ in range(SAMPLES)]
    assert support_attack(outputs, reaches=lambda output: convert(round(output / CENT) * CENT) == output) == 0


@pytest.mark.statistical
def test_four_of_five_outputs_of_textbook_laplace_are_impossible_on_the_neighbour():
    outputs = naive_laplace(0, epsilon=0.25)(20_000)
    assert support_attack(outputs, reaches=reaches_from(1)) == pytest.approx(0.81, abs=0.02)  # 5 standard deviations


@pytest.mark.parametrize("location", [0, 1, 1000])
def test_textbook_laplace_reaches_what_it_gave(location):
    outputs = naive_laplace(location, epsilon=0.25)(SAMPLES)
    assert support_attack(outputs, reaches=reaches_from(location)) == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (naive_laplace(0), naive_laplace(1)),
        (naive_laplace(0, epsilon=0.25), naive_laplace(1, epsilon=0.25)),
        (naive_gaussian(0), naive_gaussian(1)),
    ],
    ids=["Laplace", "Laplace at a quarter of ε", "Gaussian"],
)
def test_the_finest_bits_of_textbook_noise_give_outputs_away(first, second):
    found = precision_attack(first, second, epsilon=EPSILON, samples=SAMPLES)
    assert found.fraction > 0.02
    assert found.readings == ("finest bits",)


def test_a_mean_over_the_exact_count_gives_the_count_away():
    found = precision_attack(mean_over_exact_count(5), mean_over_exact_count(6), epsilon=EPSILON, samples=SAMPLES)
    assert found.fraction > 0.4
    assert "denominators" in found.readings


def test_a_support_that_ends_is_seen_by_its_values():
    first, second = (lambda n, at=at: (at + RNG.integers(0, 10, n)).tolist() for at in range(2))
    found = precision_attack(first, second, epsilon=EPSILON, samples=SAMPLES)
    assert found.fraction == pytest.approx(0.1, abs=0.03)  # 0 on one side, 10 on the other
    assert "values" in found.readings


def test_a_set_that_may_be_one_sided_by_chance_does_not_count():
    rare = precision_attack(lambda n: [0] * (n - 20) + [1] * 20, lambda n: [0] * n, epsilon=EPSILON, samples=100)
    assert rare.fraction == 0
    common = precision_attack(lambda n: [0] * (n - 80) + [1] * 80, lambda n: [0] * n, epsilon=EPSILON, samples=100)
    assert common.fraction == 0.4


def test_a_larger_claim_needs_a_louder_set():
    sides = (lambda n: [0] * (n - 80) + [1] * 80), (lambda n: [0] * n)
    assert precision_attack(*sides, epsilon=3, samples=100).fraction == 0


def test_negative_zero_is_an_output_of_its_own():
    found = precision_attack(lambda n: [-0.0] * n, lambda n: [0.0] * n, epsilon=EPSILON, samples=100)
    assert found.fraction == 1


@pytest.mark.parametrize("output", [float("nan"), float("inf"), Fraction(1, 3), 0])
def test_every_number_can_be_read(output):
    assert precision_attack(lambda n: [output] * n, lambda n: [output] * n, epsilon=EPSILON, samples=100).fraction == 0


def test_no_outputs_are_refused():
    with pytest.raises(ParameterError, match="outputs"):
        support_attack([], reaches=bool)
