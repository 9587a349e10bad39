"""Routes of accounts: the tree of budgets, what is spent of it and when, and what owners change."""

import json
from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from sfumato.errors import LedgerError, NotFoundError, ParameterError
from sfumato.ledger.core.entry import Opened, Rebudgeted
from sfumato.ledger.core.prices import in_words, limits
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.reading.history import time_text
from sfumato.ledger.reading.spending import project, spending
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import decode_budget, encode_budget
from sfumato.server.config import BudgetEntry, WindowEntry
from sfumato.server.gateway.access import Anybody, Caller, Guarded, account_of, is_own
from sfumato.server.gateway.routes.datasets import Reason
from sfumato.server.identity.approvals import Approval, ApprovalState
from sfumato.server.identity.people import Action, require_name

router = APIRouter(prefix="/v1/datasets/{dataset}/accounts", tags=["accounts"], route_class=Guarded)
_AGREED: Final[dict[int | str, dict[str, Any]]] = {202: {"description": "A second person has to agree."}}
approvals_router = APIRouter(prefix="/v1/approvals", tags=["accounts"], route_class=Guarded)

_WORDS: Final = frozenset({"history", "budget", "close"})
"""What follows an account in addresses."""


class NewAccount(BaseModel):
    """An account below that of the dataset, such as ``ann`` or ``cardiology/ann``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=150, pattern=r"^[\w.@:+-]+(/[\w.@:+-]+)*$")]
    budget: BudgetEntry
    window: WindowEntry | None = None


class NewBudget(BaseModel):
    """Another budget in the same measure, and why."""

    model_config = ConfigDict(extra="forbid", strict=True)

    budget: BudgetEntry
    reason: Reason


class Closing(BaseModel):
    """Why an account is closed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: Reason


class Decision(BaseModel):
    """What a second person decides."""

    model_config = ConfigDict(extra="forbid", strict=True)

    granted: bool


@router.get("")
def accounts(dataset: str, who: Anybody) -> list[dict[str, Any]]:
    """All accounts of a dataset, for its owners and auditors; for an analyst their own."""
    with who.reading_account(dataset) as doing:
        ledger = who.gateway.ledger
        if doing.principal.may(Action.READ_ACCOUNTS, dataset):
            names = [name for name in ledger.accounts() if dataset in ledger.path(name)]
        else:
            names = [name for name in ledger.accounts() if is_own(doing.principal, dataset, name)]
        return [_shown(ledger, name) for name in names]


@router.post("", status_code=201)
def open_account(dataset: str, new: NewAccount, who: Anybody) -> dict[str, Any]:
    """Open an account for a team, an analyst or a project; if it is open with the same budget, nothing happens."""
    with who.doing(Action.OPEN_ACCOUNT, dataset, target=f"{dataset}/{new.name}"):
        ledger, account, (above, _, last) = who.gateway.ledger, f"{dataset}/{new.name}", new.name.rpartition("/")
        if last in _WORDS:
            raise ParameterError("name", new.name, f"must not end with {', '.join(sorted(_WORDS))}, as addresses do")
        require_name("name", account)  # else no act could say which account is changed
        parent = account_of(who.gateway, dataset, above)
        opened = Opened(
            account=account, budget=new.budget.budget("budget"), parents=(parent,),
            neighboring_relation=ledger.opened(parent).neighboring_relation,
            privacy_unit=ledger.opened(parent).privacy_unit,
            window=None if new.window is None else new.window.window("window"),
        )  # fmt: skip
        try:
            ledger.open_account(opened)
        except LedgerError:
            if account not in ledger.accounts():
                raise
            raise ParameterError("name", new.name, "is open with other terms; change its budget instead") from None
        return _shown(ledger, account)


@router.get("/history")
def history_of_dataset(dataset: str, who: Anybody) -> dict[str, Any]:
    """What the account of the dataset had spent by when, and how long its budget will last at this pace."""
    return _history(dataset, "", who)


@router.get("/{path:path}/history")
def history(dataset: str, path: str, who: Anybody) -> dict[str, Any]:
    """What an account had spent by when, and how long its budget will last at this pace."""
    return _history(dataset, path, who)


@router.post("/budget", responses=_AGREED)
def change_budget_of_dataset(dataset: str, new: NewBudget, who: Anybody, response: Response) -> dict[str, Any]:
    """Change the budget of the dataset; a larger one needs a second person where the curator says so."""
    return _change_budget(dataset, "", new, who, response)


@router.post("/{path:path}/budget", responses=_AGREED)
def change_budget(dataset: str, path: str, new: NewBudget, who: Anybody, response: Response) -> dict[str, Any]:
    """Change the budget of an account; a larger one needs a second person where the curator says so."""
    return _change_budget(dataset, path, new, who, response)


