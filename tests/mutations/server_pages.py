"""Seeded bugs of the pages: sessions, forms, where people are led, and what is shown of others."""

from tests.mutations.mutants import Mutant

SESSIONS = "tests/server/identity/test_sessions.py::"
SIGNING_IN = "tests/server/dashboard/pages/test_signing_in.py::"
VISITS = "tests/server/dashboard/test_visits.py::"
CONSOLE = "tests/server/dashboard/pages/test_console.py::"
REGISTERING = "tests/server/dashboard/pages/test_registering.py::"
RENDERING = "tests/server/dashboard/test_rendering.py::"

MUTANTS = (
    Mutant(
        name="a gateway makes the ledger that its worker has not made yet",
        edits=(("server/gateway/app.py", "must_exist=bool(curator.datasets)", "must_exist=False"),),
        tests=("tests/server/gateway/test_app.py::test_a_gateway_makes_no_ledger_in_the_place_of_the_worker",),
    ),
    Mutant(
        name="a session never ends for want of use",
        edits=(("server/identity/sessions.py", "and now - found.last_used < IDLE and", "and"),),
        tests=(f"{SESSIONS}test_a_session_that_is_not_used_ends",),
    ),
    Mutant(
        name="a session that is used never ends",
        edits=(("server/identity/sessions.py", "and now - found.began < LIFE", ""),),
        tests=(f"{SESSIONS}test_a_session_that_is_used_lasts_until_it_is_too_old",),
    ),
    Mutant(
        name="a session outlives the key with which it began",
        edits=(("server/identity/sessions.py", "found.revoked is None and (", "("),),
        tests=(f"{SESSIONS}test_a_session_ends_with_its_person_and_with_its_key",),
    ),
    Mutant(
        name="a session may do more than the key with which it began",
        edits=(
            (
                "server/identity/sessions.py",
                "frozenset(KeyScope) if found.api_key is None else frozenset(map(KeyScope, found.scopes.split()))",
                "frozenset(KeyScope)",
            ),
        ),
        tests=(f"{SESSIONS}test_a_session_may_do_no_more_than_the_key_with_which_it_began",),
    ),
    Mutant(
        name="the database has the texts of cookies",
        edits=(
            (
                "server/identity/sessions.py",
                'return hmac.digest(self._secret, b"session " + token.encode("utf-8", "replace"), "sha256").hex()',
                "return token",
            ),
        ),
        tests=(f"{SESSIONS}test_texts_are_new_each_time_and_the_database_has_none_of_them",),
    ),
    Mutant(
        name="signing in keeps the name that the browser had",
        edits=(
            (
                "server/dashboard/pages/signing_in.py",
                "visit.dashboard.set_cookie(response, visit.dashboard.cookie, token)",
                "visit.dashboard.set_cookie(response, visit.dashboard.cookie, visit.token)",
            ),
        ),
        tests=(f"{SIGNING_IN}test_signing_in_begins_a_session_under_a_new_name",),
    ),
    Mutant(
        name="keys may be guessed without end",
        edits=(("server/dashboard/pages/signing_in.py", "        _mistaken.hit(_MISTAKES, address)\n", ""),),
        tests=(f"{SIGNING_IN}test_keys_cannot_be_guessed_one_after_the_other",),
    ),
    Mutant(
        name="forms of other sites are taken",
        edits=(
            ("server/dashboard/visits.py", "                    visit.require_proof()\n", "                    pass\n"),
        ),
        tests=(f"{VISITS}test_no_form_is_taken_but_from_a_page_of_the_same_session",),
    ),
    Mutant(
        name="people are led to other sites",
        edits=(
            (
                "server/dashboard/visits.py",
                'return path if is_path and path.isprintable() and "\\\\" not in path else "/"',
                "return path",
            ),
        ),
        tests=(f"{SIGNING_IN}test_nobody_is_led_to_another_site",),
    ),
    Mutant(
        name="pages may be shown inside of others",
        edits=(("server/dashboard/visits.py", "frame-ancestors 'none'; ", ""),),
        tests=(f"{VISITS}test_pages_have_strict_headers",),
    ),
    Mutant(
        name="names in pages are markup",
        edits=(("server/dashboard/rendering.py", "autoescape=True", "autoescape=False"),),
        tests=(f"{RENDERING}test_hostile_values_stay_text_in_pages",),
    ),
    Mutant(
        name="much is spent without asking",
        edits=(("server/dashboard/pages/console.py", 'estimate["share"] > _MUCH', 'estimate["share"] > 2'),),
        tests=(f"{CONSOLE}test_much_is_spent_only_when_it_was_confirmed",),
    ),
    Mutant(
        name="each sending of a form is charged",
        edits=(
            (
                "server/dashboard/pages/console.py",
                'form.get("key", "")[:100] or random_bytes(16).hex()',
                "random_bytes(16).hex()",
            ),
        ),
        tests=(f"{CONSOLE}test_a_form_keeps_its_key",),
    ),
    Mutant(
        name="bounds may come from the data",
        edits=(("server/dashboard/pages/registering.py", "not in ORIGINS[:-1]", "not in ORIGINS"),),
        tests=(f"{REGISTERING}test_what_is_missing_or_was_read_from_data_is_refused",),
    ),
    Mutant(
        name="a dataset is registered as if each row were a person",
        edits=(
            (
                "server/dashboard/pages/registering.py",
                'unit = visit.form, visit.form.get("unit", "")',
                'unit = visit.form, visit.form.get("unit", "") or "row"',
            ),
        ),
        tests=(f"{REGISTERING}test_what_is_missing_or_was_read_from_data_is_refused",),
    ),
)
