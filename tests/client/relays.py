"""Federations in one process: a plan without a network, owners in threads, and a server's tables without HTTP."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
from sqlalchemy import select

from sfumato.client.federations import FederationNews
from sfumato.client.relayed import PHASES, FederationPlace
from sfumato.client.taking_part import FederationJournal, OwnersPart
from sfumato.local import PartySum
from sfumato.mechanisms.distributed.gaussian import DistributedGaussian
from sfumato.privacy.secret import Secret
from sfumato.server.identity.federations import Federations, FederationState, FederationTerms
from sfumato.server.identity.tables import FEDERATION_MESSAGES

NAMES = ("north", "south", "east", "west")
STEPS = 1 << 20
WIDTH = 3
SECRET = bytes(range(32))
QUIET = {"l2_sensitivity": STEPS, "l0_sensitivity": WIDTH, "rho": 10**9}
"""Noise of some tens of steps: no promise, but sums that can be checked."""

VALUES = [[1_000, 0, 0], [0, 2_000, 0], [0, 0, 3_000], [500, 500, 500]]
"""What each owner adds in the first round; in the next twice as much."""

NEAR = 400
"""How far noise takes the sum of two rounds, at most."""


class Plan:
    """What a federation asks of a plan, without a network: the weights are the sum of all noisy sums."""

    def __init__(self, parties=4, *, max_dropouts=2, rounds=2, **noise):
        self.noise = DistributedGaussian(parties=parties, max_dropouts=max_dropouts, **(QUIET | noise))
        self.rounds, self.public = rounds, SimpleNamespace(width=WIDTH, rounds=0)
        self.weights, self.shares, self.computed = np.zeros(WIDTH, dtype=np.int64), [], 0

    def document(self):
        return {"noise": str(self.noise), "rounds": str(self.rounds)}

    def contribution(self, owner):
        self.computed += 1
        return Secret(np.array(owner, dtype=np.int64) * (self.public.rounds + 1))

    def move(self, total, *, shares):
        self.weights = self.weights + np.array(total)
        self.public.rounds += 1
        self.shares.append(shares)

    def result(self):
        return self.weights


def agreed_of(plan, max_colluders=1):
    return PartySum(plan.noise, low=-STEPS, high=STEPS, numbers=WIDTH, max_colluders=max_colluders)


def terms_of(plan, names=NAMES, *, seconds=60.0, least=None):
    least = agreed_of(plan).least_shares if least is None else least
    return FederationTerms(
        parties=names, rounds=plan.rounds, least=least, seconds=seconds, message_characters=100_000,
        plan=plan.document(),
    )  # fmt: skip


class Direct:
    """A relay that asks the server's tables, as one person.

    Args:
        kept: The tables.
        person: Who asks.
        drops: What this person never sends: rounds and phases.
        late: Called once all others have sent theirs, to let the time of the phase pass.
        others: How many others send something then.
    """

    def __init__(self, kept: Federations, person, *, drops=(), late=None, others=3):
        self.kept, self.person, self.name, self.drops, self.posted = kept, person, "hospitals", set(drops), []
        self.late, self.others = late, others

    def news(self):
        terms, state = self.kept.terms(self.name), self.kept.state(self.name)
        return FederationNews(
            parties=terms.parties, rounds=terms.rounds, least=terms.least, plan=terms.plan,
            party=terms.number_of(self.person), sent=self.kept.sent(self.name, self.person),
            place=FederationPlace(**asdict(state)),
        )  # fmt: skip

    def send(self, place, message):
        if (place.round, place.phase) in self.drops or place in self.drops:
            if self.late is not None:
                while self._others_sent(place) < self.others:
                    time.sleep(0.002)
                self.late()
            return False
        self.posted.append((place, message))
        return self.kept.send(self.name, self.person, FederationState(**asdict(place)), message)

    def _others_sent(self, place):
        query = select(FEDERATION_MESSAGES.c.party).where(FEDERATION_MESSAGES.c.phase == PHASES.index(place.phase))
        with self.kept._database.reading() as connection:
            return len(connection.execute(query).all())

    def messages(self, place):
        found = self.kept.messages(self.name, FederationState(**asdict(place)))
        return found, FederationPlace(**asdict(self.kept.state(self.name)))

    def finish(self, number, result):
        return self.kept.finish(self.name, self.person, number, result)

    def result(self, number):
        return self.kept.result(self.name, number)


def part_of(relay, plan, value, folder, *, number, secret=SECRET, history=b"a federation"):
    """An owner's part; its samples are the numbers that it adds in the first round."""
    journal = FederationJournal(folder / f"{relay.person}.journal", history.hex())
    return OwnersPart(
        relay, plan, value, agreed=agreed_of(plan), secret=secret, number=number, history=history, journal=journal,
        training_seconds=0.0, pause=0.005,
    )  # fmt: skip


def all_run(parts):
    """Run the parts of all owners side by side; what each returns, or the error that it ends with."""
    with ThreadPoolExecutor(len(parts)) as pool:
        ended = [pool.submit(part.run) for part in parts]
    return [one.exception() for one in ended]


def total_of(numbers, rounds):
    """What some owners add in some rounds together."""
    return sum(np.array(VALUES[number]) * (at + 1) for at in rounds for number in numbers)
