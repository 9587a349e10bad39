"""Whole questions as mechanisms of an audit: planned once, their exact results computed once, released many times."""

from dataclasses import dataclass, replace

from tests.attacks_on_questions.observing import SALTS, plan_of

from sfumato.audit.auditor import audit
from sfumato.audit.core.roles import NeighborPair
from sfumato.engines.base import groups as public_groups
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.secret import Secret
from sfumato.query.planning.auto_bounds import chosen_bounds
from sfumato.query.planning.batch import BatchPlan
from sfumato.query.planning.linear import linear_section
from sfumato.query.planning.plan import PrivatePlan, with_chosen_bounds
from sfumato.query.planning.sections import grouped_rows
from sfumato.session.asking.free_answers import StoredSection, _System
from sfumato.session.releases.releasing import release, release_together


class Prepared:
    """A question to one database: what engines find for a section is kept.

    Args:
        session: The database.
        plan: The question.
        broken: What is done to each section before it is used; nothing, unless a bug is seeded.
    """

    def __init__(self, session, plan: PrivatePlan, *, broken=lambda section: section) -> None:
        self._engine, self._plan, self._broken = session._desk.engine, plan, broken
        self._rows = grouped_rows(plan.question, ())
        self._sections, self._rest = {}, {}

    def __call__(self, runs: int):
        """The outputs of so many runs, each a mapping of what anybody sees."""
        return [self._one() for _ in range(runs)]

    def _one(self):
        seen, plan = {}, self._plan
        if plan.bounds is not None:
            first = self._released("bounds", plan.bounds.section)
            seen |= _seen("bounds", first)
            plan = self._with_bounds(first.measured)
        for place, section in enumerate(plan.sections):
            seen |= _seen(place, self._released((place, repr(plan.question.statistics)), section))
        return seen

    def _released(self, name, section):
        if name not in self._sections:
            used = self._broken(section)
            found = [self._engine.run(one, salt=SALTS[0]).open_for_noise() for one in used.statements]
            self._sections[name] = (
                used,
                {id(one): one_found for one, one_found in zip(used.statements, found, strict=True)},
            )
        used, kept = self._sections[name]
        return release(used, lambda statement: Secret(kept[id(statement)]))

    def _with_bounds(self, measured):
        """The rest of a question, planned once for all bounds that are chosen alike."""
        chosen = chosen_bounds(self._rows, self._plan.question, self._plan.bounds.section, measured)
        key = tuple(chosen.items())
        if key not in self._rest:
            self._rest[key] = with_chosen_bounds(self._plan, measured, neighboring_relation=ADD_OR_REMOVE_ONE)
        return self._rest[key]


class PreparedBatch:
    """Several questions to one database, which are answered together.

    Args:
        session: The database.
        plan: The questions.
        broken: What is done to the plan before it is used.
    """

    def __init__(self, session, plan: BatchPlan, *, broken=lambda plan: plan) -> None:
        self._engine, self._plan, self._kept = session._desk.engine, broken(plan), {}

    def __call__(self, runs: int):
        """The outputs of so many runs, each a mapping of what anybody sees."""
        return [self._one() for _ in range(runs)]

    def _one(self):
        released = release_together(self._plan.sections, self._plan.workloads, self._run).sections
        return {name: value for place, one in enumerate(released) for name, value in _seen(place, one).items()}

    def _run(self, statement):
        if id(statement) not in self._kept:
            self._kept[id(statement)] = self._engine.run(statement, salt=SALTS[0]).open_for_noise()
        return Secret(self._kept[id(statement)])


