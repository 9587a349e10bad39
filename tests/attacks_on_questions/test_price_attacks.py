"""What questions cost: all that was asked and nothing hidden, for noise as it is really drawn, from one account."""

from collections import Counter
from fractions import Fraction
from itertools import count

import pytest
from tests.attacks_on_questions.clinic import clinic, opened, ordinary, town, townsfolk, visit
from tests.attacks_on_questions.drawing import Recorder
from tests.attacks_on_questions.observing import found_of, multisets, plan_of, sections_of
from tests.attacks_on_questions.questions import DELTA, QUESTIONS, by_turns
from tests.query.pricing import price
from tests.session.opened import recorded

import sfumato as sf
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError, SfumatoError
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.model.schema import PUBLIC, Table, text
from sfumato.query.planning.plan import with_chosen_bounds
from sfumato.query.statistics.measurements import TopChoice
from sfumato.session.asking import view

ROWS = {clinic: ordinary, town: townsfolk}
BY_NAME = {asked.name: asked for asked in QUESTIONS}
FREE = {"public rows of the town"}
"""Questions about public tables alone. The number of people is public, too, where each is replaced by another."""


def session_of(asked, *, engine="reference", **changes):
    """A session on ordinary rows, for a question."""
    return asked.open(ROWS[asked.open](), engine=engine, **changes)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("name", BY_NAME)
def test_a_question_costs_what_is_asked_and_its_events_no_more_whoever_adds_them_up(name, relation):
    """Catalogue 28, 29. Once exactly, and once by accountants that compose privacy losses."""
    with session_of(BY_NAME[name], neighboring_relation=relation) as session:
        for law in (None, "gaussian") if relation is ADD_OR_REMOVE_ONE else (None,):
            plan = plan_of(BY_NAME[name].of(session), law=law)
            free = name in FREE or (relation is REPLACE_ONE and name == "rows of the town")
            assert plan.charge.epsilon == (0 if free else 1)
            assert plan.charge.delta <= Fraction(DELTA)
            assert price(plan, relation) <= plan.charge.epsilon
            found = PLDAccountant(neighboring_relation=relation).compose(plan.event)
            interval = found.interval(plan.charge.delta * (1 + Fraction(1, 10**6)))
            assert interval.lower <= plan.charge.epsilon * (1 + Fraction(1, 10**9))
            assert interval.upper <= plan.charge.epsilon * (1 + Fraction(1, 10**3))


@pytest.mark.parametrize("name", ["rows", "means", "grouping sets", "public keys", "chosen bounds in Python"])
@pytest.mark.parametrize("epsilon", ["0.000001", "0.1", "0.3", 7, 1000])
def test_the_ledger_holds_what_was_asked_to_the_last_digit(engine, name, epsilon):
    """Catalogue 28."""
    with session_of(BY_NAME[name], engine=engine) as session:
        question = BY_NAME[name].of(session)
        receipt = question.release(epsilon=epsilon).receipt
        assert question.cost(epsilon=epsilon) == receipt.guarantee == session.spent == sf.PureDP(epsilon)


