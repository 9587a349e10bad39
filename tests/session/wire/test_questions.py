"""Questions cross to a server and mean there what they meant here; what they may hold is a closed list."""

from dataclasses import replace
from inspect import isabstract

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.acceptance.made_up import DOCUMENT, schema
from tests.query.frames import BILLS, WARDS, frame
from tests.query.frames import VISITS as STAYS
from tests.query.planned import TOWNS, VISITS
from tests.relations_of import Growing, private
from tests.session.desk import rows
from tests.session.stored_keys import CASES, TABLE_PAIRS, curator, sql
from tests.session.wire.asked import ASKED, POLICY, asked_as_sent, policy_of
from tests.session.wire.plans import ANALYSTS, ATTACKED, of_attack, reachable
from tests.sizes import FULL_SIZE
from tests.strategies import policy as random_policy

import sfumato as sf
from sfumato.errors import ParameterError, SfumatoError
from sfumato.query.model.relations import (
    Grouped,
    RowWindow,
    lineage,
)
from sfumato.query.planning.questions import Presented, presented
from sfumato.query.policy.policy import SourceFacts
from sfumato.query.python.frame import Frame
from sfumato.session.wire.questions import (
    CLASSES,
    OF_SESSIONS,
    WORDS,
    Relations,
    decode_question,
    decode_relations,
    encode_question,
    encode_relations,
)


def crossed(question, policy=POLICY):
    """A question as a server has it, which writes it as it was written."""
    text = encode_question(question)
    found = decode_question(text, policy)
    assert encode_question(found) == text
    assert found == question
    return found


# What may be in a question


def test_every_class_that_a_question_can_hold_is_listed_but_those_that_sessions_make():
    found = reachable(Presented) | reachable(Relations)
    assert found == {*CLASSES, *WORDS, *OF_SESSIONS}
    assert len(CLASSES) == len(set(CLASSES))
    assert not any(map(isabstract, CLASSES))


# Round trips


@pytest.mark.parametrize("name", ASKED)
def test_every_kind_of_question_crosses_as_it_is(name):
    crossed(ASKED[name], curator(CASES[name]).policy)


@pytest.mark.parametrize("text", TABLE_PAIRS)
def test_questions_of_batches_cross(text):
    crossed(sql(text).question)


@pytest.mark.parametrize("name", ANALYSTS if FULL_SIZE else ANALYSTS[::3])
def test_what_analysts_ask_crosses_as_it_is(name):
    (statement,) = (one for one in DOCUMENT["statement"] if one["name"] == name)
    declared = schema(statement["schema"]).policy(schema(statement["schema"]).rows)
    with sf.Session(declared, budget=sf.NO_GUARANTEE, engine="reference") as session:
        asked = session.query(statement["sql"])
        crossed(asked.relation, asked.desk.policy)


@pytest.mark.parametrize("name", ATTACKED)
def test_every_question_that_is_attacked_crosses_as_it_is(name):

    planning, ticket = of_attack(name)
    released = ticket.prepared.plan.question
    if not any(isinstance(step, OF_SESSIONS) for step in lineage(released.child.child)):
        crossed(Presented(released), planning.policy)


def of_frames():
    """Questions that frames ask, one of each step and statistic."""
    stays, bills, wards = (frame(table) for table in (STAYS, BILLS, WARDS))
    long = stays.where(stays.hours > 2, stays.ward.is_in(["a", "b"]))
    yield long.agg(n=sf.count(), h=sf.mean("hours", bounds=(0, 50)), weights={"h": 2})
    yield stays.where().group_by(half=stays.day // 2).agg(n=sf.count())
    yield stays.join(wards, on={"ward": "code"}, how="left").group_by("day").rollup().agg(b=sf.sum("beds"))
    yield stays.join(bills, on="day", suffix="_b").agg(s=sf.vector_sum("hours", "amount"))
    yield stays.semi_join(bills, on="day").anti_join(wards, on={"ward": "code"}).agg(n=sf.count_units())
    yield stays.select("day", x="hours").union(bills.select("day", x=bills.amount * 1.5)).agg(n=sf.count("x"))
    yield stays.select("day").intersect(bills.select("day")).agg(n=sf.count())
    yield stays.select("day").except_(bills.select("day")).distinct().agg(n=sf.count())
    folded = stays.group_by("visitor", "day").fold(h=sf.sum("hours", bounds=(0, 9)), n=sf.count(), m=sf.max("ward"))
    yield folded.where(folded.h > 1).agg(d=sf.count_distinct("m", max_values_per_unit=2))
    yield stays.fold(n=sf.count()).agg(m=sf.median("n", interval=True))
    yield stays.per_unit(rows=2, groups=1).group_by("day").agg(n=sf.count())
    yield stays.group_by(d="day", w=stays.ward.upper()).grouping_sets(("d",), ("d", "w")).agg(n=sf.count())
    yield stays.group_by("day").cube(consistent=True).agg(n=sf.count(), h=sf.histogram("hours", edges=[0, 5, 50]))
    yield stays.agg(s=sf.sum("hours", bounds="auto"), d=sf.avg_abs_dev("hours", around="7.5"), t=sf.mode("day"))
    told = sf.when(stays.hours > 3, "long").when(stays.ward.is_null(), "none").otherwise()
    yield stays.with_columns(kind=told).group_by("kind").agg(v=sf.variance("hours"), q=sf.quantile("hours", 0.9))


@pytest.mark.parametrize("question", list(of_frames()))
def test_every_step_of_frames_crosses_as_it_is(question):
    crossed(question, policy_of(STAYS, BILLS, WARDS))


@given(st.randoms(use_true_random=False))
@settings(max_examples=1500 if FULL_SIZE else 150, deadline=None)
def test_random_questions_cross_or_are_none_that_frames_build(random):
    declared = random_policy(random)
    policy = policy_of(*declared.private, *declared.public)
    private_tables, public_tables = (
        tuple(policy.tables[table.name] for table in tables) for tables in (declared.private, declared.public)
    )
    declared = replace(declared, private=private_tables, public=public_tables)  # with ids as a policy marks them
    try:
        asked = presented(private(Growing(random, declared), random.choice(range(4))), statistics=(("n", sf.count()),))
    except SfumatoError:
        return
    if any(isinstance(step, OF_SESSIONS) for step in lineage(asked.child.child.child)):
        with pytest.raises(ParameterError, match="asked from elsewhere"):
            encode_question(asked)
        return
    found = asked_as_sent(encode_question(asked), policy)
    assert found in (None, asked)
    if found is None:
        assert any(isinstance(step, Grouped | RowWindow) for step in lineage(asked.child.child.child))


def test_a_view_and_its_tables_cross_to_a_client():
    views = {"long_stays": "SELECT who, ward, hours FROM visits WHERE hours > 2"}
    sources = {table.name: SourceFacts(source=rows(table)) for table in (VISITS, TOWNS)}
    declared = replace(policy_of(VISITS, TOWNS), views=views, sources=sources)
    with sf.Session(declared, budget=sf.NO_GUARANTEE, engine="reference") as session:
        relations = decode_relations(encode_relations(session._tables))
        assert relations == session._tables
        stays = Frame(relations["long_stays"], lambda question: question)
        asked = stays.join(Frame(relations["towns"], stays.ask), on={"ward": "code"}).group_by("size").agg(n=sf.count())
        crossed(asked, session.policy)


def test_what_is_no_relations_is_refused():
    for text in ("", "{}", encode_question(ASKED["rows"])):
        with pytest.raises(ParameterError, match="relations"):
            decode_relations(text)
