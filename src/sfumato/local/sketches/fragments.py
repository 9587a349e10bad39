"""The sequence fragment puzzle: words that nobody listed are found from fragments that a hash of the word joins."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import prod
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from sfumato.errors import ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.domain import Domain, Label
from sfumato.local.core.odds import local_epsilon
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.estimates import FrequencyEstimates, Supports
from sfumato.local.sketches.count_mean import CountMeanSketch
from sfumato.mechanisms.lattice import present
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.arguments import of_kind, share
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import ComposedEvent
from sfumato.query.model.columns import unicode_text

FILLER: Final = "\0"
"""What stands for places after the end of a word, and for characters that are not in the alphabet."""
_HASHES: Final = 256
_HASH_BITS: Final = 61
_LONGEST: Final = 64
_MOST_FRAGMENTS: Final = 1 << 22
_POSITION_BYTES: Final = 1
_MOST_JOINED: Final = 1 << 12
"""Words of one hash that are tried. Whoever sends fake reports can make all fragments have one hash."""


@dataclass(frozen=True, slots=True, init=False)
class FragmentPuzzle(LocalProtocol):
    """Reports a word to one sketch, and one of its fragments, with a hash of the whole word, to another. Also SFP.

    A collector first finds the fragments that are frequent at each position. Those with the same hash, of 8 bits, are
    joined to candidates, and the sketch of words says how frequent these are. Both sketches are `CountMeanSketch` with
    half of ε. A payload is the report of the word, the position of the fragment, and the report of the fragment.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in the word: the sum of that of both sketches.
    Proof: proofs/local/sketches/fragments.md.

    ======================================  ============================================
    Edge case                               Behavior
    ======================================  ============================================
    a word longer than `length`             its first `length` characters
    a character that is not in `alphabet`   becomes a filler, as after the end of a word
    a missing value, or one that is no text the empty word
    ======================================  ============================================

    Args:
        alphabet: The characters that words have, each once.
        length: How many characters of a word are reported, at most 64.
        fragment: How many characters a fragment has; `length` is a multiple of it.
        epsilon: From 2·10^−6 to 100.
        hashes: The hash functions of each sketch.
        width: The columns of each sketch.

    Raises:
        ParameterError: An argument is out of range, or there are too many fragments.

    Example:
        >>> words = FragmentPuzzle("abcdefghijklmnopqrstuvwxyz", length=6, epsilon=8)
        >>> words.positions, words.payload_bytes
        (3, 259)

    References:
        [App17].
    """

    kind: ClassVar[str] = "fragment_puzzle"

    alphabet: str
    length: int
    fragment: int
    epsilon: Fraction
    hashes: int
    width: int

    def __init__(
        self, alphabet: str, *, length: int, epsilon: Number, fragment: int = 2, hashes: int = 128, width: int = 1024
    ) -> None:
        letters = unicode_text(of_kind(alphabet, "alphabet", str, "a text"), "alphabet")
        if not letters or len(set(letters)) < len(letters) or FILLER in letters:
            raise ParameterError("alphabet", alphabet, "must be at least one character, each once, and no NUL")
        whole = positive_integer(length, "length", most=_LONGEST)
        part = positive_integer(fragment, "fragment", most=whole)
        if whole % part:
            raise ParameterError("length", length, "must be a multiple of fragment")
        if _HASHES * (len(letters) + 1) ** part > _MOST_FRAGMENTS:
            raise ParameterError(
                "fragment", fragment, f"must be so small that 256·(letters + 1)^fragment ≤ {_MOST_FRAGMENTS:,}"
            )
        set_fields(self, alphabet=letters, length=whole, fragment=part, epsilon=local_epsilon(epsilon))
        set_fields(self, hashes=hashes, width=width)
        set_fields(self, hashes=self.sketch.hashes, width=self.sketch.width)

    @property
    def sketch(self) -> CountMeanSketch:
        """What each half of a report is: of words, and of fragments at one position."""
        return CountMeanSketch(Domain.texts(_HASH_BITS), epsilon=self.epsilon / 2, hashes=self.hashes, width=self.width)

    @property
    def positions(self) -> int:
        """How many fragments a word has."""
        return self.length // self.fragment

    @property
    def event(self) -> ComposedEvent:
        """Both sketches, which may depend on the word altogether."""
        return ComposedEvent((self.sketch.event, self.sketch.event))

    @property
    def realized_epsilon(self) -> Fraction:
        """The sum of that of both sketches, rounded up."""
        return 2 * self.sketch.realized_epsilon

    @property
    def payload_bytes(self) -> int:
        """Two sketches and a position."""
        return 2 * self.sketch.payload_bytes + _POSITION_BYTES

    @property
    def cells(self) -> int:
        """The reports of each position, a sketch of words, and one of fragments for each position."""
        return self.positions + (1 + self.positions) * self.sketch.cells

    def normal(self, value: Any) -> str:
        """A value as the word that is reported: cut, without foreign characters, and without fillers at the end."""
        held = value if isinstance(value, str) else present(value)
        if not isinstance(held, str):
            return ""
        return "".join(letter if letter in self.alphabet else FILLER for letter in held[: self.length]).rstrip(FILLER)

    def inputs(self, values: Iterable[Any]) -> NDArray[np.int64]:
        """For each word its number, and those of its fragments with its hash."""
        words = [self.normal(value) for value in values]
        return np.array([self._numbers(word) for word in words], dtype=np.int64).reshape(len(words), 1 + self.positions)

    def parse(self, text: str) -> str | None:
        """The text itself; an empty cell of a file is missing."""
        return text or None

    def randomize(self, inputs: NDArray[Any]) -> Payloads:
        """A report of the word, and one of its fragment at a random position."""
        drawn = uniform_below(self.positions, len(inputs))
        words = self.sketch.randomize(inputs[:, 0])
        fragments = self.sketch.randomize(inputs[np.arange(len(inputs)), 1 + drawn])
        return np.concatenate((words, drawn.astype(np.uint8)[:, None], fragments), axis=1)

    def parts_of(self, payloads: Payloads) -> tuple[Payloads, NDArray[np.int64], Payloads]:
        """Reports of words, positions, and reports of fragments."""
        width = self.sketch.payload_bytes
        return payloads[:, :width], payloads[:, width].astype(np.int64), payloads[:, width + _POSITION_BYTES :]

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Two reports of the sketches, and a position that there is."""
        words, positions, fragments = self.parts_of(payloads)
        return self.sketch.are_valid(words) & self.sketch.are_valid(fragments) & (positions < self.positions)

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """What the sketches count."""
        sketch = self.sketch
        words, positions, fragments = self.parts_of(payloads)
        parts = [np.bincount(positions, minlength=self.positions), sketch.tally(words)]
        parts += [sketch.tally(fragments[positions == position]) for position in range(self.positions)]
        return np.concatenate(parts)

    def aggregator(self) -> "PuzzleAggregator":
        """An empty aggregator."""
        return PuzzleAggregator(self)

    def fragments(self) -> list[str]:
        """All fragments that a word can have, in the order of their numbers."""
        return ["".join(letters) for letters in product(FILLER + self.alphabet, repeat=self.fragment)]

    def hash_of(self, word: str) -> int:
        """The 8 bits that join fragments: a part of the hash of which the number of the word has nothing."""
        return sha256(word.encode("utf-8", errors="surrogatepass")).digest()[-1]

    def _numbers(self, word: str) -> list[int]:
        digest = sha256(word.encode("utf-8", errors="surrogatepass")).digest()
        places = [
            1 + self.alphabet.index(letter) if letter != FILLER else 0 for letter in word.ljust(self.length, FILLER)
        ]
        base, numbers = len(self.alphabet) + 1, [int.from_bytes(digest[:8]) >> 64 - _HASH_BITS]
        for start in range(0, self.length, self.fragment):
            number = self.hash_of(word)
            for place in places[start : start + self.fragment]:
                number = number * base + place
            numbers.append(number)
        return numbers


