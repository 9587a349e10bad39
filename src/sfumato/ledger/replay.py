"""From records to what is spent: the only way spending is ever computed.

    spent = Σ charges outside partitions + Σ over partitions of the k largest parts' sums

A reservation counts from the moment it is recorded, whether or not an answer was ever committed. States here change in
place, because a copy per entry would make a long ledger quadratic; they belong to one `Replay` and never leave it.
"""

from dataclasses import dataclass, field, replace

from sfumato.accounting.conversions import parallel
from sfumato.errors import LedgerCorruptError, ParameterError
from sfumato.ledger.codec import decode_entry
from sfumato.ledger.entry import Charge, Committed, Entry, Opened, Part, Reserved
from sfumato.ledger.journal import Chain, Record
from sfumato.privacy.codec import Json
from sfumato.privacy.guarantees import NO_GUARANTEE, Guarantee, NoGuarantee, PureDP, guarantee
from sfumato.privacy.neighbors import NeighboringRelation

_NOTHING = PureDP(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSpending:
    """What each part of one partition has spent, in sequence."""

    max_parts_per_unit: int
    sums: tuple[tuple[str, Guarantee], ...] = ()

    def charged(self, value: str, charge: Charge) -> "PartitionSpending":
        """The same, after a charge to one part."""
        sums = dict(self.sums)
        sums[value] = sums.get(value, _NOTHING) + charge
        return replace(self, sums=tuple(sums.items()))

    def total(self, neighboring_relation: NeighboringRelation) -> Guarantee:
        """What all parts cost a person who lies in at most `max_parts_per_unit` of them."""
        return parallel(
            [spent for _, spent in self.sums],
            max_parts_per_unit=self.max_parts_per_unit,
            neighboring_relation=neighboring_relation,
        )


@dataclass(slots=True)
class AccountState:
    """What is known of one account after a number of entries."""

    opened: Opened
    outside: Guarantee = _NOTHING
    partitions: dict[str, PartitionSpending] = field(default_factory=dict)
    open_requests: set[str] = field(default_factory=set)
    closed_requests: set[str] = field(default_factory=set)
    answers: dict[str, Json] = field(default_factory=dict)

    def spent(self) -> Guarantee:
        """All that was ever reserved."""
        total = self.outside
        for partition in self.partitions.values():
            total = total + partition.total(self.opened.neighboring_relation)
        return total

    def increase(self, charge: Charge, part: Part | None) -> Guarantee:
        """What a charge would add to `spent`: itself, or less in a part that another part outweighs."""
        if part is None:
            return charge
        relation, before = self.opened.neighboring_relation, self._partition(part)
        return _difference(before.charged(part.value, charge).total(relation), before.total(relation))

    def apply(self, entry: Reserved | Committed) -> None:
        """Take one more entry into account.

        Raises:
            ParameterError: The entry cannot follow: a request made or committed twice, a partition declared anew.
        """
        match entry:
            case Reserved():
                self._reserve(entry)
            case Committed():
                self._commit(entry)

    def _reserve(self, entry: Reserved) -> None:
        if entry.request in self.open_requests or entry.request in self.closed_requests:
            raise ParameterError("request", entry.request, "must be new")
        if entry.part is None:
            self.outside = self.outside + entry.charge
        else:
            partition = self._partition(entry.part)
            self.partitions[entry.part.partition] = partition.charged(entry.part.value, entry.charge)
        self.open_requests.add(entry.request)

    def _commit(self, entry: Committed) -> None:
        if entry.request not in self.open_requests:
            raise ParameterError("request", entry.request, "must be reserved and not yet committed")
        self.open_requests.remove(entry.request)
        self.closed_requests.add(entry.request)
        self.answers.setdefault(entry.key, entry.answer)  # the first answer to a question is its answer for good

    def _partition(self, part: Part) -> PartitionSpending:
        known = self.partitions.get(part.partition, PartitionSpending(max_parts_per_unit=part.max_parts_per_unit))
        if known.max_parts_per_unit != part.max_parts_per_unit:
            requirement = f"partition {part.partition!r} was declared with {known.max_parts_per_unit}, which stays"
            raise ParameterError("max_parts_per_unit", part.max_parts_per_unit, requirement)
        return known


class Replay:
    """The accounts after a number of verified records; each record is followed once per process."""

    def __init__(self) -> None:
        self.chain = Chain()
        self.accounts: dict[str, AccountState] = {}

    def follow(self, record: Record) -> None:
        """Verify one more record and take its entry into account.

        Raises:
            LedgerCorruptError: The record does not follow, or says what no ledger of this version says.
        """
        chain = self.chain.follow(record)
        try:
            self.apply(decode_entry(record.text))
        except ParameterError as error:
            raise LedgerCorruptError(record.index, f"it verifies, but cannot follow here ({error})") from error
        self.chain = chain

    def apply(self, entry: Entry) -> None:
        """Take one more entry into account.

        Raises:
            ParameterError: The entry cannot follow the ones before.
        """
        state = self.accounts.get(entry.account)
        match entry:
            case Opened():
                if state is not None:
                    raise ParameterError("account", entry.account, "must be opened once")
                self.accounts[entry.account] = AccountState(entry)
            case Reserved() | Committed():
                if state is None:
                    raise ParameterError("account", entry.account, "must be opened first")
                state.apply(entry)


def _difference(after: Guarantee, before: Guarantee) -> Guarantee:
    if isinstance(after, NoGuarantee) or isinstance(before, NoGuarantee):
        return NO_GUARANTEE
    return guarantee(after.epsilon - before.epsilon, after.delta - before.delta)
