"""Who makes a request, whether they may, and the act that is written of it: the same for every route."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from sfumato.errors import (
    AccessError,
    ForbiddenError,
    LedgerError,
    NotAuthenticatedError,
    NotFoundError,
    ParameterError,
)
from sfumato.ledger.ledger import Ledger
from sfumato.server.config import Curator
from sfumato.server.gateway.answering import Answers
from sfumato.server.gateway.bodies import StrictRequest
from sfumato.server.gateway.desks import Datasets
from sfumato.server.gateway.limits import Places, RequestRates
from sfumato.server.gateway.observing import Metrics
from sfumato.server.gateway.planners import Planner
from sfumato.server.gateway.problems import TooFastError
from sfumato.server.gateway.waiting import Waiting
from sfumato.server.identity.acts import Act, ActLog, ActOutcome
from sfumato.server.identity.approvals import Approvals
from sfumato.server.identity.collections import Collections
from sfumato.server.identity.database import Database
from sfumato.server.identity.federations import Federations
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Action, Directory, KeyScope, Principal
from sfumato.server.identity.questions import Questions
from sfumato.server.identity.releases import ReleaseRegistry

_READS: Final = frozenset(
    {
        Action.READ_SELF, Action.READ_SCHEMA, Action.READ_RELATIONS, Action.ESTIMATE, Action.ASK,
        Action.READ_OWN_RELEASES, Action.READ_OWN_ACCOUNT, Action.READ_ACCOUNTS, Action.READ_PEOPLE,
        Action.READ_EVERYBODY, Action.READ_ACTS, Action.READ_METRICS, Action.READ_COLLECTIONS, Action.SEND_REPORTS,
        Action.READ_ESTIMATES, Action.READ_COUNTERS, Action.READ_MAPS, Action.READ_SYNTHETIC, Action.READ_FEDERATIONS,
        Action.TAKE_PART,
    }
)  # fmt: skip
"""Acts that change nothing but ledger or counts, which are kept by themselves: nobody waits until they are written."""

_MAY_NOT: Final = (AccessError, TooFastError)


class Gateway:
    """All that routes work with.

    Args:
        curator: What the curator's file declares.
        ledger: Where spending and answers are kept.
        database: Where people, keys, acts, releases and counts are kept.

    Raises:
        PolicyError: A collection has another protocol than its counts.
    """

    def __init__(self, curator: Curator, ledger: Ledger, database: Database) -> None:
        self.curator, self.ledger, self.database = curator, ledger, database
        self.collections = Collections(database, days=curator.limits.batch_days)
        self.collections.require_protocols(curator.collections.values())
        self.federations = Federations(database)
        self.datasets = Datasets(curator, ledger)
        self.people = Directory(database)
        self.keys = ApiKeys(database, secret=curator.secret)
        self.acts = ActLog(database)
        self.approvals = Approvals(database)
        self.releases = ReleaseRegistry(database)
        self.rates, self.places = RequestRates(curator.limits), Places(curator.limits)
        self.metrics = Metrics(self.places)
        self.planner = Planner()
        self.shown = Answers(self.datasets, ledger, self.releases, self.acts, curator.limits, self.planner)
        self.waiting = Waiting(self.shown, Questions(database), self.places, curator.limits)

    def close(self) -> None:
        """Write what is left to write, and let go of ledger and database."""
        self.waiting.close()
        self.planner.close()
        self.acts.close()
        self.database.close()
        self.ledger.close()


@dataclass(slots=True)
class Doing:
    """What somebody is doing; routes add what they come to know.

    Attributes:
        principal: Who.
        target: With what, besides the dataset.
        query_hash: The hash of the query.
    """

    principal: Principal
    target: str = ""
    query_hash: str = ""


class Caller:
    """Whoever sent a request.

    Args:
        gateway: The server.
        token: The API key that they sent; empty for none.
        host: The address that they sent it from.

    Attributes:
        principal: Who it is; nobody, who may do nothing, until they have signed in.
        is_written: Whether an act was written of the request.
    """

    def __init__(self, gateway: Gateway, token: str, host: str) -> None:
        self.gateway, self._token, self._host = gateway, token, host
        self.principal = Principal(name="", scopes=frozenset())
        self.is_written = self._is_unnamed = False

    def sign_in(self) -> None:
        """Find out who it is, and count the request; what is over the limit of a minute leaves no act.

        Raises:
            NotAuthenticatedError: They sent no valid key.
            TooFastError: They ask too often.
        """
        try:
            found = self.gateway.keys.authenticate(self._token)
        except NotAuthenticatedError:
            self.gateway.rates.hit(f"address {self._host}")
            self.write(Action.SIGN_IN, ActOutcome.REFUSED)
            raise
        self.gateway.rates.hit(f"person {found.name}")
        self.principal = found

    @property
    def has_key(self) -> bool:
        """Whether they sent anything that may be an API key."""
        return bool(self._token)

    def stay_unnamed(self) -> None:
        """Let them send reports to a public collection, and count the request; neither address nor moment is written.

        Raises:
            TooFastError: They ask too often.
        """
        self.gateway.rates.hit(f"address {self._host}")
        self.principal = Principal(name="", scopes=frozenset({KeyScope.READ, KeyScope.REPORT}))
        self._is_unnamed = True

    def count_reports(self, count: int) -> None:
        """Count the reports that they send.

        Raises:
            TooFastError: They send too many within a minute.
        """
        who = f"address {self._host}" if self._is_unnamed else f"person {self.principal.name}"
        self.gateway.rates.hit_reports(who, count)

    @contextmanager
    def doing(self, action: Action, dataset: str | None = None, *, target: str = "") -> Iterator[Doing]:
        """Inside, they do what they may do; that they did, or were refused, is written down.

        Args:
            action: What.
            dataset: With which dataset, if with any.
            target: With what else.

        Raises:
            AccessError: They may not.
            SfumatoError: What they do fails.
        """
        doing = Doing(self.principal, target)
        try:
            self._require(action, dataset)
            yield doing
        except BaseException as error:
            is_refused = isinstance(error, _MAY_NOT)
            self.write(action, ActOutcome.REFUSED if is_refused else ActOutcome.FAILED, dataset, doing)
            raise
        self.write(action, ActOutcome.DONE, dataset, doing)

    def refused(self, action: Action, thing: str, name: str) -> NotFoundError:
        """The error for what does not exist, or is another's: the same words for both; that it was asked is written."""
        self.write(action, ActOutcome.REFUSED, None, Doing(self.principal, name))
        return NotFoundError(thing, name)

    @contextmanager
    def reading_account(self, dataset: str, account: str | None = None) -> Iterator[Doing]:
        """Inside, they read accounts of a dataset, as far as they may: owners and auditors all, analysts their own.

        Raises:
            AccessError: They may not; of an account that is not theirs an analyst hears no more than that.
        """
        is_own_alone = not self.principal.may(Action.READ_ACCOUNTS, dataset)
        action = Action.READ_OWN_ACCOUNT if is_own_alone else Action.READ_ACCOUNTS
        with self.doing(action, dataset, target=account or "") as doing:
            if is_own_alone and account is not None and not is_own(self.principal, dataset, account):
                raise NotFoundError("account", account)
            yield doing

    def write(
        self, action: Action, outcome: ActOutcome, dataset: str | None = None, doing: Doing | None = None
    ) -> None:  # fmt: skip
        """Write an act of this request; of datasets that are not served no name.

        Of whoever stays unnamed nothing is written: acts have moments, are kept for ever, and would name nobody.

        Args:
            action: What they do.
            outcome: How it ended.
            dataset: With which dataset, if with any.
            doing: What else is known of it.
        """
        self.is_written = True
        if self._is_unnamed:
            return
        act = Act(
            person=self.principal.name, action=action, outcome=outcome,
            dataset=dataset if dataset is not None and dataset in self.gateway.curator.datasets else "",
            target="" if doing is None else _target(doing.target), query_hash="" if doing is None else doing.query_hash,
        )  # fmt: skip
        self.gateway.acts.record(act, wait=action not in _READS and outcome is ActOutcome.DONE)

    def _require(self, action: Action, dataset: str | None) -> None:
        if dataset is None:
            self.principal.require(action)
            return
        served = self.gateway.curator.datasets.get(dataset)
        if served is None:
            raise NotFoundError("dataset", dataset)
        self.principal.require(action, dataset, owners_ask=served.owners_may_ask)


