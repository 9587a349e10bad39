"""Devices with a memory: exact distributions of one and of many reports, what is spent, and averaging adversaries."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.local.branches import law_of, worst_ratio
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import (
    LongitudinalDirect,
    LongitudinalHashing,
    LongitudinalSymmetricUnary,
    LongitudinalUnary,
    MemoryClient,
)
from sfumato.numeric.rounding import log_up
from sfumato.privacy.secret import Secret

DRINKS = ("tea", "coffee")
KINDS = (LongitudinalDirect, LongitudinalHashing, LongitudinalSymmetricUnary, LongitudinalUnary)
EACH = pytest.mark.parametrize("kind", KINDS)
TINY = [kind(DRINKS, epsilon=1, permanent_epsilon=2) for kind in KINDS if kind is not LongitudinalHashing]
EXACT = pytest.mark.parametrize("protocol", TINY, ids=lambda protocol: protocol.kind)


def history_law(protocol, values):
    """The joint distribution of what one new device sends of these values, one after the other."""

    def sent():
        device = MemoryClient(protocol)
        return tuple(device.report(value).payload for value in values)

    return law_of(sent)


@EXACT
def test_all_reports_of_one_value_reveal_more_than_one_and_no_more_than_the_permanent_response(protocol):
    before = protocol.realized_epsilon
    for reports in (1, 2, 3):
        largest = log_up(worst_ratio([history_law(protocol, (value,) * reports) for value in DRINKS]))
        assert before <= largest + 2**-80
        assert largest <= protocol.lifetime_epsilon <= protocol.permanent_epsilon
        before = largest
    assert before > protocol.realized_epsilon


@EXACT
def test_histories_that_change_at_the_same_times_have_the_sum_of_their_responses(protocol):
    patterns = ((0, 1), (0, 1, 0)) if protocol.kind == "longitudinal_direct" else ((0, 1),)
    for pattern in patterns:
        laws = [history_law(protocol, [held[at] for at in pattern]) for held in (DRINKS, DRINKS[::-1])]
        assert log_up(worst_ratio(laws)) <= 2 * protocol.lifetime_epsilon


def test_that_a_value_changed_is_not_protected():
    """Two reports of one response agree more often than two of two, by a factor that no ε of the lifetime bounds."""
    protocol = LongitudinalUnary(8, epsilon="9.99", permanent_epsilon=10)
    device = protocol.client()
    same = np.unpackbits(np.frombuffer(device.report(0).payload + device.report(0).payload, dtype=np.uint8)).reshape(
        2, -1
    )
    assert protocol.flipped < 0.0001
    assert (same[0] == same[1]).mean() > 0.5


@EXACT
def test_a_first_report_of_a_device_is_that_of_randomize(protocol):
    for value in DRINKS:
        first = {payloads[0]: mass for payloads, mass in history_law(protocol, (value,)).items()}
        assert first == law_of(lambda value=value: protocol.randomize(protocol.inputs([value]))[0].tobytes())


@EACH
def test_what_is_spent_is_the_number_of_responses(kind):
    protocol = kind(6, epsilon=1, permanent_epsilon=2)
    device = protocol.client()
    assert device.spent == 0
    for value in (1, 1, 2, 1, None, "odd", Secret(2)):
        device.report(value)
    known = 3 if kind is not LongitudinalHashing else 2
    assert 1 <= device.responses <= known
    assert device.spent == device.responses * protocol.lifetime_epsilon
    for value in range(6):
        device.report(value)
    assert device.responses <= protocol.most_remembered
    assert protocol.most_remembered == (2 if kind is LongitudinalHashing else 6)


@EACH
def test_an_unknown_value_is_drawn_once(kind):
    device = kind(4000, epsilon=1, permanent_epsilon=2).client()
    for value in (None, "odd", float("nan")) * 10:
        device.report(value)
    assert device.responses == 1


@EACH
def test_a_device_goes_on_from_its_memory(kind):
    protocol = kind(6, epsilon="49", permanent_epsilon=50)
    device = protocol.client()
    first = [device.report(value) for value in (0, 1, None)]
    again = protocol.client(memory=device.memory)
    assert again.memory == device.memory
    assert again.responses == device.responses
    assert [
        again.report(value) for value in (0, 1, None)
    ] == first  # with so large an ε, coins hardly ever fall elsewhere
    assert again.spent == device.spent


@EACH
def test_a_memory_of_something_else_is_refused(kind):
    protocol = kind(6, epsilon=1, permanent_epsilon=2)
    device = protocol.client()
    device.report(1)
    other = kind(6, epsilon=1, permanent_epsilon=3).client().memory
    for memory in (other, {"device": 7}, device.memory | {"responses": 7}, device.memory | {"device": [1]}):
        with pytest.raises(ParameterError, match="memory"):
            protocol.client(memory=memory)


@EACH
def test_one_response_is_drawn_for_each_value_and_kept(kind):
    protocol = kind(50, epsilon="0.5", permanent_epsilon="0.6")
    device = protocol.client()
    for value in (3, 4, 3, 4):
        device.report(value)
    before = device.memory["responses"]
    for value in (3, 4):
        device.report(value)
    assert device.memory["responses"] == before
    assert len(before) == (2 if kind is not LongitudinalHashing else len(before))


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [LongitudinalDirect, LongitudinalSymmetricUnary, LongitudinalUnary])
def test_averaging_wins_without_memory_and_loses_with_it(kind):
    """No adversary who sees all reports of one value is right more often than e^ε∞/(1 + e^ε∞) = 0.73."""
    protocol = kind(DRINKS, epsilon="0.9", permanent_epsilon=1)

    def right(devices, reports, *, remembers):
        found = 0.0
        for at in range(devices):
            truth = at % 2
            device = protocol.client()
            aggregator = protocol.aggregator()
            sent = [device] * reports if remembers else [protocol.client() for _ in range(reports)]
            aggregator.add([client.report(DRINKS[truth]) for client in sent])
            tea, coffee = aggregator.estimate().fractions
            found += 0.5 if tea == coffee else float((coffee > tea) == truth)
        return found

    limit = float(np.exp(1) / (1 + np.exp(1)))
    remembering, reports = (300, 300) if FULL_SIZE else (100, 150)
    with_memory = right(remembering, 40, remembers=True)
    assert binomtest(int(with_memory), remembering, limit, alternative="greater").pvalue >= ALPHA
    assert right(40, reports, remembers=False) >= 38


@EACH
@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 2}, {"epsilon": 3}, {"epsilon": 0}, {"permanent_epsilon": 101}, {"domain": 1}, {"domain": 2**17}],
)
def test_parameters_out_of_range_are_refused(kind, wrong):
    given = {"domain": 6, "epsilon": 1, "permanent_epsilon": 2} | wrong
    with pytest.raises(ParameterError):
        kind(given.pop("domain"), **given)
