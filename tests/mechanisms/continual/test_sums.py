"""Totals, windows and decaying sums: those of the definition, in any blocks, of integers of any size."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms import DecayingSum, RunningTotal, SlidingWindow
from sfumato.mechanisms.continual.sums import Readout

SUMS = (RunningTotal(), SlidingWindow(1), SlidingWindow(4), SlidingWindow(50), DecayingSum("0.9"), DecayingSum("1/3"))
STREAM = np.array([[3, 0], [0, 2**40], [-5, 1], *([[7, -(2**40)]] * 17), [0, 0]])


def by_definition(sums, stream):
    """Each sum by itself, exactly."""
    found = []
    for step in range(1, len(stream) + 1):
        first = max(0, step - getattr(sums, "width", step))
        factor = getattr(sums, "factor", Fraction(1))
        found.append([sum(int(stream[t, n]) * factor ** (step - 1 - t) for t in range(first, step)) for n in (0, 1)])
    return found


@pytest.mark.parametrize("sums", SUMS, ids=str)
@pytest.mark.parametrize("scale", [1, 2**40])
def test_a_readout_is_the_definition_in_any_blocks(sums, scale):
    stream = STREAM.astype(object) * scale if scale > 1 else STREAM
    readout = Readout(sums, 2)
    released = np.concatenate([readout.read(part) for part in np.split(stream, [1, 2, 2, 9])])
    for row, exact in zip(released.tolist(), by_definition(sums, stream), strict=True):
        assert all(
            abs(value - wanted) <= (1.1 if hasattr(sums, "factor") else 0)
            for value, wanted in zip(row, exact, strict=True)
        )


@pytest.mark.parametrize("sums", SUMS, ids=str)
def test_a_restored_readout_goes_on(sums):
    first, second = Readout(sums, 2), Readout(sums, 2)
    first.read(STREAM[:7])
    second.restore({name: array.copy() for name, array in first.state().items()})
    assert first.read(STREAM[7:]).tolist() == second.read(STREAM[7:]).tolist()
    with pytest.raises(ValueError, match="shape"):
        second.restore(Readout(sums, 3).state())
    with pytest.raises(KeyError):
        second.restore({})


def test_a_half_life_halves():
    factor = DecayingSum.of_half_life(100).factor
    assert float(factor) ** 100 == pytest.approx(0.5, rel=1e-6)
    assert DecayingSum.of_half_life("1e6").factor < 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SlidingWindow(0), lambda: SlidingWindow(1 << 25), lambda: SlidingWindow(1.5), lambda: DecayingSum(0),
        lambda: DecayingSum(1), lambda: DecayingSum("x"), lambda: DecayingSum.of_half_life(0),
        lambda: DecayingSum.of_half_life("1e-9"), lambda: DecayingSum("1e-300"),
    ],
)  # fmt: skip
def test_what_is_no_sum_is_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()
