"""The same face for programs that do something else while a server answers: every request is awaited."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import Any, Self, Unpack

from sfumato.client import calls
from sfumato.client.asked import Inquiry, Parameters, Terms, together
from sfumato.client.calls import ListedRelease, RemoteAccount, RemoteDataset
from sfumato.client.curator import TIMEOUT, AsyncCurator, address_of
from sfumato.client.tokens import token_for
from sfumato.numeric.rationals import Number
from sfumato.privacy.guarantees import Guarantee
from sfumato.query.planning.questions import Presented
from sfumato.query.python.frame import Frame
from sfumato.query.statistics.estimates import Forecast
from sfumato.session.releases.release import Release


async def connect_async(
    url: str,
    *,
    token: str | None = None,
    dataset: str | None = None,
    timeout: Number = TIMEOUT,  # noqa: ASYNC109 # of one try; then the request is sent again
    insecure: bool = False,
) -> "AsyncSession":
    """A dataset that a server holds, as `connect` gives it, whose requests are awaited.

    Args:
        url: As for `connect`, like all others.
        token: The API key.
        dataset: Which dataset.
        timeout: Seconds that an answer may take.
        insecure: Whether a key may be sent without encryption to another machine.

    Raises:
        ParameterError: The address or the key cannot be used, or there is no such dataset.
        CuratorError: The server cannot be reached.
    """
    address, wanted = address_of(url, insecure=insecure), calls.named(dataset)
    curator = AsyncCurator(address, token_for(address, token), timeout=timeout)
    try:
        return AsyncSession(curator, calls.chosen(await curator.send(calls.datasets()), wanted))
    except BaseException:
        await curator.close()
        raise


class AsyncSession:
    """A dataset that a server holds; see `RemoteSession`, whose methods these are.

    Args:
        curator: The server.
        dataset: The name of the dataset.
    """

    def __init__(self, curator: AsyncCurator, dataset: str) -> None:
        self._curator, self.dataset = curator, dataset

    async def table(self, name: str | None = None) -> Frame["AsyncQuestion"]:
        """A table or view to filter, join, group and aggregate in Python."""
        relations = await self._curator.send(calls.relations(self.dataset))
        return Frame(relations[calls.table_name(name, relations)], self._asked)

    def query(self, sql: str, *, parameters: Parameters = (), intervals: bool = False) -> "AsyncQuestion":
        """A query from a SELECT statement, which is not answered yet."""
        asked = Inquiry.sql(self.dataset, sql, parameters=parameters, intervals=intervals)
        return AsyncQuestion(asked=asked, curator=self._curator)

    async def sql(
        self, sql: str, *, epsilon: Number, delta: Number = 0, parameters: Parameters = (), intervals: bool = False
    ) -> Release:  # fmt: skip
        """Answer a SELECT statement."""
        asked = self.query(sql, parameters=parameters, intervals=intervals)
        return await asked.release(epsilon=epsilon, delta=delta)

    def queries(self, questions: "str | Iterable[str | AsyncQuestion]") -> "AsyncBatch":
        """Several queries to answer together, for one cost, which are not answered yet."""
        return AsyncBatch(asked=together(questions, self.query, AsyncQuestion), curator=self._curator)

    async def batch(
        self, questions: "str | Iterable[str | AsyncQuestion]", *, epsilon: Number, delta: Number = 0
    ) -> tuple[Release, ...]:  # fmt: skip
        """Answer several queries together, for one cost."""
        return await self.queries(questions).release(epsilon=epsilon, delta=delta)

    async def dry_run(self, sql: str, *, epsilon: Number, delta: Number = 0, parameters: Parameters = ()) -> Release:
        """The answer to a statement on rows that are made up; nothing is spent."""
        return await self.query(sql, parameters=parameters).dry_run(epsilon=epsilon, delta=delta)

    async def own_account(self) -> RemoteAccount:
        """The charged account as it is now: its name, budget, what is spent and what remains."""
        name = await self._curator.send(calls.account_name(self.dataset))
        return await self._curator.send(calls.account(self.dataset, name))

    async def account(self, name: str) -> RemoteAccount:
        """An account below that of the dataset as it is now, for owners."""
        return await self._curator.send(calls.account(self.dataset, f"{self.dataset}/{name}"))

    async def label(self) -> Mapping[str, Any]:
        """The privacy label."""
        return await self._curator.send(calls.label(self.dataset))

    async def releases(self, *, after: str | None = None) -> tuple[ListedRelease, ...]:
        """Answers that the account was shown before, the oldest first: at most a hundred, after one of them."""
        return await self._curator.send(calls.releases(self.dataset, after))

    async def fetch(self, identifier: str) -> Release:
        """An answer that the account was shown before, as it was; it costs nothing."""
        return await self._curator.send(calls.release(identifier))

    async def datasets(self) -> tuple[RemoteDataset, ...]:
        """The datasets of the server that the key has a role on."""
        return await self._curator.send(calls.datasets())

    async def close(self) -> None:
        """Close all connections."""
        await self._curator.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncSession on {self.dataset} at {self._curator.address}>"

    def _asked(self, question: Presented) -> "AsyncQuestion":
        return AsyncQuestion(asked=Inquiry.frame(self.dataset, question), curator=self._curator)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AsyncQuestion:
    """A query that a server has not answered yet; see `RemoteQuestion`, whose methods and arguments these are.

    Attributes:
        asked: The query as it is sent.
        curator: The server.
    """

    asked: Inquiry
    curator: AsyncCurator

    async def cost(self, **terms: Unpack[Terms]) -> Guarantee:
        """The cost of a release; nothing is spent."""
        return await self.curator.send(self.asked.cost(terms))

    async def error(self, **terms: Unpack[Terms]) -> tuple[Forecast, ...]:
        """The predicted error of each column; nothing is spent."""
        (found,) = await self.curator.send(self.asked.errors(terms))
        return found

    async def explain(self, **terms: Unpack[Terms]) -> str:
        """The plan as text; nothing is spent."""
        return await self.curator.send(self.asked.explain({"epsilon": 1, **terms}))

    async def epsilon_for(self, targets: Mapping[str, Number], /, **terms: Unpack[Terms]) -> Fraction:
        """The smallest ε at which no column exceeds its target error; nothing is spent."""
        stated: Terms = {**terms}
        stated["error"] = targets
        return await self.curator.send(self.asked.least_epsilon(stated))

    async def from_releases(self, **terms: Unpack[Terms]) -> Release:
        """What answers that the account has already say of the query; nothing is spent."""
        (found,) = await self.curator.send(self.asked.from_releases(terms))
        return found

    async def dry_run(self, **terms: Unpack[Terms]) -> Release:
        """The answer on rows that are made up; nothing is spent."""
        (found,) = await self.curator.send(self.asked.dry_run(terms))
        return found

    async def release(self, *, idempotency_key: str | None = None, **terms: Unpack[Terms]) -> Release:
        """Charge the cost and have the query answered."""
        (found,) = await self.curator.send(self.asked.release(terms, idempotency_key))
        return found

    def __repr__(self) -> str:
        return f"<AsyncQuestion: {self.asked.text}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AsyncBatch:
    """Several queries that a server answers together; see `RemoteBatch`, whose methods and arguments these are.

    Attributes:
        asked: The queries as they are sent.
        curator: The server.
    """

    asked: Inquiry
    curator: AsyncCurator

    async def cost(self, **terms: Unpack[Terms]) -> Guarantee:
        """The cost of all answers together; nothing is spent."""
        return await self.curator.send(self.asked.cost(terms))

    async def error(self, **terms: Unpack[Terms]) -> tuple[tuple[Forecast, ...], ...]:
        """For each query the predicted error of each column; nothing is spent."""
        return await self.curator.send(self.asked.errors(terms))

    async def explain(self, **terms: Unpack[Terms]) -> str:
        """The plan of each query as text; nothing is spent."""
        return await self.curator.send(self.asked.explain({"epsilon": 1, **terms}))

    async def release(self, *, idempotency_key: str | None = None, **terms: Unpack[Terms]) -> tuple[Release, ...]:
        """Charge the cost once, and have all queries answered, in their order."""
        return await self.curator.send(self.asked.release(terms, idempotency_key))

    def __len__(self) -> int:
        return len(self.asked.texts)

    def __repr__(self) -> str:
        return f"<AsyncBatch: {self.asked.text}>"
