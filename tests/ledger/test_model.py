"""Random programs on the ledger against a model that adds up a plain list."""

from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.ledger.accounts import people, reserve

from sfumato.errors import BudgetExceededError
from sfumato.ledger.entry import Part
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.memory import MemoryStore
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation

BUDGET = ApproxDP(2, "3e-6")
PARTS_PER_UNIT = {"ward": 1, "day": 2}
EPSILONS = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(3, 10), Fraction(1, 2)])
DELTAS = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 10**6)])
PARTS = st.none() | st.tuples(st.sampled_from(sorted(PARTS_PER_UNIT)), st.sampled_from("ABCDEF"))


def model_spent(charges, coordinate, factor):
    """What charges cost in one coordinate: all outside partitions, and the k dearest parts of each partition."""
    total = sum((charge[coordinate] for part, charge in charges if part is None), Fraction(0))
    for partition, most in PARTS_PER_UNIT.items():
        sums = {}
        for part, charge in charges:
            if part is not None and part[0] == partition:
                sums[part[1]] = sums.get(part[1], Fraction(0)) + charge[coordinate]
        total += sum(sorted(sums.values(), reverse=True)[: most * factor])
    return total


class Programs(RuleBasedStateMachine):
    @initialize(relation=st.sampled_from(NeighboringRelation))
    def open(self, relation):
        self.store = MemoryStore()
        self.ledger = Ledger(self.store)
        self.ledger.open_account(people(BUDGET, relation))
        self.factor = 2 if relation is NeighboringRelation.REPLACE_ONE else 1
        self.charges, self.reservations, self.answers = [], [], {}

    @rule(epsilon=EPSILONS, delta=DELTAS, part=PARTS)
    def reserve(self, epsilon, delta, part):
        after = [*self.charges, (part, (epsilon, delta))]
        affordable = self.spent(after)[0] <= BUDGET.epsilon and self.spent(after)[1] <= BUDGET.delta
        named = part and Part(partition=part[0], value=part[1], max_parts_per_unit=PARTS_PER_UNIT[part[0]])
        try:
            self.reservations.append(reserve(self.ledger, epsilon, delta, named))
        except BudgetExceededError:
            assert not affordable
        else:
            assert affordable
            self.charges = after

    @precondition(lambda self: self.reservations)
    @rule(key=st.sampled_from("abc"), data=st.data())
    def commit(self, key, data):
        reservation = self.reservations.pop(data.draw(st.integers(0, len(self.reservations) - 1)))
        self.ledger.commit(reservation, key=key, answer=reservation.request)
        self.answers.setdefault(key, reservation.request)

    @rule()
    def reopen(self):
        self.ledger = Ledger(self.store)

    @invariant()
    def agree(self):
        spent = self.ledger.spent("people")
        assert (spent.epsilon, spent.delta) == self.spent(self.charges)
        assert spent <= BUDGET
        assert {key: self.ledger.answer("people", key) for key in self.answers} == self.answers

    def spent(self, charges):
        return tuple(model_spent(charges, coordinate, self.factor) for coordinate in (0, 1))


TestPrograms = Programs.TestCase
TestPrograms.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
