"""Patients and people who do all they can to be seen: each attack adds one unit to a database."""

from datetime import date, datetime
from random import Random

from tests.attacks_on_questions.clinic import (
    CLINIC,
    DRUGS,
    PATIENTS,
    PEOPLE,
    VISITS,
    drug,
    ordinary,
    patient,
    person,
    townsfolk,
    visit,
)
from tests.query.brute_force import units_of, without

MOST = 300
FAR = 2**62
FIRST, LAST = map(datetime.fromisoformat, ("0001-01-01", "9999-12-31 23:59:59.999999"))


def _poison_visits():
    """Rows that break one thing each."""
    cells = {
        "id": (None, FAR, -FAR, 2**63 - 1), "ward": (None, "", "a", "A ", "Z"),
        "ill": (None, "", "x" * 5000, "\x00", "é"),
        "cost": (None, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, -0.0),
        "beds": (None, 2**63 - 1, -(2**63), FAR), "hours": (None, float("nan"), float("inf"), float("-inf")),
        "day": (None, date.min, date.max), "seen": (None, FIRST, LAST), "urgent": (None, False),
        "note": (None, "", "'; DROP TABLE visits; --"),
    }  # fmt: skip
    return [
        visit("heavy", 1000 + place, **{name: value})
        for name, values in cells.items()
        for place, value in enumerate(values)
    ]


HEAVY = {
    "one group": [visit("heavy", 1000 + i, cost=100.0, beds=9, hours=24.0) for i in range(MOST)],
    "a group each": [visit("heavy", 1000 + i, ill=f"ill {i}", day=date.fromordinal(700_000 + i)) for i in range(MOST)],
    "many rows in many groups": [
        visit("heavy", 1000 + i, ill=f"ill {i % 20}", ward="ABC"[i % 3], beds=i % 12 - 2, urgent=bool(i % 2))
        for i in range(MOST)
    ],
    "far away": [visit("heavy", FAR - i, cost=sign * 1e308, beds=sign * FAR) for i in range(50) for sign in (1, -1)],
    "one id": [visit("heavy", 1000, ill=f"ill {i}", cost=float(i)) for i in range(MOST)],
    "the ids of others": [visit("heavy", i, ward="C", ill="cold", cost=100.0) for i in range(12)],
    "poison": _poison_visits(),
    "no visit": [],
}
"""The visits of a patient, by what is wrong with them."""


def clinics(name):
    """A clinic, and the same clinic with one more patient, whose rows come first."""
    whole, visits = ordinary(), HEAVY[name]
    own_visits = visits if name != "the ids of others" else []  # or their new drugs would be of others, too
    more = {
        "patients": [patient("heavy", town=f"town {i}", sex="fm"[i % 2]) for i in range(30)],
        "visits": visits,
        "drugs": [drug(row["id"], f"drug {i % 70}", dose=50) for i, row in enumerate(own_visits)] * 2,
    }
    return whole, {table: more.get(table, []) + rows for table, rows in whole.items()}


NEWCOMERS = {
    "ordinary": person(),
    "alone in a town": person(town="Aach", name="A"),
    "far away": person(age=2**63 - 1, pay=1e308, kids=-(2**63)),
    "as far below": person(age=-(2**63), pay=float("-inf"), kids=2**62),
    "missing": dict.fromkeys(PEOPLE.columns),
    "no numbers": person(pay=float("nan"), name="", town="\x00", sex="F"),
}
"""One more person of the town, who is one row."""


def towns(name):
    """A town, and the same town with one more person."""
    whole = townsfolk()
    return whole, {**whole, "people": [NEWCOMERS[name], *whole["people"]]}


POOLS = {
    "patient": ("p0", "p1", "p2", None), "id": (1, 2, 3, None), "ward": ("A", "B", "C", "Z", None),
    "ill": ("flu", "cold", "", None), "cost": (0.0, 12.5, 100.0, 1e9, float("nan"), None),
    "beds": (0, 9, -2, 500, None),
    "hours": (1.0, 24.0, float("-inf"), None), "day": (date(2026, 1, 31), None), "urgent": (True, False, None),
    "note": ("a", "b"), "sex": ("f", "m", None), "town": ("Ulm", "Aach"), "visit": (1, 2, 3, 4, None),
    "drug": ("A1", "B2", None), "dose": (0, 50, 99, None), "born": (None,), "seen": (None,),
}  # fmt: skip
"""Few values, so that rows of all tables meet."""


def random_clinics(seed):
    """A clinic of a few patients at odds with its policy, and the same clinic without each of them in turn."""
    random = Random(seed)  # noqa: S311 # data, no noise
    whole = dict(ordinary()) | {
        table.name: [
            {name: random.choice(POOLS[name]) for name in table.columns} for _ in range(random.randrange(3, 25))
        ]
        for table in (PATIENTS, VISITS, DRUGS)
    }
    lesser = [without(CLINIC, whole, unit) for unit in sorted(units_of(CLINIC, whole))]
    return whole, [{name: rows[::-1] for name, rows in one.items()} for one in lesser]
