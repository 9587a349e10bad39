"""Fits that are ordered by name: what a client, a gateway and the process with the data say of one to each other.

An analyst who is elsewhere names an estimator and its arguments. Whoever knows what is declared of the rows makes the
same `PrivateFit` of that, wherever they are: so the one who charges, the one who runs it and the one who reads the
model agree on the event, the cost and all parameters, or nothing is charged.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NoReturn

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.codec import Json, decode_event, encode_event, encode_guarantee
from sfumato.privacy.events import Event
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Key
from sfumato.session.training.columns import TrainingColumn, TrainingRows
from sfumato.session.training.plan import PrivateFit


class RowsElsewhere(ABC):
    """A training set whose rows are elsewhere: fits are ordered there by name. `TrainingData` for estimators."""

    __slots__ = ()

    @abstractmethod
    def order(self, estimator: Any, fit: PrivateFit) -> Any:
        """Have an estimator fitted there.

        Args:
            estimator: The estimator, whose name and arguments are sent.
            fit: The fit as it was planned here.

        Returns:
            What was released: a `model` and a `receipt`.

        Raises:
            ParameterError: It is planned otherwise there; nothing was charged.
        """

    def fit(self, fit: PrivateFit, /) -> Any:
        """Nothing: what runs is made of a name and arguments, not of a fit that was planned here.

        Raises:
            ParameterError: Always.
        """
        raise ParameterError("rows", fit.name, "are elsewhere; fit an estimator to this training set")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredRows(RowsElsewhere):
    """All that is publicly known of the rows of a training set: what fits are planned by.

    Attributes:
        columns: The features, as they are declared.
        target: What is to be predicted, as it is declared; None if nothing is.
        rows_per_unit: How many rows one unit has, at most.
        neighboring_relation: What may change between neighboring databases.
    """

    columns: tuple[TrainingColumn, ...]
    target: TrainingColumn | None
    rows_per_unit: int
    neighboring_relation: NeighboringRelation

    def order(self, estimator: Any, fit: PrivateFit) -> Any:
        """Nothing: nobody is known here who has the rows.

        Raises:
            ParameterError: Always.
        """
        raise ParameterError("rows", f"{fit.name} by {type(estimator).__name__}", "are nowhere; take a training set")


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOrder:
    """Which estimator is to be fitted.

    Attributes:
        estimator: The name of its class in `sfumato.learn`.
        arguments: Its arguments by their names, as one text of JSON; `learn.ordering` writes and reads it.
    """

    estimator: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedFit:
    """A fit as it was planned for an order: a `PrivateFit` that crosses as text to the process that can run it.

    Attributes:
        order: Which estimator, with which arguments.
        name: What ledgers and receipts call the method.
        charge: The cost that is charged.
        steps_a_row: How many steps of work it takes for each row, about.
        steps: How many it takes beside.
        written_event: All that is released, as text of JSON.
        parameters: All parameters on which the model depends, as text of JSON.
        event: All that is released.
        planned: The fit itself, where it was planned; it is in no text.
    """

    order: FitOrder
    name: str
    charge: PureDP | ApproxDP
    steps_a_row: int
    steps: int
    written_event: str
    parameters: str
    event: Event = field(init=False, repr=False, compare=False)
    planned: PrivateFit | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_fields(self, event=decode_event(json.loads(self.written_event)), planned=None)

    @classmethod
    def of(cls, order: FitOrder, fit: PrivateFit, *, steps_a_row: int, steps: int) -> "OrderedFit":
        """A fit that was made of an order here."""
        found = cls(
            order=order, name=fit.name, charge=fit.charge, steps_a_row=steps_a_row, steps=steps,
            written_event=written_json(encode_event(fit.event)), parameters=written_json(fit.document()),
        )  # fmt: skip
        set_fields(found, planned=fit)
        return found

    def document(self) -> dict[str, Json]:
        """All parameters on which the model depends."""
        found: dict[str, Json] = json.loads(self.parameters)
        return found

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The model, where the fit was made.

        Raises:
            ParameterError: It was made in another process.
        """
        if self.planned is None:
            raise ParameterError("fit", self.name, "is run where the data are, not here")
        return self.planned.release(rows)


def written_json(value: Json) -> str:
    """A value as text of JSON: equal values have one text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def fit_digest(fit: PrivateFit) -> str:
    """A hash of all that is planned of a fit: where two plan the same, they have the same."""
    written = written_json([fit.name, encode_guarantee(fit.charge), encode_event(fit.event), fit.document()])
    return sha256(written.encode()).hexdigest()


class SessionElsewhere(ABC):
    """A session whose data are elsewhere, and whose training sets are `RowsElsewhere`."""

    @abstractmethod
    def training_set(self, query: Any, *, target: str | None = None, classes: Sequence[Key] | None = None) -> Any:
        """The rows of a query, for a model to be fitted to; no data is read and nothing is spent."""

    def marginals(self, query: Any, *, bins: Any = None) -> NoReturn:  # noqa: ARG002 # as a session has it
        """Refused: servers make no synthetic rows and no synthetic flows.

        Raises:
            ParameterError: Always; nothing is sent and nothing is spent.
        """
        raise _refused("marginals")

    def baskets(self, query: Any, *, item: Any) -> NoReturn:  # noqa: ARG002 # as a session has it
        """Refused: servers make no synthetic baskets and find no frequent itemsets.

        Raises:
            ParameterError: Always; nothing is sent and nothing is spent.
        """
        raise _refused("baskets")


def _refused(what: str) -> ParameterError:
    requirement = (
        "are of a session that has the data: servers make no synthetic rows, flows or baskets; ask the owner to run"
        " sf.synth there, and to share what it makes"
    )
    return ParameterError(what, "a session of a server", requirement)
