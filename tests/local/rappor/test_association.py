"""Two reports of each person: the joint distribution of what they say, and whether there is any association."""

import numpy as np
import pytest
from scipy.stats import kstest
from tests.laws import ALPHA
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import Rappor, associate

CITY = Rappor(bits=32, hashes=1, cohorts=4, f="0.25", p="0.25", q="0.75", metric="city")
TEAM = Rappor(bits=32, hashes=1, cohorts=4, f="0.25", p="0.25", q="0.75", metric="team")
BOTH = (CITY, TEAM)
TRIED = 400 if FULL_SIZE else 40


def associated(first, second, candidates=("a", "b")):
    sent = tuple(protocol.client().report_many(held) for protocol, held in zip(BOTH, (first, second), strict=True))
    estimates = []
    for protocol, batch in zip(BOTH, sent, strict=True):
        aggregator = protocol.aggregator()
        aggregator.add(batch)
        estimates.append(aggregator.estimate(candidates))
    return associate(BOTH, sent, tuple(estimates))


@pytest.mark.statistical
def test_the_joint_distribution_is_found():
    truth = {("a", "a"): 0.5, ("a", "b"): 0.1, ("b", "a"): 0.1, ("b", "b"): 0.3}
    people = 20_000
    pairs = [pair for pair, fraction in truth.items() for _ in range(round(fraction * people))]
    found = associated(*zip(*pairs, strict=True))
    assert found.people == people
    assert found.fractions.sum() == pytest.approx(1)
    rows = {(row["first"], row["second"]): row["fraction"] for row in found.rows()}
    assert len(rows) == 9
    for pair, fraction in truth.items():
        assert rows[pair] == pytest.approx(fraction, abs=0.08)
    assert found.p_value < 1e-6


@pytest.mark.statistical
def test_p_values_of_independent_texts_are_uniform():
    rng = np.random.default_rng(3)
    found = [
        associated(rng.choice(["a", "b"], 1500, p=[0.7, 0.3]).tolist(), rng.choice(["a", "b"], 1500).tolist()).p_value
        for _ in range(TRIED)
    ]
    assert kstest(np.array(found)[np.isfinite(found)], "uniform").pvalue >= ALPHA


def test_texts_that_are_no_candidates_are_others():
    people = 8000
    held = ["a"] * (people // 2) + ["elsewhere"] * (people // 2)
    found = associated(held, held, candidates=("a",))
    assert found.first == found.second == ("a", None)
    assert found.fractions.diagonal().sum() > 0.8
    assert found.p_value < 1e-6


def test_batches_must_be_of_the_same_people():
    sent = [protocol.client().report_many(["a"] * 400) for protocol in BOTH]
    estimates = []
    for protocol, batch in zip(BOTH, sent, strict=True):
        aggregator = protocol.aggregator()
        aggregator.add(batch)
        estimates.append(aggregator.estimate(["a"]))
    for reports in ((sent[0], sent[1][:5]), (sent[0][:0], sent[1][:0]), (sent[1], sent[0])):
        with pytest.raises(ParameterError, match="reports"):
            associate(BOTH, reports, tuple(estimates))


def test_where_nothing_is_detected_all_are_others():
    found = associated([None] * 500, [None] * 500)
    if found.first == found.second == (None,):
        assert found.fractions.tolist() == [[1.0]]
        assert np.isnan(found.p_value)
