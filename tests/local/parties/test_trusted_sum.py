"""The trusted adder: each party once, in the ring, enough of them, and one sum alone."""

import numpy as np
import pytest
from tests.local.parties.runs import exactly, of

from sfumato.errors import ParameterError
from sfumato.local import TrustedSum


def filled(protocol, values):
    box = TrustedSum(protocol)
    for number, value in values.items():
        box.add(number, protocol.share(value))
    return box


@pytest.mark.parametrize("senders", [(0, 1, 2), (1, 2, 3), (0, 1, 2, 3)])
def test_whoever_sends_is_added_up(senders):
    found = filled(exactly(), {number: 10**number for number in senders}).estimate()
    assert found.total == sum(10**number if number < 2 else 100 for number in senders)
    assert (found.shares, found.parties, found.half_width) == (len(senders), 4, 0)


def test_vectors_are_added_up_number_by_number():
    found = filled(exactly(low=-5, numbers=3), {number: [number, -number, 5] for number in range(4)}).estimate()
    assert found.totals == (6, -6, 20)


def test_too_few_parties_get_no_sum_and_more_may_come():
    box = filled(exactly(), {0: 1, 1: 1})
    for action in (box.close, box.estimate):
        with pytest.raises(ParameterError, match="at least 3"):
            action()
    box.add(2, box.protocol.share(1))
    assert box.estimate().total == 3


def test_a_party_counts_once():
    box = filled(of(), {0: 1, 1: 1, 2: 1})
    with pytest.raises(ParameterError, match="must send once"):
        box.add(2, box.protocol.share(1))
    assert box.senders == {0, 1, 2}


@pytest.mark.parametrize("sender", [-1, 4, 1.5, None, "1"])
def test_strangers_are_refused(sender):
    box = TrustedSum(of())
    with pytest.raises(ParameterError, match="sender"):
        box.add(sender, box.protocol.share(1))
    assert box.senders == frozenset()


def test_what_is_refused_leaves_no_trace():
    box = filled(exactly(), {0: 1, 1: 1, 2: 1})
    for wrong in (np.array([1 << 40], dtype=np.uint64), np.array([1]), None, np.zeros(2, dtype=np.uint64)):
        with pytest.raises(ParameterError, match="share"):
            box.add(3, wrong)
    found = box.estimate()
    assert (found.total, found.shares) == (3, 3)


def test_after_the_sum_is_published_nobody_is_added():
    """The difference of two sums would be one share."""
    box = filled(exactly(), {0: 1, 1: 1, 2: 1})
    assert box.estimate().total == 3
    with pytest.raises(ParameterError, match="is late"):
        box.add(3, box.protocol.share(1))
    assert box.estimate().total == 3


def test_it_says_whom_one_must_trust():
    assert "sees each share" in TrustedSum.trust
