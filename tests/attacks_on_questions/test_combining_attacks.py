"""Joins, sub-queries, averages of averages and group privacy: what questions put together never lets people meet."""

from fractions import Fraction
from itertools import product
from math import exp, prod

import pytest
from tests.attacks_on_questions.clinic import clinic, drug, ordinary, patient, visit
from tests.attacks_on_questions.observing import by_place, found_of, plan_of
from tests.attacks_on_questions.small_clinics import COUNTED, clinic_of, exact_of
from tests.session.opened import recorded

import sfumato as sf
from sfumato.errors import NotPrivateError, UnboundedSensitivityError
from sfumato.privacy.events import PureEvent

# 19: joins.


def test_null_meets_nothing_on_either_side(engine):
    """Catalogue 19."""
    visits = [visit("p", None, ward=None), visit("p", 1, ward=None)]
    joins = {
        f"{COUNTED} JOIN wards ON ward = code": {},
        "SELECT COUNT(*) AS n FROM drugs JOIN visits ON visit = id": {},
        f"{COUNTED} AS v JOIN visits AS w ON v.patient = w.patient AND v.ward = w.ward": {},
        f"{COUNTED} LEFT JOIN wards ON ward = code": {(): (2,)},
        f"{COUNTED} AS v WHERE NOT EXISTS (SELECT 1 FROM wards WHERE code = v.ward)": {(): (2,)},
    }
    drugs = [drug(None), drug(7)]
    assert {sql: exact_of(visits, sql, engine=engine, drugs=drugs) for sql in joins} == joins


def test_a_key_that_is_claimed_to_be_unique_and_is_not_has_one_row_of_each_patient(engine):
    """Catalogue 19."""
    visits = [visit("p", 1, note=f"{i}") for i in range(50)] + [visit("q", 1)]
    patients = [patient("p", town=f"{i}") for i in range(50)]
    assert exact_of(visits, COUNTED, engine=engine) == {(): (2,)}
    assert exact_of(
        visits, "SELECT COUNT(*) AS n FROM patients JOIN visits USING (patient)", engine=engine, patients=patients
    ) == {(): (1,)}


def test_a_foreign_key_of_two_owners_leads_to_both_and_neither_sees_the_other(engine):
    """Catalogue 19. Drugs of a visit that two patients claim are counted for each, whatever the other has."""
    drugs = [drug(1, dose=10), drug(1, dose=20)]
    with_one, with_both = (
        exact_of([visit(name, 1) for name in names], "SELECT SUM(dose) AS s FROM drugs", engine=engine, drugs=drugs)
        for names in ("p", "pq")
    )
    assert (with_one, with_both) == ({(): (30,)}, {(): (60,)})


REFUSED = [
    "SELECT COUNT(*) FROM visits AS v, patients AS p",
    "SELECT COUNT(*) FROM visits AS v CROSS JOIN visits AS w",
    "SELECT COUNT(*) FROM visits AS v JOIN patients AS p ON v.note = p.town",
    "SELECT COUNT(*) FROM visits AS v JOIN visits AS w ON v.ward = w.ward",
    "SELECT COUNT(*) FROM visits AS v FULL JOIN patients AS p ON v.patient = p.patient",
    "SELECT COUNT(*) FROM visits NATURAL JOIN patients",
    "SELECT COUNT(*) FROM wards LEFT JOIN visits ON code = ward",
    "SELECT COUNT(*) FROM visits JOIN wards ON beds = floor",
    "SELECT COUNT(*) FROM visits, wards",
    "SELECT COUNT(*) FROM (SELECT patient FROM visits LIMIT 3) AS x",
    "SELECT COUNT(*) FROM (SELECT patient FROM visits ORDER BY cost) AS x",
    "SELECT COUNT(*) FROM (SELECT patient, ROW_NUMBER() OVER (ORDER BY cost) AS r FROM visits) AS x WHERE r = 1",
    "SELECT SUM(cost) OVER () FROM visits",
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM visits WHERE cost > 50)",
    "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM patients WHERE sex = 'f')",
    "SELECT COUNT(*) FROM visits WHERE cost > ALL (SELECT cost FROM visits)",
    "SELECT COUNT(*), (SELECT COUNT(*) FROM patients) FROM visits",
    "SELECT COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS x",
    "SELECT COUNT(*) FROM (SELECT ward FROM visits UNION SELECT ward FROM visits) AS x",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits) AS x",
    "SELECT DISTINCT ON (ward) ward FROM visits",
    "WITH RECURSIVE r AS (SELECT patient FROM visits UNION ALL SELECT patient FROM r) SELECT COUNT(*) FROM r",
    "SELECT COUNT(*) FROM visits, LATERAL (SELECT 1) AS x",
    "SELECT COUNT(*) FROM visits TABLESAMPLE BERNOULLI (10)",
    "SELECT SUM(DISTINCT cost) FROM visits",
    "SELECT COUNT(*) FROM wards WHERE code IN (SELECT ward FROM visits)",
    "SELECT kind, COUNT(*) FROM wards WHERE EXISTS (SELECT 1 FROM visits WHERE ward = code) GROUP BY kind",
    "SELECT COUNT(*) FROM wards WHERE NOT EXISTS (SELECT 1 FROM visits WHERE ward = code)",
    "SELECT COUNT(*) FROM (SELECT code FROM wards UNION ALL SELECT ward FROM visits) AS x",
    "SELECT COUNT(*) FROM (SELECT code FROM wards EXCEPT ALL SELECT ward FROM visits) AS x",
    "SELECT MAX(floor) FROM wards WHERE floor < (SELECT COUNT(*) FROM visits)",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_what_would_compare_people_is_refused_before_data_and_for_nothing(engine, sql):
    """Catalogue 19, 20, 32."""
    session, recording = recorded(clinic(ordinary(), engine=engine, budget=sf.ApproxDP(1, "1e-6")))
    with session, pytest.raises((NotPrivateError, UnboundedSensitivityError)):
        session.sql(sql, epsilon=1, delta="1e-6")
    assert recording.statements == []


