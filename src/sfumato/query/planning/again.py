"""Plans made again of their own questions: for plans that another process made, of which nothing is believed.

A plan that comes from elsewhere is a claim: that these statements are what the question reads, that a unit moves them
by so much and no more, and that this noise hides it. So the question is planned again here. Only what floats find is
taken from the claim, as they may differ in a last digit elsewhere and other noise was not charged: the scale of each
noise, and the strategies of workloads. What each of them has to hide is found here.

**Guarantee**: each plan that is given here is one that `compile_plan` or `compile_batch` would make of its question, if
floats had found these scales and strategies. Its event is of its own noise, so whoever compares that with a price knows
what the plan costs; and whoever compares it with the claim knows whether anything in that is otherwise.

Proof: proofs/query/planning/again.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.workloads.planning import WorkloadPlan
from sfumato.mechanisms.workloads.queries import LinearQueries
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity
from sfumato.mechanisms.workloads.strategies import NoiseKind
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.analysis.keys import grouping_sets
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.facts import Edition
from sfumato.query.planning.allocation import Choice, KeySelection, Need, Noise, Share
from sfumato.query.planning.auto_bounds import automatic, widest_bounds, with_bounds
from sfumato.query.planning.batch import BatchPlan, Priced
from sfumato.query.planning.plan import PrivatePlan, compile_plan
from sfumato.query.planning.questions import Aggregate, Presented, folded_question, presented
from sfumato.query.planning.sections import check_size, draft, grouped_rows
from sfumato.query.planning.ways import Fits, Way, common_rows, ways_of
from sfumato.query.planning.workloads import Draft
from sfumato.query.statistics.measurements import (
    LAWS,
    Additive,
    AdditiveNoise,
    KeyChoice,
    Law,
    QuantileChoice,
    Section,
    TopChoice,
)

_LAWS: Final[tuple[Law | None, ...]] = (None, "gaussian")
"""The laws for which a question may be drafted otherwise: which one was asked for is no part of a plan."""


def plans_again(claim: PrivatePlan, *, neighboring_relation: NeighboringRelation) -> Iterator[PrivatePlan]:
    """The plans that a claim can be, of which one is the claim itself if that is true; none may be.

    Args:
        claim: A plan that was made elsewhere.
        neighboring_relation: What may change between neighboring databases.

    Raises:
        ParameterError, NotPrivateError, UnboundedSensitivityError: Its question cannot be planned.
    """
    question = _presented(claim.question).child
    if claim.edition is Edition.LATEST:
        question = folded_question(question)
    if automatic(question):
        yield from _with_bounds_first(claim, question, neighboring_relation)
        return
    for law in _LAWS:
        drafts = [
            draft(question, keys, neighboring_relation=neighboring_relation, law=law, edition=claim.edition)
            for keys in grouping_sets(question.child)
        ]
        check_size(drafts)
        shares = _all_shares([one.needs for one in drafts], claim.sections)
        if shares is not None:
            sections = tuple(one.section(own) for one, own in zip(drafts, shares, strict=True))
            yield PrivatePlan(question=question, sections=sections, charge=claim.charge, edition=claim.edition)


def batches_again(claim: BatchPlan, *, neighboring_relation: NeighboringRelation) -> Iterator[BatchPlan]:
    """The batches that a claim can be, as with `plans_again`.

    Args:
        claim: A batch that was made elsewhere.
        neighboring_relation: What may change between neighboring databases.

    Raises:
        ParameterError, NotPrivateError, UnboundedSensitivityError: Its questions cannot be planned.
    """
    # A question of which no number is fitted may be one that has to be consistent, which no workload measures.
    questions = [
        replace(_presented(one.question), consistent=not any(section.is_fitted for section in one.sections))
        for one in claim.plans
    ]
    asked = [folded_question(one.child) for one in questions]
    for name in (name for question in asked for name, _ in automatic(question)):
        raise ParameterError("bounds", name, "must be stated in a batch")
    for law in _LAWS:
        ways = ways_of(asked, neighboring_relation, law)
        check_size([way.draft for way in ways])
        fits = _fits(claim, questions, ways, neighboring_relation)
        fitted = {table.section for fit in fits for table in fit.tables}
        alone = [place for place in range(len(ways)) if place not in fitted]
        shares = _all_shares([ways[place].draft.needs for place in alone], [claim.sections[place] for place in alone])
        noises = [one.mechanism.noise for one in claim.workloads]
        if shares is not None and len(noises) == len(fits):
            of_fits = [_of_noise(fit.need.sensitivity, noise) for fit, noise in zip(fits, noises, strict=True)]
            priced = Priced(ways, fits, dict(zip(alone, map(tuple, shares), strict=True)), tuple(of_fits), claim.charge)
            yield priced.plan(asked, claim.running)


def _presented(question: Aggregate) -> Presented:
    """A question that shows all that is released, if it means something and is not too large to be looked at.

    Raises:
        ParameterError, NotPrivateError: It does not.
    """
    group_by = question.child
    return presented(
        group_by.child, keys=group_by.keys, labels=group_by.labels, sets=group_by.sets, statistics=question.statistics,
        limits=question.limits, weights=question.weights,
    )  # fmt: skip


def _with_bounds_first(
    claim: PrivatePlan, question: Aggregate, neighboring_relation: NeighboringRelation
) -> Iterator[PrivatePlan]:
    """Those of a question that leaves bounds to be chosen: no float is in their choice; and the widest are planned."""
    if claim.bounds is None:
        return
    again = compile_plan(
        question, claim.charge, neighboring_relation=neighboring_relation, law=claim.bounds.law, edition=claim.edition
    )
    rows = grouped_rows(question, (), claim.edition)
    rest = replace(claim, question=with_bounds(question, widest_bounds(rows, question)), bounds=None)
    for widest in plans_again(rest, neighboring_relation=neighboring_relation):
        yield replace(again, sections=widest.sections)


def _all_shares(needs: Sequence[Sequence[Need]], claims: Sequence[Section]) -> list[list[Share]] | None:
    """The shares of the budget with which needs become the measurements of sections; None where they cannot."""
    if len(needs) != len(claims):
        return None
    found = [_shares(own, section) for own, section in zip(needs, claims, strict=True)]
    known = [shares for shares in found if shares is not None]
    return known if len(known) == len(found) else None


def _shares(needs: Sequence[Need], claim: Section) -> list[Share] | None:
    measured = (*(() if claim.selection is None else (claim.selection,)), *claim.measurements)
    if len(needs) != len(measured):
        return None
    found = [_share(need, one) for need, one in zip(needs, measured, strict=True)]
    known = [share for share in found if share is not None]
    return known if len(known) == len(found) else None


def _share(need: Need, claim: object) -> Share | None:
    match need, claim:
        case KeySelection(), KeyChoice(mechanism=chosen):
            return Share(Fraction(0), Fraction(0)) if chosen is None else Share(chosen.epsilon, chosen.delta)
        case Choice(), QuantileChoice() | TopChoice():
            return Share(claim.mechanism.epsilon * max(claim.rows, 1), Fraction(0))
        case Noise(sensitivity), Additive(mechanism=mechanism):
            return _of_noise(sensitivity, mechanism)
        case _:
            return None


def _of_noise(sensitivity: Sensitivity, noise: object) -> Share:
    """Noise of the claimed ε or width that hides a sensitivity, which is the claimed noise if that says it does."""
    hiding: AdditiveNoise
    if isinstance(noise, Laplace):
        hiding = Laplace(l1_sensitivity=sensitivity.l1, epsilon=noise.epsilon)
    elif isinstance(noise, GaussianNoise):
        hiding = GaussianNoise(l2_sensitivity=sensitivity.l2, stddev=noise.stddev, l0_sensitivity=sensitivity.l0)
    else:
        raise ParameterError("noise", type(noise).__name__, "must be Laplace or GaussianNoise")
    return Share(Fraction(0), Fraction(0), hiding, sensitivity)


def _fits(
    claim: BatchPlan, questions: Sequence[Presented], ways: Sequence[Way], neighboring_relation: NeighboringRelation
) -> Fits:
    """The workloads of a batch, with the claimed strategies; those first that are about conditions that differ."""
    known = [one.mechanism.plan for one in claim.workloads]

    def plan_of(
        columns: Mapping[str, int], workload: Sequence[LinearQueries], *, unit: CellSensitivity, noise: NoiseKind
    ) -> WorkloadPlan:
        for one in known:
            if (dict(one.columns), list(one.workload), one.unit, one.noise) == (columns, workload, unit, noise):
                return one
        raise ParameterError("workload", workload, "must be one that was planned")

    def is_claimed(fit: Draft) -> bool:
        same = (one for one in claim.workloads if one.statement == fit.statement)
        return any(one.mechanism.plan.noise == fit.plan.noise for one in same)

    found: Fits = ()
    for is_apart in (True, False):
        for rows in common_rows(questions, ways, claim.running, is_apart=is_apart) if known else ():
            fitted = {table.section for fit in found for table in fit.tables}
            for noise in LAWS if rows.places.isdisjoint(fitted) else ():
                fits = rows.fits(neighboring_relation, noise, plan_of=plan_of)
                if fits and all(map(is_claimed, fits)):
                    found += fits
                    break
    return found
