"""The receipt of a release: what was asked, how it was answered, what it cost and how much budget remains."""

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
    """Everything needed to cite a release and to check its cost; nothing in it was computed from single rows.

    Attributes:
        question: The query as SQL, or as its frame prints.
        plan_hash: The hash of the canonical plan.
        event: A description of the release, read by accountants.
        guarantee: The guarantee of this release alone, which is what it cost.
        spent: All that the account had spent after the release.
        remaining: The unspent budget of the account after the release.
        neighboring_relation: What may change between neighboring databases.
        privacy_unit: Whom the guarantee protects.
        library: The version of this package.
        policy_version: The owner's version of the policy.
        data_version: The owner's version of the data.
        request: The id of the reservation in the ledger that was charged.
        sampling: The hash that chose which rows of a unit above a contribution bound count, such as `native (duckdb)`
            or `md5`; None in answers from before receipts had it.
    """

    question: str
    plan_hash: str
    event: Event
    guarantee: Charge
    spent: Budget
    remaining: Budget
    neighboring_relation: str
    privacy_unit: str
    library: str
    policy_version: str
    data_version: str
    request: str
    sampling: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """The receipt as JSON values."""
        texts: dict[str, Json] = dict(zip(_TEXTS, attrgetter(*_TEXTS)(self), strict=True))
        return texts | {
            "event": encode_event(self.event),
            "guarantee": encode_guarantee(self.guarantee),
            "spent": encode_budget(self.spent),
            _REMAINING: encode_budget(self.remaining),
            "sampling": self.sampling,
        }

    def to_json(self) -> str:
        """The receipt as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


_REMAINING = "left"
"""The key of `remaining` in JSON: stored answers have it, so it does not change."""

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
    sampling = document.get("sampling")
    return Receipt(
        **dict(zip(_TEXTS, map(str, itemgetter(*_TEXTS)(document)), strict=True)),
        event=decode_event(document["event"]),
        guarantee=charged,
        spent=decode_budget(document["spent"]),
        remaining=decode_budget(document[_REMAINING]),
        sampling=None if sampling is None else str(sampling),
    )
