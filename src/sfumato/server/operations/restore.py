"""A backup becomes a server again, elsewhere: verified first, and never with a ledger that passes for the newest one.

**Guarantee**: the ledger that is restored is refused until somebody declares what was spent since the backup; and that
may not be less than what releases cost that the database knows and the ledger does not.

Proof: proofs/server/operations/backup.md.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from sqlalchemy import select

from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.core.entry import Reserved, Shared
from sfumato.ledger.keeping.files import locked, synced
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.codec import decode_guarantee
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.server.config import Curator
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import RELEASES
from sfumato.server.operations.backup import ELSEWHERE, made_folder
from sfumato.server.operations.manifest import Manifest, hash_of, telling_of_files, verified_manifest

_PATIENCE: Final = 1.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was restored.

    Attributes:
        manifest: The list of the backup.
        ledger: The file of the ledger; None if it is on a server.
        database: The file of the database; None if it is on a server.
        to_do: What else has to be done by hand.
    """

    manifest: Manifest
    ledger: Path | None
    database: Path | None
    to_do: tuple[str, ...]


@telling_of_files()
def restore(source: Path, to: Path, *, keys: Path | None = None) -> Restored:
    """Copy a verified backup into a new folder. Its ledger cannot be used before somebody declares what was spent.

    Args:
        source: The folder of the backup.
        to: A new folder, which is that of the curator's file afterwards.
        keys: A folder with the ledger's key and the secret of API keys, if they are not in the backup.

    Raises:
        ParameterError: The backup is damaged, the folder is not empty, or a file cannot be copied.
    """
    manifest = verified_manifest(source)
    made_folder(to)
    for file in manifest.files:
        _placed(source / file.place, to / file.place)
        if hash_of(to / file.place) != file.sha256:
            raise ParameterError("from", str(source), f"was changed meanwhile: {file.place}; use another backup")
    ledger, database = (_only(manifest, role, to) for role in ("ledger", "database"))
    to_do = [f"run in {source}: {command}" for command in manifest.put_back]
    for place in manifest.kept_apart:
        to_do += _given(keys, to / place)
    for place in (*(file.place for file in manifest.files), *manifest.kept_apart):
        if place.startswith(f"{ELSEWHERE}/"):
            to_do.append(f"move {place} to its place, or set its path in curator.toml")
    return Restored(manifest=manifest, ledger=ledger, database=database, to_do=tuple(to_do))


def _placed(source: Path, path: Path) -> None:
    """Copy a file to a place where only its owner may read it."""
    folder = path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    shutil.copyfile(source, path)
    synced(path)
    synced(folder)


def _only(manifest: Manifest, role: str, to: Path) -> Path | None:
    return next((to / file.place for file in manifest.of_role(role)), None)


def _given(keys: Path | None, path: Path) -> list[str]:
    """Copy a secret from where it was kept, or say that it has to be."""
    kept = None if keys is None else keys / path.name
    if kept is None or not kept.is_file():
        return [f"put {path.name} at {path}, from the place where it was kept, and: chmod 600 {path}"]
    _placed(kept, path)
    return []


@contextmanager
def without_worker(curator: Curator) -> Iterator[None]:
    """Meanwhile no worker of a curator runs, which would spend what is being declared.

    Raises:
        ParameterError: One runs.
    """
    curator.make_state()
    try:
        with locked(curator.state / "worker.lock", patience=_PATIENCE):
            yield
    except TimeoutError:
        raise ParameterError("config", str(curator.state), "is in use by a server; end it first") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownReleases:
    """Releases of an account that were shown, and of whose charges the ledger does not know.

    Attributes:
        account: The account.
        count: How many.
        cost: What they cost together.
    """

    account: str
    count: int
    cost: PureDP | ApproxDP


def unknown_releases(database: str, ledger: Ledger) -> tuple[UnknownReleases, ...]:
    """What a database shows that a ledger never charged: so the ledger is older, and this much was spent since.

    Args:
        database: Where the database is.
        ledger: The ledger that was restored.

    Raises:
        LedgerError: The cost of one is not known.
    """
    known = {entry.request for entry in ledger.entries() if isinstance(entry, Reserved | Shared)}
    counted = Counter[str]()
    costs: dict[str, dict[str, PureDP | ApproxDP]] = {}
    with closing(Database(database)) as opened, opened.reading() as connection:
        for account, document in connection.execute(select(RELEASES.c.account, RELEASES.c.document)):
            receipt = json.loads(document)["receipt"]
            cost = decode_guarantee(receipt["guarantee"])
            if receipt["request"] in known:
                continue
            if not isinstance(cost, PureDP | ApproxDP):
                raise LedgerError(account, "was shown a release without a price; find out who changed the database")
            counted[account] += 1
            # All queries of a batch have one request, and each of their receipts says what the batch cost.
            costs.setdefault(account, {})[receipt["request"]] = cost
    return tuple(
        UnknownReleases(
            account=account,
            count=counted[account],
            cost=guarantee(
                sum((cost.epsilon for cost in each.values()), Fraction(0)),
                sum((cost.delta for cost in each.values()), Fraction(0)),
            ),
        )
        for account, each in sorted(costs.items())
    )


def require_declared(unknown: Iterable[UnknownReleases], declared: Mapping[str, PureDP | ApproxDP]) -> None:
    """Refuse to declare less for an account than releases cost that the ledger does not know of.

    Raises:
        ParameterError: Less is declared.
    """
    for one in unknown:
        stated = declared.get(one.account, PureDP(0))
        if stated.epsilon < one.cost.epsilon or stated.delta < one.cost.delta:
            requirement = f"must be at least {one.cost}: so much did {one.count} releases cost that the ledger lacks"
            raise ParameterError("--spent", f"{one.account}={stated}", requirement)
