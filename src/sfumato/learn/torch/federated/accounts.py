"""Owners whose samples are the rows of a session's query: a federation is charged to the account before it begins.

Proof: proofs/learn/torch/federated/accounts.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, cast

import torch

from sfumato.errors import ParameterError
from sfumato.learn.torch.federated.owners import Owner
from sfumato.learn.torch.federated.shared import SharedFederatedPlan
from sfumato.learn.torch.training.examples import features_of, rows_of_query
from sfumato.noise.entropy import random_bytes
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive, set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.events import Event, SelfComposedEvent, ZCDPEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.session.asking.execution import Desk
from sfumato.session.asking.training_set import TrainingSet
from sfumato.session.releases.receipt import Receipt
from sfumato.session.training.columns import TrainingRows


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SessionOwner:
    """An owner whose samples are the rows of a query, and whose account pays for what it takes part in.

    `RemoteFederation.take_part` takes it in the place of an `Owner`, and calls `admitted` before it sends anything.

    **Guarantee**: all that a federation reveals of the rows is charged to the account of the session before a row is
    read, with the event of the plan for this owner. It covers any change of the owner's rows, so also that of one unit
    of the session. Proof: proofs/learn/torch/federated/accounts.md.

    Args:
        name: What it is called in the federation.
        data: A training set of a session on this machine, with a target.
        epsilon: Its own ε, if it wants to give away less than the plan lets every owner.

    Raises:
        ParameterError: The rows are elsewhere, or have no target.

    Example:
        >>> import sfumato as sf
        >>> table = sf.datasets.medical_table()
        >>> columns = {"diabetes": sf.integer(0, 1)}
        >>> people = sf.open(table, name="people", columns=columns, budget=sf.ApproxDP(9, "1e-4"))
        >>> rows = people.table().select("diabetes", again=people.table()["diabetes"])
        >>> SessionOwner("north", people.training_set(rows, target="again")).name
        'north'
    """

    name: str
    data: TrainingSet
    epsilon: Fraction | None

    def __init__(self, name: str, data: TrainingSet, *, epsilon: Number | None = None) -> None:
        rows = of_kind(data, "data", TrainingSet, "a training set of a session on this machine")
        if not isinstance(rows.desk, Desk):
            raise ParameterError("data", rows.text, "must be of a session that has the rows itself")
        if rows.target is None:
            raise ParameterError("data", rows.text, "must have a target, which is what is learned")
        set_fields(
            self, name=of_kind(name, "name", str, "a text"), data=rows,
            epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
        )  # fmt: skip

    def admitted(self, plan: SharedFederatedPlan, participation: str) -> tuple[Owner, Receipt]:
        """Charge the account for all rounds of a plan, and give the owner with its samples.

        The same participation is charged once: again it costs nothing, for the same data and policy.

        Args:
            plan: A plan that has not begun, under which owners are replaced.
            participation: What tells this participation from all others, of the same plan too.

        Returns:
            The owner, and the receipt. Where its rows cannot be read any more, it has no samples, and adds 0.

        Raises:
            ParameterError: The plan promises nothing for a change of some rows, or has begun; nothing was charged.
            BudgetExceededError: Too little budget remains; nothing was charged.
        """
        of_kind(plan, "plan", SharedFederatedPlan, "a plan of shared_federation")
        if plan.neighboring_relation is not NeighboringRelation.REPLACE_ONE:
            requirement = "must have neighboring_relation='replace_one': a person changes an owner's samples"
            raise ParameterError("plan", plan.neighboring_relation.value, requirement)
        if plan.public.rounds:
            raise ParameterError("plan", "one that ran", "must be charged before its first round")
        asks = Owner(self.name, torch.zeros(0, 1), torch.zeros(0), epsilon=self.epsilon)
        found = self.data.fit(_Participation(plan, asks, of_kind(participation, "participation", str, "a text")))
        device = next(plan.public.model.parameters()).device
        return Owner(self.name, *self._samples(device), epsilon=self.epsilon), found.receipt

    def __repr__(self) -> str:
        return f"SessionOwner({self.name!r}, {self.data!r})"

    def _samples(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows, which were charged."""
        query: Any = self.data.query
        desk: Any = self.data.desk
        try:
            rows = query.read(partial(desk.engine.run, salt=random_bytes(16).hex()))
            found = rows_of_query(rows.open_for_noise(), features_of(self.data.columns), query.target, device)
        except Exception:  # noqa: BLE001 # what fails on somebody's rows may not be told
            return torch.zeros(0, 1), torch.zeros(0)
        return found.inputs, found.targets


class _Participation:
    """A fit that charges for a federation, and gives nothing: what it pays for is revealed round by round."""

    def __init__(self, plan: SharedFederatedPlan, owner: Owner, participation: str) -> None:
        self._plan, self._owner, self._participation = plan, owner, participation

    @property
    def name(self) -> str:
        return f"a part in a federation of {self._plan.public.width:,} weights and {self._plan.rounds:,} rounds"

    @property
    def event(self) -> Event:
        """All rounds as one event: for ledgers, which add up ρ."""
        rounds = cast("SelfComposedEvent", self._plan.event_of(self._owner))
        inner = rounds.event
        return ZCDPEvent(inner.rho * rounds.count) if isinstance(inner, ZCDPEvent) else inner  # else it sends zeros

    @property
    def charge(self) -> ApproxDP:
        return self._plan.guarantee_of(self._owner)

    def document(self) -> dict[str, Json]:
        return {**self._plan.document(), "owner": self._owner.name, "participation": self._participation}

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        del rows
        return {"rounds": self._plan.rounds}
