"""`sfumato ledger restored`: an older copy had to be put back, and its owner declares what was spent since."""

from collections.abc import Sequence
from dataclasses import dataclass

import typer

from sfumato.cli.ledger.texts import printable
from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.keeping.checkpoints import Checkpoint, CheckpointFile
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee

_QUESTION = "spent before a restore"


@dataclass(frozen=True, slots=True)
class Declared:
    """What an account spent after the copy was made."""

    account: str
    spent: PureDP | ApproxDP

    @property
    def event(self) -> PureEvent | ApproxEvent:
        """The same as an event."""
        if isinstance(self.spent, PureDP):
            return PureEvent(self.spent.epsilon)
        return ApproxEvent(self.spent.epsilon, self.spent.delta)


def restored(location: str, *, spent: Sequence[str], reason: str) -> None:
    """Charge what is declared, and note the ledger as the one that counts."""
    if not reason.strip():
        raise ParameterError("--reason", reason, "must say why an older copy is in use")
    declared = [_declared(text) for text in spent]
    place = place_of(location)
    with open_ledger(location, must_exist=True, ignoring_checkpoint=True) as ledger:
        noted = _noted(place.checkpoint(), ledger)
        for account, total in () if noted is None else noted.totals:
            typer.echo(printable(f"{account}: {total} was noted as spent, {_spent_here(ledger, account)} is here"))
        if not declared:
            raise ParameterError("--spent", None, "must say for each account what it spent since: --spent ann=0.3")
        for one in declared:
            _require_payable(ledger, one)
        for one in declared:
            _charge(ledger, one, reason)
        place.checkpoint().write(ledger.checkpoint(), although_shorter=True)
        for name in dict.fromkeys(one.account for one in declared):
            typer.echo(printable(f"{name}: {ledger.spent_in_all(name)} is spent now, {ledger.remaining(name)} is left"))


def _noted(file: CheckpointFile, ledger: Ledger) -> Checkpoint | None:
    """What was noted; None if that is gone or damaged, which is told."""
    try:
        noted = file.read(ledger.key)
    except LedgerError as error:
        typer.echo(printable(f"{error.requirement.partition(';')[0]}: what was noted as spent is not known"))
        return None
    if noted is None:
        typer.echo("no checkpoint is there: what was noted as spent is not known")
    return noted


def _declared(text: str) -> Declared:
    account, equals, amount = text.rpartition("=")
    if not account or not equals:
        raise ParameterError("--spent", text, "must be an account and what it spent: ann=0.3, or ann=0.3,1e-6")
    epsilon, _, delta = amount.partition(",")
    return Declared(account, guarantee(epsilon, delta or 0))


def _spent_here(ledger: Ledger, account: str) -> str:
    return str(ledger.spent_in_all(account)) if account in ledger.accounts() else "no such account"


def _require_payable(ledger: Ledger, declared: Declared) -> None:
    if declared.account not in ledger.accounts():
        requirement = "is not in this copy; declare what it spent on the account above it"
        raise LedgerError(f"account {declared.account!r}", requirement)
    if ledger.questions_left(declared.account, event=declared.event, charge=declared.spent) == 0:
        requirement = f"has less than {declared.spent} left; declare what is left, and the rest on an account above"
        raise LedgerError(f"account {declared.account!r}", requirement)


def _charge(ledger: Ledger, declared: Declared, reason: str) -> None:
    reservation = ledger.reserve(
        declared.account, event=declared.event, charge=declared.spent, question=_QUESTION
    )  # fmt: skip
    ledger.abandon(reservation, reason=reason)
