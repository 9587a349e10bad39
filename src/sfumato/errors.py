"""Every error of the package, in one file.

::

    SfumatoError
      ParameterError(ValueError)      a value that cannot be used: name, value, requirement
      NotPrivateError                 a query that cannot be answered privately: expression, reason, suggestion
      UnboundedSensitivityError       nothing bounds how much one unit changes the answer: relation, column, suggestion
      UnsupportedEventError           an accountant has no sound cost for an event: event, accountant
      PolicyError                     a policy contradicts itself or is incomplete: path, requirement
      EngineError                     the engine failed: engine, phase; never its message, which can quote rows
        FailedOnRowsError             it failed while it read rows: cause; a session suspends the data instead
        UnavailableError              the data cannot be queried now; the reason is hidden
      BudgetError
        BudgetExceededError           a query costs more than remains: requested, remaining
        ReservationError              a reservation that was used before or never made: reservation, state
      LedgerError                     the ledger cannot be used: ledger, requirement
        LedgerConflictError           another writer came first: expected_head, actual_head
        LedgerTimeoutError            another process has locked the ledger for too long: seconds, holder
        LedgerMissingError            there is no ledger with this name, or only its key
        UnitChangedError              a table has another unit in the ledger: account, table, was, is_now
        LedgerCorruptError            an entry does not verify: index
      StateError                      the saved state of a counter cannot be used: state, requirement
      BusyError                       too many queries at once: what, retry_after
      TicketError                     a ticket from another process cannot be run: part, requirement
      AccessError                     a server refused a request because of who made it
        NotAuthenticatedError         no valid API key; the reason is hidden
        ForbiddenError                the role or the key does not allow it: action, requirement
        NotFoundError                 no such thing, or none that this person may see: thing, name
      DatabaseError                   a server's own database cannot be used: database, requirement
      CuratorError                    a server was not reached, or said no error of this package: curator, status
      EntropyError                    no secure randomness; nothing was released

An error names the value concerned, what was expected and how to fix it. It contains nothing computed from private
rows.
This module imports nothing of the package.
"""


class SfumatoError(Exception):
    """The base of every error raised on purpose by this package."""


_LONGEST_SHOWN = 200
_MOST_BITS = 4096
_OF_ROWS = ("__array__", "__dataframe__", "__arrow_c_array__", "__arrow_c_stream__", "collect")


def _shown(value: object) -> str:
    """A value as code, shortened; Python itself refuses to write integers of more than 4,300 digits.

    Only the type is shown of values that may contain rows: frames, arrays, and lists and mappings of them.
    """
    if _holds_rows(value):
        return f"a {type(value).__name__}"
    terms = (getattr(value, "numerator", 0), getattr(value, "denominator", 0))
    if any(isinstance(term, int) and term.bit_length() > _MOST_BITS for term in terms):
        return "a number of thousands of digits"
    try:
        text = repr(value)
    except ValueError:  # such a number is inside
        return f"a {type(value).__name__} with a number of thousands of digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _holds_rows(value: object) -> bool:
    """Whether a value is a frame, a series, an array or a LazyFrame, or a list or mapping that contains one."""
    if isinstance(value, list | tuple | dict):
        items = list(value.values() if isinstance(value, dict) else value)[:_LONGEST_SHOWN]
        return any(_holds_rows(item) for item in items if not isinstance(item, list | tuple | dict))
    is_one = getattr(value, "ndim", None) == 0  # a single number of NumPy
    return not is_one and not isinstance(value, type) and any(hasattr(value, name) for name in _OF_ROWS)


class ParameterError(SfumatoError, ValueError):
    """A parameter has a value that cannot be used."""

    def __init__(self, name: str, value: object, requirement: str) -> None:
        self.name, self.value, self.requirement = name, value, requirement
        is_nothing = value is None or (isinstance(value, str) and not value)
        is_given = not (is_nothing and requirement.startswith("is missing"))
        super().__init__(f"{name} = {_shown(value)}: {requirement}" if is_given else f"{name} {requirement}")


