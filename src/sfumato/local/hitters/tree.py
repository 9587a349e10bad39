"""Heavy hitters by a tree: each level is one bit more of the text, and only frequent branches are followed.

Half of the people report their whole text, the others each a prefix of one length [BNST17]. A collector walks down
from the first bit, and follows the prefixes that seem frequent. What whole texts say then decides.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from sfumato.errors import ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.domain import UNKNOWN, Domain, Label
from sfumato.local.core.odds import local_epsilon
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.estimates import FrequencyEstimates, Supports
from sfumato.local.sketches.hadamard_sketch import HadamardSketch
from sfumato.mechanisms.lattice import present
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.arguments import share
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent

_BYTE: Final = 8
_LONGEST: Final = 7
_HASH_BITS: Final = 61
_MOST_BRANCHES: Final = 1 << 11

Words: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, init=False)
class TreeSearch(LocalProtocol):
    """Finds the texts that many people hold, of at most so many bytes, bit by bit. Also called TreeHist.

    A person reports the whole text with probability 1/2, else the prefix of a uniform one of all shorter lengths. Each
    length has a `HadamardSketch` with the whole ε. A payload is the length in bits and a report of the sketch: 4 bytes.
    `PrefixSearch` splits people over fewer lengths, and finds rarer texts.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its text: the length does not depend on it,
    and a prefix is a function of it. Proof: proofs/local/hitters/tree.md.

    ================================  ==============================================================
    Edge case                         Behavior
    ================================  ==============================================================
    a text of fewer bytes             it is filled with zero bytes, which are cut off in the result
    a text of more bytes, None        it counts as uniformly random bytes
    a length without reports          all branches are followed there
    ================================  ==============================================================

    Args:
        length: The most bytes of a text in UTF-8, from 1 to 7.
        epsilon: From 10^−6 to 100.
        hashes: The hash functions of the sketch of each length. With few, texts that share columns with a frequent one
            may be found too.
        width: The columns of each, a power of two.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> search = TreeSearch(length=4, epsilon=2)
        >>> search.levels, search.payload_bytes
        (32, 4)

    References:
        [BNST17].
    """

    length: int
    epsilon: Fraction
    hashes: int
    width: int

    kind: ClassVar[str] = "tree_search"

    def __init__(self, length: int, *, epsilon: Number, hashes: int = 256, width: int = 1024) -> None:
        size, exact = positive_integer(length, "length", most=_LONGEST), local_epsilon(epsilon)
        sketch = HadamardSketch(Domain.texts(_HASH_BITS), epsilon=exact, hashes=hashes, width=width)
        set_fields(self, length=size, epsilon=exact, hashes=sketch.hashes, width=sketch.width)

    @property
    def levels(self) -> int:
        """The bits of a whole text."""
        return _BYTE * self.length

    @property
    def sketch(self) -> HadamardSketch:
        """How prefixes of one length are reported."""
        return HadamardSketch(Domain.texts(_HASH_BITS), epsilon=self.epsilon, hashes=self.hashes, width=self.width)

    @property
    def event(self) -> FiniteEvent:
        """That of the sketch."""
        return self.sketch.event

    @property
    def realized_epsilon(self) -> Fraction:
        """That of the sketch."""
        return self.sketch.realized_epsilon

    @property
    def payload_bytes(self) -> int:
        """The length and the report of the sketch."""
        return 1 + self.sketch.payload_bytes

    @property
    def cells(self) -> int:
        """The number of reports of each length, and then a sketch for each."""
        return self.levels * (1 + self.sketch.cells)

    def inputs(self, values: Iterable[Any]) -> Words:
        """The bytes of each text as a number, the first one highest; uniform ones for what is no such text."""
        words = np.array([self.word_of(value) for value in values], dtype=np.int64)
        unknown = np.flatnonzero(words == UNKNOWN)
        words[unknown] = uniform_below(1 << self.levels, len(unknown))
        return words

    def parse(self, text: str) -> str | None:
        """The text itself; an empty cell of a file is missing."""
        return text or None

    def randomize(self, inputs: Words) -> Payloads:
        """A length for each person, and a report of the prefix: half of 2·(levels − 1) draws are the whole text."""
        drawn = uniform_below(max(1, 2 * (self.levels - 1)), len(inputs))
        lengths = np.where(drawn < self.levels - 1, drawn + 1, self.levels)
        reports = self.sketch.randomize(inputs >> (self.levels - lengths))
        return np.concatenate((lengths.astype(np.uint8)[:, None], reports), axis=1)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """A length that there is, and a report of the sketch."""
        lengths = payloads[:, 0]
        return (lengths >= 1) & (lengths <= self.levels) & self.sketch.are_valid(payloads[:, 1:])

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """What the reports of each length add."""
        lengths = payloads[:, 0]
        sketches = [self.sketch.tally(payloads[lengths == level, 1:]) for level in range(1, self.levels + 1)]
        return np.concatenate((np.bincount(lengths, minlength=self.levels + 1)[1:], *sketches))

    def aggregator(self) -> "TreeAggregator":
        """An empty aggregator."""
        return TreeAggregator(self)

    def word_of(self, value: Any) -> int:
        """The bytes of a text as a number, and −1 for what is no such text."""
        held = value if isinstance(value, str) else present(value)
        if not isinstance(held, str):
            return UNKNOWN
        data = held.encode("utf-8", errors="surrogatepass")
        return int.from_bytes(data.ljust(self.length, b"\0")) if len(data) <= self.length else UNKNOWN

    def text_of(self, word: int) -> str:
        """The text of a number of all its bits."""
        return word.to_bytes(self.length).rstrip(b"\0").decode("utf-8", errors="backslashreplace")


class TreeAggregator(Aggregator[TreeSearch]):
    """Counts of each length, and the texts that many people hold.

    Example:
        >>> search = TreeSearch(length=2, epsilon=4)
        >>> collected = search.aggregator()
        >>> collected.add(search.client().report_many(["ab"] * 12000 + ["xy"] * 8000)).accepted
        20000
        >>> collected.estimate(significance=1e-6).values
        ('ab', 'xy')
    """

    def estimate(
        self,
        candidates: Iterable[Label] | None = None,
        confidence: Number = "0.95",
        *,
        significance: float = 0.05,
    ) -> FrequencyEstimates:
        """The texts that were found, the most frequent first, with the fractions that whole texts say.

        Intervals include that a random half of the people report whole texts.

        Args:
            candidates: Texts to estimate in place of a search.
            confidence: How often an interval holds its fraction, for each text on its own.
            significance: How often any text is found that nobody holds, at most.

        Raises:
            ParameterError: There are no reports of whole texts, a candidate is no text of the length, or an argument is
                out of range.
        """
        protocol, level = self.protocol, share(significance, "significance")
        if candidates is not None:
            listed = [protocol.word_of(text) for text in candidates]
            if not listed or UNKNOWN in listed or len(set(listed)) < len(listed):
                requirement = f"must be texts of at most {protocol.length} bytes, each given once"
                raise ParameterError("candidates", f"{len(listed)} values", requirement)
            return self._of(np.array(listed, dtype=np.int64), protocol.levels, confidence)
        words = self._found()
        whole = self._of(words, protocol.levels, confidence)
        kept = ndtr(-whole.fractions / whole.standard_errors) < level / max(1, len(words))
        order = [at for at in np.argsort(-whole.fractions, kind="stable").tolist() if kept[at]]
        return self._of(words[order], protocol.levels, confidence)

    def _found(self) -> Words:
        """Whole texts whose prefixes all have estimates above 0, and among the largest of their level."""
        words: Words = np.zeros(1, dtype=np.int64)
        for level in range(1, self.protocol.levels + 1):
            words = (2 * words[:, None] + np.arange(2)).ravel()
            if level == self.protocol.levels or not len(words) or not self._counts[level - 1]:
                words = words[:_MOST_BRANCHES]
                continue
            fractions = self._of(words, level, "0.95").fractions
            best = np.argsort(-fractions, kind="stable")[: _MOST_BRANCHES // 2]
            words = words[best[fractions[best] > 0]]
        return words

    def _of(self, words: Words, level: int, confidence: Number) -> FrequencyEstimates:
        """The fractions of prefixes of one length, or of whole texts."""
        protocol, sketch = self.protocol, self.protocol.sketch
        reports = positive_integer(int(self._counts[level - 1]), "reports")
        start = protocol.levels + (level - 1) * sketch.cells
        cells = self._counts[start : start + sketch.cells]
        p, q = map(float, sketch.support_probabilities)
        supports = Supports(
            counts=sketch.supports(cells, reports, words), reports=len(self), when_held=p, when_not=q, are_all=False,
            is_exclusive=False, asked=np.full(len(words), reports),
        )  # fmt: skip
        extra = sketch.shared(cells, reports) / (sketch.hashes * (sketch.width - 1))
        is_whole = level == protocol.levels
        texts = tuple(protocol.text_of(word) if is_whole else word for word in words.tolist())
        return supports.estimate(texts, confidence, extra_variance=extra)