def _change_budget(dataset: str, path: str, new: NewBudget, who: Caller, response: Response) -> dict[str, Any]:
    with who.doing(Action.CHANGE_BUDGET, dataset, target=f"{dataset}/{path}" if path else dataset) as doing:
        gateway, account = who.gateway, account_of(who.gateway, dataset, path)
        budget = new.budget.budget("budget")
        if gateway.curator.datasets[dataset].second_person and not _is_within(budget, gateway.ledger.budget(account)):
            change = {"account": account, "budget": encode_budget(budget)}
            asked = gateway.approvals.ask(
                doing.principal.name, dataset=dataset, action=Action.CHANGE_BUDGET, change=change, reason=new.reason
            )
            doing.target = asked.id
            response.status_code = 202
            response.headers["Location"] = f"/v1/approvals/{asked.id}"
            return {"approval": asked.id, "state": str(asked.state)}
        gateway.ledger.change_budget(account, budget, reason=new.reason)
        return _shown(gateway.ledger, account)


@router.post("/{path:path}/close")
def close_account(dataset: str, path: str, why: Closing, who: Anybody) -> dict[str, Any]:
    """Refuse all further charges to an account and those below it; its stored answers stay."""
    with who.doing(Action.CLOSE_ACCOUNT, dataset, target=f"{dataset}/{path}"):
        if not path:  # the dataset's own account stays
            raise NotFoundError("account", path)
        account = account_of(who.gateway, dataset, path)
        who.gateway.ledger.close_account(account, reason=why.reason)
        return _shown(who.gateway.ledger, account)


@router.get("/{path:path}")
def account(dataset: str, path: str, who: Anybody) -> dict[str, Any]:
    """One account: its budget, what is spent and what remains."""
    with who.reading_account(dataset, f"{dataset}/{path}"):
        return _shown(who.gateway.ledger, account_of(who.gateway, dataset, path))


@approvals_router.get("")
def approvals(who: Anybody) -> list[dict[str, Any]]:
    """Changes that wait for a second person, or did, of the datasets that whoever asks owns."""
    with who.doing(Action.READ_SELF) as doing:
        owned = [name for name in who.gateway.curator.datasets if doing.principal.may(Action.DECIDE, name)]
        return [_approval(one) for one in who.gateway.approvals.approvals(owned)]


@approvals_router.post("/{approval}")
def decide(approval: str, decision: Decision, who: Anybody) -> dict[str, Any]:
    """Agree to a change that another owner asked for, or refuse it."""
    asked = None
    with suppress(NotFoundError):
        asked = who.gateway.approvals.approval(approval)
    if asked is None or not who.principal.roles(asked.dataset):
        raise who.refused(Action.DECIDE, "approval", approval)
    with who.doing(Action.DECIDE, asked.dataset, target=approval) as doing:
        ledger, person, note = who.gateway.ledger, doing.principal.name, f"approval {approval}: asked by "
        is_cut_off = (  # a gateway ended between this decision and the change
            decision.granted and asked.state is ApprovalState.GRANTED and asked.decided_by == person
            and not any(isinstance(one, Rebudgeted) and note in one.reason for one in ledger.entries())
        )  # fmt: skip
        if not is_cut_off:
            asked = who.gateway.approvals.decide(approval, by=person, is_granted=decision.granted)
        if decision.granted:
            change = json.loads(asked.change)
            reason = f"{asked.reason} ({note}{asked.asked_by}, granted by {person})"
            ledger.change_budget(change["account"], decode_budget(change["budget"]), reason=reason)
        return _approval(asked)


def _history(dataset: str, path: str, who: Caller) -> dict[str, Any]:
    with (
        who.reading_account(dataset, f"{dataset}/{path}" if path else dataset),
        who.gateway.places.taken(who.principal.name),
    ):
        account, ledger = account_of(who.gateway, dataset, path), who.gateway.ledger
        budget = ledger.budget(account)
        points = spending(ledger.entries(), accounts={account}, now=ledger.now())[account]
        lasts = project(points, ledger.opened(account).window)
        return {
            "account": account,
            "points": [
                {
                    "at": time_text(one.at), "spent": encode_budget(in_words(one.spent, budget)),
                    "remaining": None if one.left is None else encode_budget(in_words(one.left, budget)),
                }
                for one in points
            ],
            "projection": None if lasts is None else str(lasts),
        }  # fmt: skip


def _shown(ledger: Ledger, account: str) -> dict[str, Any]:
    window = ledger.opened(account).window
    state = "closed" if ledger.is_closed(account) else "suspended" if ledger.is_suspended(account) else "open"
    return {
        "name": account,
        "budget": encode_budget(ledger.budget(account)),
        "spent": encode_budget(ledger.spent(account)),
        "remaining": encode_budget(ledger.remaining(account)),
        "window": None if window is None else str(window),
        "state": state,
    }


def _is_within(budget: Budget, other: Budget) -> bool:
    """Whether a budget allows no more than another one, in any of its numbers."""
    asked, allowed = limits(budget), limits(other)
    return allowed is None or (asked is not None and asked.is_within(allowed))


def _approval(approval: Approval) -> dict[str, Any]:
    return {
        "id": approval.id, "dataset": approval.dataset, "action": str(approval.action),
        "change": json.loads(approval.change), "reason": approval.reason, "state": str(approval.state),
        "asked_by": approval.asked_by, "asked_at": approval.asked_at.isoformat(), "decided_by": approval.decided_by,
    }  # fmt: skip
