"""Results: flows as a table, and total variation by distance."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import PureDP
from sfumato.synth.flows.result import Flows, flow_errors

ONE, TWO = [[30, 10], [5, 5]], [[20, 20], [10, 0]]
FAR = [[0, 3], [8, 1]]


def test_a_table_has_the_flows_that_are_not_zero():
    flows = Flows(
        origins=("a", "b"), destinations=("x", "y"), counts=np.array([[0, 2], [7, 0]]), priors=(), charge=PureDP(1),
        receipt=None,
    )  # fmt: skip
    assert flows.to_arrow().to_pylist() == [
        {"origin": "b", "destination": "x", "flow": 2}, {"origin": "a", "destination": "y", "flow": 7},
    ]  # fmt: skip


def test_bands_add_up_to_the_total_variation_distance():
    found = flow_errors(ONE, TWO, distances=FAR, edges=[0, 2, 5, 9])
    shares = np.array(ONE) / 50 - np.array(TWO) / 50
    assert found.sum() == pytest.approx(abs(shares).sum() / 2)
    assert found.tolist() == pytest.approx([0.15, 0.1, 0.05])
    assert not flow_errors(ONE, ONE, distances=FAR, edges=[0, 9]).any()


@pytest.mark.parametrize(
    "changed",
    [{"found": [[10**400]]},
     {"found": [[1]]}, {"found": "ab"}, {"other": [[0, 0], [0, 0]]}, {"found": [[-1, 5], [1, 1]]}, {"edges": [1]},
     {"edges": [2, 1]}, {"distances": [[1, 2], [float("nan"), 1]]}],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(changed):
    with pytest.raises(ParameterError):
        flow_errors(**{"found": ONE, "other": TWO, "distances": FAR, "edges": [0, 9]} | changed)
