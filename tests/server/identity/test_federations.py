"""Messages of federations in both databases: when a phase closes, what is refused, and what is left of a round."""

from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import select
from tests.server.identity.databases import KINDS, Clock, location

from sfumato.errors import NotFoundError, ParameterError
from sfumato.server.identity.database import Database
from sfumato.server.identity.federations import (
    OVER,
    PHASES,
    RESULT,
    Federations,
    FederationState,
    FederationTerms,
)
from sfumato.server.identity.tables import FEDERATION_MESSAGES, FEDERATION_RESULTS, FEDERATIONS

NAMES = ("ann", "bob", "cem", "dee")
TERMS = FederationTerms(parties=NAMES, rounds=2, least=3, seconds=60.0, message_characters=100, plan={"clip": "1"})
KEYS = FederationState(round=0, attempt=0, phase="keys")


@pytest.fixture
def kept(database):
    made = Federations(database)
    made.open("f", TERMS)
    return made


def at(phase, number=0, attempt=0):
    return FederationState(round=number, attempt=attempt, phase=phase)


def all_send(kept, place, names=NAMES):
    return [kept.send("f", name, place, f"{place.phase} of {name}") for name in names]


def through(kept, last, names=NAMES, **where):
    """All phases up to one, with messages of these people."""
    for phase in PHASES[: PHASES.index(last) + 1]:
        assert all(all_send(kept, at(phase, **where), names))


def test_messages_are_shown_once_all_are_there_and_not_before(kept):
    for name in NAMES:
        assert kept.state("f") == KEYS
        assert kept.messages("f", KEYS) is None
        assert kept.send("f", name, KEYS, f"of {name}")
        assert kept.sent("f", name) == ("keys",)
    assert kept.state("f") == at("boxes")
    assert kept.messages("f", KEYS) == {number: f"of {name}" for number, name in enumerate(NAMES)}
    assert kept.messages("f", at("boxes")) is None


def test_the_same_message_again_is_one_and_another_in_its_place_is_refused(kept):
    for _ in range(3):
        assert kept.send("f", "ann", KEYS, "one")
    with pytest.raises(ParameterError, match="each is sent once"):
        kept.send("f", "ann", KEYS, "another")
    all_send(kept, KEYS, NAMES[1:])
    assert kept.send("f", "ann", KEYS, "one")  # also once it is closed
    with pytest.raises(ParameterError, match="each is sent once"):
        kept.send("f", "ann", KEYS, "another")
    assert kept.messages("f", KEYS)[0] == "one"


def test_what_is_of_another_place_is_not_taken(kept):
    for place in (at("boxes"), at("numbers"), at("keys", number=1), at("keys", attempt=1), at("result"), at("x")):
        assert not kept.send("f", "ann", place, "early")
    through(kept, "keys")
    assert kept.messages("f", at("keys", number=1)) is None
    assert kept.messages("f", at("keys", attempt=1)) is None


def test_strangers_neither_send_nor_end_anything(kept):
    for person in ("eve", "", "f"):
        with pytest.raises(NotFoundError, match="federation"):
            kept.send("f", person, KEYS, "one")
        with pytest.raises(NotFoundError, match="federation"):
            kept.finish("f", person, 0, "sum")
        assert kept.sent("f", person) == ()
    for name in ("g", "", "a b", "\0", "x" * 61):
        for ask in (kept.state, kept.terms, kept.remove):
            with pytest.raises(NotFoundError):
                ask(name)


def test_messages_are_bounded_and_plain(kept):
    for wrong in ("x" * 101, "ü", "\0", "a\nb"):
        with pytest.raises(ParameterError, match="must be ASCII, and at most 100"):
            kept.send("f", "ann", KEYS, wrong)
    assert kept.send("f", "ann", KEYS, "x" * 100)
    for wrong in ("x" * 101, "", "ü"):
        with pytest.raises(ParameterError, match="must be ASCII, and at most 100"):
            kept.finish("f", "ann", 0, wrong)


def test_a_phase_ends_with_its_time_if_enough_have_sent(kept, clock):
    all_send(kept, KEYS, NAMES[:3])
    clock.wait(59)
    assert kept.state("f") == KEYS
    clock.wait(1)
    assert kept.state("f") == at("boxes")
    assert not kept.send("f", "dee", KEYS, "late")
    assert not kept.send("f", "dee", at("boxes"), "it has dropped out")
    assert all(all_send(kept, at("boxes"), NAMES[:3]))
    assert kept.state("f") == at("numbers")  # nobody waits for who has dropped out


