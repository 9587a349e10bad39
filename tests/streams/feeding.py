"""Counters whose noise is nothing but for one run in e^100, so that tests see what counts; and a clock to set."""

from datetime import datetime
from itertools import pairwise

import sfumato as sf
from sfumato.streams.counting.counter import Counter
from sfumato.streams.counting.measures import EventCount
from sfumato.streams.keeping.account import StreamSession
from sfumato.streams.sources.feed import Feed
from sfumato.streams.sources.ticks import Ticks, moment_of

DAYS = Ticks(start="2026-01-01", every="day")
EPSILON = 2_000
BUDGET = sf.PureDP(10**9)


class SetClock:
    """Public time, as a test sets it."""

    def __init__(self, moment="2026-01-01"):
        self.set(moment)

    def set(self, moment):
        self.moment = moment_of(moment)

    def __call__(self):
        return self.moment


def counter_of(session=None, *, horizon=9, **options):
    session = StreamSession("visits", budget=BUDGET) if session is None else session
    made = {"mechanism": sf.mechanisms.BinaryTree, "epsilon": EPSILON, "measure": EventCount()} | options
    return Counter(session=session, horizon=horizon, **made)


def feed_of(clock, counter=None, *, ticks=DAYS, **options):
    return Feed(counter_of() if counter is None else counter, ticks=ticks, now=clock, **options)


def added(released):
    """What each tick added to the total before it."""
    totals = [0, *released.values.tolist()] if released.first_step == 1 else released.values.tolist()
    return [one - before for before, one in pairwise(totals)]


def day(number, hour=12):
    return datetime(2026, 1, number, hour)  # noqa: DTZ001 # without a zone it is UTC
