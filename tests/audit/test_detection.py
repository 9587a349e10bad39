"""Power and restraint: seeded bugs are found with few samples, right mechanisms are left alone."""

import pytest
from tests.audit.detection import detect
from tests.audit.zoo import BROKEN_SPARSE_VECTORS, RIGHT, SEEDED
from tests.sizes import FULL_SIZE

QUICK, THOROUGH = 10_000, 300_000


def name(specimen):
    return specimen.name


def test_there_are_as_many_seeded_bugs_as_the_table_has_rows():
    assert len(SEEDED) == 23
    assert len({specimen.name for specimen in (*SEEDED, *RIGHT, *BROKEN_SPARSE_VECTORS)}) == 38


@pytest.mark.statistical
def test_most_seeded_bugs_are_found_with_ten_thousand_samples():
    found = [detect(specimen, samples=QUICK) for specimen in SEEDED]
    assert sum(detection.by_events for detection in found) >= 13, "privacy violations, by event testers"
    assert sum(detection.law for detection in found) >= 9, "calibration bugs, by law tests"
    assert sum(detection.found for detection in found) >= 18


@pytest.mark.statistical
@pytest.mark.parametrize("specimen", RIGHT, ids=name)
def test_a_right_mechanism_raises_no_alarm(specimen):
    assert not detect(specimen, samples=THOROUGH if FULL_SIZE else QUICK).found


@pytest.mark.statistical
@pytest.mark.parametrize("specimen", BROKEN_SPARSE_VECTORS, ids=name)
def test_every_broken_sparse_vector_is_found(specimen):
    enough = 150_000 if specimen.name.startswith("sparse vector 4") else 30_000
    assert detect(specimen, samples=THOROUGH if FULL_SIZE else enough).by_events


if FULL_SIZE:

    @pytest.mark.statistical
    def test_nearly_all_seeded_bugs_are_found_with_many_samples():
        found = [detect(specimen, samples=THOROUGH) for specimen in SEEDED]
        assert sum(detection.by_events for detection in found) >= 21, "privacy violations, by event testers"
        assert sum(detection.law for detection in found) >= 10, "calibration bugs, by law tests"
        assert sum(detection.found for detection in found) >= 22
