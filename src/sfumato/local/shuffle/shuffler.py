"""The shuffler: a party between devices and collector, which hands on reports without order, time, sender or batch.

What a collector gets is a `ShuffledReports`. Only a shuffler makes one, and only it has the event of shuffled reports.
Reports that come to a collector in any other way cost `protocol.event` each.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import FINGERPRINT_BYTES, Given, Intake, Payloads, Reports, blocks
from sfumato.local.shuffle.crowds import LARGEST_CROWD, crowd_epsilon, crowd_of, dominating_event
from sfumato.noise.uniform.uniform import uniform_below_each
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, open_probability, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent

_MAGIC: Final = b"sfumato-shuffled-1\n"
_COUNT_BYTES: Final = 8
_HEADER_BYTES: Final = len(_MAGIC) + FINGERPRINT_BYTES + _COUNT_BYTES
_DIGEST_BYTES: Final = 32
_MADE_BY: Final = "must be what a shuffler gave out: take it from Shuffler.release or ShuffledReports.from_bytes"


@dataclass(frozen=True, slots=True, init=False, eq=False)
class ShuffledReports:
    """Reports as a shuffler gave them out, in a random order, and what they reveal of each person.

    **Guarantee**: of one person, who reports once, all of these reduce to `event`. Trusted are three things: the
    shuffler is another party than the collector and keeps nothing; the devices send to it alone; and `honest` people
    report as the protocol says. Proof: proofs/local/shuffle/crowds.md.

    Attributes:
        protocol: What devices and collector agreed on.
        reports: All reports. Where one stands in them says nothing.
        honest: How many people are trusted to have reported honestly. Those beyond them, and fake reports, hide nobody.
    """

    protocol: LocalProtocol
    reports: Reports
    honest: int

    def __init__(self, *_: object, **__: object) -> None:
        raise ParameterError("reports", "reports", _MADE_BY)

    def __len__(self) -> int:
        return len(self.reports)

    @property
    def event(self) -> FiniteEvent:
        """What the whole reveals of one person; it composes with other events, of other wholes too."""
        return dominating_event(crowd_of(self.protocol, reports=self.honest))

    def epsilon(self, delta: Number) -> float:
        """The ε of `event` at a δ, rounded up: that of `shuffled_epsilon`.

        Raises:
            ParameterError: δ does not lie between 0 and 1.
        """
        return crowd_epsilon(crowd_of(self.protocol, reports=self.honest), float(open_probability(delta, "delta")))

    def __bytes__(self) -> bytes:
        """For a file or a line to the collector, with a checksum."""
        state = _MAGIC + self.reports.fingerprint + self.honest.to_bytes(_COUNT_BYTES) + self.reports.payloads.tobytes()
        return state + sha256(state).digest()

    @staticmethod
    def from_bytes(data: bytes, protocol: LocalProtocol) -> "ShuffledReports":
        """What a shuffler sent. That it comes from the shuffler is for the line to ensure: TLS, or a file's owner.

        Raises:
            ParameterError: It is damaged, or none of this protocol.
        """
        state, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
        width = of_kind(protocol, "protocol", LocalProtocol, "a protocol of sf.local").payload_bytes
        if not state.startswith(_MAGIC + protocol.fingerprint) or (len(state) - _HEADER_BYTES) % width:
            raise ParameterError("reports", f"{len(data)} bytes", f"{_MADE_BY}, of the same protocol")
        if len(state) < _HEADER_BYTES or sha256(state).digest() != digest:
            raise ParameterError("reports", f"{len(data)} bytes", "is damaged: its checksum is wrong; send it again")
        payloads = np.frombuffer(state[_HEADER_BYTES:], dtype=np.uint8).reshape(-1, width)
        honest = int.from_bytes(state[_HEADER_BYTES - _COUNT_BYTES : _HEADER_BYTES])
        if not 1 <= honest <= min(len(payloads), LARGEST_CROWD) or not protocol.are_valid(payloads).all():
            raise ParameterError("reports", f"{len(data)} bytes", f"{_MADE_BY}, of the same protocol")
        return _given_out(protocol, payloads, honest)


class Shuffler:
    """Collects reports of many people, and gives them out together, in a uniformly random order.

    Run it apart from the collector, by another party: `sfumato local shuffle` does that with files. Until it gives them
    out it keeps payloads in memory, and nothing of their time, address, key or batch; then it forgets their order too.
    It gives out nothing before enough people have reported, and then all of it at once.

    ==========================================  =============================================================
    Edge case                                   Behavior
    ==========================================  =============================================================
    what is no report of the protocol           refused by itself, and not counted
    fewer reports than `least`                  nothing is given out, and all are kept
    a protocol that repeats responses           refused: several wholes of one response would be no crowds
    ==========================================  =============================================================

    Args:
        protocol: What devices and collector agreed on. Each report must be made afresh.
        honest: How many people are trusted to report honestly and once. The event is that of so many.
        least: How many reports to wait for, as some may be fake or repeated; `honest`, if it is not given.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> from sfumato.local import DirectEncoding
        >>> drinks = DirectEncoding(["tea", "coffee"], epsilon=1)
        >>> shuffler = Shuffler(drinks, honest=1000)
        >>> shuffler.add(drinks.client().report_many(["tea"] * 1200)).accepted
        1200
        >>> whole = shuffler.release()
        >>> len(whole), round(whole.epsilon("1e-6"), 2), len(shuffler)
        (1200, 0.15, 0)

    References:
        [FMT21]; [BBGN19].
    """

    def __init__(self, protocol: LocalProtocol, *, honest: int, least: int | None = None) -> None:
        of_kind(protocol, "protocol", LocalProtocol, "a protocol of sf.local")
        if hasattr(protocol, "lifetime_epsilon"):
            requirement = "must make each report afresh; this one repeats responses, whose cost is lifetime_epsilon"
            raise ParameterError("protocol", type(protocol).__name__, requirement)
        self.protocol: Final = protocol
        self.honest: Final = positive_integer(honest, "honest", most=LARGEST_CROWD)
        self.least: Final = self.honest if least is None else positive_integer(least, "least")
        if self.least < self.honest:
            raise ParameterError("least", least, f"must be at least {self.honest}, the honest reports among them")
        self._kept: list[Payloads] = []

    def __len__(self) -> int:
        """How many reports wait to be given out."""
        return sum(map(len, self._kept))

    def add(self, reports: Given) -> Intake:
        """Keep reports: one, a batch, or any iterable of reports, of their bytes or of their texts."""
        accepted = came = 0
        refused: list[int] = []
        for block in blocks(reports, fingerprint=self.protocol.fingerprint, width=self.protocol.payload_bytes):
            valid = self.protocol.are_valid(block.payloads)
            self._kept.append(block.payloads[valid])
            is_refused = np.ones(block.items, dtype=np.bool_)
            is_refused[block.places[valid]] = False
            refused += (came + np.flatnonzero(is_refused)).tolist()
            accepted, came = accepted + int(valid.sum()), came + block.items
        return Intake(accepted, tuple(refused))

    def release(self) -> ShuffledReports:
        """Give out all reports that wait, in a random order, and forget them.

        Raises:
            ParameterError: They are too few.
        """
        if len(self) < self.least:
            raise ParameterError("reports", len(self), f"must be at least {self.least} before any is given out")
        payloads = np.concatenate(self._kept)
        self._kept = []
        order = list(range(len(payloads)))
        places = uniform_below_each(np.arange(len(order), 0, -1)).tolist()  # of Fisher and Yates' shuffle
        for end, place in zip(reversed(range(len(order))), places, strict=True):
            order[end], order[place] = order[place], order[end]
        return _given_out(self.protocol, payloads[order], self.honest)


def _given_out(protocol: LocalProtocol, payloads: Payloads, honest: int) -> ShuffledReports:
    """The one way to make them."""
    made = object.__new__(ShuffledReports)
    set_fields(made, protocol=protocol, reports=Reports(protocol.fingerprint, payloads), honest=honest)
    return made
