"""Files of a server, examined: who may read them, on which disks they are, and how long the certificate lasts."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sfumato.ledger.keeping.given_keys import source_of_keys
from sfumato.ledger.keeping.key import holds_secret
from sfumato.ledger.keeping.noting import SINK
from sfumato.ledger.locations import CHECKPOINT, FOLDER, LedgerPlace, place_of
from sfumato.server.config import Curator
from sfumato.server.operations.findings import Finding, advice, failure, fine, warning

SQLITE: Final = "sqlite:///"
_OF_OTHERS: Final = 0o077
_WRITTEN_BY_OTHERS: Final = 0o022
_SOON: Final = timedelta(days=30)


@contextmanager
def ledger_folder(curator: Curator) -> Iterator[None]:
    """Meanwhile the key of a ledger in PostgreSQL is looked for where a server has it, if no variable says where.

    Args:
        curator: What the curator's file declares.
    """
    is_named = FOLDER in os.environ
    os.environ.setdefault(FOLDER, str(curator.state))
    try:
        yield
    finally:
        if not is_named:
            del os.environ[FOLDER]


def examine_files(curator: Curator, config: Path, backups: Path | None) -> Iterator[Finding]:
    """Who may read and write the files of a server, and on which disks they lie.

    Args:
        curator: What the curator's file declares.
        config: That file.
        backups: The folder of backups, if the operator names it.
    """
    place = place_of(curator.ledger)
    yield from _modes(curator, config, place)
    yield from _key(place, backups)
    yield from _checkpoint(place)


def _modes(curator: Curator, config: Path, place: LedgerPlace) -> Iterator[Finding]:
    private = {"state": curator.state, "secret of API keys": curator.secret, "ledger's key": place.key}
    private["checkpoint"] = place.checkpoint().path
    if not place.is_on_server:
        private["ledger"] = place.beside
    if curator.database.startswith(SQLITE):
        private["database"] = Path(curator.database.removeprefix(SQLITE))
    if curator.tls is not None:
        private["key of the certificate"] = curator.tls[1]
    for name, provider in curator.providers.items():
        if provider.secret_file is not None:
            private[f"secret at provider {name}"] = provider.secret_file
    if "@" in curator.ledger + curator.database:  # which holds a password, or may one day
        private["curator's file, with an address of a database"] = config
    files = {name: path for name, path in private.items() if path.exists()}
    user = curator.state.stat().st_uid if curator.state.exists() else os.geteuid()
    for name, path in files.items():
        if path.stat().st_mode & _OF_OTHERS:
            mode = "700" if path.is_dir() else "600"
            yield failure(name, f"others may use {path}", f"chmod {mode} {path}")
        if path.stat().st_uid != user and path not in {config, *(curator.tls or ())}:
            fix = f"chown --reference={curator.state} {path}"
            yield failure(name, f"{path} belongs to another user than the state folder", fix)
    settings = {"curator's file": config} | {f"policy of {name}": one.policy for name, one in curator.datasets.items()}
    for name, path in settings.items():
        if path.exists() and path.stat().st_mode & _WRITTEN_BY_OTHERS:
            yield failure(name, f"others may change {path}", f"chmod go-w {path}")
    yield fine("modes", f"{len(files) + len(settings)} files and folders were looked at")


def _key(place: LedgerPlace, backups: Path | None) -> Iterator[Finding]:
    if not place.key.exists():
        return
    if not holds_secret(place.key):
        yield fine("ledger's key", f"is given by {source_of_keys()}")
    else:
        seen = f"{place.key} lies beside the ledger, so whoever copies the disk has both"
        yield advice("ledger's key", seen, "move it to a secret store: docs/how-to/ledger/key.md")
    if backups is None:
        yield advice("backups", "it is not known where they are", "name their folder with --backups FOLDER")
        return
    if _disk(backups) == _disk(place.key):
        yield warning("backups", f"{backups} is on the disk of the server", "keep backups on another disk, elsewhere")
    for path in (one for pattern in ("*.key", "keys.secret") for one in sorted(backups.rglob(pattern))):
        if path.name != place.key.name or holds_secret(path):
            yield warning("backups", f"{path} is a secret beside the backup", "keep keys apart from backups")


def _checkpoint(place: LedgerPlace) -> Iterator[Finding]:
    path = place.checkpoint().path
    if _disk(path) != _disk(place.beside) or os.environ.get(SINK):
        yield fine("checkpoint", "is on another disk than the ledger, or is sent elsewhere")
    else:
        fix = f"set {CHECKPOINT} or {SINK}: docs/how-to/ledger/checkpoint.md"
        yield warning("checkpoint", f"{path} is on the disk of the ledger: both can be put back together", fix)


def _disk(path: Path) -> int:
    """The number of the disk that a file is on, or will be."""
    while not path.exists():
        path = path.parent
    return path.stat().st_dev


def examine_tls(curator: Curator, now: datetime) -> Iterator[Finding]:
    """Whether others can reach the server, by what, and how long."""
    if curator.tls is None:
        if curator.is_loopback:
            yield fine("TLS", "only this machine reaches the server")
        else:
            fix = "see that a proxy with a certificate is the only way to it, or add [tls]"
            yield warning("TLS", f"`insecure = true` at {curator.host}: keys and answers are sent as they are", fix)
        return
    try:
        until = certified_until(*curator.tls)
    except ssl.SSLError as error:
        fix = "renew the certificate, and give the key that belongs to it: docs/how-to/server/operate.md"
        yield failure("TLS", f"the certificate cannot be used: {error.reason or type(error).__name__}", fix)
        return
    if until - now < _SOON:
        fix = "renew it, and send SIGHUP to the server: docs/how-to/server/operate.md"
        yield warning("TLS", f"the certificate ends on {until:%Y-%m-%d}", fix)
    else:
        yield fine("TLS", f"the certificate lasts until {until:%Y-%m-%d}")


def certified_until(certificate: Path, key: Path) -> datetime:
    """Until when a certificate is valid, whose key this is.

    A server and a client shake hands in memory; the client trusts this certificate alone.

    Raises:
        ssl.SSLError: It is none, has expired, or the key is another one's.
    """
    ours, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ours.load_cert_chain(certificate, key)
    theirs.load_verify_locations(certificate)
    theirs.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    theirs.check_hostname = False
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    server, client = ours.wrap_bio(there, back, server_side=True), theirs.wrap_bio(back, there)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = client.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(shown["notAfter"])), UTC)
