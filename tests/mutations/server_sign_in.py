"""Seeded bugs of signing in at a provider: what is believed, who that is, and which roles they have."""

from tests.mutations.mutants import Mutant

OIDC = "tests/server/identity/test_oidc.py::"
ATTEMPTS = "tests/server/identity/test_attempts.py::"
VOUCHING = "tests/server/identity/test_vouching.py::"
PROVIDERS = "tests/server/dashboard/pages/test_providers.py::"
SESSIONS = "tests/server/identity/test_sessions.py::"
FILE = "tests/server/test_providers.py::"

MUTANTS = (
    Mutant(
        name="an attacker's way back works in another browser",
        edits=(("server/identity/attempts.py", "if not is_same or found", "if found"),),
        tests=(f"{ATTEMPTS}test_another_browser_or_from_another_provider_is_refused_and_spoils_the_attempt",),
    ),
    Mutant(
        name="the way back of one provider is taken for that of another",
        edits=(("server/identity/attempts.py", "if not is_same or found.provider != provider:", "if not is_same:"),),
        tests=(f"{ATTEMPTS}test_another_browser_or_from_another_provider_is_refused_and_spoils_the_attempt",),
    ),
    Mutant(
        name="a way back is gone as often as one likes",
        edits=(
            (
                "server/identity/attempts.py",
                'delete(ATTEMPTS).where(ATTEMPTS.c.hash == self._derived("state", state)).returning(ATTEMPTS)',
                'ATTEMPTS.select().where(ATTEMPTS.c.hash == self._derived("state", state))',
            ),
        ),
        tests=(f"{ATTEMPTS}test_nobody_comes_back_twice",),
    ),
    Mutant(
        name="a sign-in that began long ago can be ended",
        edits=(("server/identity/attempts.py", "or self._database.now() - found.began >= PATIENCE", ""),),
        tests=(f"{ATTEMPTS}test_whoever_takes_too_long_is_refused_and_forgotten",),
    ),
    Mutant(
        name="the database has what proves a sign-in",
        edits=(("server/identity/attempts.py", 'hash=self._derived("state", state)', "hash=state"),),
        tests=(
            f"{ATTEMPTS}test_all_that_proves_an_attempt_is_new_each_time_and_the_database_has_none_of_it",
            f"{ATTEMPTS}test_the_same_attempt_comes_back",
        ),
    ),
    Mutant(
        name="an ID token of another sign-in is taken",
        edits=(("server/identity/oidc.py", '{"nonce": attempt.nonce, ', "{"),),
        tests=(f"{OIDC}test_a_token_for_anything_else_is_refused",),
    ),
    Mutant(
        name="an ID token for another server is taken",
        edits=(
            ("server/identity/oidc.py", '"aud": own, ', ""),
            ("server/identity/oidc.py", '"client_id": self.provider.client_id, ', ""),
        ),
        tests=(f"{OIDC}test_a_token_for_anything_else_is_refused",),
    ),
    Mutant(
        name="an ID token of another issuer is taken",
        edits=(("server/identity/oidc.py", '{"iss": {"essential": True, "value": self.provider.issuer}, ', "{"),),
        tests=(f"{OIDC}test_a_token_for_anything_else_is_refused",),
    ),
    Mutant(
        name="an ID token never expires",
        edits=(("server/identity/oidc.py", "_LEEWAY: Final = 60\n", "_LEEWAY: Final = 10**9\n"),),
        tests=(f"{OIDC}test_a_token_for_anything_else_is_refused",),
    ),
    Mutant(
        name="an access token of somebody else goes with an ID token",
        edits=(("server/identity/oidc.py", ', "access_token": tokens.get("access_token")}', "}"),),
        tests=(f"{OIDC}test_a_token_for_anything_else_is_refused",),
    ),
    Mutant(
        name="the provider says which algorithms are good enough",
        edits=(("server/identity/oidc.py", "ALGORITHMS.intersection(stated)", "stated"),),
        tests=(f"{OIDC}test_a_token_that_nobody_signed_is_refused",),
    ),
    Mutant(
        name="a password that others have signs ID tokens",
        edits=(("server/identity/oidc.py", '{"RS256", "RS384"', '{"HS256", "RS256", "RS384"'),),
        tests=(f"{OIDC}test_no_algorithm_is_allowed_whose_key_others_have",),
    ),
    Mutant(
        name="a code is worth something without its verifier",
        edits=(
            (
                "server/identity/oidc.py",
                "nonce=attempt.nonce, code_challenge=create_s256_code_challenge(attempt.verifier),",
                "nonce=attempt.nonce, code_challenge=attempt.verifier,",
            ),
            ("server/identity/oidc.py", 'code_challenge_method="S256",', 'code_challenge_method="plain",'),
        ),
        tests=(f"{OIDC}test_the_way_there_says_what_the_way_back_must_prove",),
    ),
    Mutant(
        name="an answer of another provider is taken",
        edits=(("server/identity/oidc.py", "            self._require_issuer(issuer)\n", ""),),
        tests=(f"{OIDC}test_an_answer_of_another_provider_is_refused",),
    ),
    Mutant(
        name="the groups of somebody else are taken",
        edits=(("server/identity/oidc.py", 'if more.get("sub") != subject:', "if not more:"),),
        tests=(f"{OIDC}test_groups_may_be_told_apart_from_the_token_for_the_same_subject_alone",),
    ),
    Mutant(
        name="a provider may be another one than it says",
        edits=(("server/identity/oidc.py", 'if found.get("issuer") != self.provider.issuer:', "if not found:"),),
        tests=(f"{OIDC}test_a_provider_that_describes_itself_otherwise_is_refused",),
    ),
    Mutant(
        name="codes and secrets are sent without TLS",
        edits=(("server/providers.py", 'return parts.scheme == "http" and is_here and', "return"),),
        tests=(
            f"{FILE}test_what_is_impossible_is_refused_where_it_stands",
            f"{OIDC}test_a_provider_that_describes_itself_otherwise_is_refused",
        ),
    ),
    Mutant(
        name="people are known by their names",
        edits=(("server/identity/vouching.py", '"subject": vouched.subject}', '"subject": vouched.display_name}'),),
        tests=(f"{VOUCHING}test_a_name_is_nobody",),
    ),
    Mutant(
        name="people of two providers are one",
        edits=(("server/identity/vouching.py", '{"issuer": vouched.issuer, "subject"', '{"issuer": "", "subject"'),),
        tests=(f"{VOUCHING}test_a_name_is_nobody",),
    ),
    Mutant(
        name="whoever has no mapped group comes in",
        edits=(
            ("server/identity/vouching.py", "if person is None or not given:", "if person is None:"),
            ("server/identity/vouching.py", "is_new=bool(given)", "is_new=True"),
        ),
        tests=(f"{VOUCHING}test_whoever_has_no_mapped_group_is_refused_and_not_added",),
    ),
    Mutant(
        name="a group that is gone leaves its roles",
        edits=(
            ("server/identity/vouching.py", "for key in before.keys() | wanted.keys():", "for key in wanted.keys():"),
        ),
        tests=(f"{VOUCHING}test_a_group_that_is_gone_ends_its_roles_at_the_next_sign_in",),
    ),
    Mutant(
        name="whoever was an admin stays one",
        edits=(("server/identity/vouching.py", "if was_admin != is_admin:", "if is_admin:"),),
        tests=(f"{VOUCHING}test_a_group_that_is_gone_ends_its_roles_at_the_next_sign_in",),
    ),
    Mutant(
        name="whoever has left keeps sessions and keys",
        edits=(
            (
                "server/identity/vouching.py",
                "        if not given:\n            now",
                "        if acts is None:\n            now",
            ),
        ),
        tests=(f"{VOUCHING}test_the_last_group_that_is_gone_ends_everything",),
    ),
    Mutant(
        name="a sign-in takes what an owner gave",
        edits=(("server/identity/vouching.py", "(not old.provider or (new", "((new"),),
        tests=(f"{VOUCHING}test_what_an_owner_gave_stays",),
    ),
    Mutant(
        name="whoever was switched off comes in",
        edits=(("server/identity/vouching.py", "if not is_active:", "if is_active is None:"),),
        tests=(f"{VOUCHING}test_whoever_was_switched_off_stays_out",),
    ),
    Mutant(
        name="signing in at a provider keeps the name that the browser had",
        edits=(("server/dashboard/pages/providers.py", "dashboard.cookie, token)", "dashboard.cookie, visit.token)"),),
        tests=(f"{PROVIDERS}test_signing_in_begins_a_session_under_a_new_name",),
    ),
    Mutant(
        name="a provider sends people on to another site",
        edits=(("server/dashboard/pages/providers.py", "target=local(next)", "target=next"),),
        tests=(f"{PROVIDERS}test_nobody_is_led_to_another_site",),
    ),
    Mutant(
        name="another site begins a sign-in",
        edits=(("server/dashboard/pages/providers.py", "if not visit.is_from_here:", "if visit is None:"),),
        tests=(f"{PROVIDERS}test_a_link_of_another_site_begins_nothing",),
    ),
    Mutant(
        name="sessions of a provider outlive its entry in the file",
        edits=(
            (
                "server/dashboard/visits.py",
                "if found.provider and found.provider not in",
                "if found.provider in (None,) and found.provider not in",
            ),
        ),
        tests=(f"{PROVIDERS}test_a_provider_that_is_declared_no_more_ends_its_sessions",),
    ),
    Mutant(
        name="an API key made after signing in at a provider never ends",
        edits=(
            (
                "server/identity/sessions.py",
                "keys_end=now + KEYS if found.api_key is None else found.expires,",
                "keys_end=found.expires,",
            ),
        ),
        tests=(f"{SESSIONS}test_keys_that_a_session_makes_end_even_where_it_has_no_key",),
    ),
)
"""Bugs that the tests must notice."""
