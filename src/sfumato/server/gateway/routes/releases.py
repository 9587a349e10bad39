"""Routes of releases: what an account was shown, to be listed and fetched again in several formats, at no cost."""

import json
import subprocess
import sys
from contextlib import suppress
from enum import StrEnum
from threading import BoundedSemaphore
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from sfumato.errors import BusyError, NotFoundError, ParameterError
from sfumato.server.gateway.access import Anybody, Caller, Guarded
from sfumato.server.identity.people import Action
from sfumato.server.identity.releases import KeptRelease
from sfumato.session.releases.documents import decode_release
from sfumato.session.releases.formats import csv_text

router = APIRouter(prefix="/v1/releases", tags=["releases"], route_class=Guarded)

_MOST: Final = 1_000
_AT_ONCE: Final = BoundedSemaphore(2)
_SECONDS: Final = 60
_RETRY_AFTER: Final = 2


class Format(StrEnum):
    """What a release can be fetched as."""

    JSON = "json"
    CSV = "csv"
    ARROW = "arrow"
    PARQUET = "parquet"


_MEDIA: Final = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.ARROW: "application/vnd.apache.arrow.stream",
    Format.PARQUET: "application/vnd.apache.parquet",
}


@router.get("")
def releases(
    who: Anybody, dataset: str, after: str | None = None, limit: Annotated[int, Query(ge=1, le=_MOST)] = 100
) -> list[dict[str, Any]]:
    """The releases that were shown to the account of whoever asks, the oldest first."""
    with who.doing(Action.READ_OWN_RELEASES, dataset) as doing:
        account = doing.principal.account(dataset)
        if account is None:
            return []
        return [_shown(one) for one in who.gateway.releases.list(account, after=after, limit=limit)]


def latest(who: Caller, dataset: str, *, limit: int) -> list[dict[str, Any]]:
    """The releases that were shown last to the account of whoever asks, the latest first; for pages."""
    with who.doing(Action.READ_OWN_RELEASES, dataset):
        account = who.principal.account(dataset)
        return [] if account is None else [_shown(one) for one in who.gateway.releases.latest(account, limit=limit)]


@router.get("/{release}", responses={200: {"content": {media: {} for media in _MEDIA.values()}}})
def release(release: str, who: Anybody, format: Format = Format.JSON) -> Response:  # noqa: A002 # its name in the address
    """A release as it was first shown, byte for byte; or in another format."""
    kept = None
    with suppress(NotFoundError):
        kept = who.gateway.releases.get(release)
    if kept is None or kept.account != who.principal.account(kept.dataset):
        raise who.refused(Action.READ_OWN_RELEASES, "release", release)
    with who.doing(Action.READ_OWN_RELEASES, kept.dataset, target=release):
        if format is Format.JSON:
            return Response(kept.document, media_type="application/json")
        with who.gateway.places.taken(who.principal.name):  # which takes long: so nobody keeps all threads
            return _as(kept, format)


def _as(kept: KeptRelease, wanted: Format) -> Response:
    name = f'attachment; filename="{kept.id}.{wanted}"'
    if wanted is Format.CSV:
        content = csv_text(decode_release(json.loads(kept.document))).encode()
    else:
        content = _converted(kept.document, wanted)
    return Response(content, media_type=_MEDIA[wanted], headers={"Content-Disposition": name})


def _converted(document: bytes, wanted: Format) -> bytes:
    """A release in a format of Arrow, made by another process: this one never loads what reads data."""
    if not _AT_ONCE.acquire(timeout=_SECONDS):
        raise BusyError("releases are being written", _RETRY_AFTER)
    try:
        command = [sys.executable, "-m", "sfumato.session.releases.formats", wanted.value]
        done = subprocess.run(command, input=document, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603 # this package
    except subprocess.TimeoutExpired:
        raise BusyError("bytes for this format", _RETRY_AFTER) from None
    finally:
        _AT_ONCE.release()
    if done.returncode:
        raise ParameterError("format", wanted.value, "cannot hold this release; take json or csv")
    return done.stdout


def _shown(kept: KeptRelease) -> dict[str, Any]:
    receipt = json.loads(kept.document)["receipt"]
    return {
        "id": kept.id, "dataset": kept.dataset, "account": kept.account, "principal": kept.principal,
        "at": kept.at.isoformat(), "question": receipt["question"], "guarantee": receipt["guarantee"],
        "data_version": receipt["data_version"], "policy_version": receipt["policy_version"],
    }  # fmt: skip
