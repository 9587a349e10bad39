"""Accounts of streams, and counters without noise worth the name."""

from sfumato.mechanisms.continual.binary_tree import BinaryTree
from sfumato.privacy.guarantees import PureDP
from sfumato.streams.counting.counter import Counter
from sfumato.streams.keeping.account import StreamSession

LOUD = 100
"""An ε at which no noise is drawn in a lifetime, in trees of a few levels."""


BUDGET = PureDP(10_000)


def stream(folder=None, *, budget=BUDGET, unit="visitor", **options):
    """An account; with a folder, in a ledger there."""
    ledger = None if folder is None else str(folder / "ledger.db")
    return StreamSession("visits", budget=budget, unit=unit, ledger=ledger, **options)


def counter(session, *, horizon=8, epsilon=LOUD, mechanism=BinaryTree, **options):
    """A counter of a few steps that shows what it counts."""
    return Counter(session=session, mechanism=mechanism, horizon=horizon, epsilon=epsilon, **options)
