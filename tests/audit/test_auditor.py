"""One audit over pairs, testers and laws: what is broken is refuted, what is right is not."""

from decimal import Decimal

import numpy as np
import pytest
from tests.audit.zoo import laplace_cdf, laplace_steps

from sfumato.audit.auditor import audit
from sfumato.audit.core.adapters import one_by_one
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.distributions import DeclaredLaw
from sfumato.audit.neighbors import Neighbors
from sfumato.errors import ParameterError
from sfumato.mechanisms import Laplace, NoisyMax, RandomizedResponse
from sfumato.noise.uniform.integers import narrow, python_integers

COUNT = Laplace(l1_sensitivity=1, epsilon=1)
ONE_MORE = NeighborPair(5, 6, "one person more")


def count(exact, runs):
    return COUNT.release(np.full(runs, exact))


def count_of(database, runs):
    return count(len(database), runs)


def clamped_sum(database, runs):
    """The largest row may be 1; NaN and None count as 0."""
    values = [min(max(row, 0), 1) if row is not None and row == row else 0 for row in database]  # noqa: PLR0124 # NaN
    return count(int(sum(values)), runs)


def forgets_the_first_row(database, runs):
    return count(sum(1 for row in database[1:] if row), runs) + (len(database) > 1) * 3 * (database[:1] == (1,))


def test_a_right_mechanism_passes():
    assert not audit(count, [ONE_MORE], epsilon=1).is_refuted


@pytest.mark.parametrize("mechanism", [count_of, clamped_sum])
def test_right_mechanisms_pass_on_all_neighbours(mechanism):
    report = audit(mechanism, Neighbors(database=(1, 0, 1)), epsilon=1, samples=1000)
    assert not report.is_refuted, str(report)


def test_a_claim_below_the_truth_is_refuted_and_the_bound_lies_between():
    (violation, *_) = audit(count, [ONE_MORE], epsilon="0.5", samples=20_000).violations
    assert 0.5 < violation.epsilon_lower_bound < 1


def test_only_removing_the_first_record_shows_what_is_wrong_with_it():
    report = audit(forgets_the_first_row, Neighbors(database=(1, 0, 1)), epsilon=1, samples=4000)
    assert {finding.pair for finding in report.violations if "removed" in finding.pair} == {"the first unit is removed"}


def test_an_error_on_one_side_is_a_violation():
    inverse = one_by_one(lambda database: round(1 / sum(database)) * 0)
    report = audit(inverse, [NeighborPair((1, -1), (1,), "the last unit is removed")], epsilon=1, samples=400)
    assert report.is_refuted
    assert "ZeroDivisionError" in str(report)


def test_noise_half_as_large_as_declared_is_a_calibration_bug_and_no_violation_by_itself():
    law = DeclaredLaw("Laplace of scale 2", lambda n: laplace_steps(1, n), laplace_cdf(2))
    report = audit(count, [ONE_MORE], epsilon=1, laws=(law,))
    assert report.violations == ()
    assert [bug.law for bug in report.calibration_bugs] == ["Laplace of scale 2"]


def test_a_law_can_be_tested_without_pairs():
    law = DeclaredLaw("Laplace of scale 1", lambda n: laplace_steps(1, n), laplace_cdf(1))
    assert not audit(count, [], epsilon=1, laws=(law,)).is_refuted


def test_the_significance_is_shared_by_all_tests():
    report = audit(count, [ONE_MORE, ONE_MORE], epsilon=1, samples=200, significance=0.04)
    assert [finding.significance for finding in (*report.events, *report.repeats)] == [0.04 / 8] * 8


def test_delta_is_part_of_the_claim():
    leaky = one_by_one(lambda database: database if np.random.default_rng().random() < 0.5 else 0)
    pair = NeighborPair(1, 2, "another value")
    assert audit(leaky, [pair], epsilon=1, delta="0.1", samples=1000).is_refuted
    assert not audit(leaky, [pair], epsilon=1, delta="0.6", samples=1000).is_refuted


@pytest.mark.parametrize(
    ("release", "here", "there"),
    [
        (NoisyMax(epsilon=1).release, [3, 3, 3], [4, 4, 3]),
        (RandomizedResponse(heads_probability="0.4").release, [1], [0]),
    ],
    ids=["noisy max", "randomized response"],
)
def test_mechanisms_that_release_one_answer_at_a_time_pass(release, here, there):
    report = audit(one_by_one(release), [NeighborPair(here, there, "a pair")], epsilon=1, samples=2000)
    assert not report.is_refuted, str(report)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("samples", {"samples": 99}), ("significance", {"significance": 0}), ("significance", {"significance": 1.0})],
)
def test_impossible_parameters_are_refused_by_name(name, arguments):
    with pytest.raises(ParameterError, match=name):
        audit(count, [ONE_MORE], epsilon=1, **arguments)


def test_an_audit_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="pairs"):
        audit(count, [], epsilon=1)


