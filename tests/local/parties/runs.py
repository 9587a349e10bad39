"""Whole runs of a secure sum, in one process, with parties that drop out at any step."""

from sfumato.local import Party, PartySum, SecureSum
from sfumato.mechanisms import DistributedLaplace


def of(parties=4, max_dropouts=2, *, low=0, high=100, l1_sensitivity=1, epsilon=2, **options):
    noise = DistributedLaplace(
        parties=parties, l1_sensitivity=l1_sensitivity, epsilon=epsilon, max_dropouts=max_dropouts
    )
    return PartySum(noise, low=low, high=high, **options)


def exactly(parties=4, max_dropouts=2, **options):
    """Without noise, as nobody moves the sum: so what comes out is the exact sum of the numbers."""
    return of(parties, max_dropouts, l1_sensitivity=0, **options)


class Run:
    """A run, step by step; a party of `absent[step]` stops before that step."""

    def __init__(self, protocol, values, *, absent=None):
        self.values, self.absent = values, absent or {}
        self.box = SecureSum(protocol)
        self.parties = [Party(protocol, number, self.box.session) for number in range(protocol.parties)]
        self.masked, self.revealed = {}, {}

    def present(self, *steps):
        gone = {number for step in ("join", "deal", "add", "reveal") for number in self.absent.get(step, ())}
        later = {number for step in steps for number in self.absent.get(step, ())}
        return [party for party in self.parties if party.number not in gone or party.number in later]

    def joined(self):
        for party in self.present("deal", "add", "reveal"):
            self.box.join(party.keys())
        return self

    def dealt(self):
        self.joined()
        roster = self.box.roster()
        for party in self.present("add", "reveal"):
            self.box.deal(party.number, party.deal(roster))
        return self

    def added(self):
        self.dealt()
        for party in self.present("reveal"):
            self.masked[party.number] = party.contribute(self.values[party.number], self.box.dealt_to(party.number))
            self.box.add(party.number, self.masked[party.number])
        return self

    def done(self):
        self.added()
        senders = self.box.senders()
        for party in self.present():
            self.revealed[party.number] = party.reveal(senders)
            self.box.reveal(self.revealed[party.number])
        return self
