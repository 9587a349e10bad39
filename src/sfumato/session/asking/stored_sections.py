"""The noisy counts and sums in the stored answers of an account, and what each is of the cells of one table.

Proof: proofs/session/asking/free_answers.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np

from sfumato.ledger.core.entry import Committed
from sfumato.mechanisms.workloads.queries import Floats
from sfumato.query.analysis.cells import UNKNOWN, Group, Unknown
from sfumato.query.model.schema import Table
from sfumato.query.planning.linear import Basis, LinearSection, read_linear, read_workload
from sfumato.session.asking.answer_key import table_digest
from sfumato.session.asking.planning import Planning
from sfumato.session.releases.written import decode_released

Variable: TypeAlias = tuple[Any, ...]
"""A basis of the rows of some cells, or of those of a cell that are in a group for all that is known."""
Members: TypeAlias = Mapping[str, Mapping[Group | Unknown, Sequence[int]]]
"""By the signature of a section, the atoms whose rows are in each group, and those of which that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSection:
    """A section of a stored answer, or a measurement of a workload: what it says, and what was released.

    Attributes:
        linear: What its numbers are of.
        groups: Its groups.
        measured: For each measurement its numbers in each group; or each of several sums over groups.
        question: What was asked.
        sums: For each of these sums, how often each group is in it; None where each number is of one group.
    """

    linear: LinearSection
    groups: tuple[Group, ...]
    measured: tuple[tuple[tuple[int, ...], ...], ...]
    question: str
    sums: Floats | None = None

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return sum(len(rows) * len(own) for rows, own in zip(self.measured, self.linear.numbers, strict=True))

    def rows(self, bases: Sequence[tuple[Basis, Fraction]], members: Members) -> list[dict[Variable, float]]:
        """For each of its numbers of some bases, what it is of the variables."""
        found = [coefficients(bases, self.linear.signature, group, members) for group in self.groups]
        if self.sums is None:
            return found
        owner = {name: place for place, own in enumerate(found) for name in own}  # no variable is of two groups
        factors = [found[place][name] for name, place in owner.items()]
        table = self.sums[:, list(owner.values())] * np.array(factors)
        return [{name: factor for name, factor in zip(owner, row, strict=True) if factor} for row in table.tolist()]


def stored_sections(planning: Planning, table: Table, part: str) -> Iterator[StoredSection]:
    """The sections of all answers of the account about the same rows as they are now."""
    policy, declared = planning.policy, table_digest(planning.policy, planning.declared[table.name], table.name)
    for entry in planning.ledger.entries():
        if not isinstance(entry, Committed) or entry.account != planning.account:
            continue
        answer: Any = entry.answer
        if not isinstance(answer, dict) or answer.get("tables", {}).get(table.name) != declared:
            continue
        receipt = answer["receipt"]
        if (receipt["policy_version"], receipt["data_version"]) != (policy.version, policy.data_version):
            continue
        found = chain(_sections(answer), _marginals(answer))
        yield from (one for one in found if (one.linear.table, one.linear.part) == (table.name, part))


def _sections(answer: Any) -> Iterator[StoredSection]:
    """What the sections of an answer say, but for those whose numbers are of workloads or in files."""
    for document, released in zip(answer["linear"], answer["sections"], strict=True):
        if document is not None and "attached" not in released:
            own, question = decode_released(released), str(answer["receipt"]["question"])
            yield StoredSection(
                linear=read_linear(document), groups=own.groups, measured=own.measured, question=question
            )


def _marginals(answer: Any) -> Iterator[StoredSection]:
    """What each measurement of its workloads says; such an answer was stored by a version that had them."""
    for document, numbers in answer.get("workloads", ()):
        own = iter(numbers)
        for linear, groups, sums in read_workload(document).marginals():
            measured = tuple((number,) for number in islice(own, len(sums)))
            yield StoredSection(
                linear=linear, groups=groups, measured=(measured,), sums=sums,
                question=str(answer["receipt"]["question"]),
            )  # fmt: skip


def bases_of(linear: LinearSection) -> set[Basis]:
    """All bases that its numbers are sums of."""
    return {basis for own in linear.numbers for one in own if one is not None for basis, _ in one}


def coefficients(
    bases: Sequence[tuple[Basis, Fraction]], signature: str, group: Group, members: Members
) -> dict[Variable, float]:
    """A noisy number of a group as a sum of variables; rows that may be in it or not are a variable of their own."""
    atoms: list[Variable] = [(atom,) for atom in members[signature].get(group, ())]
    atoms += [(atom, signature, group) for atom in members[signature].get(UNKNOWN, ())]
    found: dict[Variable, float] = {}
    for basis, factor in bases:
        for atom in atoms:
            found[basis, *atom] = found.get((basis, *atom), 0.0) + float(factor)
    return found
