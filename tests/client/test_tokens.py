"""Keys come from arguments, the environment or a file that others cannot read, and no text has them."""

import copy
import pickle
import stat

import pytest

from sfumato.client.tokens import Token, forget, token_for
from sfumato.errors import ParameterError

ADDRESS = "https://curator.example.org"
SECRET = "sfk_swordfish"  # noqa: S105 # of nobody


def test_a_stated_key_comes_first_then_the_environment_then_the_file(monkeypatch):
    Token("sfk_kept").store(ADDRESS)
    assert token_for(ADDRESS, None).authorization == "Bearer sfk_kept"
    monkeypatch.setenv("SFUMATO_TOKEN", "sfk_set")
    assert token_for(ADDRESS, None).authorization == "Bearer sfk_set"
    assert token_for(ADDRESS, "sfk_said").authorization == "Bearer sfk_said"


def test_without_a_key_one_hears_how_to_get_one():
    with pytest.raises(ParameterError, match=f"sfumato login {ADDRESS}"):
        token_for(ADDRESS, None)


def test_keys_of_several_servers_are_kept_where_others_cannot_read():
    place = Token(SECRET).store(ADDRESS)
    Token("sfk_other").store("https://other.example.org")
    assert token_for(ADDRESS, None).authorization == f"Bearer {SECRET}"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert [one.name for one in place.parent.iterdir()] == ["tokens.json"]


def test_a_file_that_others_can_read_is_not_read():
    place = Token(SECRET).store(ADDRESS)
    place.chmod(0o640)
    with pytest.raises(ParameterError, match="chmod 600"):
        token_for(ADDRESS, None)


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 10_000])
def test_a_file_that_is_none_is_said(content):
    place = Token(SECRET).store(ADDRESS)
    place.write_text(content, "utf-8")
    with pytest.raises(ParameterError, match="no file of"):
        token_for(ADDRESS, None)


@pytest.mark.parametrize("secret", ["", "sfk a", "sfk\n", "sfk\x00", "é", None, 7, b"sfk"])
def test_what_cannot_stand_in_a_request_is_no_key(secret):
    with pytest.raises(ParameterError) as told:
        Token(secret)
    assert "sfk" not in str(told.value).replace("sfk_…", "")


def test_no_text_of_a_key_has_it():
    token = Token(SECRET)
    assert SECRET not in f"{token}{token!r}{[token]}{dir(token)}"
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copied(token)


def test_a_key_is_forgotten_and_others_stay():
    Token(SECRET).store(ADDRESS)
    place = Token("sfk_other").store("https://other.example.org")
    assert forget(ADDRESS)
    assert not forget(ADDRESS)
    assert SECRET not in place.read_text("utf-8")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert token_for("https://other.example.org", None).authorization == "Bearer sfk_other"