class NotPrivateError(SfumatoError):
    """A query, or a part of one, that cannot be answered privately."""

    def __init__(self, expression: str, reason: str, suggestion: str) -> None:
        self.expression, self.reason, self.suggestion = expression, reason, suggestion
        super().__init__(f"{expression}: {reason}. {suggestion}")


class UnboundedSensitivityError(SfumatoError):
    """Nothing bounds how much one person can change the answer."""

    def __init__(self, relation: str, column: str, suggestion: str) -> None:
        self.relation, self.column, self.suggestion = relation, column, suggestion
        super().__init__(f"{relation}.{column}: one person could change this answer without limit. {suggestion}")


class UnsupportedEventError(SfumatoError):
    """An accountant, or an account, has no sound cost for an event."""

    def __init__(self, event: object, accountant: str, reason: str | None = None) -> None:
        self.event, self.accountant = event, accountant
        remedy = f"has no sound cost for {event!r}; use an accountant whose supports() returns True"
        super().__init__(f"{accountant} {reason or remedy}")


class PolicyError(SfumatoError):
    """A policy contradicts itself, or is incomplete."""

    def __init__(self, path: str, requirement: str) -> None:
        self.path, self.requirement = path, requirement
        super().__init__(f"policy, at {path}: {requirement}")


class EngineError(SfumatoError):
    """The engine failed; its message is hidden, because engines quote rows."""

    def __init__(self, engine: str, phase: str) -> None:
        self.engine, self.phase = engine, phase
        super().__init__(f"the {engine} engine failed while it {phase}; its message is hidden, as it can quote rows")

    @property
    def __context__(self) -> None:
        """Always None: Python would keep the engine's own error here, where a logger can read it."""

    @__context__.setter
    def __context__(self, error: BaseException | None) -> None:
        """Discard the engine's error."""


class FailedOnRowsError(EngineError):
    """The engine failed while it read rows, perhaps because of one person's rows; analysts must not learn that."""

    def __init__(self, engine: str, phase: str, cause: str) -> None:
        self.cause = cause
        super().__init__(engine, phase)


class UnavailableError(EngineError):
    """The data cannot be queried now: the same words for every reason that may depend on rows."""

    def __init__(self) -> None:
        super().__init__("data", "answered")
        self.args = ("the data is unavailable; stored answers are still returned. Try again later, or ask its owner",)


class BudgetError(SfumatoError):
    """The base of errors about spending."""


class BudgetExceededError(BudgetError):
    """A query costs more than the account, or one of its parents, has remaining; nothing was spent."""

    def __init__(self, requested: object, remaining: object, account: str | None = None) -> None:
        self.requested, self.remaining, self.account = requested, remaining, account
        where = "the account" if account is None else f"account {account!r}"
        super().__init__(
            f"budget exceeded: the query costs {requested}; {where} has {remaining} remaining; nothing was spent."
            " Lower epsilon, or ask the owner for a larger budget"
        )


class ReservationError(BudgetError):
    """A reservation was used before, or was never made."""

    def __init__(self, reservation: str, state: str) -> None:
        self.reservation, self.state = reservation, state
        super().__init__(f"reservation {reservation} is {state}; each reservation can be used once")


class LedgerError(SfumatoError):
    """The ledger cannot be used as asked."""

    def __init__(self, ledger: str, requirement: str) -> None:
        self.ledger, self.requirement = ledger, requirement
        super().__init__(f"ledger {ledger}: {requirement}")


class LedgerConflictError(LedgerError):
    """Another writer appended first."""

    def __init__(self, expected_head: str, actual_head: str) -> None:
        self.expected_head, self.actual_head = expected_head, actual_head
        super().__init__(actual_head, f"another writer appended after {expected_head}; read again and retry")


class LedgerTimeoutError(LedgerError):
    """Another process has locked the ledger for too long; nothing was charged."""

    def __init__(self, ledger: str, seconds: float, holder: str | None = None) -> None:
        self.seconds, self.holder = seconds, holder
        who = "another process" if holder is None else f"process {holder}"
        super().__init__(
            ledger, f"{who} has locked it for more than {seconds:g} s; resume or end that process, then try again"
        )


