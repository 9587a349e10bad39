import psycopg
import pytest

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.stores.postgres import in_our_words


def failing(state):
    def work():
        error = psycopg.errors.lookup(state) if state else psycopg.OperationalError
        raise error("password=secret")

    return work


@pytest.mark.parametrize(
    ("state", "remedy"),
    [
        ("23505", "name that is taken"),
        ("25006", "name the primary"),
        ("3D000", "does not exist"),
        ("42501", "grant it"),
        ("53100", "free disk space"),
        ("55P03", "end that process"),
        ("57014", "SQLSTATE 57014"),
        ("25P03", "took too long"),
        ("57P01", "lost its connection, or cannot be reached"),
        ("08006", "lost its connection, or cannot be reached"),
        (None, "lost its connection, or cannot be reached"),
    ],
)
def test_a_failure_is_put_in_our_words_and_nothing_of_the_drivers_is_kept(state, remedy):
    with pytest.raises(LedgerError, match=remedy) as caught:
        in_our_words(failing(state), "here")
    assert caught.value.ledger == "here"
    assert "secret" not in str(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize("state", [None, "53100"])
def test_a_failure_of_work_whose_end_is_unknown_is_told_as_such(state):
    with pytest.raises(LedgerError, match="who knows"):
        in_our_words(failing(state), "here", told="who knows")


@pytest.mark.parametrize("state", ["XX001", "XX002"])
def test_damage_is_told_as_such(state):
    with pytest.raises(LedgerCorruptError, match="restore a good copy"):
        in_our_words(failing(state), "here", told="who knows")


def test_work_that_succeeds_gives_what_it_gives():
    assert in_our_words(lambda: 7, "here") == 7
