"""`sfumato curator check`: what a careful operator looks at, each with what was seen and what to do about it.

Nothing is changed, and no data of people is read.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path

from sfumato.errors import SfumatoError
from sfumato.server.config import load_curator
from sfumato.server.identity.database import utc_now
from sfumato.server.operations.files import examine_files, examine_tls, ledger_folder
from sfumato.server.operations.findings import Finding, failure, worst_first
from sfumato.server.operations.machine import examine_machine, examine_processes
from sfumato.server.operations.people import examine_datasets
from sfumato.server.operations.stores import examine_database, examine_ledger


def check_curator(
    config: Path, *, backups: Path | None = None, is_deep: bool = False, now: Callable[[], datetime] = utc_now
) -> tuple[Finding, ...]:
    """Everything about a server that can be looked at from its machine, the worst findings first.

    Args:
        config: The curator's file.
        backups: The folder of backups, if it is known.
        is_deep: Whether every entry of the ledger is verified.
        now: Tells the time in UTC.

    Returns:
        The findings, also those that are fine.
    """
    try:
        curator = load_curator(config)
    except SfumatoError as error:
        return (failure("the curator's file", str(error), "docs/how-to/server/start.md"),)
    parts: dict[str, Callable[[], Iterable[Finding]]] = {
        "files": lambda: examine_files(curator, config, backups),
        "TLS": lambda: examine_tls(curator, now()),
        "datasets": lambda: examine_datasets(curator),
        "ledger": lambda: examine_ledger(curator, is_deep=is_deep),
        "database": lambda: examine_database(curator),
        "machine": lambda: examine_machine(curator),
        "processes": lambda: examine_processes(curator),
    }
    with ledger_folder(curator):
        found = [finding for subject, examine in parts.items() for finding in examined(subject, examine)]
    return worst_first(found)


def examined(subject: str, examine: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of an examination; one that cannot go on is a failure itself.

    Args:
        subject: What is examined.
        examine: Finds.
    """
    try:
        yield from examine()
    except SfumatoError as error:
        yield failure(subject, str(error), "see the message")
    except OSError as error:
        yield failure(subject, error.strerror or type(error).__name__, "see that this user may read it")
