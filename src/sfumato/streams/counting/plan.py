"""A counter before it starts: what it measures, with which mechanism, for whom, and what all of it costs."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Charge
from sfumato.ledger.core.reservations import Reservation
from sfumato.mechanisms.continual.base import ContinualMechanism
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import RunningTotal, Sums
from sfumato.numeric.arguments import called, of_kind
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ApproxEvent, ComposedEvent, Event, GroupEvent
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.session.releases.receipt import Receipt
from sfumato.streams.counting.measures import Measure
from sfumato.streams.counting.selection import KeyThreshold, key_threshold
from sfumato.streams.keeping.account import Payer
from sfumato.version import __version__

Maker: TypeAlias = Callable[..., ContinualMechanism]

_PAIR: Final = 2
"""A unit that is replaced is one removed and one added, at any steps: a group of two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterPlan:
    """All that is public about a counter before it starts.

    Attributes:
        measure: What it sums up.
        mechanism: What makes it private; it knows the horizon.
        participation: How often a unit may take part, which the counter enforces; None: each event is a unit.
        payer: Who is charged.
        event: What it releases in all, under the payer's neighboring relation.
        charge: Its cost.
        threshold: What the sum of a key must be above, where keys are selected.
    """

    measure: Measure
    mechanism: ContinualMechanism
    participation: Participation | None
    payer: Payer
    event: Event
    charge: Charge
    threshold: KeyThreshold | None = None

    @property
    def horizon(self) -> int | None:
        """The number of steps; None where it is not known beforehand."""
        return getattr(self.mechanism, "horizon", None)

    @property
    def parameters(self) -> dict[str, Json]:
        """The counter in full, as JSON: another one may not continue its state."""
        payer = self.payer
        return {
            "kind": "counter", "measure": repr(self.measure), "mechanism": repr(self.mechanism),
            "participation": repr(self.participation), "account": payer.account, "unit": payer.privacy_unit,
            "neighboring_relation": payer.neighboring_relation.value, "charge": repr(self.charge),
        }  # fmt: skip

    def receipt(self, reservation: Reservation) -> Receipt:
        """The receipt of all that it will release."""
        payer = self.payer
        hashed = sha256(json.dumps(self.parameters, sort_keys=True).encode()).hexdigest()
        return Receipt(
            question=f"Counter of {self.measure} by {self.mechanism}", plan_hash=hashed, event=self.event,
            guarantee=self.charge, spent=reservation.spent, remaining=reservation.left,
            neighboring_relation=payer.neighboring_relation.value, privacy_unit=payer.privacy_unit,
            library=__version__, policy_version=payer.policy_version, data_version=payer.data_version,
            request=reservation.request,
        )  # fmt: skip


def plan_counter(
    payer: Payer,
    measure: Measure,
    *,
    mechanism: ContinualMechanism | Maker,
    horizon: int | None,
    epsilon: Number | None,
    rho: Number | None,
    delta: Number | None,
    participation: Participation | None,
    sums: Sums | None,
) -> CounterPlan:
    """The plan of a counter; nothing is charged.

    Raises:
        ParameterError: A parameter is missing, or contradicts another.
    """
    of_kind(measure, "measure", Measure, "a measure, such as EventCount()")
    _require_participation(payer, participation)
    part = Participation() if participation is None else participation
    if isinstance(mechanism, ContinualMechanism):
        for name, given in (("horizon", horizon), ("epsilon", epsilon), ("rho", rho), ("sums", sums)):
            if given is not None:
                raise ParameterError(name, given, "is stated by the mechanism; leave it out")
        made = mechanism
    else:
        budget = _budget(epsilon, rho, is_pair=payer.neighboring_relation is REPLACE_ONE)
        stated = {"horizon": horizon, "sums": None if isinstance(sums, RunningTotal) else sums}
        options = {name: value for name, value in stated.items() if value is not None}
        made = _made(mechanism, contribution=measure.contribution, participation=part, **budget, **options)
    if made.contribution != measure.contribution or made.participation != part:
        requirement = f"must have contribution={measure.contribution} and participation={part}, as the counter enforces"
        raise ParameterError("mechanism", made, requirement)
    is_pair = payer.neighboring_relation is REPLACE_ONE
    event: Event = GroupEvent(made.event, _PAIR) if is_pair else made.event
    of_keys, threshold = Fraction(0), None
    if measure.selected is not None:
        threshold = key_threshold(made, measure.selected, largest=measure.largest, is_pair=is_pair)
        of_keys = measure.selected.delta
        event = ComposedEvent((event, ApproxEvent(Fraction(0), of_keys)))
    return CounterPlan(
        measure=measure, mechanism=made, participation=participation, payer=payer, event=event,
        charge=payer.charge_of(event, delta=delta, stated=of_keys), threshold=threshold,
    )  # fmt: skip


def _budget(epsilon: Number | None, rho: Number | None, *, is_pair: bool) -> dict[str, Fraction]:
    """What the mechanism is made with: a pair moves the stream twice as far, for twice the ε and four times the ρ."""
    if (epsilon is None) == (rho is None):
        raise ParameterError("epsilon", epsilon, "must be given, or rho, and not both; there is no default")
    if epsilon is not None:
        return {"epsilon": positive(epsilon, "epsilon") / (_PAIR if is_pair else 1)}
    return {"rho": positive(0 if rho is None else rho, "rho") / (_PAIR**2 if is_pair else 1)}


def _made(mechanism: Maker, **options: Any) -> ContinualMechanism:
    wanted = "a mechanism for streams of sf.mechanisms, such as BinaryTree"
    called(mechanism, "mechanism", wanted, may_be_class=True)
    try:
        made = mechanism(**options)
    except TypeError as error:
        requirement = f"must be {wanted}, which takes {', '.join(options)}"
        raise ParameterError("mechanism", getattr(mechanism, "__name__", "a function"), requirement) from error
    return of_kind(made, "mechanism", ContinualMechanism, wanted)


def _require_participation(payer: Payer, participation: Participation | None) -> None:
    """A guarantee for units whose events are not told apart would be one for single events, and no more."""
    if participation is not None:
        of_kind(participation, "participation", Participation, "a Participation(most=…, separation=…)")
    elif not payer.is_each_row:
        requirement = (
            f"is missing: the account protects each {payer.privacy_unit}; say how often one may take part, such as"
            " Participation(most=5), and give the unit of each event"
        )
        raise ParameterError("participation", None, requirement)
