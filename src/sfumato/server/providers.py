"""`[providers.company]` of a curator's file: who else may say who somebody is, and which roles their groups give.

A provider is an issuer of OpenID Connect. People whom it vouches for have the roles of their groups, as this file maps
them; whoever has no mapped group is refused.
"""

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from sfumato.errors import PolicyError

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,29}")
"""The name of a provider: it is in addresses, in the log of acts, and begins the names of people."""

_Text = Annotated[str, Field(min_length=1, max_length=1_000)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GroupEntry(_Entry):
    """`[[providers.company.groups]]`: what the members of a group may do."""

    name: _Text
    dataset: str = ""
    role: Literal["owner", "analyst", "auditor"] | None = None
    account: str = ""
    platform_admin: bool = False


class ProviderEntry(_Entry):
    """`[providers.company]`."""

    issuer: _Text
    client_id: _Text
    title: _Text | None = None
    client_secret_file: str | None = None
    scopes: list[str] = ["profile"]
    groups_claim: _Text = "groups"
    groups: list[GroupEntry] = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider as the file declares it.

    Attributes:
        name: Its name, in addresses.
        title: What people call it.
        issuer: Its address, which it writes into all that it says.
        client_id: What it calls this server.
        secret_file: The file of what this server proves itself with; None where PKCE alone does.
        scopes: What it is asked to tell.
        groups_claim: Where it writes the groups of a person.
        groups: What its groups give.
    """

    name: str
    title: str
    issuer: str
    client_id: str
    secret_file: Path | None
    scopes: tuple[str, ...]
    groups_claim: str
    groups: tuple[GroupEntry, ...]

    def given(self, groups: Collection[str]) -> tuple[GroupEntry, ...]:
        """What the members of these groups are given, in the order of the file."""
        return tuple(entry for entry in self.groups if entry.name in groups)


def public_url(text: str) -> str:
    """Where browsers reach this server, as a file declares it.

    Raises:
        PolicyError: Others could read what is sent there, or it is more than a host and a port.
    """
    url = text.removesuffix("/")
    if not is_safe(url) or urlsplit(url)[2:] != ("", "", "") or url.endswith(("?", "#")):
        raise PolicyError("public_url", "must begin with https:// and end after the host or its port")
    return url


def declared_providers(
    entries: dict[str, ProviderEntry], folder: Path, datasets: Collection[str], place: str | None
) -> dict[str, Provider]:
    """The providers that a file declares.

    Args:
        entries: What the file says of each.
        folder: Where the file is.
        datasets: The names of all datasets.
        place: Where browsers reach this server.

    Raises:
        PolicyError: It says something impossible.
    """
    if entries and place is None:
        raise PolicyError("public_url", "must be given, as providers send people back to it: https://curator.example")
    found = {name: _declared(name, entry, folder, datasets) for name, entry in entries.items()}
    issuers = [provider.issuer for provider in found.values()]
    if len(set(issuers)) < len(issuers):
        raise PolicyError("providers", "must each have another issuer")
    return found


def is_safe(url: object) -> bool:
    """Whether what is sent to an address stays between this server and that one.

    Example:
        >>> [is_safe(url) for url in ("https://login.example", "http://login.example", "http://127.0.0.1:9", None)]
        [True, False, True, False]
    """
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "https":
        return bool(host) and parts.username is None
    is_here = host == "localhost"
    with suppress(ValueError):
        is_here = is_here or ip_address(host).is_loopback
    return parts.scheme == "http" and is_here and parts.username is None


def _declared(name: str, entry: ProviderEntry, folder: Path, datasets: Collection[str]) -> Provider:
    place = f"providers.{name[:30]}"
    if not _NAME.fullmatch(name):
        raise PolicyError(place, "must have a name of at most 30 small letters, digits or hyphens")
    parts = urlsplit(entry.issuer)
    if not is_safe(entry.issuer) or parts.query or parts.fragment:
        raise PolicyError(f"{place}.issuer", "must begin with https://, and have no query and no fragment")
    file = None if entry.client_secret_file is None else folder / entry.client_secret_file
    _require_roles(place, entry.groups, datasets)
    return Provider(
        name=name, title=entry.title or name, issuer=entry.issuer, client_id=entry.client_id, secret_file=file,
        scopes=tuple(dict.fromkeys(("openid", *entry.scopes))), groups_claim=entry.groups_claim,
        groups=tuple(entry.groups),
    )  # fmt: skip


def _require_roles(place: str, groups: Iterable[GroupEntry], datasets: Collection[str]) -> None:
    """Refuse a group that gives nothing, or something that there is not."""
    for number, group in enumerate(groups):
        at = f"{place}.groups.{number}"
        if (group.role is None) == (not group.platform_admin):
            raise PolicyError(at, "must give either a role on a dataset, or platform_admin = true")
        if group.role is None:
            if group.dataset or group.account:
                raise PolicyError(at, "must name no dataset and no account, as platform admins have none")
            continue
        if group.dataset not in datasets:
            raise PolicyError(f"{at}.dataset", "must be one of [datasets]")
        is_of_dataset = group.account == group.dataset or group.account.startswith(f"{group.dataset}/")
        if is_of_dataset != (group.role == "analyst") or (group.account and not is_of_dataset):
            requirement = f"must be given for analysts alone, such as {group.dataset}/research"
            raise PolicyError(f"{at}.account", requirement)
