"""What is asked and what is shown: checked parameters, who asks, and the release that a stored answer becomes."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.ledger.core.reservations import Asked
from sfumato.numeric.rationals import Number, decimal_text, exact, positive_integer
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.planning.auto_bounds import automatic, stated_bounds
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Presented, buys_interval, wide_sums
from sfumato.query.planning.sections import OF_INTERVALS
from sfumato.query.printing.canonical import question_hash, question_text
from sfumato.query.printing.expression_sql import expression_sql
from sfumato.query.statistics.histograms import Histogram
from sfumato.session.asking.answer_key import request_body
from sfumato.session.asking.free_answers import FreeAnswer
from sfumato.session.asking.planning import AnyPrepared, Planning, StoredAnswer
from sfumato.session.releases.presenting import present
from sfumato.session.releases.receipt import Receipt, receipt_from_dict
from sfumato.session.releases.release import Binned, Release
from sfumato.session.releases.written import decode_section
from sfumato.version import __version__

CONFIDENCE: Final = Fraction(95, 100)


def asked_by(desk: Planning, idempotency_key: object, prepared: AnyPrepared, confidence: Fraction) -> Asked:
    """Who asks, under which key, and a hash of all that a receipt and an answer under it say."""
    if idempotency_key is None:
        return Asked(principal=desk.account)
    if not isinstance(idempotency_key, str) or not idempotency_key:  # it could not be written down
        raise ParameterError("idempotency_key", idempotency_key, "must be text that is not empty")
    body = request_body(prepared.key, prepared.text, prepared.part, confidence)
    return Asked(principal=desk.account, idempotency_key=idempotency_key, body=body)


def checked_confidence(confidence: Number, asked: Presented | None = None) -> Fraction:
    """A confidence as the rational it says, before anything is spent; not above that of intervals that are bought."""
    share = exact(confidence, "confidence")
    if not 0 < share < 1:
        raise ParameterError("confidence", confidence, "must lie between 0 and 1, such as 0.95")
    if asked is not None and share > OF_INTERVALS and buys_interval(asked):  # it would be called surer than it is
        requirement = (
            "is above 0.95, the confidence of intervals of quantiles; leave out the confidence or the intervals"
        )
        raise ParameterError("confidence", float(share), requirement)
    return share


def checked_size(size: int | None) -> int | None:
    """How many values are presumed."""
    return None if size is None else positive_integer(size, "size")


def release_of(
    desk: Planning,
    relation: Presented,
    plan: PrivatePlan,
    answered: StoredAnswer,
    sections: Sequence[Any],
    *,
    confidence: Fraction,
    size: int | None,
    notes: tuple[str, ...] = (),
) -> Release:
    """The answer to one query, of sections as they are stored.

    Args:
        desk: Whose answer it is.
        relation: The query.
        plan: Its plan, with the bounds that were chosen for it.
        answered: The stored answer that has it, perhaps among others.
        sections: What was released of each of its sections.
        confidence: Of every interval.
        size: How many values a group is presumed to have; None: unknown.
        notes: What else is to be said of it.
    """
    answer, reused = answered.answer, answered.is_reused
    released = [decode_section(one, desk.ledger.attachments) for one in sections]
    shown = present(relation, plan, released, confidence, size=size)
    return Release(
        keys=shown.keys, statistics=shown.statistics, kinds=shown.kinds, groups=shown.groups,
        estimates=shown.estimates, confidence=float(confidence), receipt=receipt_of(desk, answer, reused=reused),
        reused=reused, notes=notes, histograms=histograms_of(relation),
    )  # fmt: skip


def free_release(
    desk: Planning, relation: Presented, text: str, found: FreeAnswer, confidence: Fraction
) -> Release:  # fmt: skip
    """What stored answers say of a query, with a receipt of a cost of 0 and without a reservation.

    Args:
        desk: Whose answers they are.
        relation: The query.
        text: The query as people read it.
        found: What they say.
        confidence: Of every interval.
    """
    shown = present(replace(relation, consistent=False), found.plan, found.released, confidence)
    ledger, policy = desk.ledger, desk.policy
    receipt = Receipt(
        question=text, plan_hash=question_hash(question_text(found.plan.question)), event=PureEvent(Fraction(0)),
        guarantee=PureDP(0), spent=ledger.spent(desk.account), remaining=ledger.remaining(desk.account),
        neighboring_relation=policy.neighboring_relation.value, privacy_unit=policy.unit_name, library=__version__,
        policy_version=policy.version, data_version=policy.data_version, request="",
    )  # fmt: skip
    sources = tuple(f"computed from the answer to: {source}" for source in found.sources)
    missing = (f"{found.undetermined} numbers are not determined by stored answers",) if found.undetermined else ()
    return Release(
        keys=shown.keys, statistics=shown.statistics, kinds=shown.kinds, groups=shown.groups,
        estimates=shown.estimates, confidence=float(confidence), receipt=receipt, reused=True,
        notes=(*sources, *missing), histograms=histograms_of(relation),
    )  # fmt: skip


def receipt_of(desk: Planning, answer: dict[str, Any], *, reused: bool) -> Receipt:
    """The receipt of a stored answer; of one that was there before, with what is left now."""
    receipt = receipt_from_dict(answer["receipt"])
    return replace(receipt, remaining=desk.ledger.remaining(desk.account)) if reused else receipt


def notes_of(plan: PrivatePlan, final: PrivatePlan) -> tuple[str, ...]:
    """The bounds that were chosen for it, and which sums of whole numbers are doubles."""
    notes = [
        f"{name}: a FLOAT, because its sums of whole numbers may exceed 64 bits; rounded beyond 2^53"
        for name in wide_sums(plan.question)
    ]
    if plan.bounds is None:
        return tuple(notes)
    bounds = stated_bounds(final.question)
    chosen = (
        f"bounds of {name}: {' to '.join(map(decimal_text, bounds[name]))}, chosen with a part of the budget"
        for name, _ in automatic(plan.question)
    )
    return (*chosen, *notes)


def histograms_of(question: Presented) -> tuple[Binned, ...]:
    """The histograms of which all bins are columns of the answer, as they are released."""
    histograms = [(name, one) for name, one in question.child.statistics if isinstance(one, Histogram)]
    if not histograms:
        return ()
    found, shown = [], {e.name: name for name, e in question.columns if isinstance(e, ColumnRef)}
    for name, statistic in histograms:
        bins = statistic.columns(name)
        columns = tuple(shown[one] for one in bins if one in shown) if question.columns else bins
        if len(columns) == len(bins):
            value = expression_sql(statistic.value)
            found.append(Binned(name=name, value=value, edges=statistic.edges, columns=columns))
    return tuple(found)


@contextmanager
def progress_shown(what: str, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Give a function that hears how many more there are.

    Args:
        what: What is counted.
        shown: Whether anything is shown.
    """
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console  # loaded when it is shown
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # the same

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda more: bar.update(task, advance=more)