def _target(text: str) -> str:
    """What may stand in an act; of anything else nothing."""
    try:
        return Act(person="", action=Action.SIGN_IN, target=text).target
    except ParameterError:
        return ""


class Guarded(APIRoute):
    """A route for people with a key: who they are is known before their request is read, and it leaves one act."""

    def admit(self, who: Caller, request: Request) -> None:
        """Find out who makes a request.

        Raises:
            NotAuthenticatedError: They sent no valid key.
            TooFastError: They ask too often.
        """
        del request
        who.sign_in()

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            sent = await _BEARER(request)
            host = request.client.host if request.client else ""
            who = Caller(request.app.state.gateway, "" if sent is None else sent.credentials, host)
            request.state.caller = who
            await run_in_threadpool(self.admit, who, request)
            try:
                return await handle(StrictRequest(request.scope, request.receive))
            except Exception:
                if not who.is_written:  # it is none of the interface
                    await run_in_threadpool(who.write, Action.SIGN_IN, ActOutcome.FAILED)
                raise

        return guarded


_BEARER: Final = HTTPBearer(auto_error=False, description="An API key, which begins with sfk_.")


async def _caller(request: Request, _: Annotated[object, Depends(_BEARER)] = None) -> Caller:
    """Whoever sent a request."""
    found: Caller = request.state.caller
    return found


Anybody = Annotated[Caller, Depends(_caller)]
"""An argument of a `Guarded` route: whoever sent the request."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A text of your choice, one for each query. Sent again, nothing is charged twice.",
    ),
]


def account_for(principal: Principal, dataset: str) -> str:
    """The account that somebody's queries are charged to.

    Raises:
        ForbiddenError: They have none.
    """
    account = principal.account(dataset)
    if account is None:
        raise ForbiddenError(str(Action.ASK), "ask an owner of the dataset for an account")
    return account


def account_of(gateway: Gateway, dataset: str, path: str) -> str:
    """The full name of an account of a dataset; its own for no path.

    Raises:
        NotFoundError: There is none.
    """
    account = f"{dataset}/{path}" if path else dataset
    try:
        is_below = dataset in gateway.ledger.path(account)
    except LedgerError:
        is_below = False
    if not is_below:
        raise NotFoundError("account", account)
    return account


def is_own(principal: Principal, dataset: str, account: str) -> bool:
    """Whether an account is the one that somebody's queries are charged to."""
    return principal.account(dataset) == account
