"""What every counter of a stream can do: known before it starts, running, saved and restored.

A tick is a step of a public clock, from 1 on. At each tick a counter is given what all events of that tick add, and
releases v = x + u, where the noise u of different ticks is correlated; all sums are computed from the v. So a running
counter is noise that never sees the data, and a reading of what was released.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import getpid
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Vector, integers, opened
from sfumato.mechanisms.continual.sums import Readout, Sums
from sfumato.noise.uniform.integers import Integers, multiply_add, narrow
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.secret import Secret

if TYPE_CHECKING:
    from fractions import Fraction

    from sfumato.mechanisms.continual.contribution import Contribution
    from sfumato.mechanisms.continual.participation import Participation
    from sfumato.privacy.events import Event

LARGEST_HORIZON: Final = 1 << 30
"""So many ticks: a second is one for 34 years."""

ROUNDED: Final = 1 / 12
"""The variance of rounding a sum to a whole number, where its noise is finer."""

_BLOCK: Final = 1 << 20  # so many numbers of noise that came before are drawn at once
_INT64: Final = "<i8"
_OBJECT: Final = "text"


class ContinualMechanism(ABC):
    """A counter before it starts: its guarantee, its event for the ledger, and its error at every tick."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields of every subclass, which a property here would give a default

        @property
        def horizon(self) -> int | None:
            """The last tick; None where there is none."""

        @property
        def epsilon(self) -> "Fraction | None":
            """ε of all releases together, or None."""

        @property
        def rho(self) -> "Fraction | None":
            """ρ of all releases together, or None."""

        @property
        def contribution(self) -> "Contribution":
            """What one event may add at its tick."""

        @property
        def participation(self) -> "Participation":
            """How often the privacy unit has an event."""

        @property
        def sums(self) -> Sums:
            """What is released."""

        @property
        def event(self) -> "Event":
            """The event of all releases of the horizon together, for accountants."""

    @property
    def guarantee(self) -> PureDP | ZCDP:
        """What all releases together promise each privacy unit: what was asked for."""
        return PureDP(self.epsilon) if self.epsilon is not None else ZCDP(self.rho or 0)

    @property
    @abstractmethod
    def largest_stddev(self) -> float:
        """The largest standard deviation of the noise on a number, of all ticks of the horizon."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """The numbers that a running counter keeps for each number that it releases."""

    @abstractmethod
    def stddev(self, step: int) -> float:
        """The standard deviation of the noise on each number that is released at a tick, in units of the data.

        Raises:
            ParameterError: The step is no tick of the horizon.
        """

    @abstractmethod
    def half_width(self, step: int, confidence: Number = "0.95") -> float:
        """How far a number that is released at a tick may lie from the exact sum, with this confidence for each.

        Raises:
            ParameterError: The step is no tick of the horizon, or the confidence no probability.
        """

    @abstractmethod
    def _noise(self, numbers: int) -> "RunningNoise":
        """The noise of a counter that starts."""

    def start(self, numbers: int = 1) -> "RunningCounter":
        """A running counter of so many numbers, at tick 0. It draws its noise as it goes.

        Raises:
            ParameterError: The number is no positive integer, or above 1 for a contribution to a single number.
        """
        self._check_numbers(numbers)
        return RunningCounter(self, self._noise(numbers), Readout(self.sums, numbers))

    def restored(self, saved: bytes) -> "RunningCounter":
        """The running counter that was saved: it continues with the noise that it had.

        Raises:
            ParameterError: This is no saved state of a counter of this very mechanism.
        """
        header, arrays = _unpacked(saved)
        if header.get("mechanism") != repr(self):
            requirement = "must be a state that a running counter of this mechanism saved"
            raise ParameterError("saved", "another state", requirement)
        try:
            numbers, step = self._check_numbers(header["numbers"]), whole(header["step"], "step")
            noise, readout = self._noise(numbers), Readout(self.sums, numbers)
            noise.step = step
            noise.restore({name[6:]: array for name, array in arrays.items() if name.startswith("noise.")})
            readout.restore({name[5:]: array for name, array in arrays.items() if name.startswith("read.")})
        except (KeyError, ValueError) as error:
            raise ParameterError("saved", "a damaged state", "must hold all that a counter keeps") from error
        return RunningCounter(self, noise, readout)

    def _check_numbers(self, numbers: int) -> int:
        """An event that may be in any of several numbers moves two of them when it is replaced: it says so itself."""
        positive_integer(numbers, "numbers")
        if numbers > 1 and self.contribution.kind == "clamped":
            requirement = "must be 1 where an event adds to a single number; give Contribution.one_of() or vector()"
            raise ParameterError("numbers", numbers, requirement)
        return numbers


class RunningNoise(ABC):
    """The noise u of a counter, tick after tick, in steps of 2^−unit_bits. It knows nothing of the data.

    Args:
        numbers: How many independent copies there are, side by side.
        unit_bits: The steps of the noise in 1/2^unit_bits units of the data.
    """

    __slots__ = ("numbers", "step", "unit_bits")

    def __init__(self, numbers: int, unit_bits: int) -> None:
        self.numbers, self.unit_bits, self.step = numbers, unit_bits, 0

    @abstractmethod
    def draw(self, ticks: int) -> Integers:
        """The noise of the next ticks, ticks × numbers; `step` is still that of the tick before."""

    @abstractmethod
    def state(self) -> dict[str, Integers]:
        """All that the noise of later ticks depends on."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, Integers]) -> None:
        """Take a `state` over, of the tick that `step` has by then.

        Raises:
            KeyError: Something is not there.
            ValueError: It has another shape.
        """