class LedgerMissingError(LedgerError):
    """There is no ledger with this name, or only its key."""


class UnitChangedError(LedgerError):
    """A policy protects another unit in a table than the ledger records for it; nothing was opened."""

    def __init__(self, account: str, table: str, *, was: str, is_now: str, holder: str | None = None) -> None:
        self.account, self.table, self.was, self.is_now = account, table, was, is_now
        self.holder = holder or account
        owner = f"[{self.holder!r}]"
        remedy = (
            "Give the public table its own source, without rows of people"
            if is_now == "public"
            else f"To protect another unit, name another dataset with beside = {owner}: neither is charged for the"
            " other, so both budgets add up for the same people."
            f" For a renamed column of ids, name another dataset with derived_from = {owner}: both are charged"
        )
        super().__init__(
            f"account {self.holder!r}",
            f"table {table!r} is bound to the unit {was!r}; the policy of {account!r} says {is_now!r}."
            f" Restore the old unit. {remedy}",
        )


class LedgerCorruptError(LedgerError):
    """An entry of the ledger does not verify."""

    def __init__(self, index: int, requirement: str = "its hash does not match its content") -> None:
        self.index = index
        super().__init__(f"entry {index}", f"{requirement}. Nothing is released; restore a good copy")


class StateError(SfumatoError):
    """The saved state of a counter, or of a monitor, cannot be used; nothing of it was released."""

    def __init__(self, state: str, requirement: str) -> None:
        self.state, self.requirement = state, requirement
        super().__init__(f"state {state}: {requirement}")


class BusyError(SfumatoError):
    """Too many queries at once; nothing was charged for this one."""

    def __init__(self, what: str, retry_after: int) -> None:
        self.what, self.retry_after = what, retry_after
        super().__init__(f"too many {what}; nothing was charged. Try again in {retry_after} s")


class TicketError(SfumatoError):
    """The text of a ticket, or of what a ticket holds, is not one that this package wrote; nothing was run."""

    def __init__(self, part: str, requirement: str) -> None:
        self.part, self.requirement = part, requirement
        remedy = "Nothing was run; use one version of sfumato and one policy in all processes"
        super().__init__(f"ticket refused: its {part} {requirement}. {remedy}")


class AccessError(SfumatoError):
    """The base of errors about who made a request to a server."""


class NotAuthenticatedError(AccessError):
    """A request had no valid API key: the same words for every reason, so that nobody can test parts of a key."""

    def __init__(self) -> None:
        super().__init__("no valid API key; send one as 'Authorization: Bearer sfk_…', or ask for a new one")


class ForbiddenError(AccessError):
    """A person, or the API key that they use, may not do this."""

    def __init__(self, action: str, requirement: str) -> None:
        self.action, self.requirement = action, requirement
        super().__init__(f"{action}: not allowed; {requirement}")


class NotFoundError(AccessError):
    """There is no such thing, or this person may not know of it: the same words for both."""

    def __init__(self, thing: str, name: str) -> None:
        self.thing, self.name = thing, name
        super().__init__(f"{thing} {_shown(name)}: not found. Check the name, or ask for a role on it")


class DatabaseError(SfumatoError):
    """The database that a server keeps people and releases in cannot be used; its own message is hidden."""

    def __init__(self, database: str, requirement: str) -> None:
        self.database, self.requirement = database, requirement
        super().__init__(f"database {database}: {requirement}")


class CuratorError(SfumatoError):
    """A server could not be reached, or answered with something that is no answer and no error of this package."""

    def __init__(self, curator: str, status: int | None, requirement: str) -> None:
        self.curator, self.status, self.requirement = curator, status, requirement
        super().__init__(f"curator {curator}{'' if status is None else f', status {status}'}: {requirement}")


class EntropyError(SfumatoError):
    """The operating system gave no secure randomness; nothing was released."""

    def __init__(self, source: str) -> None:
        self.source = source
        super().__init__(f"no secure randomness from {source}; nothing was released")
