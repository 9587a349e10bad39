"""A running sparse vector: one noisy threshold, and replies until it halts."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from os import getpid
from threading import Lock
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Answer, Exact, Vector, integers, opened
from sfumato.mechanisms.lattice import column, lattice_steps
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.integers import Integers, add
from sfumato.privacy.secret import Secret

Answers: TypeAlias = Vector | Secret[Vector]
"""Exact answers, in the order in which they are asked about; how many there are is public."""


class SparseVectorSession:
    """Replies of one noisy threshold, made by `SparseVector.start`, which says what they mean and cost.

    The caller may choose each answer in the light of the replies so far. How often it has said True, and so whether it
    has halted, is public. Threads may share it.

    Example:
        >>> from sfumato.mechanisms.selection.sparse_vector import SparseVector
        >>> session = SparseVector(epsilon=1, linf_sensitivity=1).start(threshold=1000)
        >>> session.above(-(10**6)), session.above(10**6), session.halted
        (False, True, True)
    """

    __slots__ = (
        "_answer_scale",
        "_comparison_scale",
        "_lock",
        "_noisy_threshold",
        "_process",
        "_remaining",
        "_resolution",
    )

    def __init__(
        self,
        *,
        threshold_steps: int,
        threshold_scale: Fraction,
        comparison_scale: Fraction,
        answer_scale: Fraction | None,
        cutoff: int,
        resolution: Fraction | None,
        noisy_threshold: int | None = None,
    ) -> None:
        """For `SparseVector`. A scale of 0 stands for ε = 0: no noise, but nothing of the data either."""
        if noisy_threshold is None:
            noise = int(discrete_laplace(threshold_scale, 1)[0]) if threshold_scale else 0
            noisy_threshold = threshold_steps + noise
        self._noisy_threshold = noisy_threshold
        self._comparison_scale, self._answer_scale = comparison_scale, answer_scale
        self._remaining, self._resolution = cutoff, resolution
        self._lock = Lock()  # two threads must not both find the last True still to be said
        self._process = getpid()

    def __repr__(self) -> str:
        return f"SparseVectorSession(remaining={self.remaining})"

    @property
    def remaining(self) -> int:
        """How many more times it may say True."""
        return self._remaining

    @property
    def halted(self) -> bool:
        """Whether it has said True as often as it may, and replies no more."""
        return self._remaining == 0

    def above(self, exact: Exact | Secret[Exact]) -> bool:
        """Whether an exact answer, a number, lies above the threshold, as far as the noise lets it say.

        Raises:
            ParameterError: The session has halted, whatever the answer; or it is no number.
        """
        return bool(self._compared(lambda: [opened(exact)]).above[0])

    def value(self, exact: Exact | Secret[Exact]) -> Answer | None:
        """As `above`, with a noisy value for True and None for False.

        Raises:
            ParameterError: The mechanism keeps no share for values; the session has halted; the answer is no number.
        """
        return self._told(lambda: [opened(exact)])[0]

    def gap(self, exact: Exact | Secret[Exact]) -> int | Fraction | None:
        """As `above`, with how far the noisy answer lies above the noisy threshold for True, and None for False.

        Raises:
            ParameterError: As for `above`.
        """
        return self._gaps(lambda: [opened(exact)])[0]

    def each_above(self, answers: Answers) -> tuple[bool, ...]:
        """`above` of one answer after the other, up to and including the one at which the session halts.

        Raises:
            ParameterError: As for `above`.
        """
        return tuple(self._compared(lambda: column(opened(answers))).above.tolist())

    def each_value(self, answers: Answers) -> tuple[Answer | None, ...]:
        """`value` of one answer after the other, up to and including the one at which the session halts.

        Raises:
            ParameterError: As for `value`.
        """
        return self._told(lambda: column(opened(answers)))

    def each_gap(self, answers: Answers) -> tuple[int | Fraction | None, ...]:
        """`gap` of one answer after the other, up to and including the one at which the session halts.

        Raises:
            ParameterError: As for `above`.
        """
        return self._gaps(lambda: column(opened(answers)))

    def saved(self) -> dict[str, int]:
        """What `SparseVector.restored` goes on from: the noisy threshold, and how often it may still say True.

        It is secret, as the noise of the threshold protects every reply. Let one session go on from it, and no other:
        each could answer True just as often.
        """
        with self._lock:
            return {"noisy_threshold": self._noisy_threshold, "remaining": self._remaining}

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a running sparse vector cannot be copied: each copy could answer True just as often")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse

    def _told(self, open_answers: Callable[[], Exact]) -> tuple[Answer | None, ...]:
        if self._answer_scale is None:
            raise ParameterError("answer_share", 0, "must be above 0 to release values")
        found = self._compared(open_answers)
        values = iter(self._values(found.steps[found.above], self._answer_scale))
        return tuple(next(values) if said else None for said in found.above.tolist())

    def _gaps(self, open_answers: Callable[[], Exact]) -> tuple[int | Fraction | None, ...]:
        found = self._compared(open_answers)
        replies = zip(found.noisy.tolist(), found.above.tolist(), strict=True)
        unit = 1 if self._resolution is None else self._resolution
        return tuple((noisy - self._noisy_threshold) * unit if said else None for noisy, said in replies)

    def _compared(self, open_answers: Callable[[], Exact]) -> "_Compared":
        """Answers in steps and the replies to them, up to the halt, behind which nothing is opened."""
        if getpid() != self._process:
            requirement = "works only in the process that started it: each other process could get as many True answers"
            raise ParameterError("session", "a copy in another process", requirement)
        with self._lock:
            if self.halted:
                requirement = "is reached, so the session has halted; start another one, at its own cost"
                raise ParameterError("cutoff", "the number of times a session answers True", requirement)
            steps = self._steps(open_answers())
            noisy = add(steps, discrete_laplace(self._comparison_scale, len(steps))) if self._comparison_scale else None
            above = np.zeros(len(steps), dtype=np.bool_) if noisy is None else noisy >= self._noisy_threshold
            halt = np.flatnonzero(above)[self._remaining - 1 : self._remaining]
            asked = int(halt[0]) + 1 if len(halt) else len(steps)
            self._remaining -= int(np.count_nonzero(above[:asked]))
            return _Compared(steps[:asked], (steps if noisy is None else noisy)[:asked], above[:asked])

    def _steps(self, values: Exact) -> Integers:
        return integers(values) if self._resolution is None else lattice_steps(values, self._resolution)

    def _values(self, steps: Integers, scale: Fraction) -> list[Answer]:
        noisy: list[int] = add(steps, discrete_laplace(scale, len(steps))).tolist() if len(steps) else []
        return noisy if self._resolution is None else [step * self._resolution for step in noisy]


@dataclass(frozen=True, slots=True)
class _Compared:
    """Answers in steps, with the noise of their comparisons, and the replies: as far as the session went."""

    steps: Integers
    noisy: Integers
    above: NDArray[np.bool_]