class PreparedEstimate:
    """What a noisy answer to one question says of another one, asked of one database; see `from_releases`.

    Args:
        session: The database.
        plan: What is released.
        wanted: What is estimated of it.
    """

    def __init__(self, session, plan: PrivatePlan, wanted: PrivatePlan) -> None:
        (self._section,), (self._wanted,) = plan.sections, wanted.sections
        engine, (statement,) = session._desk.engine, self._section.statements
        self._found = Secret(engine.run(statement, salt=SALTS[0]).open_for_noise())
        self._linear, self._asked = linear_section(self._section), linear_section(self._wanted)
        self._table = session.policy.tables[self._linear.table]

    def __call__(self, runs: int):
        """The outputs of so many runs."""
        return [self._one() for _ in range(runs)]

    def _one(self):
        released = release(self._section, lambda _: self._found)
        stored = StoredSection(
            linear=self._linear, groups=released.groups, measured=released.measured, question="the other one"
        )
        system = _System.of(self._table, [self._asked], [stored])
        groups = public_groups(self._wanted.statements[0])
        estimates = [system.estimate(self._asked, output, groups).values for output in self._wanted.outputs]
        return {
            f"{group} {place}": value
            for place, values in enumerate(estimates)
            for group, value in zip(groups, values, strict=True)
        }


def _seen(name, released):
    """The numbers of a section by what they belong to, so that a group that is missing is seen to be."""
    return {
        f"{name} {number} {group} {place}": value
        for number, rows in enumerate(released.measured)
        for group, row in zip(released.groups, rows, strict=True)
        for place, value in enumerate(row)
    } | {f"{name} groups": len(released.groups)}


@dataclass(frozen=True)
class Case:
    """A question, and two neighbors that it tells apart as well as any."""

    opened: object
    ask: object
    pair: tuple[object, object]
    epsilon: object = 1
    delta: object = 0
    law: object = None


def audited(case: Case, *, samples: int, share=1, broken=lambda section: section):
    """The report of an audit of a question against what it charges, or a share of it."""
    sessions = [case.opened(rows, engine="reference") for rows in case.pair]
    plan = plan_of(case.ask(sessions[0]), epsilon=case.epsilon, delta=case.delta, law=case.law)
    pair = NeighborPair(*(Prepared(session, plan, broken=broken) for session in sessions), "one more person")
    epsilon, delta = plan.charge.epsilon * share, plan.charge.delta
    return audit(lambda one, runs: one(runs), [pair], epsilon=epsilon, delta=delta, samples=samples)


def audited_batch(case: Case, *, samples: int, share=1, broken=lambda plan: plan):
    """The report of an audit of several questions against what they are charged together, or a share of it."""
    sessions = [case.opened(rows, engine="reference") for rows in case.pair]
    batch = case.ask(sessions[0])
    plan = batch._prepared(case.epsilon, case.delta, case.law)[0].plan
    pair = NeighborPair(*(PreparedBatch(session, plan, broken=broken) for session in sessions), "one more person")
    epsilon, delta = plan.charge.epsilon * share, plan.charge.delta
    return audit(lambda one, runs: one(runs), [pair], epsilon=epsilon, delta=delta, samples=samples)


def audited_estimate(case: Case, wanted, *, samples: int, share=1):
    """The report of an audit of an estimate against what the answers cost that it is made of, or a share of it."""
    sessions = [case.opened(rows, engine="reference") for rows in case.pair]
    plan = plan_of(case.ask(sessions[0]), epsilon=case.epsilon, delta=case.delta, law=case.law)
    other = plan_of(wanted(sessions[0]), epsilon=1, delta=0, law=None)
    pair = NeighborPair(*(PreparedEstimate(session, plan, other) for session in sessions), "one more person")
    epsilon, delta = plan.charge.epsilon * share, plan.charge.delta
    return audit(lambda one, runs: one(runs), [pair], epsilon=epsilon, delta=delta, samples=samples)


def halved_noise(section):
    """The section with half the noise that it needs."""
    narrow = [
        replace(one, mechanism=type(one.mechanism)(
            l1_sensitivity=one.mechanism.l1_sensitivity, epsilon=2 * one.mechanism.epsilon
        )) for one in section.measurements
    ]  # fmt: skip
    return replace(section, measurements=tuple(narrow))


def changed_statements(section, change):
    """The section over other statements."""
    return replace(section, statements=tuple(map(change, section.statements)))
