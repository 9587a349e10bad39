"""Who may do what: every role with every action, against a table that is written here a second time."""

from itertools import chain, combinations

import pytest

from sfumato.errors import ForbiddenError, NotFoundError, ParameterError
from sfumato.server.identity.people import RIGHTS, Action, Directory, Grant, KeyScope, Person, Principal, Role

WORDS = {
    "nobody": "sign_in overrun remove_collection",
    "everybody": "read_self sign_out manage_own_keys read_collections send_reports read_estimates "
    "read_counters read_maps read_synthetic read_federations take_part",
    "any role": "read_schema",
    "analyst": "read_relations estimate ask read_own_releases read_own_account",
    "owner": (
        "read_accounts open_account change_budget close_account publish_version acknowledge decide grant_roles"
        " read_people read_acts"
    ),
    "auditor": "read_accounts read_acts",
    "admin": "grant_owner manage_people manage_keys read_everybody read_acts read_metrics manage_federations",
}  # fmt: skip
SCOPES = {
    "ask": "ask",
    "estimate": "estimate",
    "report": "send_reports take_part",
    "manage": (
        "manage_own_keys open_account change_budget close_account publish_version acknowledge decide grant_roles"
        " grant_owner manage_people manage_keys manage_federations"
    ),
}
MEANT = {who: set(words.split()) for who, words in WORDS.items()}
ROLES = [frozenset(roles) for roles in chain.from_iterable(combinations(Role, n) for n in range(4))]


def scope_of(action):
    return next((scope for scope, words in SCOPES.items() if action in words.split()), "read")


def principal(roles, *, is_admin=False, scopes=tuple(KeyScope)):
    grants = (Grant("d", role, "d/ann" if role is Role.ANALYST else "") for role in sorted(roles))
    return Principal(name="ann", is_platform_admin=is_admin, grants=tuple(grants), scopes=frozenset(scopes))


def is_meant(action, roles, *, is_admin, owners_ask):
    """What the words above allow, said otherwise than in the package."""
    allowed = MEANT["everybody"] | (MEANT["admin"] if is_admin else set()) | (MEANT["any role"] if roles else set())
    for role in roles:
        allowed |= MEANT[role.value]
    if action in {"ask", "read_own_releases"} and Role.OWNER in roles and not owners_ask:
        return False
    return action in allowed


@pytest.mark.parametrize("owners_ask", [False, True])
@pytest.mark.parametrize("is_admin", [False, True])
@pytest.mark.parametrize("roles", ROLES, ids=lambda roles: "+".join(sorted(roles)) or "none")
@pytest.mark.parametrize("action", Action)
def test_every_role_may_do_what_is_meant_and_nothing_else(action, roles, is_admin, owners_ask):
    ann = principal(roles, is_admin=is_admin)
    meant = is_meant(action, roles, is_admin=is_admin, owners_ask=owners_ask)
    assert ann.may(action, "d", owners_ask=owners_ask) == meant
    elsewhere = is_meant(action, frozenset(), is_admin=is_admin, owners_ask=owners_ask)
    assert ann.may(action, "another", owners_ask=owners_ask) == ann.may(action, owners_ask=owners_ask) == elsewhere


@pytest.mark.parametrize("action", RIGHTS)
def test_an_action_needs_the_scope_of_the_key(action):
    everything = {"roles": frozenset(Role), "is_admin": True}
    for scope in KeyScope:
        ann = principal(**everything, scopes=[scope])
        assert ann.may(action, "d", owners_ask=True) == (scope.value == scope_of(action))
        others = principal(**everything, scopes=set(KeyScope) - {scope})
        assert others.may(action, "d", owners_ask=True) == (scope.value != scope_of(action))


def test_every_action_is_in_the_words_and_nothing_else_is():
    assert set().union(*MEANT.values()) == {action.value for action in Action}
    by_no_right = {
        Action.SIGN_IN,
        Action.OVERRUN,
        Action.REMOVE_COLLECTION,
    }  # operators do the last by the command line
    assert set(RIGHTS) == set(Action) - by_no_right


def test_what_is_in_no_table_nobody_may_do():
    assert not principal(frozenset(Role), is_admin=True).may("drop_everything", "d", owners_ask=True)