def test_the_first_phase_waits_without_end_for_enough(kept, clock):
    clock.wait(10_000)
    all_send(kept, KEYS, NAMES[:2])
    clock.wait(10_000)
    assert kept.state("f") == KEYS
    assert kept.send("f", "cem", KEYS, "three")
    assert kept.state("f") == at("boxes")


@pytest.mark.parametrize("phase", ["boxes", "numbers", "agreed"])
def test_with_too_few_a_round_is_tried_again_and_nothing_is_left_of_the_attempt(kept, clock, database, phase):
    through(kept, PHASES[PHASES.index(phase) - 1])
    all_send(kept, at(phase), NAMES[:2])
    clock.wait(60)
    assert kept.state("f") == at("keys", attempt=1)
    assert kept.messages("f", KEYS) is None
    with database.reading() as connection:
        assert connection.execute(select(FEDERATION_MESSAGES)).all() == []
    assert not kept.send("f", "cem", at(phase), "late")
    through(kept, "revealed", attempt=1)
    assert kept.state("f") == at(RESULT, attempt=1)


def test_a_round_in_which_too_few_reveal_is_over_without_a_sum(kept, clock):
    through(kept, "agreed")
    all_send(kept, at("revealed"), NAMES[:2])
    clock.wait(60)
    assert kept.result("f", 0) is None  # until somebody looks
    assert kept.state("f") == at("keys", number=1)
    assert kept.result("f", 0) == ""


def test_a_round_ends_with_its_sum_of_which_there_is_one(kept, clock, database):
    assert not kept.finish("f", "ann", 0, "sum")
    through(kept, "revealed")
    clock.wait(10_000)  # whoever comes later can still add it up
    assert not kept.finish("f", "ann", 1, "sum")
    for name in NAMES:
        assert kept.finish("f", name, 0, "sum")
    with pytest.raises(ParameterError, match="the round is over"):
        kept.finish("f", "bob", 0, "another")
    assert (kept.result("f", 0), kept.result("f", 1)) == ("sum", None)
    with database.reading() as connection:
        assert connection.execute(select(FEDERATION_MESSAGES)).all() == []
    through(kept, "revealed", number=1)
    assert kept.finish("f", "dee", 1, "last")
    assert kept.state("f").phase == OVER
    assert not kept.send("f", "ann", at("keys", number=2), "more")
    clock.wait(10_000)
    assert kept.state("f") == at(OVER, number=2)


def test_a_federation_is_opened_once_and_leaves_nothing_when_it_is_removed(kept, database):
    kept.open("f", TERMS)
    with pytest.raises(ParameterError, match="other terms"):
        kept.open("f", replace(TERMS, rounds=3))
    for wrong in ("", "a b", "x" * 61, "a/b"):
        with pytest.raises(ParameterError, match="1 to 60"):
            kept.open(wrong, TERMS)
    through(kept, "revealed")
    kept.finish("f", "ann", 0, "sum")
    kept.send("f", "ann", at("keys", number=1), "one")
    assert (kept.names(), kept.names("ann"), kept.names("eve")) == (("f",), ("f",), ())
    kept.remove("f")
    with database.reading() as connection:
        for table in (FEDERATIONS, FEDERATION_MESSAGES, FEDERATION_RESULTS):
            assert connection.execute(select(table)).all() == []


@pytest.mark.parametrize("kind", KINDS)
def test_another_gateway_goes_on_where_one_was_ended(kind, tmp_path):
    place = location(kind, tmp_path)
    with closing(Database(place, now=Clock())) as database:
        kept = Federations(database)
        kept.open("f", TERMS)
        through(kept, "boxes")
        kept.send("f", "ann", at("numbers"), "one")
    with closing(Database(place, now=Clock())) as database:
        again = Federations(database)
        assert (again.terms("f"), again.state("f")) == (TERMS, at("numbers"))
        assert again.sent("f", "ann") == ("keys", "boxes", "numbers")
        assert again.messages("f", at("boxes")) == {n: f"boxes of {name}" for n, name in enumerate(NAMES)}
        with pytest.raises(ParameterError, match="each is sent once"):
            again.send("f", "ann", at("numbers"), "another")
