"""Routes of synthetic data: the marginals of a model beside the noisy counts that it was made of, for their readers.

Nothing is charged here, and nothing exact is at hand: an owner publishes a file of what was released. A page shows
answers beside it that the visitor's own account was shown before.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, TypeAlias

from fastapi import APIRouter

from sfumato.errors import ParameterError, SfumatoError, UnavailableError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.planning.questions import Presented
from sfumato.query.sql.options import parse_options
from sfumato.query.sql.questions import parse_question
from sfumato.query.statistics.estimates import AnswerValue
from sfumato.server.gateway.access import Anybody, Caller, Guarded
from sfumato.server.gateway.answering import shown_key
from sfumato.server.gateway.routes.counters import may_read, readable
from sfumato.server.identity.people import Action
from sfumato.session.releases.documents import decode_release
from sfumato.session.releases.release import Release
from sfumato.synth.published import PublishedMarginal, PublishedSynthetic, read_synthetic

Group: TypeAlias = tuple[Any, ...]

_LOOKED_AT: Final = 20
"""So many releases of one account are looked at, the latest first: some may show more than counts."""

router = APIRouter(prefix="/v1/synthetic", tags=["synthetic"], route_class=Guarded)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAnswer:
    """A release that counts what a marginal counts, of the account of whoever looks.

    Attributes:
        release: Its id.
        confidence: Of its intervals.
        data_version: Of which data.
        counts: For each group, in the order of the marginal's columns, the noisy count with its interval.
    """

    release: str
    confidence: float
    data_version: str
    counts: Mapping[Group, AnswerValue]


@router.get("")
def tables(who: Anybody) -> list[dict[str, Any]]:
    """The synthetic data of this server, and which of them one may read."""
    with who.doing(Action.READ_SYNTHETIC):
        return [{"name": name, "may_read": may_read(who, each)} for name, each in who.gateway.curator.synthetic.items()]


@router.get("/{synthetic}")
def one(synthetic: str, who: Anybody) -> dict[str, Any]:
    """Synthetic marginals beside the noisy counts that they were made of, with what all of it cost."""
    return saved(who, synthetic).to_dict()


def saved(who: Caller, name: str) -> PublishedSynthetic:
    """What is published of synthetic data, for those who may read it.

    Raises:
        NotFoundError: There is none of this name.
        ForbiddenError: It has other readers.
        UnavailableError: Its file is missing, or none that was published.
    """
    with who.doing(Action.READ_SYNTHETIC, target=name):
        entry = readable(who, who.gateway.curator.synthetic, name, Action.READ_SYNTHETIC, thing="synthetic data")
        try:
            return read_synthetic(entry.releases)
        except ParameterError:
            raise UnavailableError from None


def own_answers(who: Caller, name: str, marginal: PublishedMarginal, *, most: int) -> list[OwnAnswer]:
    """What the account of whoever looks was shown before of the same counts, the latest first; nothing is charged.

    A release is one of these if its query has the hash of one that counts the same rows by the same columns. How an
    answer is shown is no part of the hash, so the query is read again: it has to show these counts, and no other
    figures made of them. The text of a receipt is that of the query which was charged. Where the release shows that
    answer for another text, as its key tells, nothing is known of how, and it is left out.

    Args:
        who: Whoever looks.
        name: Of the synthetic data.
        marginal: What is counted.
        most: How many releases at most.
    """
    dataset = who.gateway.curator.synthetic[name].dataset
    account = None if dataset is None else who.principal.account(dataset)
    if dataset is None or account is None or not marginal.questions:
        return []
    owners_ask = who.gateway.curator.datasets[dataset].owners_may_ask
    if not who.principal.may(Action.READ_OWN_RELEASES, dataset, owners_ask=owners_ask):
        return []
    found: list[OwnAnswer] = []
    place = who.gateway.places.taken(who.principal.name)  # as parsing takes time
    with who.doing(Action.READ_OWN_RELEASES, dataset), suppress(UnavailableError), place:
        relations = who.gateway.datasets.served(dataset).relations
        for kept in who.gateway.releases.latest(account, limit=_LOOKED_AT, questions=list(marginal.questions)):
            with suppress(SfumatoError):  # it is no SQL, or of a table that has changed since
                release = decode_release(json.loads(kept.document))
                receipt = release.receipt
                if shown_key(receipt.request, receipt.question, confidence=str(release.confidence)) != kept.shown_key:
                    continue
                options, body = parse_options(receipt.question)
                question = parse_question(body, relations, parameters=(), options=options)
                if counts := dict(shown_counts(question, release, marginal.columns)):
                    confidence, version = release.confidence, receipt.data_version
                    found.append(OwnAnswer(release=kept.id, confidence=confidence, data_version=version, counts=counts))
            if len(found) == most:
                break
    return found


def shown_counts(
    question: Presented, release: Release, columns: tuple[str, ...]
) -> Iterator[tuple[Group, AnswerValue]]:  # fmt: skip
    """The groups of a release and their counts, if its query shows them as they are.

    Args:
        question: The query of the release: one statistic of groups.
        release: What was shown.
        columns: The columns, in the order in which groups are wanted.
    """
    group_by, ((statistic, _), *_) = question.child.child, question.child.statistics
    labels = dict(zip(group_by.keys, group_by.labels or group_by.keys, strict=True))
    shown = question.columns or tuple((label, ColumnRef(label)) for label in (*labels.values(), statistic))
    named = {value.name: output for output, value in shown if isinstance(value, ColumnRef)}
    wanted = [named.get(labels.get(column, ""), "") for column in columns]
    if set(wanted) == set(release.keys) and named.get(statistic) in release.statistics:
        places, place = [release.keys.index(one) for one in wanted], release.statistics.index(named[statistic])
        for group, row in zip(release.groups, release.estimates, strict=True):
            keys = [group[at] for at in places]
            yield tuple(key.isoformat() if isinstance(key, date) else key for key in keys), row[place]
