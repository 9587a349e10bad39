"""Training sets that a server holds: an estimator is fitted there, by its name and its arguments, and is built here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.client.asked import checked_key
from sfumato.client.calls import Exchange, posted
from sfumato.client.curator import RemoteCurator
from sfumato.client.problems import Answer
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.privacy.codec import Json
from sfumato.privacy.formats import parse_json
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.relations import GroupBy
from sfumato.query.model.schema import Key
from sfumato.query.planning.questions import Aggregate, Presented
from sfumato.query.python.frame import Frame
from sfumato.query.statistics.counts import CountRows
from sfumato.session.asking.training_set import FittedModel, encoded
from sfumato.session.releases.receipt import receipt_from_dict
from sfumato.session.training.columns import Codes, TrainingColumn
from sfumato.session.training.ordered import DeclaredRows, RowsElsewhere, fit_digest
from sfumato.session.training.plan import PrivateFit
from sfumato.session.wire.fits import decode_rows
from sfumato.session.wire.questions import encode_question


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RemoteTrainingSet(RowsElsewhere):
    """The rows of a query that a server holds, for models; see `TrainingSet`, whose face it has.

    An estimator that is fitted to it is named to the server with its arguments. The server plans the same fit, charges
    it, and gives back the model that was released, of which the estimator is built here.

    Attributes:
        dataset: Whom the rows are about.
        text: The query as people read it.
        body: The query as it is sent.
        declared: All that is publicly known of the rows.
        curator: The server.
    """

    dataset: str
    text: str
    body: Mapping[str, Json]
    declared: DeclaredRows
    curator: RemoteCurator = field(compare=False)

    @property
    def columns(self) -> tuple[TrainingColumn, ...]:
        """The features, as they are declared."""
        return self.declared.columns

    @property
    def target(self) -> TrainingColumn | None:
        """What is to be predicted, as it is declared; None if nothing is."""
        return self.declared.target

    @property
    def rows_per_unit(self) -> int:
        """How many rows one unit has, at most."""
        return self.declared.rows_per_unit

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """What may change between neighboring databases."""
        return self.declared.neighboring_relation

    def order(self, estimator: Any, fit: PrivateFit, *, idempotency_key: str | None = None) -> FittedModel:
        """Have an estimator fitted there; estimators call it.

        Args:
            estimator: The estimator, whose name and arguments are sent.
            fit: The fit as it was planned here: the server charges only what it plans as well.
            idempotency_key: Under which the same fit is never charged twice; default: a new one.

        Raises:
            ParameterError: The estimator cannot be sent, or is planned otherwise there; nothing was charged.
            BudgetExceededError: Too little budget remains; nothing was charged.
        """
        from sfumato.learn.ordering.orders import order_of

        made = order_of(estimator)
        entry: dict[str, Json] = {
            "estimator": made.estimator, "arguments": parse_json(made.arguments), "plan": fit_digest(fit),
        }  # fmt: skip
        asked = _with_fit(self.body, entry)
        return self.curator.send(posted(self.dataset, "ask", asked, _model, key=checked_key(idempotency_key)))

    def encode(self, rows: Mapping[str, Sequence[Any]]) -> Codes:
        """Rows of anybody as codes, to predict for; see `TrainingSet.encode`."""
        return encoded(self.columns, rows)

    def __repr__(self) -> str:
        return f"<RemoteTrainingSet: {self.text}>"


def declared_of(
    dataset: str, query: str | Frame[Any], *, target: str | None, classes: Sequence[Key] | None
) -> tuple[str, Mapping[str, Json], Exchange[DeclaredRows]]:
    """The text of a query for models, what is sent of it, and the request for what is declared of its rows.

    Args:
        dataset: Whom it is about.
        query: A SELECT of rows, or a frame.
        target: The column that is to be predicted.
        classes: The values of the target.

    Raises:
        ParameterError: It is neither, or a class cannot be sent.
    """
    entry: dict[str, Json] = {}
    if target is not None:
        entry["target"] = of_kind(target, "target", str, "the name of a column")
    if classes is not None:
        entry["classes"] = [_class(one) for one in classes]
    if isinstance(query, str):
        text, body = query, {"sql": query}
    else:
        frame = of_kind(query, "query", Frame, "a SELECT of rows, or a frame")
        text = f"rows of {', '.join(frame.shape.columns)}"
        counted = Presented(Aggregate(GroupBy(frame.relation), (("rows", CountRows()),), frame.limits))
        body = {"plan": encode_question(counted)}
    asked: Mapping[str, Json] = {**body, "fit": entry}
    return (
        text,
        asked,
        posted(dataset, "estimate", dict(asked), lambda answer: decode_rows(answer.document()["training"])),
    )


def _class(value: Any) -> Json:
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, str | bool | int):
        raise ParameterError("classes", type(plain).__name__, "must be texts, whole numbers or truths, to be sent")
    return plain


def _with_fit(body: Mapping[str, Json], entry: Mapping[str, Json]) -> dict[str, Json]:
    known = body["fit"]
    return {**body, "fit": {**(known if isinstance(known, dict) else {}), **entry}}


def _model(answer: Answer) -> FittedModel:
    (found,) = answer.document()["models"]
    reused = answer.headers.get("sfumato-reused") == "true"
    return FittedModel(model=dict(found["model"]), receipt=receipt_from_dict(found["receipt"]), reused=reused)
