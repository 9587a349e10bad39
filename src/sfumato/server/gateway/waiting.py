"""Queries that take long: they are answered in threads of their own, and asked for again under a name.

What was asked is kept, and nothing of how far it is: the ledger knows that. So any gateway can say it, also one that
was started later, by asking again under the same idempotency key, which charges nothing twice.
"""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from sfumato.errors import NotFoundError, SfumatoError, UnavailableError
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway.answering import Answers, Ask, AskRequest, Shown
from sfumato.server.gateway.limits import Places
from sfumato.server.gateway.problems import document_of
from sfumato.server.identity.questions import Questions

_MOST_ENDED: Final = 100


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a query is.

    Attributes:
        name: ``waiting``, ``answered`` or ``failed``.
        shown: Its answer, once there is one.
        problem: Why it has none, if it failed.
    """

    name: str
    shown: Shown | None = None
    problem: dict[str, Any] | None = None


class Waiting:
    """The queries that are under way in this process.

    Args:
        answers: Asks them.
        questions: What was asked of those that take long.
        places: How many may be under way.
        limits: For how long a request waits for its answer.
    """

    def __init__(self, answers: Answers, questions: Questions, places: Places, limits: LimitsEntry) -> None:
        self._answers, self._questions, self._places = answers, questions, places
        self._seconds = limits.seconds_to_answer
        self._threads = ThreadPoolExecutor(limits.concurrent, thread_name_prefix="query")
        self._running: dict[tuple[str, str, str], Future[Shown]] = {}
        self._lock = Lock()

    def answered(self, asking: AskRequest, *, seconds: float | None) -> Shown | None:
        """The answer to a query; None if it takes longer than whoever asks will wait, or the server lets them.

        Args:
            asking: The query.
            seconds: For how long to wait at most; None for as long as the server lets anybody.

        Raises:
            SfumatoError: It cannot be answered.
        """
        future, is_joined = self._started(asking, is_again=False)
        longest = self._seconds if seconds is None else min(seconds, self._seconds)
        with self._places.taken(asking.person) if is_joined else nullcontext():  # as it keeps a thread too
            wait([future], longest)
        return future.result() if future.done() else None

    def keep(self, asking: AskRequest, key: str) -> str:
        """A name under which to ask how far a query is."""
        return self._questions.keep(
            person=asking.person, api_key=key, dataset=asking.dataset, account=asking.account, key=asking.key,
            ask=asking.ask.model_dump_json(),
        )  # fmt: skip

    def kept(self, name: str, person: str) -> AskRequest | None:
        """The query of somebody that has a name, if there is one."""
        try:
            kept = self._questions.get(name, person)
        except NotFoundError:
            return None
        return AskRequest(
            dataset=kept.dataset, account=kept.account, person=kept.person, key=kept.key,
            ask=Ask.model_validate_json(kept.ask),
        )  # fmt: skip

    def stage(self, asking: AskRequest) -> Progress:
        """How far a query is; one that this process does not know is asked again, under the same idempotency key.

        Args:
            asking: The query, of somebody who may still ask it.

        Raises:
            BusyError: It would have to be asked again, and too many are under way.
        """
        future, _ = self._started(asking, is_again=True)
        if not future.done():
            return Progress("waiting")
        error = future.exception()
        if error is None:
            return Progress("answered", shown=future.result())
        if not isinstance(error, SfumatoError):
            raise error
        return Progress("failed", problem=document_of(error))

    def close(self) -> None:
        """Wait for what is under way."""
        self._threads.shutdown()

    def _started(self, asking: AskRequest, *, is_again: bool) -> "tuple[Future[Shown], bool]":
        """The query as it is under way, and whether it was before; if it is asked for again, also one that ended."""
        name = (asking.account, asking.key, asking.ask.model_dump_json())
        with self._lock:
            known = self._running.get(name)
            if known is not None and (is_again or not known.done()):
                return known, True
            self._forget()
            self._places.take(asking.person)
            try:
                future = self._running[name] = self._threads.submit(self._answers.answer, asking)
            except RuntimeError:  # this process is about to end
                self._places.give_back(asking.person)
                raise UnavailableError from None
        future.add_done_callback(lambda _: self._places.give_back(asking.person))
        return future, False

    def _forget(self) -> None:
        """Of queries that ended only the latest are known."""
        ended = [name for name, future in self._running.items() if future.done()]
        for name in ended[: max(0, len(ended) - _MOST_ENDED)]:
            del self._running[name]