@pytest.mark.parametrize("name", ["visits", "patients", "drugs"])
def test_a_frame_cannot_make_rows_of_people_meet_without_their_units(engine, name):
    """Catalogue 19, 20. Joins of frames are within units, whatever they compare: the same rows of two people do not."""
    visits = [visit("p", 1), visit("q", 2)]
    with clinic_of(visits, engine=engine, patients=[patient("p")], drugs=[drug(1), drug(2)]) as session:
        rows = session.table(name)
        columns = {f"other {column}": rows[column] for column in rows.shape.columns}
        question = rows.join(rows.select(**columns), on=()).agg(n=sf.count())
        (found,) = by_place(found_of(session, plan_of(question))[0][0]).values()
    assert found == ((1,) if name == "patients" else (2,))


# 21: averages of averages, and people after grouping.


def test_a_mean_of_means_is_of_the_means_of_people(engine):
    """Catalogue 21. Of 0 and 100, however many visits each of them had."""
    visits = [visit("p", 1, cost=0.0)] + [visit("q", i, cost=100.0) for i in range(2, 500)]
    found = exact_of(
        visits, "SELECT AVG(m) AS a FROM (SELECT patient, AVG(cost) AS m FROM visits GROUP BY patient) AS each",
        engine=engine,
    )  # fmt: skip
    assert [count for count, _ in found.values()] == [2]


def test_people_are_counted_once_after_grouping_by_person_and_something_else(engine):
    """Catalogue 21."""
    visits = [visit("p", i, ward="ABC"[i], ill=f"{i}") for i in range(3)] + [visit("q", 50)]
    grouped = "(SELECT patient, ward, ill FROM visits GROUP BY patient, ward, ill) AS each"
    assert exact_of(visits, f"SELECT COUNT(DISTINCT patient) AS n FROM {grouped}", engine=engine) == {(): (2,)}
    by_ward = exact_of(visits, f"SELECT ward, COUNT(DISTINCT patient) AS n FROM {grouped} GROUP BY ward", engine=engine)
    assert sum(n for (n,) in by_ward.values()) == 3  # two groups of p, which is what the policy allows, and one of q


# 22: what units of several rows and keys cost.


def hockey_stick(first, second, epsilon):
    """δ of independent coins at ε: the sum over all outcomes of max(0, P − e^ε·Q)."""
    outcomes = product((True, False), repeat=len(first))
    chances = (
        [prod(p if shown else 1 - p for p, shown in zip(coins, outcome, strict=True)) for coins in (first, second)]
        for outcome in outcomes
    )
    return sum(max(0.0, float(p) - exp(epsilon) * float(q)) for p, q in chances)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_patient_in_several_private_groups_pays_epsilon_and_delta_for_all_of_them_together(engine, groups):
    """Catalogue 22, 23. Exactly, for every combination of few other patients in each group."""
    with clinic(ordinary(), engine=engine) as session:
        question = session.table("visits").per_unit(groups=groups).group_by("ill").agg(n=sf.count_units())
        (section,) = plan_of(question, epsilon=1, delta="0.01").sections
    mechanism, counts = section.selection.mechanism, range(25)
    assert mechanism.max_groups_per_unit == groups
    for before in product(counts, repeat=groups):
        coins = [[mechanism.keep_probability(n + more) for n in before] for more in (0, 1)]
        for first, second in (coins, coins[::-1]):
            assert hockey_stick(first, second, float(mechanism.epsilon)) <= float(mechanism.delta) * (1 + 1e-9)


@pytest.mark.parametrize(
    "sql", ["SELECT MEDIAN(cost) AS m FROM visits", "SELECT MODE() WITHIN GROUP (ORDER BY ward) AS m FROM visits"]
)
def test_only_pure_choices_cost_as_many_times_as_a_patient_has_rows(engine, sql):
    """Catalogue 22."""
    with clinic(ordinary(), engine=engine) as session:
        (section,) = plan_of(session.query(sql), epsilon=1).sections
    (choice,) = section.measurements
    assert (choice.rows, choice.event) == (4, PureEvent(Fraction(1)))
    assert choice.mechanism.epsilon == Fraction(1, 4)
