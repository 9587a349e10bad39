"""The attacks must win against textbook floating-point noise, and see nothing in what this package releases."""

from decimal import Decimal
from fractions import Fraction
from math import log

import numpy as np
import pytest

from sfumato.attacks.implementation.floating_point import precision_attack, support_attack, textbook_laplace_reaches
from sfumato.errors import ParameterError
from sfumato.mechanisms import (
    BetaBernoulli,
    DistributedLaplace,
    DistributedSkellam,
    Exponential,
    Gaussian,
    Geometric,
    KaryRandomizedResponse,
    Laplace,
    LaplaceThreshold,
    MatrixMechanism,
    NoisyMax,
    NoisyTopK,
    PermuteAndFlip,
    PosteriorSampling,
    Quantile,
    Quantiles,
    RandomizedResponse,
    SmoothMedian,
    SparseVector,
    StableHistogram,
    StableMedian,
    Staircase,
)

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
SURVEY = RandomizedResponse()  # ε = ln 3, a little more
COIN = BetaBernoulli(low="0.1", high="0.9", points=9)
SHARED = DistributedLaplace(parties=2, l1_sensitivity=1, epsilon=1)
SKELLAM = DistributedSkellam(parties=2, linf_sensitivity=1, epsilon=1, delta="1e-6", l0_sensitivity=1)
CATEGORIES = KaryRandomizedResponse(categories=3, epsilon=1)


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


def first_answer(mechanism):
    return lambda histogram: float(mechanism.release(histogram)[0])


def first_lead(mechanism):
    return lambda scores: float(mechanism.release(scores).leads[0])


def middle_of_three(mechanism):
    return lambda values: float(mechanism.release(values)[1])


def told_value(mechanism):
    """The value told of one answer, or nothing of it."""

    def release(exact):
        told = mechanism.start(threshold=0).value(exact)
        return -1.0 if told is None else float(told)

    return release


def in_common(mechanism, contributions):
    """Sums of all parties' shares, as many as asked for: each costs what one costs."""
    return lambda count: mechanism.combine([mechanism.share(np.full(count, each)) for each in contributions]).tolist()


def count_of_a(mechanism):
    return lambda counts: mechanism.release(counts).get("a", -1)


def or_nothing(mechanism):
    return lambda values: -1.0 if (answer := mechanism.release(values)) is None else float(answer)


def neighbours(name, release, exact, neighbour):
    return (name, each(release, exact), each(release, neighbour))


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
    neighbours("geometric", Geometric(lower=0, upper=20, epsilon=1, l1_sensitivity=1).release, 5, 6),
    neighbours("staircase", as_float(Staircase(linf_sensitivity=1, epsilon=1, resolution=CENT)), 5.0, 6.0),
    neighbours("matrix", first_answer(MatrixMechanism([["1/3", 0], [1, 1]], epsilon=1)), [5, 5], [6, 5]),
    neighbours("exponential", Exponential(utility_sensitivity=1, epsilon=1).release, [3.5, 4.1], [4.5, 4.1]),
    neighbours("permute-and-flip", PermuteAndFlip(utility_sensitivity=1, epsilon=1).release, [3.5, 4.1], [4.5, 4.1]),
    neighbours("noisy max", NoisyMax(epsilon=1).release, [3, 4], [4, 4]),
    neighbours(
        "lead of the first",
        first_lead(NoisyTopK(k=1, epsilon=1, resolution=CENT, utility_sensitivity=1)),
        [3.5, 4.1],
        [4.5, 3.1],
    ),
    neighbours(
        "quantile",
        as_float(Quantile(quantile="1/2", lower=0, upper=9, epsilon=1, resolution="0.1")),
        [1.1, 2.2, 3.3],
        [1.1, 2.2, 3.3, 9],
    ),
    neighbours(
        "quantiles",
        middle_of_three(Quantiles(quantiles=["1/4", "1/2", "3/4"], lower=0, upper=9, epsilon=1)),
        [1, 2, 3],
        [1, 2, 3, 9],
    ),
    neighbours(
        "sparse vector",
        told_value(SparseVector(epsilon=1, resolution=CENT, answer_share="0.5", linf_sensitivity=1)),
        0.3,
        1.3,
    ),
    neighbours("posterior", as_float(PosteriorSampling(COIN, epsilon=1)), [1] * 5, [1] * 5 + [0]),
    neighbours(
        "smooth median",
        as_float(SmoothMedian(lower=0, upper=9, epsilon=1, resolution="0.1")),
        [1.1, 2.2, 3.3],
        [1.1, 2.2, 3.3, 9],
    ),
    neighbours(
        "stable median",
        or_nothing(StableMedian(lower=0, upper=9, proposed_sensitivity=1, epsilon=1, delta="1e-6", resolution="0.1")),
        [3.3] * 99,
        [3.3] * 99 + [9],
    ),
    neighbours(
        "stable histogram",
        count_of_a(
            StableHistogram(
                LaplaceThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
            )
        ),
        {"a": 15},
        {"a": 16},
    ),
    neighbours("randomized response", lambda bit: bool(SURVEY.release([bit])[0]), True, False),
    neighbours("randomized response of three", lambda said: int(CATEGORIES.release([said])[0]), 0, 2),
    ("distributed Laplace", in_common(SHARED, (2, 3)), in_common(SHARED, (2, 4))),
    ("distributed Skellam", in_common(SKELLAM, (2, 3)), in_common(SKELLAM, (2, 4))),
]
"""Name, releases on a database, releases on its neighbor; ε = 1 for each, all its parts together."""


def naive_laplace(exact, *, epsilon=EPSILON):
    return lambda count: RNG.laplace(exact, 1 / epsilon, count).tolist()


def naive_gaussian(exact):
    return lambda count: RNG.normal(exact, 4.2, count).tolist()


