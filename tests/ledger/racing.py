"""Many threads of many processes spend at once, until every account refuses."""

from collections import Counter, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from fractions import Fraction

from tests.ledger.processes import PATIENCE, ended, started, wire

from sfumato.errors import BudgetExceededError
from sfumato.ledger.core.entry import Opened, Reserved
from sfumato.ledger.core.prices import price
from sfumato.ledger.core.reservations import Asked
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.events import GaussianEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

PROCESSES, THREADS = 8, 16

NOISE = GaussianEvent(10)  # ρ = 1/(2·10²)
CHARGE = ApproxDP("0.6", "1e-6")
ORDERS = RenyiDP((2, 8), (1, 1))
ONE = {
    "epsilon": {"epsilon": CHARGE.epsilon, "delta": CHARGE.delta},
    "rho": {"rho": Fraction(1, 200), "delta": Fraction(0)},
    "orders": dict(price(NOISE, CHARGE, account="any", budget=ORDERS, relation=ADD_OR_REMOVE_ONE).numbers),
}
"""What one question costs in each measure."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account that can pay so many questions, in its own measure."""

    name: str
    above: str | None
    measure: str
    count: int

    def opened(self) -> Opened:
        one = [number * self.count for number in ONE[self.measure].values()]
        match self.measure:
            case "epsilon":
                budget = ApproxDP(*one)
            case "rho":
                budget = ZCDP(*one)
            case _:
                budget = RenyiDP(ORDERS.orders, tuple(one[:2]), one[2])
        parents = () if self.above is None else (self.above,)
        return Opened(
            account=self.name, budget=budget, neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="each row",
            parents=parents,
        )  # fmt: skip


def tree(name, *rows):
    """A tree from lines such as ("team", "dataset", "rho", 40); names begin with the tree's own."""
    return tuple(
        Account(f"{name}/{own}", None if above is None else f"{name}/{above}", measure, count)
        for own, above, measure, count in rows
    )


def leaves(accounts):
    """Those that have none below."""
    above = {account.above for account in accounts}
    return tuple(account.name for account in accounts if account.name not in above)


def ask(ledger, account, asked):
    """Pay for one question."""
    return ledger.reserve(account, event=NOISE, charge=CHARGE, question="how many?", asked=asked)


def spend(names, ledger, thread):
    """Ask in one account after the other until each refuses; how often each paid, and which accounts refused."""
    granted, refused, waiting = Counter(), set(), deque(names)
    waiting.rotate(thread)
    while waiting:
        try:
            ask(ledger, waiting[0], Asked())
        except BudgetExceededError as error:
            refused.add(error.account or waiting[0])
            waiting.popleft()
        else:
            granted[waiting[0]] += 1
            waiting.rotate(-1)
    return granted, refused


def ask_the_same(name, key, ledger, _thread):
    """Ask what all others ask under the same key."""
    reservation = ask(ledger, name, Asked(principal="ann", idempotency_key=key, body="how many?"))
    return reservation.request, reservation.is_repeated


def racer(home, connection):
    """The work of one process: whatever it is told, in all of its threads at once."""
    with home.opened() as ledger, ThreadPoolExecutor(THREADS) as threads:
        connection.send("ready")
        while (work := connection.recv()) is not None:
            told = [threads.submit(work, ledger, thread) for thread in range(THREADS)]
            connection.send([one.result() for one in told])


class Race:
    """Processes that are there for several rounds, so that each begins at once for all.

    Args:
        home: Of the ledger.
    """

    def __init__(self, home):
        self._ends, self._racers = [], []
        for _ in range(PROCESSES):
            own, other = wire()
            self._racers.append(started(racer, home, other))
            other.close()
            self._ends.append(own)
        assert self._heard() == ["ready"] * PROCESSES

    def run(self, work):
        """What every thread of every process says after some work."""
        for end in self._ends:
            end.send(work)
        return [one for told in self._heard() for one in told]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with ExitStack() as ending:
            for end, process in zip(self._ends, self._racers, strict=True):
                ending.callback(ended, process)
                ending.callback(end.close)
                ending.callback(_tell_to_end, end)

    def _heard(self):
        assert all(end.poll(PATIENCE) for end in self._ends)
        return [end.recv() for end in self._ends]


def _tell_to_end(end):
    with suppress(BrokenPipeError):  # it has ended, with an error of its own
        end.send(None)


def paid_in(entries):
    """What every account paid and how often, added up from the entries alone."""
    above, paid, times = {}, defaultdict(Counter), Counter()
    for entry in entries:
        if isinstance(entry, Opened):
            above[entry.account] = (entry.account, *(name for parent in entry.parents for name in above[parent]))
        if isinstance(entry, Reserved):
            prices = {price.account: dict(price.amounts.numbers) for price in entry.prices}
            for name in above[entry.account]:
                times[name] += 1
                paid[name].update(prices.get(name) or ONE["epsilon"])
    return paid, times
