"""What holds for every protocol: its exact distribution, its stored form, its reports, and no value is an error."""

from fractions import Fraction
from itertools import permutations
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from tests.local.branches import payload_law, worst_ratio
from tests.local.protocols import (
    LESS_THAN_ASKED,
    PERTURBED,
    POOLED,
    PROTOCOLS,
    SAMPLED,
    SMALL,
    STORED,
    TEXTS,
    apart,
    some_values,
)

from sfumato.accounting import BasicAccountant, PLDAccountant
from sfumato.errors import ParameterError
from sfumato.local import Report, Reports, protocol_from_json
from sfumato.numeric.rounding import log_up
from sfumato.privacy.codec import decode_event, encode_event
from sfumato.privacy.secret import Secret

EACH = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
KEPT = pytest.mark.parametrize("protocol", STORED.values(), ids=STORED)
TRIED = pytest.mark.parametrize("protocol", SMALL.values(), ids=SMALL)
ODD = (None, nan, inf, -inf, -1, 10**30, "nothing like it", b"bytes", 0.5, [1], np.array([1, 2]), pd.NaT, object())


@TRIED
def test_the_largest_ratio_over_all_values_and_payloads_is_the_realized_epsilon(protocol):
    laws = [payload_law(protocol, value) for value in some_values(protocol)]
    ratio = worst_ratio(laws)
    assert protocol.realized_epsilon == log_up(ratio)
    assert protocol.epsilon - protocol.realized_epsilon >= 0
    if not isinstance(protocol, LESS_THAN_ASKED) and protocol != PERTURBED:
        assert protocol.epsilon - protocol.realized_epsilon < Fraction(1, 10**11)


@TRIED
def test_accountants_charge_what_was_asked_and_the_event_says_no_less_than_the_payloads(protocol):
    event = protocol.event
    assert protocol.realized_epsilon <= BasicAccountant().compose(event).epsilon() <= protocol.epsilon
    assert BasicAccountant().compose(event).epsilon() - protocol.realized_epsilon < Fraction(1, 10**11)
    assert decode_event(encode_event(event)) == event
    first, second = (payload_law(protocol, value) for value in apart(protocol))
    for tried in (0.0, float(protocol.epsilon) / 2):
        exact = sum(max(0.0, float(first[payload]) - np.exp(tried) * float(second[payload])) for payload in first)
        assert exact == pytest.approx(PLDAccountant().compose(event).delta(epsilon=tried), abs=1e-9)


@pytest.mark.parametrize("protocol", POOLED.values(), ids=POOLED)
def test_a_public_pool_reveals_no_more_than_the_realized_epsilon(protocol):
    laws = [payload_law(protocol, value) for value in some_values(protocol)]
    assert log_up(worst_ratio(laws)) <= protocol.realized_epsilon <= protocol.epsilon


@pytest.mark.parametrize("protocol", POOLED.values(), ids=POOLED)
def test_a_public_pool_reveals_no_more_than_its_event(protocol):
    """For any two values, also for those that no function of the pool puts into one cell."""
    laws = [payload_law(protocol, value) for value in some_values(protocol)]
    for tried in (0.0, float(protocol.epsilon) / 2):
        stated = float(PLDAccountant().compose(protocol.event).delta(epsilon=tried))
        for first, second in permutations(laws, 2):
            exact = sum(max(0.0, float(first[payload]) - np.exp(tried) * float(second[payload])) for payload in first)
            assert exact <= stated + 1e-9


@KEPT
def test_the_stored_form_is_the_protocol(protocol):
    restored = protocol_from_json(protocol.to_json())
    assert restored == protocol
    assert restored.fingerprint == protocol.fingerprint