def mean_over_exact_count(count):
    """The classic bug: exact noise, divided by what should stay secret."""
    return each(lambda n: float(LAPLACE.release(5 * n) / n), count)


def reaches_from(location):
    return lambda value: textbook_laplace_reaches(value, location=location, scale=4)


@pytest.mark.essential
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


def textbook_laplace(location, scale):
    u = float(RNG.integers(1, 1 << 53)) / 2**53
    return location + scale * log(u + u) if u < 0.5 else location - scale * log(2.0 - u - u)


@pytest.mark.parametrize(("location", "scale"), [(1e6, 1e-3), (1e6, 1.0), (3, 1e-6), (0.1, 1e6), (0, 4), (-1e9, 0.1)])
def test_textbook_laplace_reaches_what_it_gave_at_any_scale(location, scale):
    """A large location beside a small scale gives one value for half a billion uniform doubles."""
    outputs = [float(textbook_laplace(location, scale)) for _ in range(500)]
    unreached = support_attack(
        outputs, reaches=lambda value: textbook_laplace_reaches(value, location=location, scale=scale)
    )
    assert unreached == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e6, -1e6])
def test_textbook_laplace_never_reaches_what_is_beyond_it(value):
    assert not textbook_laplace_reaches(value, location=0, scale=1)


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan")])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(ParameterError, match="scale"):
        textbook_laplace_reaches(1.0, location=0, scale=scale)


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
    assert precision_attack(*sides, epsilon=3, samples=1000).fraction == 0
    assert precision_attack(*sides, epsilon=1, samples=1000).fraction > 0


def test_negative_zero_is_an_output_of_its_own():
    found = precision_attack(lambda n: [-0.0] * n, lambda n: [0.0] * n, epsilon=EPSILON, samples=100)
    assert found.fraction == 1


ODD = [float("nan"), float("inf"), Fraction(1, 3), 0, None, np.int64(3), np.float32(0.1), np.float32("nan"), "text"]


@pytest.mark.parametrize("output", [*ODD, np.longdouble(1) / 3, Decimal("sNaN"), True])
def test_every_output_can_be_read(output):
    assert precision_attack(lambda n: [output] * n, lambda n: [output] * n, epsilon=EPSILON, samples=100).fraction == 0
    assert precision_attack(lambda n: [output] * n, lambda n: [7.5] * n, epsilon=EPSILON, samples=100).fraction == 1


@pytest.mark.parametrize("power", [400, 5000])
def test_integers_beyond_the_doubles_can_be_read(power):
    first, second = (lambda n, x=x: [10**power + x] * n for x in range(2))
    assert precision_attack(first, second, epsilon=EPSILON, samples=100).fraction == 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.float64, np.longdouble, object])
def test_arrays_of_any_dtype_can_be_read(dtype):
    first, second = (lambda n, x=x: np.full(n, x, dtype=dtype) for x in (5, 6))
    assert precision_attack(first, second, epsilon=EPSILON, samples=100).fraction == 1


def test_vectors_of_ours_can_be_read_as_they_are():
    first, second = (lambda n, x=x: LAPLACE.release([x] * n) for x in (5, 6))
    assert precision_attack(first, second, epsilon=EPSILON, samples=SAMPLES).fraction == 0


@pytest.mark.parametrize(("epsilon", "samples"), [(7, 10_000), (1, 50), (800, 10_000), (10**6, 10_000)])
def test_too_few_samples_to_find_anything_are_refused(epsilon, samples):
    with pytest.raises(ParameterError, match="samples"):
        precision_attack(lambda n: [5] * n, lambda n: [6] * n, epsilon=epsilon, samples=samples)


def test_with_just_enough_samples_a_release_without_noise_is_found():
    assert precision_attack(lambda n: [5] * n, lambda n: [6] * n, epsilon=6, samples=9_000).fraction == 1


@pytest.mark.parametrize("outputs", [[5], [], [5] * 101])
def test_a_wrong_number_of_outputs_is_refused(outputs):
    with pytest.raises(ParameterError, match="as many outputs"):
        precision_attack(lambda n: [6] * n, lambda _: outputs, epsilon=EPSILON, samples=100)


def test_no_outputs_are_refused():
    with pytest.raises(ParameterError, match="outputs"):
        support_attack([], reaches=bool)


@pytest.mark.parametrize("reaches", [None, lambda: True, lambda _: None, lambda _: np.ones(2)])
def test_what_is_reached_is_true_or_false(reaches):
    with pytest.raises(ParameterError, match=r"^reaches"):
        support_attack([5], reaches=reaches)


@pytest.mark.parametrize("name", ["value", "location", "scale"])
@pytest.mark.parametrize("value", [None, "abc", np.ones(2), 10**400])
def test_what_textbook_laplace_is_asked_is_in_numbers(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        textbook_laplace_reaches(**{"value": 1.0, "location": 0, "scale": 1, name: value})


def test_the_smallest_scale_reaches_its_location():
    assert textbook_laplace_reaches(5.0, location=5.0, scale=5e-324)
    assert not textbook_laplace_reaches(6.0, location=5.0, scale=5e-324)


@pytest.mark.parametrize("first", [None, list, lambda _: None, lambda _: "abc"])
def test_a_release_gives_outputs(first):
    with pytest.raises(ParameterError, match=r"^first"):
        precision_attack(first, lambda n: [5] * n, epsilon=EPSILON)


@pytest.mark.parametrize("samples", [None, 1e4, 10**400])
def test_samples_are_a_number_that_can_be_drawn(samples):
    with pytest.raises(ParameterError, match=r"^samples = "):
        precision_attack(lambda n: [5] * n, lambda n: [6] * n, epsilon=EPSILON, samples=samples)
