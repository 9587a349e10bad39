"""Federations as a server keeps them: it passes messages of a secure sum on between owners, and reads none of them.

A federation has rounds. A round has phases, in each of which every party that is still there sends one message. Nobody
sees a message before its phase is closed. A phase is closed once all have sent theirs, or once its time is over and
enough have; who sent nothing has dropped out of the round. Where too few sent, the round is tried again. That ends with
the last phase: what was revealed there is known, so a round that fails then is over without a sum.

A message and what it closes are one transaction, so that whatever happens to a gateway, another goes on. Messages are
deleted with their attempt. All that is known of what they say is their length.

Proof: proofs/server/identity/federations.md.
"""

import json
import re
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from sfumato.errors import NotFoundError, ParameterError
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import FEDERATION_MESSAGES, FEDERATION_RESULTS, FEDERATIONS

PHASES: Final = ("keys", "boxes", "numbers", "agreed", "revealed")
"""What is sent in a round, in this order."""
RESULT: Final = "result"
"""After the last phase, until somebody has sent the noisy sum."""
OVER: Final = "over"
"""After the last round."""

_NAME: Final = re.compile(r"[\w.@:+-]{1,60}", re.ASCII)
_MESSAGE: Final = re.compile(r"[ -~]*")
_LAST: Final = len(PHASES) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationTerms:
    """What the opener of a federation states, for everybody in it.

    Attributes:
        parties: The people who take part, in the order of their numbers.
        rounds: How many rounds there are.
        least: How many of them a sum needs.
        seconds: For how long a phase waits for those who are missing.
        message_characters: How long a message may be.
        plan: What they agreed on, in words and numbers; the server makes nothing of it.
    """

    parties: tuple[str, ...]
    rounds: int
    least: int
    seconds: float
    message_characters: int
    plan: dict[str, str]

    def number_of(self, person: str) -> int | None:
        """Which party somebody is; None for none."""
        return self.parties.index(person) if person in self.parties else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationState:
    """How far a federation is.

    Attributes:
        round: The round, from 0.
        attempt: How often it was tried before.
        phase: One of `PHASES`; then `RESULT`; after all rounds `OVER`.
    """

    round: int
    attempt: int
    phase: str


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table, as a transaction moves it on."""

    name: str
    terms: FederationTerms
    round: int
    attempt: int
    phase: int
    since: datetime | None

    @property
    def state(self) -> FederationState:
        is_over = self.round >= self.terms.rounds
        phase = OVER if is_over else (*PHASES, RESULT)[self.phase]
        return FederationState(round=self.round, attempt=self.attempt, phase=phase)

    def is_late(self, now: datetime) -> bool:
        """Whether the time of the phase is over; that of the first begins with its first message."""
        if self.since is None or self.round >= self.terms.rounds or self.phase > _LAST:
            return False
        return now >= self.since + timedelta(seconds=self.terms.seconds)


class Federations:
    """Passes messages on.

    Args:
        database: Where they are kept.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> terms = FederationTerms(
        ...     parties=("north", "south"), rounds=1, least=2, seconds=60.0, message_characters=1_000, plan={},
        ... )
        >>> with TemporaryDirectory() as folder:
        ...     database = Database(f"sqlite:///{folder}/server.db")
        ...     kept = Federations(database)
        ...     kept.open("hospitals", terms)
        ...     for person in terms.parties:
        ...         _ = kept.send("hospitals", person, kept.state("hospitals"), f"from {person}")
        ...     kept.messages("hospitals", FederationState(round=0, attempt=0, phase="keys"))
        ...     kept.state("hospitals").phase
        ...     database.close()
        {0: 'from north', 1: 'from south'}
        'boxes'
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, name: str, terms: FederationTerms) -> None:
        """Begin a federation; the same again changes nothing.

        Raises:
            ParameterError: The name is none, or another federation has it.
        """
        if not _NAME.fullmatch(name):
            raise ParameterError("name", name, "must be 1 to 60 letters, digits or _.@:+-")
        written = json.dumps(asdict(terms), sort_keys=True)
        with self._database.writing() as connection:
            start = {"round": 0, "attempt": 0, "phase": 0}
            if self._database.insert_new(connection, FEDERATIONS, name=name, terms=written, **start):
                return
            query = select(FEDERATIONS.c.terms).where(FEDERATIONS.c.name == name)
            if connection.execute(query).scalar_one() != written:
                raise ParameterError("name", name, "is taken by a federation on other terms; choose another name")

    def remove(self, name: str) -> None:
        """End a federation, and delete all of it.

        Raises:
            NotFoundError: There is none.
        """
        with self._database.writing() as connection:
            self._row(connection, name, to_write=True)
            for table in (FEDERATION_MESSAGES, FEDERATION_RESULTS):
                connection.execute(delete(table).where(table.c.federation == name))
            connection.execute(delete(FEDERATIONS).where(FEDERATIONS.c.name == name))

    def terms(self, name: str) -> FederationTerms:
        """What a federation is about.

        Raises:
            NotFoundError: There is none.
        """
        with self._database.reading() as connection:
            return self._row(connection, name).terms

    def names(self, person: str | None = None) -> tuple[str, ...]:
        """All federations, or those in which a person takes part."""
        with self._database.reading() as connection:
            rows = connection.execute(select(FEDERATIONS).order_by(FEDERATIONS.c.name)).all()
        return tuple(row.name for row in rows if person is None or person in json.loads(row.terms)["parties"])

    def state(self, name: str) -> FederationState:
        """How far a federation is now.

        Raises:
            NotFoundError: There is none.
        """
        return self._now(name).state

    def sent(self, name: str, person: str) -> tuple[str, ...]:
        """The phases of the attempt under way for which a person has sent a message."""
        with self._database.reading() as connection:
            number = self._row(connection, name).terms.number_of(person)
            own = (FEDERATION_MESSAGES.c.federation == name, FEDERATION_MESSAGES.c.party == number)
            query = select(FEDERATION_MESSAGES.c.phase).where(*own).order_by(FEDERATION_MESSAGES.c.phase)
            return tuple(PHASES[phase] for phase in connection.execute(query).scalars())

    def send(self, name: str, person: str, place: FederationState, message: str) -> bool:
        """Take a message of a party; the same again is one.

        Args:
            name: The federation.
            person: Who sends it.
            place: For which phase of which attempt at which round.
            message: Printable ASCII.

        Returns:
            Whether it is there; False where its phase is closed, or the party has dropped out of the round.

        Raises:
            NotFoundError: There is no such federation, or the person takes no part in it.
            ParameterError: It is too long or no such text, or another message of the party is there.
        """
        with self._database.writing() as connection:
            row = self._row(connection, name, to_write=True)
            party = row.terms.number_of(person)
            if party is None:
                raise NotFoundError("federation", name)
            if len(message) > row.terms.message_characters or not _MESSAGE.fullmatch(message):
                most = f"{row.terms.message_characters:,}"
                raise ParameterError("message", f"{len(message):,} characters", f"must be ASCII, and at most {most}")
            row = self._moved(connection, row)
            before = self._sent(connection, name, place.phase, party) if _is_now(row, place) else {}
            if before:
                if before != {party: message}:
                    raise ParameterError("message", "another one", "must be the one that was sent: each is sent once")
                return True
            if row.state != place or party not in self._awaited(connection, row):
                return False
            own = {"federation": name, "phase": row.phase, "party": party, "message": message}
            connection.execute(insert(FEDERATION_MESSAGES).values(**own))
            if row.since is None:
                row = self._written(connection, replace(row, since=self._database.now()))
            self._moved(connection, row)
            return True

    def messages(self, name: str, place: FederationState) -> dict[int, str] | None:
        """The messages of a phase by the numbers of their parties; None as long as it is open, or where it is gone.

        Raises:
            NotFoundError: There is no such federation.
        """
        row = self._now(name)
        if not _is_now(row, place) or PHASES.index(place.phase) >= row.phase:
            return None
        with self._database.reading() as connection:
            found = self._sent(connection, name, place.phase)
            again = self._row(connection, name)
        return found if _is_now(again, place) else None  # else they may be of the next attempt

    def finish(self, name: str, person: str, number: int, result: str) -> bool:
        """Take the noisy sum of a round, which is then over; the same again is one.

        Args:
            name: The federation.
            person: Who sends it.
            number: Of the round.
            result: Printable ASCII.

        Returns:
            Whether it is there; False where the round is not as far.

        Raises:
            NotFoundError: There is no such federation, or the person takes no part in it.
            ParameterError: It is too long or no such text, or another sum is there.
        """
        with self._database.writing() as connection:
            row = self._row(connection, name, to_write=True)
            if row.terms.number_of(person) is None:
                raise NotFoundError("federation", name)
            if not 0 < len(result) <= row.terms.message_characters or not _MESSAGE.fullmatch(result):
                most = f"{row.terms.message_characters:,}"
                raise ParameterError("result", f"{len(result):,} characters", f"must be ASCII, and at most {most}")
            row = self._moved(connection, row)
            before = self._result(connection, name, number)
            if before is not None:
                if before != result:
                    raise ParameterError("result", "another one", "must be the one of the others: the round is over")
                return True
            if (row.round, row.state.phase) != (number, RESULT):
                return False
            self._ended(connection, row, result)
            return True

    def result(self, name: str, number: int) -> str | None:
        """What was sent as the noisy sum of a round: empty if there is none, None if it is not over.

        Raises:
            NotFoundError: There is no such federation.
        """
        with self._database.reading() as connection:
            self._row(connection, name)
            return self._result(connection, name, number)

    def _now(self, name: str) -> _Row:
        """A federation as it is now; nobody who only looks has to wait for those who write."""
        with self._database.reading() as connection:
            row = self._row(connection, name)
        if not row.is_late(self._database.now()):
            return row
        with self._database.writing() as connection:
            return self._moved(connection, self._row(connection, name, to_write=True))

    def _moved(self, connection: Connection, row: _Row) -> _Row:
        """A federation after all phases that are closed by now."""
        while row.round < row.terms.rounds and row.phase <= _LAST:
            sent, now = len(self._senders(connection, row.name, row.phase)), self._database.now()
            if sent < len(self._awaited(connection, row)) and not row.is_late(now):
                break
            if sent >= row.terms.least:
                row = self._written(connection, replace(row, phase=row.phase + 1, since=now))
            elif row.phase == 0:
                break  # whoever is missing may still come
            elif row.phase == _LAST:
                row = self._ended(connection, row, "")
            else:
                row = self._begun(connection, replace(row, attempt=row.attempt + 1))
        return row

    def _awaited(self, connection: Connection, row: _Row) -> set[int]:
        """Who may send a message now: all at first, then whoever sent one in the phase before."""
        if row.phase == 0:
            return set(range(len(row.terms.parties)))
        return self._senders(connection, row.name, row.phase - 1)

    def _ended(self, connection: Connection, row: _Row, result: str) -> _Row:
        values = {"federation": row.name, "round": row.round, "result": result}
        connection.execute(insert(FEDERATION_RESULTS).values(**values))
        return self._begun(connection, replace(row, round=row.round + 1, attempt=0))

    def _begun(self, connection: Connection, row: _Row) -> _Row:
        """Another attempt, with nothing left of the one before."""
        connection.execute(delete(FEDERATION_MESSAGES).where(FEDERATION_MESSAGES.c.federation == row.name))
        return self._written(connection, replace(row, phase=0, since=None))

    @staticmethod
    def _written(connection: Connection, row: _Row) -> _Row:
        values = {name: getattr(row, name) for name in ("round", "attempt", "phase", "since")}
        connection.execute(update(FEDERATIONS).where(FEDERATIONS.c.name == row.name).values(**values))
        return row

    @staticmethod
    def _senders(connection: Connection, name: str, phase: int) -> set[int]:
        of_it = (FEDERATION_MESSAGES.c.federation == name, FEDERATION_MESSAGES.c.phase == phase)
        return set(connection.execute(select(FEDERATION_MESSAGES.c.party).where(*of_it)).scalars())

    @staticmethod
    def _sent(connection: Connection, name: str, phase: str, party: int | None = None) -> dict[int, str]:
        """The messages of a phase, or that of one party."""
        table = FEDERATION_MESSAGES
        of_it = [table.c.federation == name, table.c.phase == PHASES.index(phase)]
        of_it += [] if party is None else [table.c.party == party]
        query = select(table.c.party, table.c.message).where(*of_it).order_by(table.c.party)
        return {row.party: row.message for row in connection.execute(query)}

    @staticmethod
    def _result(connection: Connection, name: str, number: int) -> str | None:
        of_it = (FEDERATION_RESULTS.c.federation == name, FEDERATION_RESULTS.c.round == number)
        return connection.execute(select(FEDERATION_RESULTS.c.result).where(*of_it)).scalar_one_or_none()

    @staticmethod
    def _row(connection: Connection, name: str, *, to_write: bool = False) -> _Row:
        """A federation, which nobody else changes until the transaction ends."""
        query = select(FEDERATIONS).where(FEDERATIONS.c.name == name)
        known = _NAME.fullmatch(name)
        found = connection.execute(query.with_for_update() if to_write else query).one_or_none() if known else None
        if found is None:
            raise NotFoundError("federation", name)
        terms: dict[str, Any] = json.loads(found.terms)
        own = FederationTerms(**terms | {"parties": tuple(terms["parties"])})
        return _Row(found.name, own, found.round, found.attempt, found.phase, found.since)


def _is_now(row: _Row, place: FederationState) -> bool:
    """Whether a phase is one of the attempt under way."""
    return (row.round, row.attempt) == (place.round, place.attempt) and place.phase in PHASES
