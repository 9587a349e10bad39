"""Tickets cross to another process and mean there what they meant here; what was changed on the way is refused."""

from fractions import Fraction
from inspect import isabstract
from random import Random

import pytest
from tests.query.planned import PEOPLE, VISITS
from tests.session.desk import charge, rows
from tests.session.stored_keys import BATCHES, CASES
from tests.session.test_random_batches import COLUMNS, drawn, question
from tests.session.wire.plans import (
    ANALYSTS,
    ATTACKED,
    of_analyst,
    of_attack,
    of_batch,
    of_case,
    of_chance,
    of_view,
    reachable,
)
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.noise import entropy
from sfumato.privacy.guarantees import NO_GUARANTEE, guarantee
from sfumato.query.model.facts import Edition
from sfumato.query.planning import batch
from sfumato.session.asking.execution import execute
from sfumato.session.asking.planning import Ticket, prepare, prepare_batch
from sfumato.session.wire.tickets import CLASSES, WORDS, decode_ticket, encode_ticket


def crossed(planning, ticket):
    """A ticket as another process has it, which writes it as it was written."""
    text = encode_ticket(ticket)
    again = decode_ticket(text, planning)
    assert encode_ticket(again) == text
    return again


# What may be in a ticket


def test_every_class_that_a_ticket_can_hold_is_listed_and_no_other():
    found = reachable(Ticket)
    assert found == {*CLASSES, *WORDS}
    assert len(CLASSES) == len(set(CLASSES))
    assert not any(map(isabstract, CLASSES))


def test_names_of_classes_and_words_and_of_what_json_lacks_differ():
    names = [one.__name__ for one in (*CLASSES, *WORDS)]
    assert len(set(names)) == len(names)
    assert not set(names) & {"node", "mapping", "rational", "float", "date", "timestamp", "strategy"}


# Round trips


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_question_crosses_as_it_is(name, edition):
    planning, ticket = of_case(name, edition)
    again = crossed(planning, ticket)
    assert again == ticket
    assert again.prepared.plan.event == ticket.prepared.plan.event


@pytest.mark.parametrize("name", BATCHES)
def test_batches_cross_with_the_very_strategy_that_was_charged(name):
    planning, ticket = of_batch(name)
    again = crossed(planning, ticket)
    assert again.reservation == ticket.reservation
    assert again.prepared.plan.event == ticket.prepared.plan.event
    workloads = again.prepared.plan.workloads
    assert len(workloads) == len(ticket.prepared.plan.workloads) == (name != "apart")
    fitted = [one for section in again.prepared.plan.sections if section.is_fitted for one in section.measurements]
    assert all(any(cells.workload is one for one in workloads) for cells in fitted)
    for first, second in zip(ticket.prepared.plan.workloads, workloads, strict=True):
        assert (first.mechanism, first.statement) == (second.mechanism, second.statement)
        assert [a.tolist() for a in first.widths(Fraction(19, 20))] == [
            b.tolist() for b in second.widths(Fraction(19, 20))
        ]


@pytest.mark.parametrize("law", [None, "gaussian"])
@pytest.mark.parametrize("name", ATTACKED)
def test_every_question_that_is_attacked_crosses_as_it_is(name, law):
    planning, ticket = of_attack(name, law)
    assert crossed(planning, ticket) == ticket


def test_a_question_about_a_view_crosses_as_it_is():
    planning, ticket = of_view()
    assert crossed(planning, ticket) == ticket


@pytest.mark.parametrize("name", ANALYSTS if FULL_SIZE else ANALYSTS[::4])
def test_what_analysts_ask_crosses_as_it_is(name):
    made = of_analyst(name)
    if made is not None:
        planning, ticket = made
        assert crossed(planning, ticket) == ticket


@pytest.mark.parametrize("seed", range(300 if FULL_SIZE else 40))
def test_random_questions_cross_as_they_are(seed):
    made = of_chance(seed)
    if made is not None:
        planning, ticket = made
        assert crossed(planning, ticket) == ticket


