"""What is attacked: a census of forty people, its ledger, and the clock that its ledger believes."""

from functools import partial

import pyarrow as pa

import sfumato as sf
from sfumato.ledger.core.windows import DAY
from sfumato.ledger.locations import open_ledger
from sfumato.query.model.schema import Table, integer, real, text
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session import session as sessions

PEOPLE = Table(
    name="people",
    columns={"age": integer(0, 100), "sex": text(values=["f", "m"]), "town": text(), "pay": real(0, 10)},
)
COUNT = "SELECT COUNT(*) AS n FROM people"
NOON = 20_000 * DAY + DAY // 2
"""2024-10-04 12:00 UTC."""


def people(size=40, *, town="Ulm"):
    """Rows of people, of all ages and both sexes."""
    places = range(size)
    return pa.table(
        {
            "age": [place * 101 // size for place in places],
            "sex": ["fm"[place % 2] for place in places],
            "town": [town] * size,
            "pay": [place / 4 % 10 for place in places],
        }
    )


CENSUS = people()


def policy(data=CENSUS, **changes):
    """The policy of a census in one table."""
    facts = {
        "dataset": "census", "version": "1", "data_version": "1", "unit_name": "row", "tables": {"people": PEOPLE},
        "sources": {"people": SourceFacts(source=data)},
    }  # fmt: skip
    return Policy(**(facts | changes))


def census(data=CENSUS, *, budget=None, ledger=None, window=None, lifetime=None, engine="reference", **changes):
    """A session on the census, with a budget of 1 unless told otherwise."""
    return sf.Session(
        policy(data, **changes), budget=budget or sf.PureDP(1), ledger=ledger, window=window, lifetime=lifetime,
        engine=engine,
    )  # fmt: skip


class Clock:
    """A clock that somebody else sets: days after noon of some day."""

    def __init__(self, days=0):
        self.days = days

    def __call__(self):
        return NOON + int(self.days * DAY)


def believed(clock, monkeypatch):
    """From here on the ledgers of sessions take the time from this clock."""
    monkeypatch.setattr(sessions, "open_ledger", partial(open_ledger, clock=clock))


def asked(view, age=0, *, epsilon="0.1", **options):
    """The release of how many people are at least so old: one question for each age."""
    return view.query(f"{COUNT} WHERE age >= {age}").release(epsilon=epsilon, **options)


def ledger_of(view):
    """The ledger behind an account."""
    return view._desk.ledger
