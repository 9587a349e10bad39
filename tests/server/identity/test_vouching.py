"""People of a provider are known by issuer and subject alone, and have the roles of their groups."""

import pytest

from sfumato.errors import ForbiddenError, NotAuthenticatedError
from sfumato.server.identity.acts import ActLog
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Action, Directory, Grant, Role
from sfumato.server.identity.sessions import Sessions
from sfumato.server.identity.vouching import Vouched, Vouching
from sfumato.server.providers import GroupEntry, Provider

ISSUER = "https://login.example"
GROUPS = (
    GroupEntry(name="analysts", dataset="adult", role="analyst", account="adult/research"),
    GroupEntry(name="seniors", dataset="adult", role="analyst", account="adult/seniors"),
    GroupEntry(name="owners", dataset="adult", role="owner"),
    GroupEntry(name="auditors", dataset="visits", role="auditor"),
    GroupEntry(name="it", platform_admin=True),
)
COMPANY = Provider(
    name="company", title="Company", issuer=ISSUER, client_id="sfumato", secret_file=None, scopes=("openid",),
    groups_claim="groups", groups=GROUPS,
)  # fmt: skip


@pytest.fixture(autouse=True)
def people(database):
    made = Directory(database)
    made.add("root", is_platform_admin=True)
    return made


@pytest.fixture
def arrive(database):
    acts = ActLog(database)
    vouching = Vouching(database, acts)

    def arrived(*groups, subject="7", name="Ann", issuer=ISSUER):
        vouched = Vouched(issuer=issuer, subject=subject, display_name=name, groups=frozenset(groups))
        return vouching.arrive(COMPANY, vouched)

    arrived.acts = acts
    yield arrived
    acts.close()


def test_groups_give_roles(arrive, people):
    name = arrive("analysts", "auditors", "choir")
    assert set(people.grants(name)) == {
        Grant("adult", Role.ANALYST, "adult/research"), Grant("visits", Role.AUDITOR),
    }  # fmt: skip
    assert people.person(name).display_name == "Ann"
    assert not people.person(name).is_platform_admin


def test_the_same_subject_is_the_same_person_whatever_they_are_called(arrive, people):
    name = arrive("analysts")
    assert arrive("analysts", name="Ann Miller") == name
    assert people.person(name).display_name == "Ann Miller"


@pytest.mark.parametrize("other", [{"subject": "8"}, {"issuer": "https://other.example"}, {"subject": "7 "}])
def test_a_name_is_nobody(arrive, people, other):
    people.add("ann")
    people.grant("ann", Grant("visits", Role.OWNER))
    first, second = arrive("analysts", name="ann"), arrive("analysts", name="ann", **other)
    assert len({"ann", first, second}) == 3
    assert people.grants(first) == people.grants(second) == (Grant("adult", Role.ANALYST, "adult/research"),)


def test_a_name_that_an_administrator_gave_is_not_taken_over(arrive, people):
    name = arrive("analysts")
    others = name[:-1] + ("0" if name[-1] != "0" else "1")
    people.add(others)
    assert arrive("analysts") == name  # and only the very name that somebody would get is refused
    with pytest.MonkeyPatch.context() as patch:
        digest = type("Digest", (), {"hexdigest": lambda _: others.partition("-")[2]})
        patch.setattr("sfumato.server.identity.vouching.sha256", lambda _: digest())
        with pytest.raises(ForbiddenError, match="somebody else has the name"):
            arrive("analysts", subject="9")


@pytest.mark.parametrize("groups", [(), ("choir",), ("ANALYSTS",), ("analysts ",)])
def test_whoever_has_no_mapped_group_is_refused_and_not_added(arrive, people, groups):
    with pytest.raises(ForbiddenError, match="no group of yours at Company"):
        arrive(*groups)
    assert [person.name for person in people.people()] == ["root"]


def test_a_group_that_is_gone_ends_its_roles_at_the_next_sign_in(arrive, people):
    name = arrive("analysts", "owners", "it")
    assert people.person(name).is_platform_admin
    arrive("analysts")
    assert people.grants(name) == (Grant("adult", Role.ANALYST, "adult/research"),)
    assert not people.person(name).is_platform_admin


def test_the_last_group_that_is_gone_ends_everything(arrive, people, database, tmp_path):
    name = arrive("analysts")
    sessions, keys = (kind(database, secret=tmp_path / "keys.secret") for kind in (Sessions, ApiKeys))
    cookie, key = sessions.begin(name, provider="company"), keys.make(name).token
    other = sessions.begin("root")
    with pytest.raises(ForbiddenError):
        arrive("choir")
    assert people.grants(name) == ()
    for refused in (lambda: sessions.find(cookie), lambda: keys.authenticate(key)):
        with pytest.raises(NotAuthenticatedError):
            refused()
    assert sessions.find(other).principal.name == "root"
    assert arrive("analysts") == name


def test_the_first_mapped_group_of_the_file_says_the_account(arrive, people):
    name = arrive("seniors", "analysts")
    assert people.grants(name) == (Grant("adult", Role.ANALYST, "adult/research"),)
    arrive("seniors")
    assert people.grants(name) == (Grant("adult", Role.ANALYST, "adult/seniors"),)


def test_what_an_owner_gave_stays(arrive, people):
    name = arrive("analysts")
    people.grant(name, Grant("adult", Role.ANALYST, "adult/ann"))
    people.grant(name, Grant("visits", Role.OWNER))
    arrive("seniors")
    assert set(people.grants(name)) == {Grant("adult", Role.ANALYST, "adult/ann"), Grant("visits", Role.OWNER)}


def test_whoever_was_switched_off_stays_out(arrive, people):
    name = arrive("analysts")
    people.change(name, is_active=False)
    with pytest.raises(ForbiddenError, match="switched off"):
        arrive("analysts")


def test_names_are_shown_without_what_cannot_be_shown(arrive, people):
    assert people.person(arrive("analysts", name="\x1b[31m" + "A" * 300)).display_name == "[31m" + "A" * 196
    name = arrive("analysts", name="\n", subject="8")
    assert people.person(name).display_name == name


def test_the_log_says_what_groups_changed(arrive):
    name = arrive("analysts", "it")
    arrive("owners", "it")
    arrive("owners", "it")
    found = [(one.act.person, one.act.action, one.act.dataset, one.act.target) for one in arrive.acts.read(limit=100)]
    assert found[:2] == [
        (name, Action.MANAGE_PEOPLE, "", "provider/company"), (name, Action.GRANT_ROLES, "adult", "provider/company"),
    ]  # fmt: skip
    assert {action for _, action, _, _ in found[2:]} == {Action.GRANT_ROLES, Action.GRANT_OWNER}
    assert len(found) == 4
