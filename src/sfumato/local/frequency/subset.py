"""Subset selection: a report is a set of a public size, which holds the true value a little more often than others."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import Indexes
from sfumato.local.core.odds import epsilon_of, event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.oracle import FrequencyOracle
from sfumato.local.frequency.packing import column_sums, have_no_bits_beyond, ones_of, packed_bits
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.privacy.events import FiniteEvent

_BLOCK: Final = 1 << 22  # bits whose arrays are made at a time
_COINS: Final = 1 << 17  # bits whose random numbers stay in the processor's cache
_FEW: Final = 16  # values of a set that are drawn one by one


@dataclass(frozen=True, slots=True, init=False)
class SubsetSelection(FrequencyOracle):
    """Reports a set of w of the d values, which holds the true one with probability p = wR/(wR + d − w).

    w = max(1, round(d/(R + 1))), and R is the rational just below e^ε. All sets that hold the true value are alike, and
    so are all others. A payload is a bit for each value. Its variance is the least of all oracles here, by a little,
    but reports are long.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its value, with e^realized = R. Proof:
    proofs/local/frequency/subset.md.

    Args:
        domain: At most 2^20 values, in total.
        epsilon: From 10^−6 to 100.

    Example:
        >>> oracle = SubsetSelection(1024, epsilon=1)
        >>> oracle.size, round(oracle.variance(reports=1), 3)
        (275, 3.674)

    References:
        [YB18].
    """

    kind: ClassVar[str] = "subset"

    @property
    def size(self) -> int:
        """How many values each report holds: w, at most half of them."""
        return max(1, round(len(self.domain) / (odds(self.epsilon) + 1)))

    @property
    def most_supported(self) -> int:
        """As many as each report holds."""
        return self.size

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often a set holds the true value, and how often another one."""
        held, others = self._holds_the_truth, len(self.domain) - 1
        return held, (held * (self.size - 1) + (1 - held) * self.size) / others

    @property
    def event(self) -> FiniteEvent:
        """Sets with only the one value, with only the other, and those that both or neither are in."""
        held, others = self._holds_the_truth, len(self.domain) - 1
        alone = held * (len(self.domain) - self.size) / others
        other_alone = (1 - held) * self.size / others
        same = 1 - alone - other_alone
        return event_of(((alone, other_alone), (other_alone, alone), (same, same)))

    @property
    def realized_epsilon(self) -> Fraction:
        """The logarithm of R, rounded up."""
        return epsilon_of(self.event)

    @property
    def payload_bytes(self) -> int:
        """Eight bits a byte."""
        return -(-len(self.domain) // 8)

    @property
    def cells(self) -> int:
        """One for each value."""
        return len(self.domain)

    def randomize(self, inputs: Indexes) -> Payloads:
        """Sets of the public size."""
        rows = max(1, _BLOCK // len(self.domain))
        payloads = np.empty((len(inputs), self.payload_bytes), dtype=np.uint8)
        draw = self._sets_by_steps if self.size <= _FEW else self._sets_by_coins
        for start in range(0, len(inputs), rows):
            held = inputs[start : start + rows]
            has_truth = bernoulli(self._holds_the_truth, len(held))
            payloads[start : start + rows] = packed_bits(draw(held, has_truth))
        return payloads

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Sets of that size."""
        valid: Booleans = have_no_bits_beyond(payloads, len(self.domain)) & (ones_of(payloads) == self.size)
        return valid

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many sets hold each value."""
        return column_sums(payloads, len(self.domain))

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """The counts themselves."""
        del reports
        return counts[indexes]

    @property
    def _holds_the_truth(self) -> Fraction:
        weight = self.size * odds(self.epsilon)
        return weight / (weight + len(self.domain) - self.size)

    def _sets_by_steps(self, held: Indexes, has_truth: Booleans) -> Booleans:
        """A uniform set of others, of w − 1 where it has the truth and of w elsewhere.

        Robert Floyd's way to a uniform set of s of N: for each last = N − s, …, N − 1 take a uniform number up to it,
        or the last itself where that number was taken before. Who leaves the truth out has one step more, the first.
        """
        others = len(self.domain) - 1
        bits = np.zeros((len(held), len(self.domain)), dtype=np.bool_)
        everyone = np.arange(len(held))
        bits[everyone, held] = has_truth
        for last in range(others - self.size, others):
            who = np.flatnonzero(~has_truth) if last == others - self.size else everyone
            truth = held[who]
            number = uniform_below(last + 1, len(who))
            place = number + (number >= truth)  # skips the truth
            place = np.where(bits[who, place], last + (last >= truth), place)
            bits[who, place] = True
        return bits

    def _sets_by_coins(self, held: Indexes, has_truth: Booleans) -> Booleans:
        """The same by a coin for each of the others; then uniform ones are added, or taken away, until w are there.

        Coins favor no value, and neither does what is changed: so of each size all sets are alike.
        """
        size, others = len(self.domain), len(self.domain) - 1
        bits = np.empty((len(held), size), dtype=np.bool_)
        rows = max(1, _COINS // size)
        for start in range(0, len(held), rows):
            part = bits[start : start + rows]
            part[:] = bernoulli(Fraction(self.size, others), part.size).reshape(part.shape)
        bits[np.arange(len(held)), held] = has_truth
        lacking = self.size - np.count_nonzero(bits, axis=1)
        wrong = np.flatnonzero(lacking)
        while len(wrong):
            number = uniform_below(others, len(wrong))
            place = number + (number >= held[wrong])  # skips the truth
            adds = lacking[wrong] > 0
            fits = bits[wrong, place] != adds
            changed = wrong[fits]
            bits[changed, place[fits]] = adds[fits]
            lacking[changed] -= np.where(adds[fits], 1, -1)
            wrong = wrong[lacking[wrong] != 0]
        return bits
