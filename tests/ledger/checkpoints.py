"""Checkpoints of a ledger that need no ledger."""

from sfumato.ledger.core.store import GENESIS
from sfumato.ledger.keeping.checkpoints import Checkpoint
from sfumato.ledger.keeping.key import LedgerKey

KEY, OTHER = LedgerKey(bytes(32)), LedgerKey(bytes(range(32)))

TOTALS = (("hospital", "ε 1/2"), ("hospital/ward \ud800", "ε 1/4, δ 0"))


def noted(length, *, head=None, at=0, key=KEY, totals=TOTALS):
    head = head or (f"{length:064x}" if length else GENESIS)
    return Checkpoint.sealed(key, length=length, head=head, at=at, totals=totals)
