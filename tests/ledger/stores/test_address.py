import pytest

from sfumato.errors import ParameterError
from sfumato.ledger.stores.address import address_of

PLACE = "postgresql://keeper:secret@db.example.org:5433/books"


def test_the_name_of_the_ledger_is_taken_off_and_all_else_stays_as_it_is_written():
    address = address_of(f"{PLACE}?sslmode=verify-full&ledger=city%20hospital&options=-c%20geqo=off+1")
    assert address.database == f"{PLACE}?sslmode=verify-full&options=-c%20geqo=off+1"
    assert address.schema == "sfumato_city hospital"


@pytest.mark.parametrize("location", [PLACE, f"{PLACE}?ledger=ledger", "postgres://h/d", "postgresql://"])
def test_a_ledger_without_a_name_is_the_ledger(location):
    assert address_of(location).schema == "sfumato_ledger"


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        (f"{PLACE}?ledger=a&password=secret", "postgresql://keeper@db.example.org:5433/books?ledger=a"),
        ("postgresql://:secret@h/d", "postgresql://@h/d?ledger=ledger"),
        ("postgresql://u:sec@ret@h1:1,h2:2/d", "postgresql://u@h1:1,h2:2/d?ledger=ledger"),
    ],
)
def test_no_password_is_shown(location, shown):
    address = address_of(location)
    assert address.shown == shown
    assert "sec" not in repr(address)


@pytest.mark.parametrize(
    "query", ["ledger=", "ledger=a&ledger=b", "ledger=" + 56 * "x", "ledger=%00", "ledger=" + 28 * "é"]
)
def test_a_name_that_would_be_cut_or_is_none_is_refused(query):
    with pytest.raises(ParameterError, match="one name") as caught:
        address_of(f"{PLACE}?{query}")
    assert "secret" not in str(caught.value)


def test_the_longest_name_is_a_name():
    assert len(address_of(f"{PLACE}?ledger={55 * 'x'}").schema) == 63


@pytest.mark.parametrize(
    "location", ["postgresql://keeper:secret@[::1/books", "postgresql://keeper:se/secret@db/books"]
)
def test_what_is_no_address_is_refused(location):
    with pytest.raises(ParameterError, match="must be like") as caught:
        address_of(location)
    assert "secret" not in str(caught.value)
