"""`RemoteSession`: the face of a session, for a dataset that a server holds."""

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from sfumato.client import calls
from sfumato.client.asked import Inquiry, Parameters, together
from sfumato.client.calls import ListedRelease, RemoteAccount, RemoteDataset
from sfumato.client.curator import TIMEOUT, RemoteCurator, address_of
from sfumato.client.questions import RemoteBatch, RemoteQuestion
from sfumato.client.tokens import token_for
from sfumato.client.training import RemoteTrainingSet, declared_of
from sfumato.numeric.rationals import Number
from sfumato.privacy.budgets import Budget
from sfumato.query.model.schema import Key
from sfumato.query.planning.questions import Presented
from sfumato.query.python.frame import Frame
from sfumato.session.releases.release import Release
from sfumato.session.training.ordered import SessionElsewhere


def connect(
    url: str, *, token: str | None = None, dataset: str | None = None, timeout: Number = TIMEOUT, insecure: bool = False
) -> "RemoteSession":  # fmt: skip
    """A dataset that a server holds, to be asked like a session of one's own.

    Args:
        url: The address of the server: ``"https://curator.example.org"``.
        token: The API key; default: that of SFUMATO_TOKEN, or the one that ``sfumato login`` stored.
        dataset: Which dataset; default: the only one that the key has a role on.
        timeout: Seconds that an answer may take.
        insecure: Whether a key may be sent without encryption to another machine.

    Raises:
        ParameterError: The address or the key cannot be used, or there is no such dataset.
        CuratorError: The server cannot be reached.
    """
    address, wanted = address_of(url, insecure=insecure), calls.named(dataset)
    curator = RemoteCurator(address, token_for(address, token), timeout=timeout)
    try:
        return RemoteSession(curator, calls.chosen(curator.send(calls.datasets()), wanted))
    except BaseException:
        curator.close()
        raise


class RemoteSession(SessionElsewhere):
    """A dataset that a server holds, queried under one's own account there.

    Answers are the package's own `Release`s. A request that is lost on its way is sent again, and charged once.

    Args:
        curator: The server.
        dataset: The name of the dataset.
    """

    def __init__(self, curator: RemoteCurator, dataset: str) -> None:
        self._curator, self.dataset = curator, dataset

    def table(self, name: str | None = None) -> Frame[RemoteQuestion]:
        """A table or view to filter, join, group and aggregate in Python; frames are built here, and asked there.

        Raises:
            ParameterError: An unknown table, or no name where there are several tables.
        """
        relations = self._curator.send(calls.relations(self.dataset))
        return Frame(relations[calls.table_name(name, relations)], self._asked)

    def query(self, sql: str, *, parameters: Parameters = (), intervals: bool = False) -> RemoteQuestion:
        """A query from a SELECT statement, which is not answered yet; see its cost and error first.

        Args:
            sql: One statement; it may contain parameters, `$1` or `:name`.
            parameters: The values of parameters: numbers, texts and truths.
            intervals: Whether quantiles get a 95% interval, for two thirds of the ε of each.
        """
        asked = Inquiry.sql(self.dataset, sql, parameters=parameters, intervals=intervals)
        return RemoteQuestion(asked=asked, curator=self._curator)

    def sql(
        self, sql: str, *, epsilon: Number, delta: Number = 0, parameters: Parameters = (), intervals: bool = False
    ) -> Release:  # fmt: skip
        """Answer a SELECT statement: `query(sql).release(...)`.

        Args:
            sql: One statement.
            epsilon: The total ε of the whole query; there is no default.
            delta: The total δ.
            parameters: As for `query`.
            intervals: As for `query`.
        """
        return self.query(sql, parameters=parameters, intervals=intervals).release(epsilon=epsilon, delta=delta)

    def queries(self, questions: str | Iterable[str | RemoteQuestion]) -> RemoteBatch:
        """Several queries to answer together, for one cost, which are not answered yet.

        Args:
            questions: SELECT statements or queries of this dataset; or a text with several statements.
        """
        return RemoteBatch(asked=together(questions, self.query, RemoteQuestion), curator=self._curator)

    def batch(
        self, questions: str | Iterable[str | RemoteQuestion], *, epsilon: Number, delta: Number = 0
    ) -> tuple[Release, ...]:  # fmt: skip
        """Answer several queries together, for one cost: `queries(questions).release(...)`."""
        return self.queries(questions).release(epsilon=epsilon, delta=delta)

    def dry_run(self, sql: str, *, epsilon: Number, delta: Number = 0, parameters: Parameters = ()) -> Release:
        """The answer to a statement on rows that are made up from what the owner declares; nothing is spent."""
        return self.query(sql, parameters=parameters).dry_run(epsilon=epsilon, delta=delta)

    def training_set(
        self, query: str | Frame[RemoteQuestion], *, target: str | None = None, classes: Sequence[Key] | None = None
    ) -> RemoteTrainingSet:
        """The rows of a query, for a model to be fitted to there; no data is read and nothing is spent.

        Args:
            query: A SELECT of rows, or a frame. Numbers need bounds, other columns listed values.
            target: The column that is to be predicted; None if there is none.
            classes: The values of the target, if it is a category; None: those that the query lists.
        """
        text, body, call = declared_of(self.dataset, query, target=target, classes=classes)
        declared = self._curator.send(call)
        return RemoteTrainingSet(
            dataset=self.dataset, text=text, body=body, declared=declared, curator=self._curator
        )  # fmt: skip

    @property
    def account_name(self) -> str:
        """The full name of the charged account, with its parents: ``hospital/cardiology/ann``."""
        return self._curator.send(calls.account_name(self.dataset))

    @property
    def own_account(self) -> RemoteAccount:
        """The charged account as it is now: its name, budget, what is spent and what remains."""
        return self._curator.send(calls.account(self.dataset, self.account_name))

    @property
    def budget(self) -> Budget:
        """The most that may be spent: in total, or in each window."""
        return self.own_account.budget

    @property
    def spent(self) -> Budget:
        """The spending; with a window, within the window."""
        return self.own_account.spent

    @property
    def remaining(self) -> Budget:
        """The remaining budget of the account; a parent may have less."""
        return self.own_account.remaining

    def account(self, name: str) -> RemoteAccount:
        """An account below that of the dataset as it is now: ``"ann"``, or ``"cardiology/ann"``; for owners."""
        return self._curator.send(calls.account(self.dataset, f"{self.dataset}/{name}"))

    @property
    def label(self) -> Mapping[str, Any]:
        """The privacy label: who is protected, how well, for how long, and how much is spent."""
        return self._curator.send(calls.label(self.dataset))

    def releases(self, *, after: str | None = None) -> tuple[ListedRelease, ...]:
        """Answers that the account was shown before, the oldest first: at most a hundred, after one of them."""
        return self._curator.send(calls.releases(self.dataset, after))

    def fetch(self, identifier: str) -> Release:
        """An answer that the account was shown before, as it was; it costs nothing."""
        return self._curator.send(calls.release(identifier))

    def datasets(self) -> tuple[RemoteDataset, ...]:
        """The datasets of the server that the key has a role on."""
        return self._curator.send(calls.datasets())

    def close(self) -> None:
        """Close all connections."""
        self._curator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RemoteSession on {self.dataset} at {self._curator.address}>"

    def _asked(self, question: Presented) -> RemoteQuestion:
        return RemoteQuestion(asked=Inquiry.frame(self.dataset, question), curator=self._curator)
