import pytest

from sfumato.ledger.core.reservations import NOBODY, Asked, Reservation
from sfumato.privacy.guarantees import PureDP


def test_who_says_nothing_asks_under_no_key():
    assert Asked() == NOBODY
    assert (NOBODY.principal, NOBODY.idempotency_key, NOBODY.body) == ("", "", "")


def test_a_reservation_is_new_unless_it_is_said_to_be_repeated():
    reservation = Reservation(account="people", request="r", spent=PureDP("0.1"), left=PureDP("0.9"))
    assert (reservation.is_repeated, reservation.is_answered) == (False, False)
    with pytest.raises(AttributeError):
        reservation.is_answered = True