def test_most_random_questions_are_tried():
    assert sum(of_chance(seed) is not None for seed in range(40)) > 20


def random_batch(seed, monkeypatch, engine):
    """The tickets of a random batch, of which all that can be is a workload; each time the same."""
    monkeypatch.setattr(batch.Priced, "is_worth", lambda *_: True)
    random = Random(seed)  # noqa: S311 # rows and queries of a test
    units = random.random() < 0.4
    data, owners = drawn(random, units=units), {"who": sf.integer()} if units else {}
    options = {"unit": "who", "limits": sf.Limits(max_rows_per_unit=40)} if units else {}
    session = sf.open(data, name="people", columns=COLUMNS | owners, budget=NO_GUARANTEE, engine=engine, **options)
    texts = [question(random) for _ in range(random.choice([2, 3, 4, 6]))]
    asked_for = [session.query(text) for text in texts]
    total = guarantee(1, random.choice([0, "0.001"]))
    planning = asked_for[0].desk
    found = prepare_batch(planning, [one.relation for one in asked_for], text="; ".join(texts), total=total)
    return planning, charge(planning, found)


@pytest.fixture
def replayed(monkeypatch):
    """Random bytes begin anew, the same each time."""

    def begin(seed):
        random = Random(seed)  # noqa: S311 # what stands for entropy in a test
        monkeypatch.setattr(entropy, "_read", random.randbytes)

    return begin


def without_request(answer):
    return {**answer, "receipt": {**answer["receipt"], "request": ""}}


@pytest.mark.parametrize("seed", range(60 if FULL_SIZE else 8))
def test_random_batches_are_answered_as_without_crossing(seed, monkeypatch, replayed):
    found = []
    for cross in (lambda _, ticket: ticket, crossed):
        planning, ticket = random_batch(seed, monkeypatch, "duckdb" if seed % 2 else "reference")
        moved = cross(planning, ticket)
        replayed(seed)
        found.append(without_request(execute(planning, moved)))
        monkeypatch.undo()
    assert found[0] == found[1]


DATA = rows(PEOPLE, {"age": 30, "sex": "f", "pay": 1.5, "town": "x"}, {"age": 50, "sex": "m"}, {"age": 7, "town": "y"})
STAYS = rows(VISITS, *({"who": str(n % 5), "ward": "ABC"[n % 3], "hours": 1.0 * n, "ill": "x"} for n in range(30)))


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT sex, COUNT(*) AS n, AVG(age) AS a, STDDEV(pay) AS d FROM people GROUP BY sex",
        "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
        "SELECT MEDIAN(age) AS m, MAX(pay) AS h, MODE(sex) AS s FROM people WHERE age > 3",
        "SELECT ward, COUNT(DISTINCT who) AS n, SUM(hours) AS h FROM visits GROUP BY ward",
        "SELECT SUM(age) AS s, COUNT(*) AS n FROM people",
    ],
)
def test_questions_are_answered_as_without_crossing(text, engine, replayed):
    found = []
    for cross in (lambda _, ticket: ticket, crossed):
        tables = {"people": PEOPLE, "visits": VISITS}
        policy = sf.Policy(
            dataset="test", version="1", data_version="1", unit_name="person", tables=tables,
            sources={"people": sf.SourceFacts(source=DATA), "visits": sf.SourceFacts(source=STAYS)},
        )  # fmt: skip
        session = sf.Session(policy, budget=NO_GUARANTEE, engine=engine)
        one = session.query(text)
        prepared = prepare(one.desk, one.relation.child, text=text, total=guarantee(1, "1e-3"))
        ticket = cross(one.desk, charge(one.desk, prepared))
        replayed(7)
        found.append(without_request(execute(one.desk, ticket)))
    assert found[0] == found[1]
