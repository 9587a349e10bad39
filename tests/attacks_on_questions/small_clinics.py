"""Clinics of a few rows, and what engines find in them."""

from tests.attacks_on_questions.clinic import PUBLIC_WARDS, clinic
from tests.attacks_on_questions.observing import SALTS, by_place, found_of, plan_of

COUNTED = "SELECT COUNT(*) AS n FROM visits"


def clinic_of(visits, *, engine, patients=(), drugs=(), **changes):
    """A session on these rows, and no others."""
    rows = {"patients": list(patients), "visits": list(visits), "drugs": list(drugs), "wards": PUBLIC_WARDS}
    return clinic(rows, engine=engine, **changes)


def exact(session, sql, *, salt=SALTS[0], **price):
    """What the engine finds for the first statement of a question."""
    return by_place(found_of(session, plan_of(session.query(sql), **price), salt=salt)[0][0])


def exact_of(visits, sql, *, engine, salt=SALTS[0], **tables):
    """The same, of these rows alone."""
    with clinic_of(visits, engine=engine, **tables) as session:
        return exact(session, sql, salt=salt)
