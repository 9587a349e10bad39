"""The right to look at data once, and who asked for it."""

from dataclasses import dataclass

from sfumato.privacy.budgets import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who asks, and by which key they may ask again without paying again.

    Attributes:
        principal: Who asks; one's keys are of no use to others.
        idempotency_key: Any text, chosen by the one who asks; empty for none.
        body: A hash of all that was sent under the key: the same key with another body is refused.
    """

    principal: str = ""
    idempotency_key: str = ""
    body: str = ""


NOBODY = Asked()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The right to touch data once; its cost is already spent.

    Attributes:
        account: The charged account.
        request: The reservation's name.
        spent: All that the account had spent after it.
        left: What the account had left after it.
        is_repeated: Whether it was made before, under the same key: it was charged then.
        is_answered: Whether it has an answer, which is then to be given again.
        lease: Names who is at work on it, if another one took it over; else empty.
    """

    account: str
    request: str
    spent: Budget
    left: Budget
    is_repeated: bool = False
    is_answered: bool = False
    lease: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """Somebody is at work on an answer; if nothing of this changes for long, they are not any more.

    Attributes:
        account: The charged account.
        request: Their reservation.
        lease: Names them, if they took it over.
        renewals: How often they have said that they are at work.
    """

    account: str
    request: str
    lease: str = ""
    renewals: int = 0


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A reservation without an answer.

    Attributes:
        account: The charged account.
        has_key: Whether the one who asks can ask again under a key of their own.
        key: Of the answer, if it is one that others wait for.
        lease: Names who is at work on it, if they took it over.
        renewals: How often they have said that they are.
    """

    account: str
    has_key: bool
    key: str = ""
    lease: str = ""
    renewals: int = 0
