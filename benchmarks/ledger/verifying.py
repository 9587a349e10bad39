"""How long `sfumato ledger verify` takes for 100,000 entries, beside reading and hashing them, which is the least.

Half of the entries are charges of an account four levels deep, half are answers. Processor time, which a busy machine
does not change much; the target is 6 s for all that the command does.
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from million import build

from sfumato.cli.ledger.upkeep import verify
from sfumato.ledger.core.store import Chain
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.stores.sqlite import SQLiteStore

ENTRIES = 10**5
PAGE = 10_000


def seconds(action: Callable[[], object]) -> float:
    """How long an action keeps the processor busy."""
    start = time.process_time()
    action()
    return time.process_time() - start


def followed(path: Path) -> None:
    """Read all records and follow their hashes, and nothing else."""
    chain = Chain()
    with closing(SQLiteStore(path)) as store:
        while records := store.read(chain.length, limit=PAGE):
            for record in records:
                chain = chain.follow(record)
    assert chain.length == ENTRIES


def verified(path: Path) -> None:
    """What `Ledger.verify` does."""
    with open_ledger(path, must_exist=True) as ledger:
        assert ledger.verify().length == ENTRIES


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.db"
        build(path, entries=ENTRIES)
        least = seconds(lambda: followed(path))
        checked = seconds(lambda: verified(path))
        shown = seconds(lambda: verify(str(path)))
    print(f"a ledger of {ENTRIES:,} entries, seconds of processor time")
    print(f"  read and hash             {least:6.2f}")
    print(f"  open and verify           {checked:6.2f}   {checked / least:5.1f}×")
    print(f"  sfumato ledger verify     {shown:6.2f}   {shown / least:5.1f}×   (target 6)")


if __name__ == "__main__":
    main()
