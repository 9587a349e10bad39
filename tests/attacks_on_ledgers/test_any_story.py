"""Stories of any length, told at random, against books that are kept by hand: the ledger and they always agree."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from tests.attacks_on_ledgers.census import Clock, asked, believed, census, ledger_of
from tests.session.opened import recorded
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.errors import BudgetExceededError, EngineError, LedgerError
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow

SEEDS = 60 if FULL_SIZE else 3
STEPS = 60
PRICES = ("0.05", "0.1", "0.3")
WINDOWS = {"census": CalendarWindow("month"), "census/ann": RollingWindow(7), "census/bob": None, "census/bob/x": None}
BUDGETS = {"census": "0.9", "census/ann": "0.4", "census/bob": "0.8", "census/bob/x": "0.5", "census/for life": "2.4"}
PATHS = {
    "census": ("census", "census/for life"),
    "census/ann": ("census/ann", "census", "census/for life"),
    "census/bob": ("census/bob", "census", "census/for life"),
    "census/bob/x": ("census/bob/x", "census/bob", "census", "census/for life"),
}
ASKERS = tuple(PATHS)


class Books:
    """What was charged to whom and when, and which answers there are; added up anew whenever somebody asks."""

    def __init__(self):
        self.charges = []
        self.answers = {}
        self.budgets = {name: Fraction(budget) for name, budget in BUDGETS.items()}
        self.closed = set()
        self.now = self.recorded = 0

    def spent(self, account):
        """Within the account's window."""
        return sum((price for at, payers, price in self.charges if account in payers and self._counts(account, at)))

    def _counts(self, account, at):
        match WINDOWS.get(account):
            case CalendarWindow():
                return _month(at) == _month(self.now)
            case RollingWindow(days):
                return self.now - at < days
            case _:
                return True

    def payers(self, account, question, *, sharing):
        """Who pays for a question; above one that shares it nobody pays again."""
        names = [name for name in ASKERS if (name, *question) in self.answers]
        first = min(names, key=lambda name: self.answers[name, *question]) if sharing and names else None
        return tuple(name for name in PATHS[account] if first is None or name not in PATHS[first])

    def has_room(self, payers, price):
        return all(self.spent(name) + price <= self.budgets[name] for name in payers)


def _month(days):
    moment = datetime(2024, 10, 4, 12, tzinfo=UTC) + timedelta(days=days)
    return moment.year, moment.month


class Story:
    """A session, the clock that its ledger believes, and the books."""

    def __init__(self, path, clock, seed, *, sharing):
        self.path, self.clock, self.sharing = path, clock, sharing
        self.rng, self.books, self.values = np.random.default_rng(seed), Books(), {}
        self.session = None
        self.reopen()

    def reopen(self):
        """As after a restart, which remembers no time but that of the last entry."""
        if self.session is not None:
            self.session.close()
        self.books.now = max(self.books.recorded, self.clock.days)
        self.session, self.engine = recorded(
            census(
                ledger=self.path, budget=sf.PureDP(self.books.budgets["census"]), window=WINDOWS["census"],
                lifetime=sf.PureDP(BUDGETS["census/for life"]), shares_answers=self.sharing,
            )
        )  # fmt: skip
        ann, bob = (
            self.session.open_account(
                name, budget=sf.PureDP(BUDGETS[f"census/{name}"]), window=WINDOWS[f"census/{name}"]
            )
            for name in ("ann", "bob")
        )
        self.views = (self.session, ann, bob, bob.open_account("x", budget=sf.PureDP(BUDGETS["census/bob/x"])))

    def step(self):
        match int(self.rng.integers(20)):
            case 0:
                self.reopen()
            case 1 | 2 | 3:
                self.clock.days += int(self.rng.choice([-20, -1, 1, 3, 7, 20, 35]))
            case 4:
                self.ask(fails=True)
            case 5:
                self.close()
            case _:
                self.ask()
        self.books.now = max(self.books.now, self.clock.days)

    def close(self):
        """Close the account of an analyst of an analyst, now and then."""
        self.books.now = max(self.books.now, self.clock.days)
        if self.rng.integers(4) == 0:
            self.views[3].close_account(reason="the end")
            self.books.closed.add("census/bob/x")
            self.books.recorded = self.books.now

    def ask(self, *, fails=False):
        self.books.now = max(self.books.now, self.clock.days)
        place, age = int(self.rng.integers(4)), int(self.rng.integers(6))
        account, epsilon = ASKERS[place], str(self.rng.choice(PRICES))
        question, price = (age, epsilon), Fraction(epsilon)
        is_stored = (account, *question) in self.books.answers
        payers = self.books.payers(account, question, sharing=self.sharing)
        is_drawn = not is_stored and account in payers and len(payers) == len(PATHS[account])
        expected = self._expected(account, payers, price, is_stored=is_stored, fails=fails and is_drawn)
        self.engine._fails = fails
        assert self._outcome(account, self.views[place], question) is expected
        self.engine._fails = False
        if not is_stored and expected in (None, EngineError):
            self.books.charges.append((self.books.now, payers, price))
            self.books.recorded = self.books.now

    def _outcome(self, account, view, question):
        """The kind of error, or None and the answer is noted."""
        age, epsilon = question
        try:
            release = asked(view, age, epsilon=epsilon)
        except (BudgetExceededError, LedgerError, EngineError) as error:
            return type(error)
        self._heard(account, question, release)
        return None

    def _expected(self, account, payers, price, *, is_stored, fails):
        if is_stored:
            return None
        if account in self.books.closed:
            return LedgerError
        if not self.books.has_room(payers, price):
            return BudgetExceededError
        return EngineError if fails else None

    def _heard(self, account, question, release):
        """The same account hears the same value for ever; where answers are shared, everybody does."""
        value = release["n"][0].value
        assert self.values.setdefault((() if self.sharing else account, *question), value) == value
        self.books.answers.setdefault((account, *question), len(self.books.answers))

    def agrees(self):
        ledger = ledger_of(self.session)
        return all(ledger.spent(name).epsilon == self.books.spent(name) for name in BUDGETS)


@pytest.mark.parametrize("sharing", [False, True])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_30_whatever_happens_every_account_has_spent_what_the_books_say(tmp_path, monkeypatch, seed, sharing):
    """And of 38, 40, 42 and 45 what a story can tell: clocks, collusion, failures, stored answers."""
    clock = Clock()
    believed(clock, monkeypatch)
    story = Story(tmp_path / "ledger.db", clock, seed, sharing=sharing)
    for _ in range(STEPS):
        story.step()
        assert story.agrees()
    ledger_of(story.session).verify()
    story.session.close()
    assert story.books.charges
