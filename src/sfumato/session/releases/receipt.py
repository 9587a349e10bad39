"""The receipt of a release: what was asked, how it was answered, what it cost and what is left."""

import json
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Charge
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import (
    Json,
    decode_budget,
    decode_event,
    decode_guarantee,
    encode_budget,
    encode_event,
    encode_guarantee,
)
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, PureDP


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Everything needed to cite a release and to check its price; nothing in it was computed from single rows.

    Attributes:
        question: The question as SQL or as a frame reads, for people.
        plan_hash: The hash of the canonical plan.
        event: What was released, for accountants.
        guarantee: The promise of this release alone, which is what it cost.
        spent: All that the account had spent after it.
        left: What the account had left after it.
        neighboring_relation: What may change between neighbouring databases.
        privacy_unit: Who is protected.
        library: The version of this package.
        policy_version: The owner's number of the declarations.
        data_version: The owner's number of the data.
        request: The reservation in the ledger that paid.
    """

    question: str
    plan_hash: str
    event: Event
    guarantee: Charge
    spent: Budget
    left: Budget
    neighboring_relation: str
    privacy_unit: str
    library: str
    policy_version: str
    data_version: str
    request: str

    def to_dict(self) -> dict[str, Json]:
        """The receipt as JSON values."""
        texts: dict[str, Json] = dict(zip(_TEXTS, attrgetter(*_TEXTS)(self), strict=True))
        return texts | {
            "event": encode_event(self.event),
            "guarantee": encode_guarantee(self.guarantee),
            "spent": encode_budget(self.spent),
            "left": encode_budget(self.left),
        }

    def to_json(self) -> str:
        """The receipt as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


_TEXTS = (
    "question",
    "plan_hash",
    "neighboring_relation",
    "privacy_unit",
    "library",
    "policy_version",
    "data_version",
    "request",
)


def receipt_from_dict(document: dict[str, Json]) -> Receipt:
    """The receipt that `to_dict` wrote."""
    charged = decode_guarantee(document["guarantee"])
    if not isinstance(charged, PureDP | ApproxDP):
        raise ParameterError("guarantee", str(charged), "must be finite in a receipt")
    return Receipt(
        **dict(zip(_TEXTS, map(str, itemgetter(*_TEXTS)(document)), strict=True)),
        event=decode_event(document["event"]),
        guarantee=charged,
        spent=decode_budget(document["spent"]),
        left=decode_budget(document["left"]),
    )
