"""Raw estimates and projected ones: formulas, intervals, and that the two are never confused."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.local import (
    DirectEncoding,
    HadamardResponse,
    LocalHashing,
    OptimizedUnaryEncoding,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from sfumato.local.frequency.estimates import Supports

COUNTS = np.array([500, 300, 200, 260])


def supports(**changed):
    stated = {"reports": 1000, "when_held": 0.5, "when_not": 0.25, "are_all": True, "is_exclusive": False}
    return Supports(**({"counts": COUNTS} | stated | changed))


def test_the_raw_estimate_is_that_of_the_formula_and_may_be_negative():
    found = supports().estimate(("a", "b", "c", "d"), "0.95", extra_variance=0.0)
    assert found.fractions == pytest.approx([1.0, 0.2, -0.2, 0.04])
    spread = np.array([0.25, 0.2 * 0.25 + 0.8 * 0.1875, 0.1875, 0.04 * 0.25 + 0.96 * 0.1875])
    assert found.standard_errors == pytest.approx(np.sqrt(spread / (1000 * 0.0625)))
    assert found.high - found.fractions == pytest.approx(1.959964 * found.standard_errors)
    assert found.fractions - found.low == pytest.approx(1.959964 * found.standard_errors)
    assert (found.confidence, found.reports, len(found)) == (0.95, 1000, 4)


def test_what_hashes_add_widens_the_intervals():
    plain, wider = (supports().estimate(tuple("abcd"), "0.95", extra_variance=extra) for extra in (0.0, 0.01))
    assert wider.standard_errors**2 - plain.standard_errors**2 == pytest.approx(np.full(4, 0.01))


@pytest.mark.parametrize("extra", [0.0, 0.04])
def test_what_is_cut_is_what_noise_and_hashes_may_have_made(extra):
    """Values that nobody holds share cells with those that many do."""
    estimates = supports().estimate(tuple("abcd"), "0.95", extra_variance=extra)
    assert estimates.errors_at_0 == pytest.approx(np.full(4, np.sqrt(0.1875 / (1000 * 0.0625) + extra)))
    threshold = 2.2414027 * estimates.errors_at_0[0]  # of 0.05/4
    kept = estimates.project("base_cut").fractions > 0
    assert kept.tolist() == (estimates.fractions > threshold).tolist() == [True, extra == 0, False, False]


def test_of_a_random_part_of_the_people_the_interval_says_who_was_asked():
    asked = np.array([1000, 900, 600, 600])
    found = supports(asked=asked).estimate(tuple("abcd"), "0.95", extra_variance=0.0)
    assert found.fractions == pytest.approx((COUNTS / asked - 0.25) / 0.25)
    held = (np.clip(found.fractions, 0, 1) * asked + 2) / (asked + 4)
    noise = (held * 0.25 + (1 - held) * 0.1875) / (asked * 0.0625)
    assert found.standard_errors**2 == pytest.approx(noise + held * (1 - held) * (1 / asked - 1 / 1000))


def test_rows_are_for_tables():
    rows = supports().estimate(("a", "b", "c", "d"), "0.95", extra_variance=0.0).rows()
    assert [row["value"] for row in rows] == ["a", "b", "c", "d"]
    assert rows[1]["fraction"] == pytest.approx(0.2)
    assert list(rows[0]) == ["value", "fraction", "standard_error", "low", "high"]


@pytest.mark.parametrize("oracle", [DirectEncoding(30, epsilon=1), OptimizedUnaryEncoding(30, epsilon=1)])
def test_projected_fractions_are_a_distribution_and_the_raw_ones_stay(oracle):
    aggregator = oracle.aggregator()
    aggregator.add(oracle.client().report_many(np.arange(3000) % 5))
    estimates = aggregator.estimate()
    raw = estimates.fractions.copy()
    assert raw.min() < 0
    for method in ("norm_sub", "em"):
        projected = estimates.project(method)
        assert (projected.method, projected.values) == (method, estimates.values)
        assert projected.fractions.min() >= 0
        assert projected.fractions.sum() == pytest.approx(1)
    cut = estimates.project("base_cut").fractions
    assert set(cut[cut > 0].tolist()) <= set(raw.tolist())
    assert (estimates.fractions == raw).all()
    assert not hasattr(projected, "low")


@pytest.mark.parametrize("kind", [HadamardResponse, LocalHashing, SubsetSelection, SymmetricUnaryEncoding])
def test_what_is_hardly_randomized_is_projected_as_it_is(kind):
    """At ε = 100 the float of p is 1."""
    oracle = kind(4, epsilon=100)
    aggregator = oracle.aggregator()
    aggregator.add(oracle.client().report_many([0] * 3000 + [1] * 1000))
    for method in ("norm_sub", "em"):
        assert aggregator.estimate().project(method).fractions == pytest.approx([0.75, 0.25, 0, 0], abs=0.06)


def test_no_array_can_be_changed():
    estimates = supports().estimate(tuple("abcd"), "0.95", extra_variance=0.0)
    arrays = (estimates.fractions, estimates.standard_errors, estimates.low, estimates.high)
    for array in (*arrays, estimates.project().fractions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_unknown_methods_are_refused():
    estimates = supports().estimate(tuple("abcd"), "0.95", extra_variance=0.0)
    with pytest.raises(ParameterError, match="method"):
        estimates.project("clip")
    with pytest.raises(ParameterError, match="significance"):
        estimates.project("base_cut", significance=0)
