"""What is declared of the rows of a fit, and fits that were planned, as text between processes.

**Guarantee**: `decode_fit` gives a fit whose event is one that accountants know and whose charge is a guarantee; that
the charge covers the event is for the ledger to check, and that both are those of the order for the process that runs
it, which plans the order again (`tickets`).

Proof: proofs/session/wire/fits.md.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from sfumato.errors import ParameterError, TicketError
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.relations import Select
from sfumato.session.training.columns import TrainingColumn
from sfumato.session.training.ordered import DeclaredRows, FitOrder, OrderedFit
from sfumato.session.training.plan import TrainingQuery, training_query
from sfumato.session.wire.nodes import Wire

VERSION: Final = 1
"""Of the way in which such texts are written."""

PlannedFit: TypeAlias = Callable[[FitOrder, DeclaredRows], OrderedFit]
"""Makes the fit of an order; `learn.ordering.planned_fit` does."""

ROWS: Final = Wire(
    DeclaredRows, version=VERSION, classes=(DeclaredRows, TrainingColumn), words=(NeighboringRelation,), roles={},
    made={},
)  # fmt: skip
"""How declared rows are written."""

FITS: Final = Wire(
    OrderedFit, version=VERSION, classes=(OrderedFit, FitOrder, PureDP, ApproxDP), words=(), roles={}, made={}
)  # fmt: skip
"""How planned fits are written."""


def encode_rows(rows: DeclaredRows) -> str:
    """What is declared of rows, as text in ASCII; it is public."""
    return ROWS.encode(rows)


def decode_rows(text: str) -> DeclaredRows:
    """What `encode_rows` wrote.

    Raises:
        ParameterError: The text is none that this version writes.
    """
    try:
        return ROWS.decode(text)
    except TicketError as error:
        requirement = f"cannot be read: its {error.part} {error.requirement}; use the server's version of sfumato"
        raise ParameterError("training set", "a text", requirement) from None


def encode_fit(fit: OrderedFit) -> str:
    """A planned fit as text in ASCII."""
    return FITS.encode(fit)


def decode_fit(text: str) -> OrderedFit:
    """The fit that `encode_fit` wrote, as it was planned elsewhere.

    Raises:
        TicketError: The text is none that this version writes.
    """
    return FITS.decode(text)


def declared_rows(query: TrainingQuery, neighboring_relation: NeighboringRelation) -> DeclaredRows:
    """What fits of a query are planned by."""
    return DeclaredRows(
        columns=query.columns, target=query.target, rows_per_unit=query.rows_per_unit,
        neighboring_relation=neighboring_relation,
    )  # fmt: skip


def query_again(query: TrainingQuery) -> TrainingQuery:
    """The query of a training set as it is made here, of the rows that it asks for.

    Raises:
        SfumatoError: It asks for none.
    """
    coded, target = query.question.child.child, query.target
    if not isinstance(coded, Select):
        raise TicketError("question", "must be of the codes of rows")
    name, classes = (None, None) if target is None else (target.name, target.values)
    return training_query(coded.child, target=name, classes=classes, limits=query.question.limits)
