"""Pages of people, keys, and the health of the server."""

import re
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import ParameterError, SfumatoError
from sfumato.server.dashboard.visits import Here, Page, Visit, built
from sfumato.server.gateway.routes import people
from sfumato.server.identity.people import Action, KeyScope, Role

router = APIRouter(route_class=Page, include_in_schema=False)

_COUNTED: Final = re.compile(r"^sfumato_(requests|problems)_total\{(.*)\} ([0-9.e+]+)$", re.MULTILINE)
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')


@router.get("/people")
def everybody(visit: Here) -> Response:
    """Everybody, with their roles; for admins."""
    return visit.page("people.html", people=people.people(visit.who), datasets=list(visit.gateway.curator.datasets))


@router.post("/people")
def change(visit: Here) -> Response:
    """Add somebody, name an owner, or switch somebody on or off."""
    form, name = visit.form, visit.form.get("name", "").strip()
    match form.get("action", ""):
        case "add":
            new = built(
                people.NewPerson, name=name, display_name=form.get("display_name", ""),
                is_platform_admin=form.get("is_platform_admin") == "yes",
            )  # fmt: skip
            people.add_person(new, visit.who)
        case "owner":
            people.grant(name, built(people.NewGrant, dataset=form.get("dataset", ""), role=Role.OWNER), visit.who)
        case "not-owner":
            people.revoke_grant(name, form.get("dataset", ""), Role.OWNER, visit.who)
        case "on" | "off" as wanted:
            people.change_person(name, people.ChangedPerson(is_active=wanted == "on"), visit.who)
        case other:
            raise ParameterError("action", other, "must be one of the page")
    return visit.to("/people")


@router.get("/keys")
def keys(visit: Here) -> Response:
    """One's own API keys, for admins everybody's; never their secrets."""
    return _keys(visit, made=None)


@router.post("/keys")
def change_key(visit: Here) -> Response:
    """Make a key, give it a new secret, or revoke it; a secret is shown on this one page."""
    form, key = visit.form, visit.form.get("key", "")
    match form.get("action", ""):
        case "make":
            scopes = [value for name, value in visit.fields if name == "scope"]
            expires = form.get("expires", "")
            wanted = built(
                people.WantedKey, person=form.get("person", "").strip() or None, name=form.get("name", ""),
                scopes=scopes, expires=_moment(expires) if expires else None,
            )  # fmt: skip
            return _keys(visit, made=people.make_key(wanted, visit.who))
        case "rotate":
            return _keys(visit, made=people.rotate_key(key, people.Rotation(), visit.who))
        case "revoke":
            people.revoke_key(key, visit.who)
            return visit.to("/keys")
        case other:
            raise ParameterError("action", other, "must be one of the page")


@router.get("/health")
def health(visit: Here) -> Response:
    """Which datasets can be asked, what the server answered of late, and how it was set up; for admins."""
    gateway = visit.gateway
    with visit.who.doing(Action.READ_METRICS):
        text = gateway.metrics.text().decode()
        states = [{"name": name, **_state(visit, name)} for name in gateway.curator.datasets]
    counts: dict[str, float] = {}
    for kind, labels, count in _COUNTED.findall(text):
        own = dict(_LABEL.findall(labels))
        name = own.get("error") if kind == "problems" else f"HTTP {own.get('status', '')[:1]}xx"
        counts[str(name)] = counts.get(str(name), 0) + float(count)
    curator = gateway.curator
    settings = {
        "address": curator.url, "gateways": curator.gateways, "tls": curator.tls is not None,
        "log_level": curator.log_level, **{f"limits.{name}": value for name, value in curator.limits},
        **{f"work.{name}": value for name, value in curator.work},
    }  # fmt: skip
    return visit.page("health.html", states=states, counts=counts, settings=settings, under_way=gateway.places.count())


def _state(visit: Visit, name: str) -> dict[str, Any]:
    """Whether a dataset can be asked; by its declarations and its ledger alone."""
    try:
        served = visit.gateway.datasets.served(name)
        is_suspended = visit.gateway.ledger.is_suspended(served.planning.account)
    except SfumatoError:
        return {"state": "unavailable", "version": "", "rows": visit.gateway.curator.datasets[name].declared_rows}
    return {
        "state": "suspended" if is_suspended else "open", "version": served.declared.data_version,
        "rows": visit.gateway.curator.datasets[name].declared_rows,
    }  # fmt: skip


def _keys(visit: Visit, *, made: dict[str, str] | None) -> Response:
    known = people.keys(visit.who)
    return visit.page(
        "keys.html", keys=known[::-1], made=made, scopes=list(map(str, KeyScope)), own=visit.who.principal,
        now=datetime.now(UTC).isoformat(),
    )  # fmt: skip


def _moment(day: str) -> datetime:
    """The beginning of a day that a form says, in UTC."""
    try:
        return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise ParameterError("expires", day, "must be a day, such as 2027-01-31") from None
