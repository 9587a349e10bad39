"""What a ledger does, told in plain lists: the model against which random programs are played."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction

from sfumato.ledger.core.prices import price
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GaussianEvent, PureEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation

BUDGETS = {
    "pure": (PureDP(1), PureDP("0.5")),
    "approximate": (ApproxDP(2, "3e-6"), ApproxDP("0.7", "1e-6")),
    "rho": (ZCDP("0.1"), ZCDP("0.01")),
    "none": (NO_GUARANTEE, NO_GUARANTEE),
}
RELEASES = {
    "nothing": (PureEvent(0), PureDP(0)),
    "small": (PureEvent("0.1"), PureDP("0.1")),
    "large": (PureEvent("0.3"), PureDP("0.3")),
    "noise": (GaussianEvent(10), ApproxDP("0.6", "1e-6")),
}
IN_RHO = {
    name: price(*release, account="a", budget=ZCDP(1), relation=NeighboringRelation.REPLACE_ONE)["rho"]
    for name, release in RELEASES.items()
}
PARTS_PER_UNIT = {"ward": 1, "day": 2}


@dataclass
class Known:
    """What the model knows of an account."""

    kind: str
    budget: object
    above: set
    window: object
    is_closed: bool = False


@dataclass
class Model:
    """Accounts, and a plain list of all that was ever charged."""

    factor: int
    accounts: dict = field(default_factory=dict)
    charges: list = field(default_factory=list)  # (payers, time, ε, δ, ρ, part)

    def open(self, name, kind, budget, parents, window):
        above = {name}.union(*(self.accounts[parent].above for parent in parents))
        self.accounts[name] = Known(kind, budget, above, window)

    def charge(self, name, release, part, at, source=None):
        """The charge of a release, if all who pay can; None if one cannot."""
        paid = self.accounts[source].above if source else set()
        charge = RELEASES[release][1]
        new = (self.accounts[name].above - paid, at, charge.epsilon, charge.delta, IN_RHO[release], part)
        is_open = not any(self.accounts[one].is_closed for one in self.accounts[name].above)
        return new if is_open and all(self.fits(one, [*self.charges, new], at) for one in new[0]) else None

    def fits(self, name, charges, at):
        known = self.accounts[name]
        epsilon, delta, rho = self.spent(name, charges, at)
        match known.kind:
            case "rho":
                return rho <= known.budget.rho
            case "none":
                return True
            case _:
                return epsilon <= known.budget.epsilon and delta <= known.budget.delta

    def spent(self, name, charges, at):
        window = self.accounts[name].window if at is not None else None
        counted = [charge for charge in charges if name in charge[0] and is_within(window, charge[1], at)]
        return tuple(self.total([(charge[5], charge[number]) for charge in counted]) for number in (2, 3, 4))

    def total(self, costs):
        """All outside of partitions, and the dearest parts of each."""
        total = sum((cost for part, cost in costs if part is None), Fraction(0))
        for partition, most in PARTS_PER_UNIT.items():
            sums = [sum(cost for part, cost in costs if part == (partition, value)) for value in "ABC"]
            total += sum(sorted(sums, reverse=True)[: most * self.factor])
        return total


def is_within(window, charged, at):
    match window:
        case None:
            return True
        case RollingWindow(days=days):
            return at - charged < days * DAY
        case CalendarWindow():
            return month(charged) == month(at)


def month(at):
    moment = datetime.fromtimestamp(at / 10**6, UTC)
    return moment.year, moment.month