class PuzzleAggregator(Aggregator[FragmentPuzzle]):
    """Counts of both sketches, and which words they come from.

    Example:
        >>> puzzle = FragmentPuzzle("abc", length=4, epsilon=16, hashes=16, width=256)
        >>> collected = puzzle.aggregator()
        >>> collected.add(puzzle.client().report_many(["abba"] * 3000)).accepted
        3000
        >>> collected.estimate(significance=1e-9).values
        ('abba',)
    """

    def estimate(
        self,
        candidates: Iterable[Label] | None = None,
        confidence: Number = "0.95",
        *,
        significance: float = 0.05,
        fragments: int = 50,
    ) -> FrequencyEstimates:
        """The fraction of people who hold each word: of given ones, or of those that the puzzle finds.

        Words that are found have fractions above 0 beyond doubt, by a union bound over all words that were tried.

        Args:
            candidates: Words; those that the puzzle finds, if none are given. There may be none.
            confidence: How often an interval holds its fraction, for each word on its own.
            significance: How often any word is found that nobody holds, at most.
            fragments: How many fragments of each position are joined.

        Raises:
            ParameterError: There are no reports, a candidate is no text or comes twice, or an argument is out of range.
        """
        level = share(significance, "significance")
        reports = positive_integer(len(self), "reports")
        words = self._found(fragments) if candidates is None else _words(self.protocol, candidates)
        whole = self._of_words(words, reports, confidence)
        if candidates is not None or not words:
            return whole
        p_values = ndtr(-whole.fractions / whole.standard_errors)
        kept = np.flatnonzero(p_values < level / len(words))
        order = kept[np.argsort(-whole.fractions[kept], kind="stable")]
        return self._of_words([words[at] for at in order.tolist()], reports, confidence)

    def _of_words(self, words: list[str], reports: int, confidence: Number) -> FrequencyEstimates:
        sketch, counts = self.protocol.sketch, self._sketch(0)
        p, q = map(float, sketch.support_probabilities)
        numbers = np.array([self.protocol.inputs([word])[0, 0] for word in words], dtype=np.int64)
        supports = Supports(
            counts=sketch.supports(counts, reports, numbers), reports=reports, when_held=p, when_not=q, are_all=False,
            is_exclusive=False,
        )  # fmt: skip
        shared = sketch.shared(counts, reports) / (sketch.hashes * (sketch.width - 1))
        return supports.estimate(tuple(words), confidence, extra_variance=shared)

    def _found(self, fragments: int) -> list[str]:
        """Words whose fragments are among the most frequent ones of each position, and have one hash.

        Of a hash with too many of them, the rarest fragments are left out.
        """
        texts, most = self.protocol.fragments(), positive_integer(fragments, "fragments")
        by_hash: list[dict[int, list[str]]] = []
        for position in range(self.protocol.positions):
            reports = int(self._counts[position])
            numbers = np.arange(_HASHES * len(texts))
            supports = self.protocol.sketch.supports(self._sketch(1 + position), reports, numbers)
            grouped: dict[int, list[str]] = {}
            for number in np.argsort(-supports, kind="stable")[:most].tolist():
                grouped.setdefault(number // len(texts), []).append(texts[number % len(texts)])
            by_hash.append(grouped)
        found = []
        for hashed in sorted(set.intersection(*(set(grouped) for grouped in by_hash))):
            of_hash = [grouped[hashed] for grouped in by_hash]
            while prod(map(len, of_hash)) > _MOST_JOINED:
                max(of_hash, key=len).pop()
            for parts in product(*of_hash):
                word = "".join(parts).rstrip(FILLER)
                if self.protocol.hash_of(word) == hashed:
                    found.append(word)
        return found

    def _sketch(self, number: int) -> NDArray[np.int64]:
        """The cells of the sketch of words, which is the first one, or of a position."""
        cells = self.protocol.sketch.cells
        start = self.protocol.positions + number * cells
        return self._counts[start : start + cells]


def _words(protocol: FragmentPuzzle, candidates: Iterable[Label]) -> list[str]:
    words = list(candidates)
    if not words or not all(isinstance(word, str) for word in words):
        raise ParameterError("candidates", f"{len(words)} values", "must be at least one text")
    normal = [protocol.normal(word) for word in words]
    if len(set(normal)) < len(normal):
        raise ParameterError("candidates", f"{len(words)} values", "must be different words, also after they are cut")
    return normal
