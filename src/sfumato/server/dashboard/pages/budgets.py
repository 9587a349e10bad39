"""Pages of budgets: the tree of accounts of a dataset, what was spent by when, and what owners change."""

from typing import Any

from fastapi import APIRouter, Response

from sfumato.server.dashboard.pages.home import account_of, roles
from sfumato.server.dashboard.rendering import main_number
from sfumato.server.dashboard.visits import Here, Page, Visit, built
from sfumato.server.gateway.routes import accounts, people
from sfumato.server.identity.people import Role

router = APIRouter(route_class=Page, include_in_schema=False)


@router.get("/datasets/{dataset}/budgets")
def budgets(dataset: str, visit: Here, account: str = "") -> Response:
    """The accounts that one may see, with what one of them had spent by when."""
    shown = [account_of(visit, dataset, one) for one in accounts.accounts(dataset, visit.who)]
    names = [one.shown["name"] for one in shown]
    wanted = account if account in names else (names[0] if names else "")
    history = _history(visit, dataset, wanted) if wanted else None
    is_owner = Role.OWNER in roles(visit, dataset)
    waiting = [one for one in accounts.approvals(visit.who) if one["dataset"] == dataset]
    return visit.page(
        "budgets.html", dataset=dataset, accounts=shown, chosen=wanted, history=history, is_owner=is_owner,
        chart=None if history is None else burn_down(history, visit.look.language), approvals=waiting[::-1],
        own=visit.who.principal.name,
    )  # fmt: skip


@router.post("/datasets/{dataset}/budgets/open")
def open_account(dataset: str, visit: Here) -> Response:
    """Open an account for a team, an analyst or a project."""
    name = visit.form.get("name", "").strip()
    accounts.open_account(
        dataset, built(accounts.NewAccount, name=name, budget=_budget(visit), window=_window(visit)), visit.who
    )
    return visit.to(_place(dataset, f"{dataset}/{name}"))


@router.post("/datasets/{dataset}/budgets/change")
def change_budget(dataset: str, visit: Here) -> Response:
    """Change the budget of an account, or have a second person asked."""
    account = visit.form.get("account", "")
    new = built(accounts.NewBudget, budget=_budget(visit), reason=visit.form.get("reason", ""))
    accounts.change_budget(dataset, _path(dataset, account), new, visit.who, Response())
    return visit.to(_place(dataset, account))


@router.post("/datasets/{dataset}/budgets/close")
def close_account(dataset: str, visit: Here) -> Response:
    """Refuse all further charges to an account."""
    account = visit.form.get("account", "")
    closing = built(accounts.Closing, reason=visit.form.get("reason", ""))
    accounts.close_account(dataset, _path(dataset, account), closing, visit.who)
    return visit.to(_place(dataset, account))


@router.post("/datasets/{dataset}/budgets/decide")
def decide(dataset: str, visit: Here) -> Response:
    """Agree to a change that another owner asked for, or refuse it."""
    decision = built(accounts.Decision, granted=visit.form.get("decision") == "grant")
    accounts.decide(visit.form.get("approval", ""), decision, visit.who)
    return visit.to(_place(dataset, dataset))


@router.get("/datasets/{dataset}/people")
def everybody(dataset: str, visit: Here) -> Response:
    """Who has which role on the dataset; for owners."""
    known = people.people_of(dataset, visit.who)
    own = [account_of(visit, dataset, one) for one in accounts.accounts(dataset, visit.who)]
    return visit.page("roles.html", dataset=dataset, people=known, accounts=own)


@router.post("/datasets/{dataset}/people")
def give_role(dataset: str, visit: Here) -> Response:
    """Give somebody a role on the dataset, or take it away."""
    name, role = visit.form.get("name", "").strip(), visit.form.get("role", "")
    if "revoke" in visit.form:
        people.revoke_grant(name, dataset, Role(role) if role in list(Role) else Role.ANALYST, visit.who)
    else:
        new = built(people.NewGrant, dataset=dataset, role=role, account=visit.form.get("account", ""))
        people.grant(name, new, visit.who)
    return visit.to(f"/datasets/{dataset}/people")


def burn_down(history: dict[str, Any], language: str) -> dict[str, Any]:
    """What the chart of an account shows: what remained at each moment; it stays until the next one."""
    points: list[list[Any]] = []
    for point in history["points"]:
        if point["remaining"] is not None:
            at, remaining = point["at"].replace(" UTC", "Z").replace(" ", "T"), main_number(point["remaining"])[1]
            points += [[at, points[-1][1]]] if points else []
            points.append([at, remaining])
    sign = main_number(history["points"][-1]["remaining"])[0] if points else "ε"
    return {"kind": "steps", "points": points, "unit": sign, "language": language}


def _history(visit: Visit, dataset: str, account: str) -> dict[str, Any]:
    path = _path(dataset, account)
    if path:
        return accounts.history(dataset, path, visit.who)
    return accounts.history_of_dataset(dataset, visit.who)


def _path(dataset: str, account: str) -> str:
    """The rest of the name of an account below that of its dataset."""
    return account.removeprefix(dataset).removeprefix("/")


def _place(dataset: str, account: str) -> str:
    return f"/datasets/{dataset}/budgets?account={account}"


def _budget(visit: Visit) -> dict[str, str]:
    """The budget in a form; an empty field is left out."""
    fields = ((name, visit.form.get(name, "").strip()) for name in ("epsilon", "rho", "delta"))
    return {name: value for name, value in fields if value}


def _window(visit: Visit) -> dict[str, str] | None:
    chosen = visit.form.get("window", "")
    return {"calendar": chosen} if chosen else None
