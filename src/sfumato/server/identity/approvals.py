"""Changes that need a second person: one asks, another one decides, once.

A granted change is only permitted by this; whoever asked for the decision makes it afterwards.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import RowMapping, insert, select, update

from sfumato.errors import ForbiddenError, NotFoundError, ParameterError
from sfumato.noise.entropy import random_bytes
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import Action, require_name
from sfumato.server.identity.tables import APPROVALS

_LONGEST_REASON: Final = 1_000
_LONGEST_CHANGE: Final = 10_000


class ApprovalState(StrEnum):
    """What became of a change that somebody asked for."""

    PENDING = "pending"
    GRANTED = "granted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A change that somebody asked for, and what another person decided.

    Attributes:
        id: Its name, which tells nothing of others.
        dataset: Whose owners decide.
        action: What is to be done.
        change: With what, as canonical JSON.
        reason: Why, in the words of whoever asked.
        state: Pending until it is decided.
        asked_by: Who may not decide.
        asked_at: When.
        decided_by: The second person; None while it is pending.
        decided_at: When; None while it is pending.
    """

    id: str
    dataset: str
    action: Action
    change: str
    reason: str
    state: ApprovalState
    asked_by: str
    asked_at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None


class Approvals:
    """Keeps what was asked and decided.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(self, asked_by: str, *, dataset: str, action: Action, change: Mapping[str, Any], reason: str) -> Approval:
        """Ask for a change.

        Raises:
            ParameterError: The reason is missing or too long, or the change is no JSON or too long.
        """
        require_name("dataset", dataset)
        if not reason.strip() or len(reason) > _LONGEST_REASON:
            raise ParameterError("reason", reason, f"must be 1 to {_LONGEST_REASON} characters: say why")
        try:
            content = json.dumps(change, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError):
            raise ParameterError("change", type(change).__name__, "must be JSON") from None
        if len(content) > _LONGEST_CHANGE:
            raise ParameterError("change", "…", f"must be at most {_LONGEST_CHANGE} characters of JSON")
        asked = Approval(
            id=random_bytes(8).hex(),
            dataset=dataset,
            action=action,
            change=content,
            reason=reason,
            state=ApprovalState.PENDING,
            asked_by=asked_by,
            asked_at=self._database.now(),
        )
        values = {name: getattr(asked, name) for name in ("id", "dataset", "change", "reason", "asked_by", "asked_at")}
        with self._database.writing() as connection:
            connection.execute(insert(APPROVALS).values(**values, action=action.value, state=asked.state.value))
        return asked

    def approval(self, approval: str) -> Approval:
        """One of them.

        Raises:
            NotFoundError: There is none with this id.
        """
        with self._database.reading() as connection:
            row = connection.execute(_ALL.where(APPROVALS.c.id == approval)).mappings().one_or_none()
        if row is None:
            raise NotFoundError("approval", approval)
        return _read(row)

    def approvals(self, datasets: Collection[str], *, state: ApprovalState | None = None) -> tuple[Approval, ...]:
        """All of some datasets, in the order in which they were asked for; of one state, or of any."""
        query = _ALL.where(APPROVALS.c.dataset.in_(sorted(datasets))).order_by(APPROVALS.c.number)
        if state is not None:
            query = query.where(APPROVALS.c.state == state.value)
        with self._database.reading() as connection:
            return tuple(_read(row) for row in connection.execute(query).mappings())

    def decide(self, approval: str, *, by: str, is_granted: bool) -> Approval:
        """Grant a change or refuse it; of several who decide at once, one does.

        Raises:
            NotFoundError: There is none with this id.
            ForbiddenError: They asked for it themselves.
            ParameterError: It was decided before.
        """
        asked = self.approval(approval)
        if asked.asked_by == by:
            raise ForbiddenError("decide", "another owner must decide on what you asked for")
        state = ApprovalState.GRANTED if is_granted else ApprovalState.REFUSED
        is_pending = (APPROVALS.c.id == approval, APPROVALS.c.state == ApprovalState.PENDING.value)
        values = {"state": state.value, "decided_by": by, "decided_at": self._database.now()}
        with self._database.writing() as connection:
            has_decided = connection.execute(update(APPROVALS).where(*is_pending).values(**values)).rowcount == 1
        decided = self.approval(approval)
        if not has_decided:
            raise ParameterError("approval", approval, f"was {decided.state} by {decided.decided_by}; ask for it again")
        return decided


_ALL: Final = select(*(column for column in APPROVALS.c if column.name != "number"))


def _read(row: RowMapping) -> Approval:
    return Approval(**{**row, "action": Action(row["action"]), "state": ApprovalState(row["state"])})
