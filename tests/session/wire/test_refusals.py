"""Tickets that this process would not have made are refused, and errors quote nothing of them."""

import json
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, VISITS, N, relation_of
from tests.session.desk import desk, rows
from tests.session.stored_keys import BATCHES, CASES, curator
from tests.session.wire.plans import of_batch, of_case
from tests.sizes import FULL_SIZE

from sfumato.errors import SfumatoError, TicketError
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity, Measurement
from sfumato.mechanisms.workloads.workload_mechanism import WorkloadMechanism
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.query.model.facts import Edition
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import presented
from sfumato.session.asking.execution import execute
from sfumato.session.asking.planning import charge, prepare
from sfumato.session.wire.tickets import decode_ticket, encode_ticket, require_charged

CANARY = "canary in the query"
"""What stands in a text and may be in no error."""


def refused(text, planning, match=None):
    with pytest.raises(TicketError, match=match) as told:
        decode_ticket(text, planning)
    assert CANARY not in str(told.value)
    assert told.value.__cause__ is None


def with_plan(ticket, plan):
    return replace(ticket, prepared=replace(ticket.prepared, plan=plan))


PLANNING, TICKET = of_case("groups")
PART = PartitionPart(partition="0" * 32, value="'f'", max_parts_per_unit=1)


def written(document):
    return json.dumps(document, separators=(",", ":"))


def test_a_ticket_of_another_account_is_refused():
    for account in ("", "tests", f"test {CANARY}"):
        other = replace(TICKET, reservation=replace(TICKET.reservation, account=account))
        refused(encode_ticket(other), PLANNING, "account must be 'test'")


@pytest.mark.parametrize("change", [{"key": CANARY}, {"question": CANARY}], ids=["key", "hash"])
def test_a_ticket_under_another_name_is_refused(change):
    refused(encode_ticket(replace(TICKET, prepared=replace(TICKET.prepared, **change))), PLANNING, "hash and key")