class RunningCounter:
    """A counter that runs, made by `start` or `restored` of its mechanism, which says what its releases promise.

    What it is given may depend on what it released before. One thread at a time may use it.

    Example:
        >>> from sfumato.mechanisms import BinaryTree
        >>> counter = BinaryTree(horizon=365, epsilon=1).start()
        >>> counter.release([10**6]).shape, counter.release_block([0] * 30).shape, counter.step
        ((1,), (30,), 31)
    """

    __slots__ = ("_is_broken", "_noise", "_process", "_readout", "mechanism")

    def __init__(self, mechanism: ContinualMechanism, noise: RunningNoise, readout: Readout) -> None:
        """For `start` and `restored`."""
        self.mechanism, self._noise, self._readout, self._process = mechanism, noise, readout, getpid()
        self._is_broken = False

    def __repr__(self) -> str:
        return f"RunningCounter(step={self.step}, numbers={self.numbers})"

    @property
    def step(self) -> int:
        """The last tick that was released; 0 at the start."""
        return self._noise.step

    @property
    def numbers(self) -> int:
        """How many numbers it releases at each tick."""
        return self._noise.numbers

    def release(self, increments: Vector | Secret[Vector]) -> Integers:
        """The noisy sums at the next tick.

        Args:
            increments: For each number the sum of what all events of the tick add, an integer; 0 where there was none.
                Each event was bounded before, by `Contribution.bounded`.

        Returns:
            An integer for each number.

        Raises:
            ParameterError: There is not an integer for each number, or the horizon is over; nothing was drawn.
        """
        released: Integers = self._released(self._checked(opened(increments), ticks=1))[0]
        return released

    def release_block(self, increments: Vector | Secret[Vector]) -> Integers:
        """The noisy sums at each of the next ticks: the same distribution as that of `release` for one after the other.

        Args:
            increments: Ticks × numbers; where there is one number, also a vector of ticks.

        Returns:
            An integer for each increment, in the same shape.

        Raises:
            ParameterError: As for `release`.
        """
        values: Any = opened(increments)
        shape = np.shape(values)
        released = self._released(self._checked(values, ticks=shape[0] if shape else 1))
        return released.reshape(shape) if shape else released

    def widen(self, more: int) -> None:
        """Take in so many further numbers, as if they had been there from the first tick on, with nothing in them.

        Their noise of earlier ticks is drawn now. Noise never depends on data, so that is the same distribution.

        Raises:
            ParameterError: The number is no positive integer, or the contribution is to a single number.
        """
        fresh = self.mechanism.start(more)
        self.mechanism._check_numbers(self.numbers + more)  # noqa: SLF001 # of this file
        while fresh.step < self.step:
            ticks = min(max(1, _BLOCK // more), self.step - fresh.step)
            fresh.release_block(np.zeros((ticks, more), dtype=np.int64))
        header, arrays = _unpacked(self.saved())
        beside = _unpacked(fresh.saved())[1]
        for name in arrays.keys() - {"read.place"}:  # which is the same in all windows
            arrays[name] = np.concatenate((arrays[name], beside[name]), axis=-1)
        both = self.mechanism.restored(_packed(header | {"numbers": self.numbers + more}, arrays))
        self._noise, self._readout = both._noise, both._readout  # noqa: SLF001 # of this class

    def saved(self) -> bytes:
        """All that its further releases depend on. It is secret: noise and releases together tell the exact data."""
        self._check_process()
        arrays = {f"noise.{name}": array for name, array in self._noise.state().items()}
        arrays |= {f"read.{name}": array for name, array in self._readout.state().items()}
        return _packed({"mechanism": repr(self.mechanism), "step": self.step, "numbers": self.numbers}, arrays)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a running counter cannot be copied: two copies would draw different noise for the same data")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse

    def _checked(self, values: Any, ticks: int) -> Integers:
        self._check_process()
        found = np.size(values)
        if found != ticks * self.numbers:
            requirement = f"must have an integer for each of {self.numbers} numbers at each tick"
            raise ParameterError("increments", f"{found} numbers for {ticks} ticks", requirement)
        if (horizon := self.mechanism.horizon) is not None and self.step + ticks > horizon:
            requirement = f"ends at tick {horizon}; start a new counter, at its own cost"
            raise ParameterError("horizon", f"tick {self.step + ticks}", requirement)
        flat = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
        return integers(flat.reshape(-1)).reshape(ticks, self.numbers)

    def _check_process(self) -> None:
        if getpid() != self._process:
            requirement = (
                "works only in the process that started it: each copy would draw other noise for the same data"
            )
            raise ParameterError("counter", "a copy in another process", requirement)
        if self._is_broken:
            requirement = "was interrupted while it drew noise; restore its last saved state, or start a new one"
            raise ParameterError("counter", "interrupted", requirement)

    def _released(self, increments: Integers) -> Integers:
        """Everything behind v is computed from v."""
        bits = self._noise.unit_bits
        self._is_broken = True  # until noise, tick and totals agree again
        noise = self._noise.draw(len(increments))
        self._noise.step += len(increments)
        sums = self._readout.read(multiply_add(1 << bits, increments, noise))
        self._is_broken = False
        return narrow(sums if bits == 0 else sums + (1 << bits - 1) >> bits)


def checked_step(step: object, horizon: int | None) -> int:
    """The tick itself.

    Raises:
        ParameterError: It is none of the horizon.
    """
    return positive_integer(step, "step", most=horizon or LARGEST_HORIZON)


def _packed(header: dict[str, Any], arrays: Mapping[str, Integers]) -> bytes:
    """A line of JSON, and behind it the arrays: int64, or the digits of Python integers."""
    parts, listed = [], []
    for name, array in arrays.items():
        is_small = array.dtype != object
        body = array.astype(_INT64).tobytes() if is_small else json.dumps([str(v) for v in array.ravel()]).encode()
        listed.append([name, _INT64 if is_small else _OBJECT, list(array.shape), len(body)])
        parts.append(body)
    return b"".join([json.dumps(header | {"arrays": listed}, sort_keys=True).encode(), b"\n", *parts])


def _unpacked(saved: bytes) -> tuple[dict[str, Any], dict[str, Integers]]:
    of_kind(saved, "saved", bytes, "the bytes that a running counter saved")
    head, _, rest = saved.partition(b"\n")
    try:
        header = json.loads(head)
        arrays, start = {}, 0
        for name, kind, shape, length in header["arrays"]:
            body, start = rest[start : start + length], start + length
            if kind == _INT64:
                flat = np.frombuffer(body, dtype=_INT64).astype(np.int64)
            else:
                flat = np.array([int(text) for text in json.loads(body)], dtype=object)
            arrays[name] = flat.reshape(shape)
    except (ValueError, KeyError, TypeError) as error:
        raise ParameterError("saved", "other bytes", "must be what a running counter saved") from error
    return header, arrays
