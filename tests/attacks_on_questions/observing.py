"""What engines find for a question, and whether what its mechanisms were told of neighbors is true of two of them."""

from collections.abc import Iterator
from typing import assert_never

from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.statistics.measurements import Additive, KeyChoice, Measurement, QuantileChoice, Section, TopChoice

SALTS = ("00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100")


def plan_of(question, *, epsilon=1, delta="1e-6", law=None) -> PrivatePlan:
    """The plan of a question at a price."""
    return question._prepared(epsilon, delta, law).plan


def sections_of(plan: PrivatePlan) -> tuple[Section, ...]:
    """All that is released, the choice of bounds first."""
    return (() if plan.bounds is None else (plan.bounds.section,)) + plan.sections


def found_of(session, plan: PrivatePlan, *, salt=SALTS[0]):
    """What the engine finds for each statement of each section."""
    engine = session._desk.engine
    return [
        [engine.run(statement, salt=salt).open_for_noise() for statement in section.statements]
        for section in sections_of(plan)
    ]


def by_place(found) -> dict[tuple[object, ...], tuple[int, ...]]:
    """The measures of each group, and cell if there are cells; without those that are all 0."""
    columns = (*found.keys, *(() if found.cells is None else (found.cells,)))
    places = list(zip(*columns, strict=True)) if columns else [()] * len(found.amounts[0])
    amounts = list(zip(*(column.tolist() for column in found.amounts), strict=True))
    assert len(places) == len(set(places)) == len(amounts), "a place is listed twice"
    return {place: added for place, added in zip(places, amounts, strict=True) if any(added)}


def multisets(found) -> list[list[dict[tuple[object, ...], tuple[int, ...]]]]:
    """What was found for a question, without an order."""
    return [[by_place(one) for one in section] for section in found]


def moves(here, there, measures) -> list[int]:
    """By how much each coordinate of some measures differs; those that do not are left out."""
    first, second = by_place(here), by_place(there)
    nothing = (0,) * len(here.amounts)
    moved = (
        abs(first.get(place, nothing)[index] - second.get(place, nothing)[index])
        for place in first.keys() | second.keys()
        for index in measures
    )
    return [distance for distance in moved if distance]


def assert_told_the_truth(plan: PrivatePlan, here, there) -> None:
    """No mechanism of a plan may have been told less than what really moves between two neighbors.

    Args:
        plan: The question.
        here: What was found in one database, as `found_of` has it.
        there: The same in its neighbor.
    """
    for section, first, second in zip(sections_of(plan), here, there, strict=True):
        for claim, moved in _claims(section, first, second):
            assert_within(claim, moved)


def _claims(section: Section, here, there) -> Iterator[tuple[Measurement | KeyChoice, list[int]]]:
    if section.selection is not None:
        yield section.selection, moves(here[0], there[0], (section.selection.measure,))
    for measurement in section.measurements:
        measures = measurement.measures if isinstance(measurement, Additive) else (0,)
        at = measurement.statement
        yield measurement, moves(here[at], there[at], measures)


def assert_within(claim: Measurement | KeyChoice, moved: list[int]) -> None:
    """The numbers that a mechanism was calibrated with cover what moved."""
    match claim:
        case Additive(mechanism=Laplace() as mechanism):
            assert sum(moved) <= mechanism.l1_sensitivity, (mechanism, moved)
        case Additive(mechanism=mechanism):
            assert sum(one * one for one in moved) <= mechanism.l2_sensitivity**2, (mechanism, moved)
            assert len(moved) <= mechanism.l0_sensitivity, (mechanism, moved)
        case QuantileChoice() | TopChoice():
            assert sum(moved) <= claim.rows, (claim.rows, moved)
        case KeyChoice(mechanism=None):
            assert moved == []
        case KeyChoice(mechanism=mechanism):
            assert set(moved) <= {1}, moved
            assert len(moved) <= mechanism.changed_keys, (mechanism, moved)
        case _:
            assert_never(claim)
