"""What the court tries: cases, each a claim of a library, a trial of it, and what is known to come out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from accounts import PeerAccount

from sfumato.audit import AuditedMechanism, AuditReport, DeclaredLaw, NeighborPair, Verdict, audit
from sfumato.audit.accountants.accountants import check_accountant
from sfumato.audit.noiseless import Norm, check_sensitivity
from sfumato.numeric.rationals import Number
from sfumato.privacy.events import Event
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

PEERS = Path(__file__).resolve().parents[1] / "peers"
TEXTBOOK = "textbooks"
"""Whose cases are no library's: this process answers for them."""


class Trial(Protocol):
    """Tests the claim of one case."""

    def __call__(self, mechanism: AuditedMechanism, stated: Any, /) -> AuditReport:
        """What was found; `stated` is what the library itself claims, None where it has no function for that."""
        ...

    @property
    def claim(self) -> str:
        """In words; empty for what the library states."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of the docket.

    Args:
        name: What is on trial.
        source: Where its claim comes from, and what is known of it.
        peer: Whose it is.
        asks: The case of the peer's script, or the mechanism itself.
        expects: What has to come out.
        trial: How it is tested.
    """

    name: str
    source: str
    peer: str
    asks: str | AuditedMechanism
    expects: Verdict
    trial: Trial


DOCKET: list[Case] = []
_Maker: TypeAlias = Callable[[], Trial]


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment."""
    return PEERS / peer / ".venv" / "bin" / "python"


def command(peer: str, asks: str) -> list[str]:
    """The program that answers for a case of a peer."""
    return [str(python_of(peer)), str(Path(__file__).parent / f"ask_{peer}.py"), asks]


def case(
    peer: str, asks: str | AuditedMechanism, *, expects: Verdict = Verdict.NOTHING_FOUND
) -> Callable[[_Maker], _Maker]:
    """Put a trial on the docket: its name is the first line of the docstring, and the rest its source."""

    def put(make: _Maker) -> _Maker:
        name, _, source = (make.__doc__ or "").strip().partition("\n\n")
        text = " ".join(source.split())
        DOCKET.append(Case(name=name.rstrip("."), source=text, peer=peer, asks=asks, expects=expects, trial=make()))
        return make

    return put


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """An audit by events, and of noise by its law; ε and δ are what the library states where none are given."""

    pairs: tuple[NeighborPair, ...]
    epsilon: Number | None = None
    delta: Number = 0
    samples: int = 10_000
    law: Callable[[AuditedMechanism], DeclaredLaw] | None = None

    def __call__(self, mechanism: AuditedMechanism, stated: Any, /) -> AuditReport:
        """One audit."""
        epsilon, delta = (self.epsilon, self.delta) if self.epsilon is not None else _stated(stated)
        laws = () if self.law is None else (self.law(mechanism),)
        return audit(mechanism, self.pairs, epsilon=epsilon, delta=delta, samples=self.samples, laws=laws)

    @property
    def claim(self) -> str:
        """ε and δ."""
        if self.epsilon is None:
            return ""
        return f"ε = {self.epsilon}" + (f", δ = {self.delta}" if self.delta else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The noiseless answers of neighbors, exactly, against the distance that noise is made for."""

    pairs: tuple[NeighborPair, ...]
    claimed: Number
    norm: Norm = "l1"

    def __call__(self, mechanism: AuditedMechanism, _: Any, /) -> AuditReport:
        """One exact answer for each database of each pair."""
        finding = check_sensitivity(
            lambda database: mechanism(database, 1)[0],
            self.pairs,
            claimed=self.claimed,
            norm=self.norm,
            name="the answer without noise",
        )
        return AuditReport((), (), sensitivities=(finding,))

    @property
    def claim(self) -> str:
        """The distance."""
        return f"sensitivity {Fraction(self.claimed)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accountant:
    """The laws of accountants; of an account that is asked over a pipe."""

    events: tuple[Event, ...]
    relation: NeighboringRelation = ADD_OR_REMOVE_ONE

    def __call__(self, mechanism: AuditedMechanism, _: Any, /) -> AuditReport:
        """Some dozens of questions."""
        findings = check_accountant(
            PeerAccount(mechanism, self.relation),
            events=self.events,
            counts=(1, 7, 100),
            deltas=(1e-6,),
            epsilons=(1.0,),
            neighboring_relation=self.relation,
        )
        return AuditReport((), (), accounting=findings)

    @property
    def claim(self) -> str:
        """What every accountant claims."""
        return "ε is enough"


def samples_scaled(docket: list[Case], factor: float) -> list[Case]:
    """The same cases with so many times as many runs."""
    return [
        replace(entry, trial=replace(entry.trial, samples=max(100, int(entry.trial.samples * factor))))
        if isinstance(entry.trial, Events)
        else entry
        for entry in docket
    ]


def pair(database: Any, neighbor: Any, description: str) -> tuple[NeighborPair, ...]:
    """The only pair of a case: the worst that is known."""
    return (NeighborPair(database, neighbor, description),)


def _stated(stated: Any) -> tuple[Fraction, Fraction]:
    """ε and δ as the library states them."""
    epsilon, delta = stated if isinstance(stated, list) else (stated, 0)
    return Fraction(epsilon), Fraction(delta)