def test_fingerprints_are_those_of_earlier_versions_and_differ():
    assert len({protocol.fingerprint for protocol in PROTOCOLS.values()}) == len(PROTOCOLS)
    golden = {
        "DirectEncoding of 2 at 0.25": "4e37a3ac", "HadamardResponse of 2 at 0.25": "539a26b0",
        "OptimizedUnaryEncoding of 2 at 0.25": "69d35692", "SubsetSelection of 2 at 0.25": "6bd481ec",
        "SymmetricUnaryEncoding of 2 at 0.25": "cbf7de4e", "ThresholdedHistogram of 2 at 0.25": "d43c7f91",
        "LocalHashing of labels": "a15f1930", "PooledHashing of labels": "96dac344",
        "DuchiMean with 1 steps at 0.25": "426cdbc4", "HybridMean with 1 steps at 0.25": "fdb40e5b",
        "PiecewiseMean with 1 steps at 0.25": "f29685bd", "SquareWave with 1 steps at 0.25": "be193d94",
        "one of three": "3e6dc8d0", "Rappor of 13 bits": "6a55a351", "BasicRappor of 3": "7b8b1730",
        "CountMeanSketch of texts": "f703e8ab", "HadamardSketch of texts": "d3ebeb76",
        "FragmentPuzzle of four letters": "081e5c7a", "PrefixSearch of four bytes": "d5289fbf",
        "LongitudinalDirect of 2": "80a6c702", "LongitudinalSymmetricUnary of 2": "c49e5b9c",
        "LongitudinalUnary of 2": "45f3f111", "LongitudinalHashing of 9": "5e605c0c",
        "TreeSearch of four bytes": "8c1746ef", "BucketBits of 9": "bc994706",
        "LongitudinalMean of two segments": "6672b4fa",
    }  # fmt: skip
    assert {name: PROTOCOLS[name].fingerprint.hex() for name in golden} == golden
    assert {PROTOCOLS[name].kind for name in golden} == {protocol.kind for protocol in STORED.values()}


@pytest.mark.parametrize(
    "changed",
    [
        {"version": 2},
        {"kind": "nothing"},
        {"epsilon": "0"},
        {"epsilon": None},
        {"domain": 3},
        {"more": 1},
        {7: 1},
        {"kind": None},
    ],
    ids=str,
)
def test_other_documents_are_refused(changed):
    document = PROTOCOLS["DirectEncoding of 3 at 1"].to_json()
    with pytest.raises(ParameterError):
        protocol_from_json(document | changed)
    with pytest.raises(ParameterError):
        protocol_from_json([document])


def test_a_document_without_a_parameter_is_refused():
    document = PROTOCOLS["DirectEncoding of 3 at 1"].to_json()
    del document["epsilon"]
    with pytest.raises(ParameterError, match="must have domain, epsilon"):
        protocol_from_json(document)


@EACH
def test_reports_are_valid_and_have_one_length(protocol):
    client = protocol.client()
    values = some_values(protocol)
    reports = client.report_many(values * 3)
    assert isinstance(reports, Reports)
    assert reports.payloads.shape == (3 * len(values), protocol.payload_bytes)
    assert protocol.are_valid(reports.payloads).all()
    one = client.report(values[0])
    assert Report.from_bytes(bytes(one)) == one
    assert len(bytes(one)) == 5 + protocol.payload_bytes


@pytest.mark.parametrize("protocol", TEXTS.values(), ids=TEXTS)
def test_no_value_is_an_error_where_texts_are_expected(protocol):
    assert len(protocol.inputs([*ODD, "text"])) == len(ODD) + 1
    assert len(protocol.client().report_many(ODD)) == len(ODD)
    assert protocol.client().report(Secret(None)).fingerprint == protocol.fingerprint


@pytest.mark.parametrize("protocol", [one for one in PROTOCOLS.values() if one not in TEXTS.values()], ids=str)
def test_no_value_is_an_error_and_what_is_unknown_counts_as_stated(protocol):
    inputs = protocol.inputs([*ODD, *some_values(protocol)[:1]])
    assert inputs.dtype == np.int64
    assert len(inputs) == len(ODD) + 1
    assert inputs.min() >= 0
    assert inputs.max() <= (len(protocol.domain) - 1 if hasattr(protocol, "domain") else protocol.steps)
    assert protocol.client().report(Secret(None)).fingerprint == protocol.fingerprint
    if hasattr(protocol, "domain") and protocol.domain.other is not None:
        assert set(inputs[:-1].tolist()) == {protocol.domain.index(protocol.domain.other)}


@pytest.mark.parametrize("protocol", [one for one in SMALL.values() if one not in SAMPLED.values()], ids=str)
def test_an_unknown_value_gives_the_average_of_all_values(protocol):
    laws = [payload_law(protocol, value) for value in some_values(protocol)]
    average = {payload: sum(law[payload] for law in laws) / len(laws) for payload in laws[0]}
    assert payload_law(protocol, "nothing like it") == average


@EACH
def test_nobody_may_be_asked(protocol):
    reports = protocol.client().report_many([])
    assert len(reports) == 0
    assert protocol.aggregator().add(reports).accepted == 0


@pytest.mark.parametrize("protocol", [one for one in PROTOCOLS.values() if getattr(one, "flipped", 1)], ids=str)
def test_two_reports_of_one_value_differ(protocol):
    client, value = protocol.client(), some_values(protocol)[0]
    first = bytes(client.report(value))
    assert any(bytes(client.report(value)) != first for _ in range(400))