POLICIES = {
    "another version": {"version": "2"},
    "other data": {"data_version": "2"},
    "another relation": {"relation": REPLACE_ONE},
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_ticket_of_another_policy_is_refused(name):
    planning, ticket = of_case("private keys")
    tables = ((table, rows(table)) for table in planning.policy.tables.values())
    other = desk(*tables, sources=planning.policy.sources, **POLICIES[name])
    refused(encode_ticket(ticket), other)


def test_a_ticket_about_tables_of_laxer_limits_is_refused():
    _, ticket = of_case("people")
    stricter = replace(VISITS, limits=Limits(max_rows_per_unit=1))
    for tables in ((PEOPLE, stricter), (PEOPLE,)):
        refused(
            encode_ticket(ticket), desk(*((table, rows(table)) for table in tables)), "must be one that this process"
        )


def test_a_ticket_about_people_outside_of_its_part_is_refused():
    planning, ticket = of_case("part")
    text = encode_ticket(ticket)
    assert decode_ticket(text, planning) == ticket
    outside = replace(ticket, prepared=replace(of_case("people")[1].prepared, part=ticket.prepared.part))
    refused(encode_ticket(outside), planning)


def test_a_ticket_that_measures_other_rows_than_it_says_is_refused():
    planning, ticket = of_case("rows")
    plan = ticket.prepared.plan
    (section,) = plan.sections
    (statement,) = section.statements
    others = of_case("groups")[1].prepared.plan.sections[0].statements[0].rows
    for rows_read in (statement.rows.child, others):
        forged = replace(section, statements=(replace(statement, rows=rows_read),))
        refused(encode_ticket(with_plan(ticket, replace(plan, sections=(forged,)))), planning, "must be one that this")


def less_noise(ticket, factor=Fraction(11, 10)):
    """A ticket of a single question whose additive noise is narrower than what was charged."""
    plan = ticket.prepared.plan
    (section, *others) = plan.sections
    first, *rest = section.measurements
    mechanism = first.mechanism
    narrower = replace_noise(mechanism, factor)
    section = replace(section, measurements=(replace(first, mechanism=narrower), *rest))
    return with_plan(ticket, replace(plan, sections=(section, *others)))


def replace_noise(mechanism, factor):
    if hasattr(mechanism, "epsilon"):
        return type(mechanism)(l1_sensitivity=mechanism.l1_sensitivity, epsilon=mechanism.epsilon * factor)
    return type(mechanism)(
        l2_sensitivity=mechanism.l2_sensitivity, stddev=mechanism.stddev / factor,
        l0_sensitivity=mechanism.l0_sensitivity,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["rows", "groups", "gaussian", "people", "sets"])
def test_noise_that_costs_more_than_was_charged_is_refused(name):
    planning, ticket = of_case(name)
    refused(encode_ticket(less_noise(ticket)), planning, "must be one that this process")


@pytest.mark.parametrize("edition", Edition)
def test_noise_for_the_widest_bounds_costs_what_was_kept_for_it(edition):
    """They are measured where no noise can be drawn for the bounds that were chosen."""
    planning, ticket = of_case("chosen bounds", edition)
    assert ticket.prepared.plan.bounds is not None
    refused(encode_ticket(less_noise(ticket)), planning, "must be one that this process")


@pytest.mark.parametrize("name", [name for name in BATCHES if name != "apart"])
def test_a_workload_with_less_noise_or_of_a_smaller_unit_is_refused(name):
    planning, ticket = of_batch(name)
    plan = ticket.prepared.plan
    workload = plan.workloads[0]
    own = workload.mechanism.plan
    one_cell = CellSensitivity(l0=1, linf=1, is_nonnegative=True, neighboring_relation=own.unit.neighboring_relation)
    mechanisms = [WorkloadMechanism(own, noise=replace_noise(workload.mechanism.noise, 2))]
    if own.unit != one_cell:
        mechanisms.append(WorkloadMechanism(replace(own, unit=one_cell), noise=workload.mechanism.noise))
    for mechanism in mechanisms:
        forged = with_workload(plan, workload, replace(workload, mechanism=mechanism))
        refused(encode_ticket(with_plan(ticket, forged)), planning, "must be one that this process")


def with_workload(plan, old, new):
    """A batch with another workload in all of its sections."""

    def of_section(section):
        own = (
            replace(one, workload=new) if getattr(one, "workload", None) is old else one for one in section.measurements
        )
        return replace(section, measurements=tuple(own))

    plans = (replace(one, sections=tuple(map(of_section, one.sections))) for one in plan.plans)
    workloads = tuple(new if one is old else one for one in plan.workloads)
    return replace(plan, plans=tuple(plans), sections=tuple(map(of_section, plan.sections)), workloads=workloads)


def test_a_strategy_with_another_multiplier_has_noise_that_hides_less():
    planning, ticket = of_batch("together")
    plan = ticket.prepared.plan
    (workload,) = plan.workloads
    own = workload.mechanism.plan
    first, *rest = own.strategy.measurements
    louder = Measurement(multiplier=first.multiplier * 2, components=first.components)
    strategy = replace(own.strategy, measurements=(louder, *rest))
    with pytest.raises(SfumatoError):
        WorkloadMechanism(replace(own, strategy=strategy), noise=workload.mechanism.noise)
    document = json.loads(encode_ticket(ticket))
    (place,) = [n for n, node in enumerate(document["nodes"]) if node["class"] == "WorkloadPlan"]
    document["nodes"][place]["strategy"]["strategy"]["measurements"][0][0] *= 2
    refused(written(document), planning)


# Fuzzing


TEXTS = [encode_ticket(of_case(name)[1]) for name in ("rows", "private keys", "quantiles", "chosen bounds", "folded")]
TEXTS.append(encode_ticket(of_batch("running")[1]))
VALUES = st.sampled_from([
    None, True, False, 0, -1, 1, 7, 1 << 70, 1.5, "", "a", CANARY, [], {}, [[]], {"node": 0}, {"rational": "1"},
    {"rational": "1000000"}, {"float": "nan"}, {"float": "0x1p-3"}, {"date": "2026-01-31"}, {"mapping": []},
    {"strategy": {}}, {"Kind": "text"}, {"Edition": 2},
])  # fmt: skip


@given(st.sampled_from(TEXTS), st.data())
@settings(max_examples=3000 if FULL_SIZE else 200, deadline=None)
def test_a_ticket_with_something_else_in_it_is_refused_or_says_the_same_of_its_plan(text, data):
    """What may be otherwise is what the ledger knows better, and what people read."""
    document = json.loads(text)
    inner = document["nodes"]
    while True:
        keys = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or not inner[key] or data.draw(st.integers(0, 3)) == 0:
            break
        inner = inner[key]
    inner[key] = data.draw(VALUES)
    assert_refused_or_the_same(written(document), text)


@given(st.sampled_from(TEXTS), st.randoms(use_true_random=False))
@settings(max_examples=2000 if FULL_SIZE else 100, deadline=None)
def test_a_ticket_with_other_characters_is_refused_or_says_the_same_of_its_plan(text, random: Random):
    characters = list(text)
    for _ in range(random.choice([1, 1, 2, 5])):
        place = random.randrange(len(characters))
        characters[place : place + random.choice([0, 1, 1, 40])] = random.choice(
            ["", "0", "1", "-", '"', "{", "]", "é"]
        )
    assert_refused_or_the_same("".join(characters), text)


def assert_refused_or_the_same(changed, text):
    planning, told = curator(CASES["rows"]), ""
    try:
        found = decode_ticket(changed, planning)
    except TicketError as error:
        told, found = str(error), None
    assert CANARY not in told
    if found is not None:
        own, sent = found.prepared, decode_ticket(text, planning).prepared
        assert encode_ticket(found) == changed
        assert (own.key, own.question, own.plan.charge) == (sent.key, sent.question, sent.plan.charge)
        require_price(own.plan.event, sent.plan.charge, planning.policy.neighboring_relation)


# What the ledger says of a ticket


def charged(epsilon="0.5"):
    """A desk, a ticket that its ledger has charged, and the same as another process has it."""
    curator = desk((PEOPLE, rows(PEOPLE, {"age": 30, "sex": "f"})), budget=guarantee(9))
    prepared = prepare(curator, presented(relation_of(PEOPLE), keys=("sex",), statistics=(N,)).child, text=CANARY,
                       total=guarantee(epsilon))  # fmt: skip
    ticket = charge(curator, prepared)
    return curator, ticket, decode_ticket(encode_ticket(ticket), curator)


def test_a_ticket_that_the_ledger_has_charged_is_run():
    curator, _, crossed = charged()
    require_charged(crossed, curator.ledger)
    execute(curator, crossed)


@pytest.mark.parametrize(
    "change",
    [{"request": "f" * 32}, {"account": "another"}],
    ids=["a reservation that is not there", "another account"],
)
def test_a_ticket_that_the_ledger_does_not_know_is_refused(change):
    curator, _, crossed = charged()
    not_charged(replace(crossed, reservation=replace(crossed.reservation, **change)), curator.ledger)


def test_a_ticket_of_a_reservation_for_another_query_is_refused():
    curator, _, crossed = charged()
    for epsilon in ("0.25", 1):
        prepared = prepare(curator, crossed.prepared.plan.question, text=CANARY, total=guarantee(epsilon))
        not_charged(replace(crossed, prepared=prepared), curator.ledger)
    for other in ({"question": "0" * 64}, {"key": "2:0"}, {"part": PART}):
        not_charged(replace(crossed, prepared=replace(crossed.prepared, **other)), curator.ledger)


def test_a_ticket_runs_once():
    curator, ticket, crossed = charged()
    execute(curator, ticket)
    not_charged(crossed, curator.ledger)


def test_a_ticket_that_was_abandoned_is_refused():
    curator, ticket, crossed = charged()
    curator.ledger.abandon(ticket.reservation, reason="a test")
    not_charged(crossed, curator.ledger)


def not_charged(ticket, ledger):
    with pytest.raises(TicketError, match="its reservation must be charged for this very query") as told:
        require_charged(ticket, ledger)
    assert CANARY not in str(told.value)
