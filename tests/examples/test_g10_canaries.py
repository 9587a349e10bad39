import pytest

from examples import g10_canaries as example
from sfumato.audit.core.findings import Verdict


@pytest.mark.statistical
def test_the_right_noise_passes():
    """Refuted with a chance of 0.01 at most each: two of three once in 3,000, all three once in 10^6."""
    assert not all(example.audited(1.0).is_refuted for _ in range(3))


@pytest.mark.statistical
def test_a_quarter_of_it_is_caught_without_assumptions():
    assert any(example.audited(0.25).is_refuted for _ in range(4))


@pytest.mark.statistical
def test_half_of_it_is_caught_by_who_assumes_that_it_is_gaussian():
    reports = [example.audited(0.5) for _ in range(3)]
    assert any(report.verdict_assuming(gaussian=True) is Verdict.PRIVACY_VIOLATION for report in reports)
