"""Seeded bugs of whoever asks a server: keys that get away, and what is charged twice."""

from tests.mutations.mutants import Mutant

CURATOR = "tests/client/test_curator.py::"
PROBLEMS = "tests/client/test_problems.py::"
TOKENS = "tests/client/test_tokens.py::"
ASKED = "tests/client/test_asked.py::"


def mutant(name, file, old, new, test):
    return Mutant(name=name, edits=((f"client/{file}", old, new),), tests=(test,))


MUTANTS = (
    mutant(
        "a key is sent in the open", "curator.py",
        'if parts.scheme == "http" and not insecure and not _is_here(host):', 'if parts.scheme == "ftp":',
        f"{CURATOR}test_an_address_that_is_none_or_gives_a_key_away_is_refused",
    ),
    mutant(
        "a machine whose name begins like this one is this one", "curator.py",
        'return host == "localhost"', 'return host.startswith("localhost")',
        f"{CURATOR}test_an_address_that_is_none_or_gives_a_key_away_is_refused",
    ),
    mutant(
        "passwords in addresses are shown", "curator.py",
        'if "@" in parts.netloc:', "if not parts.netloc:",
        f"{CURATOR}test_an_address_that_is_none_or_gives_a_key_away_is_refused",
    ),
    mutant(
        "a server may send a key elsewhere", "curator.py",
        "self._client = httpx.Client(**_settings(token, timeout))",
        "self._client = httpx.Client(**_settings(token, timeout), follow_redirects=True)",
        f"{CURATOR}test_a_server_that_leads_elsewhere_is_not_followed",
    ),
    mutant(
        "each try is another request", "curator.py",
        'else {"Idempotency-Key": call.key}', 'else {"Idempotency-Key": str(time.monotonic_ns())}',
        f"{CURATOR}test_what_is_lost_on_its_way_is_sent_again_under_one_key",
    ),
    mutant(
        "what takes long is given up", "curator.py",
        "_TAKES_LONG: Final = 202", "_TAKES_LONG: Final = 299",
        f"{CURATOR}test_what_takes_long_is_asked_for_again_under_one_key",
    ),
    mutant(
        "an error keeps the request that has the key", "curator.py",
        "        except httpx.HTTPError:  # which knows the request, and so the key\n            return None",
        "        except httpx.HTTPError as error:\n            raise CuratorError(self.address, None, str(error))",
        f"{CURATOR}test_a_server_that_is_away_is_said_with_the_key_to_ask_again",
    ),
    mutant(
        "refusals are asked again", "problems.py",
        'if not is_between and answer.problem().get("error") not in _BUSY:', "if answer.is_good:",
        f"{PROBLEMS}test_refusals_and_answers_are_final",
    ),
    mutant(
        "tries have no end", "problems.py",
        "    if tried >= tries:", "    if tried >= 10 * tries:",
        f"{CURATOR}test_tries_have_an_end",
    ),
    mutant(
        "nobody waits as long as a server says", "problems.py",
        "return None if seconds > LONGEST_PAUSE else max(seconds, growing)", "return growing",
        f"{PROBLEMS}test_a_server_says_how_long_to_wait",
    ),
    mutant(
        "a server may change the methods of errors", "problems.py",
        'if name.isidentifier() and not name.startswith("_") and not hasattr(kind, name):', "if name:",
        f"{PROBLEMS}test_attributes_take_no_methods_and_nothing_hidden_away",
    ),
    mutant(
        "a key is shown", "tokens.py",
        'return "Token(…)"', 'return f"Token({self.__secret})"', f"{TOKENS}test_no_text_of_a_key_has_it",
    ),
    mutant(
        "others can read the file of keys", "tokens.py",
        "new.touch(mode=0o600, exist_ok=False)", "new.touch(mode=0o644, exist_ok=False)",
        f"{TOKENS}test_keys_of_several_servers_are_kept_where_others_cannot_read",
    ),
    mutant(
        "a file that others can read is read", "tokens.py",
        "place.stat().st_mode & _OTHERS:", "place.stat().st_mode == _OTHERS:",
        f"{TOKENS}test_a_file_that_others_can_read_is_not_read",
    ),
    mutant(
        "all releases have one key", "asked.py",
        "random_bytes(16).hex() if idempotency_key is None", '"0" * 32 if idempotency_key is None',
        f"{ASKED}test_each_release_has_a_key_of_its_own_unless_one_is_given",
    ),
    mutant(
        "numbers are rounded on their way", "asked.py",
        "name: str(exact(value, name))", "name: str(float(exact(value, name)))",
        f"{ASKED}test_numbers_are_sent_as_they_are_meant",
    ),
)  # fmt: skip
