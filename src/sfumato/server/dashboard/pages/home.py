"""The first page, and the pages of one dataset: what is public of it, what it promises, and what its owner does."""

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import SfumatoError, UnavailableError
from sfumato.ledger.core.prices import limits, times_within
from sfumato.privacy.codec import decode_budget, decode_guarantee, encode_guarantee
from sfumato.privacy.guarantees import PureDP
from sfumato.server.dashboard.rendering import budget_text, share
from sfumato.server.dashboard.visits import Here, Page, Visit, built
from sfumato.server.gateway.routes import accounts, datasets, releases
from sfumato.server.identity.people import Action, Role

router = APIRouter(route_class=Page, include_in_schema=False)

_USUAL: Final = PureDP("0.1")
"""The cost of a query where nobody has asked one yet."""

_NEARLY: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAccount:
    """An account as pages show it.

    Attributes:
        shown: What the interface says of it.
        queries: About how many more queries it can be charged for; None for no limit.
        cost: What such a query costs, as text.
        is_usual: Whether that is a guess, as nothing was asked yet.
    """

    shown: dict[str, Any]
    queries: int | None
    cost: str
    is_usual: bool


@router.get("/")
def home(visit: Here) -> Response:
    """The datasets of whoever has signed in, what remains of their budgets, and what waits for them."""
    who, cards = visit.who, []
    for name in visit.gateway.curator.datasets:
        if not who.principal.roles(name):
            continue
        card: dict[str, Any] = {"name": name, "roles": sorted(map(str, who.principal.roles(name))), "accounts": []}
        try:
            card["facts"] = _facts(visit, name)
            card["accounts"] = [account_of(visit, name, one) for one in accounts.accounts(name, who)]
        except UnavailableError:
            card["facts"] = None
        cards.append(card)
    return visit.page("home.html", cards=cards, alerts=_alerts(visit, cards))


@router.get("/datasets/{dataset}")
def dataset(dataset: str, visit: Here) -> Response:
    """All that is public of a dataset, with its privacy label."""
    facts = datasets.dataset(dataset, visit.who)
    label = datasets.label(dataset, visit.who)
    return visit.page("dataset.html", dataset=facts, label=label, is_owner=Role.OWNER in roles(visit, dataset))


@router.post("/datasets/{dataset}/versions")
def publish(dataset: str, visit: Here) -> Response:
    """Answer from data of a new version."""
    sent = built(datasets.Version, data_version=visit.form.get("data_version", ""))
    datasets.publish(dataset, sent, visit.who)
    return visit.to(f"/datasets/{dataset}")


@router.post("/datasets/{dataset}/acknowledgments")
def acknowledge(dataset: str, visit: Here) -> Response:
    """Answer queries again after a failure on the data."""
    sent = built(datasets.Acknowledgment, reason=visit.form.get("reason", ""))
    datasets.acknowledge(dataset, sent, visit.who)
    return visit.to(f"/datasets/{dataset}")


def roles(visit: Visit, dataset: str) -> frozenset[Role]:
    """The roles of whoever has signed in on a dataset."""
    return visit.who.principal.roles(dataset)


def account_of(visit: Visit, dataset: str, shown: dict[str, Any]) -> ShownAccount:
    """An account with about how many more queries it can be charged for, each like the last one."""
    charge, principal = None, visit.who.principal
    if principal.account(dataset) == shown["name"] and principal.may(Action.READ_OWN_RELEASES, dataset):
        known = releases.latest(visit.who, dataset, limit=1)
        charge = decode_guarantee(known[0]["guarantee"]) if known else None
    remaining, cost = limits(decode_budget(shown["remaining"])), limits(charge or _USUAL)
    try:
        queries = None if cost is None else times_within(remaining, cost)
    except (KeyError, SfumatoError):  # they are in different measures
        queries = None
    return ShownAccount(
        shown=shown, queries=queries, cost=budget_text(encode_guarantee(charge or _USUAL)), is_usual=charge is None
    )


def _facts(visit: Visit, name: str) -> dict[str, Any]:
    (facts,) = (one for one in datasets.datasets(visit.who) if one["name"] == name)
    return facts


def _alerts(visit: Visit, cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What somebody should look at: suspended data, budgets that are nearly spent, and changes that wait."""
    found: list[dict[str, Any]] = []
    for card in cards:
        for account in card["accounts"]:
            shown = account.shown
            is_own = shown["name"] == card["name"]
            if shown["state"] == "suspended" and is_own:
                found.append({"kind": "suspended", "name": shown["name"], "path": f"/datasets/{card['name']}"})
            elif share(shown["spent"], shown["budget"]) >= _NEARLY:
                found.append({"kind": "nearly", "name": shown["name"], "path": f"/datasets/{card['name']}/budgets"})
        if card["facts"] is None:
            found.append({"kind": "unavailable", "name": card["name"], "path": "/"})
    waiting = [one for one in accounts.approvals(visit.who) if one["state"] == "pending"]
    found += [
        {"kind": "approval", "name": one["change"]["account"], "path": f"/datasets/{one['dataset']}/budgets"}
        for one in waiting
    ]
    return found