def test_what_is_only_compared_or_sorted_by_is_released_and_paid_for(engine):
    """Catalogue 28."""
    with clinic(ordinary(), engine=engine) as session:
        plain, having, ordered = (
            plan_of(session.query(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward{clause}"), delta=0)
            for clause in ("", " HAVING SUM(cost) > 10", " ORDER BY AVG(beds)")
        )
    assert [len(plan.event.events) for plan in (plain, having, ordered)] == [1, 2, 3]
    scales = [plan.event.events[0].scale for plan in (plain, having, ordered)]
    assert scales[0] < scales[1] == scales[2]


MEASURED = [(0,) * 82, (10**9,) * 82, tuple(range(82)), (*[0] * 40, 10**6, *[0] * 41), (*[0] * 80, 500, 500)]


@pytest.mark.parametrize("measured", MEASURED, ids=range(len(MEASURED)))
@pytest.mark.parametrize("name", ["chosen bounds in Python", "chosen bounds, private keys in Python"])
def test_whichever_bounds_are_chosen_the_rest_costs_no_more_than_was_kept_for_it(name, measured):
    """Catalogue 28, 29, 33."""
    with session_of(BY_NAME[name]) as session:
        plan = plan_of(BY_NAME[name].of(session))
    (histogram,) = plan.bounds.section.statements
    released = ((measured[: histogram.cell.count],),)
    rest = with_chosen_bounds(plan, released, neighboring_relation=ADD_OR_REMOVE_ONE)
    first = sum(measurement.mechanism.epsilon for measurement in plan.bounds.section.measurements)
    assert rest.charge.epsilon + first <= plan.charge.epsilon
    assert rest.charge.delta <= plan.charge.delta
    assert price(rest, ADD_OR_REMOVE_ONE) <= plan.bounds.rest.epsilon


def widths(plan):
    """The laws and widths of the noise that the events of a plan stand for."""
    found = set()
    for event in plan.event.events:
        match event:
            case DiscreteLaplaceEvent():
                found.add(("laplace", event.scale))
            case DiscreteGaussianEvent():
                found.add(("gaussian", event.stddev**2))
    tops = (m for section in sections_of(plan) for m in section.measurements if isinstance(m, TopChoice))
    return found | {("laplace", top.mechanism.scale) for top in tops}


@pytest.mark.parametrize("law", [None, "gaussian"])
def test_noise_is_drawn_with_the_widths_that_are_in_the_events_and_no_others(engine, law, monkeypatch):
    """Catalogue 29."""
    recorder = Recorder(monkeypatch)
    for asked in by_turns(QUESTIONS, engine, 4):
        if "chosen bounds" in asked.name or asked.name in FREE:
            continue
        with session_of(asked, engine=engine) as session:
            question = asked.of(session)
            plan = plan_of(question, law=law)
            recorder.drawn.clear()
            release = question.release(epsilon=1, delta=DELTA, mechanism=law)
        assert release.receipt.event == plan.event
        private = any(section.selection is not None for section in plan.sections)
        assert recorder.drawn.keys() <= widths(plan), asked.name
        assert private or recorder.drawn.keys() == widths(plan), asked.name


def test_what_is_public_draws_no_noise_and_costs_nothing(engine, monkeypatch):
    """Catalogue 28, 29."""
    recorder = Recorder(monkeypatch)
    with town(townsfolk(), engine=engine, budget=sf.PureDP(1)) as session:
        session.sql("SELECT kind, COUNT(*) AS n, AVG(floor) AS f FROM wards GROUP BY kind", epsilon=1)
        assert session.spent == sf.PureDP(0)
    assert recorder.drawn == Counter()


@pytest.mark.parametrize("statistic", ["COUNT(kind)", "SUM(floor)", "AVG(floor)"])
def test_what_is_public_costs_nothing_where_people_are_replaced_either(statistic):
    """Catalogue 28."""
    with town(townsfolk(), engine="reference", neighboring_relation=REPLACE_ONE) as session:
        assert session.query(f"SELECT {statistic} AS s FROM wards").cost(epsilon=1) == sf.PureDP(0)


# 30: one account for all ways to ask.

VIEWS = {"urgent": "SELECT patient, ward, cost FROM visits WHERE urgent"}


def test_tables_views_frames_and_sessions_spend_from_one_account(engine, tmp_path):
    """Catalogue 30, 32."""
    where = {"engine": engine, "budget": sf.PureDP(1), "ledger": tmp_path / "ledger.db", "views": VIEWS}
    with clinic(ordinary(), **where) as first, clinic(ordinary(), **where) as second:
        first.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.3")
        second.sql("SELECT COUNT(*) AS n FROM urgent", epsilon="0.3")
        first.table("patients").agg(n=sf.count()).release(epsilon="0.2")
        with second.partition("visits", by="ward") as wards:
            wards["A"].sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.2")
        assert first.spent == second.spent == sf.PureDP(1)
        for session in (first, second):
            for table in (*VIEWS, "visits", "patients", "drugs"):
                with pytest.raises(BudgetExceededError):
                    session.sql(f"SELECT COUNT(*) AS n FROM {table} WHERE patient = '1'" if table != "drugs" else
                                "SELECT SUM(dose) AS n FROM drugs", epsilon="1e-9")  # fmt: skip


def test_a_failure_behind_the_charge_is_charged(engine):
    """Catalogue 28, 42."""
    session, recording = recorded(clinic(ordinary(), engine=engine, budget=sf.PureDP(1)), fails=True)
    with session:
        with pytest.raises(SfumatoError):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.7")
        assert session.spent == sf.PureDP("0.7")
    assert len(recording.statements) == 1


@pytest.mark.parametrize("table", ["patients", "drugs"])
def test_a_part_has_no_other_table_of_people(engine, table):
    """Catalogue 30."""
    with clinic(ordinary(), engine=engine, views=VIEWS) as session, session.partition("visits", by="ward") as wards:
        for ask in (
            lambda view: view.sql(f"SELECT COUNT(*) AS n FROM {table}", epsilon=1),
            lambda view: view.sql("SELECT COUNT(*) AS n FROM urgent", epsilon=1),
            lambda view: view.table(table),
        ):
            with pytest.raises(ParameterError):
                ask(wards["A"])
        assert session.spent == sf.PureDP(0)


TOGETHER = {
    "union": lambda part, other: part.union(other),
    "join": lambda part, other: part.join(other, on=("unit", "place"), suffix="_too"),
    "left join": lambda part, other: part.join(other, on=("unit", "place"), suffix="_too", how="left"),
    "semi-join": lambda part, other: part.semi_join(other, on="unit"),
    "anti-join": lambda part, other: part.anti_join(other, on="unit"),
    "difference": lambda part, other: part.except_(other),
    "intersection": lambda part, other: other.intersect(part),
    "join of groups": lambda part, other: (
        part.group_by("n").fold(k=sf.count()).join(other.group_by("n").fold(m=sf.count()), on="n", how="left")
    ),
}
CUT = {
    "patients": (clinic, "visits", "ward", {"unit": "patient", "place": "ward", "n": "beds"}, "ABC"),
    "people": (town, "people", "sex", {"unit": "name", "place": "town", "n": "kids"}, "fm"),
}
"""What is cut, by what, what its columns are called here, and the parts."""


def outsiders(kind):
    """A database, and the same with one more unit, who lies in the last part alone and is like one of the first."""
    if kind == "people":
        whole = townsfolk()
        return whole, {**whole, "people": [*whole["people"], dict(whole["people"][0], sex="m")]}
    whole = ordinary()
    return whole, {**whole, "visits": [*whole["visits"], visit("outsider", 900, ward="C", beds=0)]}


@pytest.mark.parametrize("together", TOGETHER)
@pytest.mark.parametrize("whose", ["the whole table", "another part", "another partition"])
@pytest.mark.parametrize("kind", CUT)
def test_nobody_outside_of_a_part_moves_what_is_paid_for_as_that_part(kind, together, whose, monkeypatch):
    """Catalogue 30. A frame carries its rows along; put together with others, it may read rows that it does not pay."""
    start, table, by, names, parts = CUT[kind]
    found = []
    for rows in outsiders(kind):
        numbers = count()
        monkeypatch.setattr(view, "random_bytes", lambda size: next(numbers).to_bytes(size, "big"))  # noqa: B023
        with (
            start(rows, engine="reference") as session,
            session.partition(table, by=by) as first,
            session.partition(table, by=by) as second,
        ):
            own, other = first[parts[0]], {
                "the whole table": session, "another part": first[parts[-1]], "another partition": second[parts[-1]],
            }[whose]  # fmt: skip
            try:
                together_with = TOGETHER[together](*(view.table(table).select(**names) for view in (own, other)))
                plan = plan_of(together_with.agg(n=sf.count(), s=sf.count("n")), delta=0)
            except (NotPrivateError, ParameterError):
                return
            found.append(multisets(found_of(session, plan)))
    assert found[0] == found[1]


def test_a_frame_of_another_session_is_refused(engine):
    """Catalogue 30. Its table may declare the same rows public, or allow more of them."""
    open_to_all = Table(name="visits", columns={"ward": text(), "ill": text()}, unit=PUBLIC)
    mine = opened((open_to_all,), {"visits": [{"ward": "A", "ill": "flu"}]}, engine=engine, dataset="mine")
    with clinic(ordinary(), engine=engine) as theirs, mine:
        wards = theirs.table("wards").select(ward="code", ill="kind")
        question = wards.union(mine.table("visits")).agg(n=sf.count())
        with pytest.raises(ParameterError, match="this session"):
            question.release(epsilon=1)
