"""The accounts and charges that the tests of the ledger share."""

from fractions import Fraction

from sfumato.ledger.core.entry import Opened, PartitionPart
from sfumato.ledger.core.reservations import Reservation
from sfumato.ledger.keeping.key import fresh_key
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.guarantees import Guarantee, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

KEY = fresh_key()
ONE = PureDP(1)
TENTH = Fraction(1, 10)


def people(budget: Guarantee = ONE, relation: NeighboringRelation = ADD_OR_REMOVE_ONE) -> Opened:
    return Opened(account="people", budget=budget, neighboring_relation=relation, privacy_unit="each row")


def reserve(
    ledger: Ledger, epsilon: object = "0.1", delta: object = 0, part: PartitionPart | None = None
) -> Reservation:
    charge = guarantee(epsilon, delta)
    event = PureEvent(charge.epsilon) if charge.delta == 0 else ApproxEvent(charge.epsilon, charge.delta)
    return ledger.reserve("people", event=event, charge=charge, question="how many?", part=part)


def ward(value: str, max_parts_per_unit: int = 1) -> PartitionPart:
    return PartitionPart(partition="ward", value=value, max_parts_per_unit=max_parts_per_unit)
