"""Both sketches: exact distributions, Apple's estimates, published variances, and what shared columns cost."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.local.branches import payload_law, worst_ratio
from tests.local.sketches.apple import count_mean, hadamard
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import CountMeanSketch, Domain, HadamardSketch, Reports, protocol_from_json
from sfumato.local.sketches.count_mean import shared_fractions
from sfumato.local.sketches.polynomials import columns_of
from sfumato.numeric.rounding import log_up

KINDS = (CountMeanSketch, HadamardSketch)
EACH = pytest.mark.parametrize("kind", KINDS)
TINY = {
    f"{kind.__name__} at {epsilon}": kind(Domain.texts(), epsilon=epsilon, hashes=2, width=4)
    for kind in KINDS
    for epsilon in ("0.5", "1", "4")
}
SMALL = pytest.mark.parametrize("sketch", TINY.values(), ids=TINY)
WORDS = ("tea", "coffee", "water", "milk")
RUNS = 300 if FULL_SIZE else 10


@SMALL
def test_the_largest_ratio_is_the_realized_epsilon(sketch):
    laws = [payload_law(sketch, word) for word in WORDS]
    assert log_up(worst_ratio(laws)) == sketch.realized_epsilon
    assert 0 <= sketch.epsilon - sketch.realized_epsilon < Fraction(1, 10**11)


@SMALL
def test_columns_are_supported_with_the_stated_probabilities(sketch):
    """By the aggregator's own counting: of a value in the same column of the row, and of one in another column."""
    held, other = sketch.column_probabilities
    numbers = sketch.domain.indexes(WORDS)
    columns = [columns_of(np.arange(2), np.full(2, number), functions=2, columns=4) for number in numbers]
    for word in range(4):
        law = payload_law(sketch, WORDS[word])
        for tried in range(4):
            same = Fraction(int((columns[word] == columns[tried]).sum()), 2)
            found = sum(mass for payload, mass in law.items() if supports(sketch, payload, WORDS[tried]))
            assert found == same * held + (1 - same) * other


def supports(sketch, payload, word):
    aggregator = sketch.aggregator()
    aggregator.add(Reports(sketch.fingerprint, np.frombuffer(payload, dtype=np.uint8)[None, :]))
    return aggregator.estimate([word]).supports.counts[0]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(CountMeanSketch, {"0.5": 15.95, "1": 3.925, "2": 0.9225, "4": 0.1814}),
     (HadamardSketch, {"0.5": 16.67, "1": 4.683, "2": 1.724, "4": 1.076})],
)  # fmt: skip
def test_the_published_variances(kind, expected):
    """To half a percent: the tables leave out that a report's row may give both values one column, 1/m of the time."""
    for epsilon, variance in expected.items():
        assert kind(1024, epsilon=epsilon).variance(reports=1) == pytest.approx(variance, rel=6e-3)


@pytest.mark.parametrize(("kind", "theirs"), [(CountMeanSketch, count_mean), (HadamardSketch, hadamard)])
def test_estimates_are_apples(kind, theirs):
    sketch = kind(Domain.texts(), epsilon=2, hashes=5, width=16)
    reports = sketch.client().report_many(["tea"] * 300 + ["milk"] * 200)
    aggregator = sketch.aggregator()
    aggregator.add(reports)
    found = aggregator.estimate(WORDS).fractions
    for word, fraction in zip(WORDS, found, strict=True):
        expected = theirs(sketch, reports.payloads, 2.0, sketch.domain.index(word))
        assert fraction == pytest.approx(expected, abs=1e-9)


@pytest.mark.statistical
@EACH
def test_errors_are_those_that_are_stated_and_intervals_cover(kind):
    size, people, rng = 200, 20_000, np.random.default_rng(9)
    sketch = kind(size, epsilon=2, hashes=64, width=64)
    squares, covered = 0.0, 0
    for _ in range(RUNS):
        held = np.minimum(rng.zipf(1.5, people), size) - 1
        truth = np.bincount(held, minlength=size) / people
        aggregator = sketch.aggregator()
        aggregator.add(sketch.client().report_many(held))
        estimates = aggregator.estimate()
        squares += float((((estimates.fractions - truth) / estimates.standard_errors) ** 2).mean())
        covered += float(((estimates.low <= truth) & (truth <= estimates.high)).mean())
    assert 0.8 <= squares / RUNS <= 1.2
    assert 0.92 <= covered / RUNS <= 0.98