@pytest.mark.parametrize(
    ("ann", "action", "error", "said"),
    [
        (principal([]), Action.ASK, NotFoundError, "dataset 'd': not found"),
        (principal([], is_admin=True), Action.ASK, NotFoundError, "dataset 'd': not found"),
        (principal([Role.AUDITOR]), Action.ASK, ForbiddenError, "it needs the role analyst"),
        (principal([Role.ANALYST]), Action.READ_ACCOUNTS, ForbiddenError, "it needs the role auditor or owner"),
        (principal([Role.ANALYST]), Action.READ_ACTS, ForbiddenError, "the role auditor or owner or platform admin"),
        (principal([Role.ANALYST, Role.OWNER]), Action.ASK, ForbiddenError, "owners see no answers"),
        (principal([Role.ANALYST], scopes=[KeyScope.READ]), Action.ASK, ForbiddenError, "API key with the scope ask"),
        (principal([], is_admin=True, scopes=[KeyScope.ASK]), Action.READ_ACTS, ForbiddenError, "with the scope read"),
        (principal([Role.OWNER]), Action.SIGN_IN, ForbiddenError, "nobody may do it"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_needed_and_hides_datasets_of_others(ann, action, error, said):
    with pytest.raises(error, match=said):
        ann.require(action, "d")


def test_what_is_allowed_is_not_refused():
    principal([Role.ANALYST]).require(Action.ASK, "d")
    principal([Role.ANALYST, Role.OWNER]).require(Action.ASK, "d", owners_ask=True)
    principal([], is_admin=True).require(Action.MANAGE_PEOPLE)


def test_what_concerns_no_dataset_is_forbidden_rather_than_hidden():
    with pytest.raises(ForbiddenError, match="it needs the role platform admin"):
        principal([Role.OWNER]).require(Action.MANAGE_PEOPLE)


def test_an_account_is_that_of_the_analyst():
    assert principal(frozenset(Role)).account("d") == "d/ann"
    assert principal([Role.OWNER]).account("d") is principal([Role.ANALYST]).account("another") is None


@pytest.fixture
def directory(in_a_file):
    found = Directory(in_a_file)
    found.add("root", is_platform_admin=True)
    found.add("ann", display_name="Ann")
    return found


def test_people_are_kept(directory):
    ann = Person(name="ann", display_name="Ann", is_platform_admin=False, is_active=True)
    assert directory.person("ann") == ann
    assert [person.name for person in directory.people()] == ["ann", "root"]
    assert directory.person("root").display_name == "root"


@pytest.mark.parametrize("name", ["", "a b", "Ann'", "-ann", "a" * 101, "sfk\n", "ä", "ann\n", "sfk_a_b"])
def test_a_name_of_a_person_is_plain(directory, name):
    with pytest.raises(ParameterError, match="name"):
        directory.add(name)


def test_a_name_is_given_once(directory):
    with pytest.raises(ParameterError, match="is taken; choose another name"):
        directory.add("ann")


@pytest.mark.parametrize("shown", ["a\nb", "x" * 201])
def test_a_name_that_is_shown_is_one_line(directory, shown):
    for change in (
        lambda: directory.add("bob", display_name=shown),
        lambda: directory.change("ann", display_name=shown),
    ):
        with pytest.raises(ParameterError, match="printable"):
            change()


def test_what_is_not_given_does_not_change(directory):
    assert directory.change("ann", is_active=False).display_name == "Ann"
    changed = directory.change("ann", display_name="Anne", is_platform_admin=True, is_active=True)
    assert changed == Person(name="ann", display_name="Anne", is_platform_admin=True, is_active=True)
    assert directory.change("ann") == directory.person("ann") == changed


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_platform_admin": False}])
def test_the_last_platform_admin_stays(directory, change):
    with pytest.raises(ParameterError, match="is the last active platform admin; make another one first"):
        directory.change("root", **change)
    assert directory.person("root") == Person(name="root", display_name="root", is_platform_admin=True, is_active=True)
    directory.change("ann", is_platform_admin=True)
    directory.change("root", **change)


def test_somebody_unknown_is_not_found(directory):
    for action in (
        lambda: directory.person("bob"),
        lambda: directory.change("bob", is_active=True),
        lambda: directory.grant("bob", Grant("d", Role.OWNER)),
    ):
        with pytest.raises(NotFoundError, match="person 'bob': not found"):
            action()
    assert directory.grants("bob") == ()


def test_grants_are_kept_by_dataset_and_role(database):
    directory = Directory(database)
    directory.add("ann")
    directory.add("bob")
    given = [Grant("d", Role.ANALYST, "d/team/ann"), Grant("d", Role.AUDITOR), Grant("e", Role.OWNER)]
    for grant in given:
        directory.grant("ann", grant)
    directory.grant("bob", Grant("d", Role.OWNER))
    assert list(directory.grants("ann")) == given
    assert directory.grants_on("d") == (("ann", given[0]), ("ann", given[1]), ("bob", Grant("d", Role.OWNER)))
    directory.grant("ann", Grant("d", Role.ANALYST, "d/other"))
    assert directory.grants("ann")[0].account == "d/other"
    directory.revoke("ann", "d", Role.AUDITOR)
    assert [grant.role for grant in directory.grants("ann")] == [Role.ANALYST, Role.OWNER]
    directory.revoke("ann", "d")
    assert [grant.dataset for grant in directory.grants("ann")] == ["e"]
    with pytest.raises(NotFoundError, match="grant 'ann on d': not found"):
        directory.revoke("ann", "d")


@pytest.mark.parametrize(
    "grant",
    [
        Grant("d", Role.ANALYST), Grant("d", Role.OWNER, "d/ann"), Grant("", Role.OWNER), Grant("a b", Role.OWNER),
        Grant("d", Role.ANALYST, "d'--"), Grant("d" * 201, Role.AUDITOR),
    ],
)  # fmt: skip
def test_a_grant_that_means_nothing_is_refused(directory, grant):
    with pytest.raises(ParameterError):
        directory.grant("ann", grant)
    assert directory.grants("ann") == ()