def rarely_none(_, runs):
    return np.array([None if chance < 2e-4 else 0 for chance in np.random.default_rng().random(runs)])


def rarely_huge(_, runs):
    chances = np.random.default_rng().random(runs)
    return narrow(python_integers([2**70 if chance < 2e-4 else int(100 * chance) for chance in chances]))


def rarely_fractional(_, runs):
    chances = np.random.default_rng().random(runs)
    return np.array([0.5 if chance < 2e-4 else 0 for chance in chances])


def rarely_long(_, runs):
    vector = [0.1, 0.9, 0.3, 0.7, 0.2, 0.8, 0.6, 0.4, 0.5, 0.1]
    return [vector + [0.5] * 54 if chance < 2e-4 else vector for chance in np.random.default_rng().random(runs)]


@pytest.mark.parametrize("mechanism", [rarely_none, rarely_huge, rarely_fractional, rarely_long])
def test_an_odd_output_on_one_side_does_not_change_what_the_others_show(mechanism):
    """Whatever the database: 0-DP, and yet once refuted in one audit of fifteen."""
    for _ in range(30):
        assert not audit(mechanism, [ONE_MORE], epsilon=1, samples=1000, significance=1e-9).is_refuted


def test_noise_that_is_seeded_on_each_call_is_found():
    report = audit(
        lambda exact, runs: np.rint(exact + np.random.default_rng(0).laplace(size=runs)), [ONE_MORE], epsilon=1
    )
    assert report.reproducible
    assert report.violations == ()


def test_outputs_are_counted():
    with pytest.raises(ParameterError, match="as many outputs"):
        audit(lambda exact, _: [exact], [ONE_MORE], epsilon=1)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda exact, runs: np.full(runs, 2**60 + exact),
        lambda exact, runs: [
            ("yes" if exact == 5 else "no", chance) for chance in np.random.default_rng().random(runs)
        ],
        lambda exact, runs: [
            {"answer": exact == 5, "noise": chance} for chance in np.random.default_rng().random(runs)
        ],
        lambda exact, runs: [10**5000 + exact] * runs,
    ],
    ids=["an integer beyond the doubles", "text in a tuple", "a value of a mapping", "5001 digits"],
)
def test_a_mechanism_without_noise_is_refuted(mechanism):
    assert audit(mechanism, [ONE_MORE], epsilon=1, samples=500).violations


@pytest.mark.parametrize(
    "outputs",
    [
        lambda runs: ["x" * 10**6, *["a"] * (runs - 1)],
        lambda runs: [Decimal("sNaN")] * runs,
        lambda runs: np.zeros((runs, 10_000)),
        lambda runs: [None] * runs,
    ],
    ids=["a long text", "a signaling NaN", "ten thousand bins", "nothing"],
)
def test_outputs_of_any_size_and_kind_can_be_audited(outputs):
    report = audit(lambda _, runs: outputs(runs), [ONE_MORE], epsilon=1, samples=100)
    assert not report.is_refuted


def test_what_was_not_read_is_reported():
    report = audit(lambda _, runs: np.zeros((runs, 400)), [ONE_MORE], epsilon=1, samples=100)
    assert "not read: parts after the first 256" in str(report)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mechanism",
    [COUNT, COUNT.release, lambda exact: 2 * COUNT.release(exact), lambda exact, runs: COUNT.release([exact] * runs)],
    ids=["a mechanism", "its release", "one run", "many runs"],
)
def test_a_mechanism_may_be_given_as_it_is_or_run_by_run(mechanism):
    """A true claim is refuted once in a million times, and a fifth of it is always."""
    assert not audit(mechanism, [(5, 6)], epsilon=1, samples=1_000).is_refuted
    assert audit(mechanism, [(5, 6, "one person more")], epsilon="0.05", samples=4_000).is_refuted


@pytest.mark.parametrize("pair", [5, (5,), (5, 6, 7, 8), None], ids=repr)
def test_what_is_no_pair_is_refused_before_anything_runs(pair):
    with pytest.raises(ParameterError, match="a database and its neighbor"):
        audit(COUNT, [pair], epsilon=1)


@pytest.mark.parametrize("mechanism", [None, 3, dict], ids=repr)
def test_what_cannot_be_run_is_no_mechanism(mechanism):
    with pytest.raises(ParameterError, match=r"mechanism\(database, count\)"):
        audit(mechanism, [(5, 6)], epsilon=1)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("testers", {"testers": ["no tester"]}),
        ("testers", {"testers": [lambda *_, **__: "no finding"]}),
        ("laws", {"laws": ["no law"]}),
        ("samples", {"samples": 10**400}),
        ("epsilon", {"epsilon": 10**400}),
    ],
)
def test_what_is_of_another_kind_is_refused_by_name(name, arguments):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        audit(count, [ONE_MORE], **{"epsilon": 1, "samples": 100} | arguments)
