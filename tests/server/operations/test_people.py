"""Budgets without an end, times that tell, too few people for two persons' decisions, and keys that work for ever."""

from datetime import timedelta

import pytest
from tests.server.identity.databases import Clock, location
from tests.server.work.curators import curator_file

from sfumato.server.config import load_curator
from sfumato.server.identity.acts import Act, ActLog
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Action, Directory, Grant, Role
from sfumato.server.operations.findings import Level
from sfumato.server.operations.people import examine_datasets, examine_keys, examine_overruns, examine_people

DAYS = timedelta(days=1).total_seconds()


def curator(tmp_path, *, dataset="", quantum="0.05", budget="{ epsilon = 1, delta = 1e-9 }"):
    """A curator whose dataset has more entries."""
    file = curator_file(tmp_path, quantum=quantum)
    content = file.read_text().replace("budget = { epsilon = 1000 }", f"budget = {budget}\n{dataset}")
    file.write_text(content)
    return load_curator(file)


def levels(findings):
    return {one.subject: one.level for one in findings}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def database(tmp_path, clock):
    opened = Database(location("sqlite", tmp_path), now=clock)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"budget of people": Level.FINE}),
        ({"quantum": "0"}, {"time of answers": Level.FAILURE, "budget of people": Level.FINE}),
        ({"budget": "{ epsilon = 11 }"}, {"budget of people": Level.WARNING}),
        ({"budget": "{ rho = 11 }"}, {"budget of people": Level.WARNING}),
        ({"budget": '{ epsilon = 1, delta = "0.001" }'}, {"budget of people": Level.FAILURE}),
        ({"budget": '{ rho = 1, delta = "0.001" }'}, {"budget of people": Level.FAILURE}),
        ({"dataset": 'window = { calendar = "month" }'}, {"budget of people": Level.WARNING}),
        (
            {"dataset": 'window = { calendar = "month" }\nlifetime = { epsilon = 5 }'},
            {"budget of people": Level.FINE},
        ),
        (
            {"dataset": 'window = { calendar = "month" }\nlifetime = { epsilon = 50 }'},
            {"budget of people": Level.WARNING},
        ),
    ],
)
def test_budgets_end_are_small_and_times_do_not_tell(tmp_path, options, expected):
    found = list(examine_datasets(curator(tmp_path, **options)))
    worst = {}
    for one in found:
        worst[one.subject] = max(worst.get(one.subject, Level.FINE), one.level, key=list(Level).index)
    assert worst == expected


def test_without_admins_and_owners_nobody_can_act(tmp_path, database):
    found = levels(examine_people(curator(tmp_path), database))
    assert found == {"admins": Level.FAILURE, "owners of people": Level.WARNING}


@pytest.mark.parametrize(
    ("owners", "second", "level"),
    [(1, True, Level.FAILURE), (2, True, Level.FINE), (1, False, Level.ADVICE), (2, False, Level.ADVICE)],
)
def test_what_needs_two_persons_has_two_that_are_active(tmp_path, database, owners, second, level):
    directory = Directory(database)
    for number in range(3):
        directory.add(f"owner{number}", is_platform_admin=number < 2)
    for number in range(owners):
        directory.grant(f"owner{number}", Grant("people", Role.OWNER))
    directory.grant("owner2", Grant("people", Role.OWNER))
    directory.change("owner2", is_active=False)
    dataset = f"second_person = {str(second).lower()}"
    found = levels(examine_people(curator(tmp_path, dataset=dataset), database))
    assert found == {"admins": Level.FINE, "owners of people": level, "people of people": Level.WARNING}


def test_owners_who_ask_are_told_if_they_may(tmp_path, database):
    directory = Directory(database)
    directory.add("olga", is_platform_admin=True)
    directory.grant("olga", Grant("people", Role.OWNER))
    directory.grant("olga", Grant("people", Role.ANALYST, "people/olga"))
    found = list(examine_people(curator(tmp_path, dataset="owners_may_ask = true"), database))
    assert [one.seen for one in found if "spend" in one.seen] == ["olga may set budgets and spend them"]
    found = list(examine_people(curator(tmp_path), database))
    assert not [one for one in found if "spend" in one.seen]
    assert levels(found)["admins"] is Level.ADVICE


def test_keys_expire_and_are_used(tmp_path, database, clock):
    keys = ApiKeys(database, secret=tmp_path / "secret")
    Directory(database).add("ann")
    endless, ending = keys.make("ann"), keys.make("ann", expires=clock() + timedelta(days=400))
    (one,) = examine_keys(database, keys.list())
    assert (one.level, one.seen) == (Level.WARNING, f"{endless.id} of ann never expire")
    keys.revoke(endless.id)
    assert levels(examine_keys(database, keys.list())) == {"API keys": Level.FINE}
    clock.wait(91 * DAYS)
    (one,) = examine_keys(database, keys.list())
    assert one.seen == f"{ending.id} of ann were not used for 90 days"
    keys.authenticate(ending.token)
    assert levels(examine_keys(database, keys.list())) == {"API keys": Level.FINE}
    clock.wait(400 * DAYS)
    assert levels(examine_keys(database, keys.list())) == {"API keys": Level.FINE}


def test_many_keys_are_listed_by_the_first_three(tmp_path, database):
    Directory(database).add("ann")
    keys = ApiKeys(database, secret=tmp_path / "secret")
    for _ in range(5):
        keys.make("ann")
    (one,) = examine_keys(database, keys.list())
    assert one.seen.count("of ann") == 3
    assert "and 2 more never expire" in one.seen


@pytest.mark.parametrize(
    ("late", "asked", "level"),
    [(0, 10, Level.FINE), (1, 200, Level.ADVICE), (3, 200, Level.WARNING), (1, 0, Level.WARNING)],
)
def test_answers_that_came_late_say_that_the_declared_rows_are_too_few(tmp_path, database, late, asked, level):
    log = ActLog(database)
    for action, number in ((Action.OVERRUN, late), (Action.ASK, asked)):
        for _ in range(number):
            log.record(Act(person="", action=action, dataset="people"), wait=False)
    log.close()
    (one,) = examine_overruns(curator(tmp_path), database)
    assert one.level is level
    assert f"{late} of {asked} answers" in one.seen


def test_what_was_late_long_ago_counts_no_more(tmp_path, database, clock):
    log = ActLog(database)
    log.record(Act(person="", action=Action.OVERRUN, dataset="people"))
    log.close()
    clock.wait(31 * DAYS)
    (one,) = examine_overruns(curator(tmp_path), database)
    assert one.level is Level.FINE