@EACH
def test_shared_columns_are_told_from_the_cells_alone(kind):
    """Σf² of three values, one of which half of the people hold."""
    sketch = kind(Domain.texts(), epsilon=4, hashes=32, width=64)
    aggregator = sketch.aggregator()
    people = 40_000
    aggregator.add(
        sketch.client().report_many(["tea"] * (people // 2) + ["milk"] * (people // 4) + [None] * (people // 4))
    )
    assert sketch.shared(aggregator.counts, people) == pytest.approx(0.5**2 + 0.25**2, abs=0.05)
    assert shared_fractions(np.full((3, 4), 0.25), 0.0) == 0.0
    assert shared_fractions(np.eye(4), 0.0) == 1.0


@EACH
def test_what_is_shared_widens_the_intervals(kind):
    """With few wide rows, a value that nobody holds errs by the share of a frequent one, however many report."""
    sketch = kind(Domain.texts(), epsilon=20, hashes=2, width=16)
    aggregator = sketch.aggregator()
    people = 4000
    aggregator.add(sketch.client().report_many(["tea"] * people))
    found = aggregator.estimate(["tea", "coffee"])
    alone = sketch.variance(reports=people) ** 0.5
    assert found.standard_errors.min() > 0.9 * (1 / (2 * 15)) ** 0.5 > 3 * alone


@pytest.mark.statistical
def test_bits_of_a_report_are_independent_coins():
    sketch, count = CountMeanSketch(Domain.texts(), epsilon=2, hashes=2, width=16), 40_000
    held, other = map(float, sketch.column_probabilities)
    payloads = sketch.client().report_many(["tea"] * count).payloads
    rows = payloads[:, 0]
    assert binomtest(int(rows.sum()), count, 0.5).pvalue >= ALPHA
    for row in (0, 1):
        bits = np.unpackbits(payloads[rows == row, 1:], axis=1)
        (column,) = columns_of(np.array([row]), sketch.domain.indexes(["tea"]), functions=2, columns=16)
        next_one = (column + 1) % 16
        for at, share in ((column, held), (next_one, other)):
            assert binomtest(int(bits[:, at].sum()), len(bits), share).pvalue >= ALPHA
        both = bits[:, column] & bits[:, next_one]
        assert binomtest(int(both.sum()), len(bits), held * other).pvalue >= ALPHA


@EACH
@pytest.mark.parametrize("rows", [3, 700])
def test_counts_are_the_same_however_reports_come(kind, rows):
    sketch = kind(1000, epsilon=1, hashes=rows, width=32)
    reports = sketch.client().report_many(list(range(1000)))
    together, apart = sketch.aggregator(), sketch.aggregator()
    assert together.add(reports).accepted == 1000
    for report in reports:
        apart.add(report)
    assert together.snapshot() == apart.snapshot()
    assert sketch.are_valid(reports.payloads).all()
    assert protocol_from_json(sketch.to_json()) == sketch


def test_rows_and_bits_that_are_none_are_refused():
    sketch = CountMeanSketch(10, epsilon=1, hashes=3, width=12)
    payloads = np.array([[0, 0, 0], [3, 0, 0], [2, 255, 0xF0], [2, 0, 1]], dtype=np.uint8)
    assert sketch.aggregator().add(Reports(sketch.fingerprint, payloads)).refused == (1, 3)
    sketch = HadamardSketch(10, epsilon=1, hashes=3, width=8)
    payloads = np.array([[0], [47], [48], [255]], dtype=np.uint8)
    assert sketch.aggregator().add(Reports(sketch.fingerprint, payloads)).refused == (2, 3)


@EACH
@pytest.mark.parametrize(
    "wrong", [{"hashes": 0}, {"width": 1}, {"hashes": 2**16, "width": 1024}, {"epsilon": 0}, {"width": 2**17}]
)
def test_parameters_out_of_range_are_refused(kind, wrong):
    with pytest.raises(ParameterError):
        kind(10, **{"epsilon": 1, "hashes": 4, "width": 8} | wrong)
