"""Heavy users, sampling, joins, sub-queries and groups: nobody moves an answer further than its mechanism was told."""

from dataclasses import replace
from itertools import combinations

import pytest
from tests.attacks_on_questions.clinic import clinic, ordinary, town, visit
from tests.attacks_on_questions.neighbors_of import HEAVY, NEWCOMERS, clinics, random_clinics, towns
from tests.attacks_on_questions.observing import SALTS, assert_told_the_truth, by_place, found_of, plan_of
from tests.attacks_on_questions.questions import CLINIC_QUESTIONS, FULL_SIZE, TOWN_QUESTIONS, by_turns
from tests.attacks_on_questions.small_clinics import COUNTED, clinic_of, exact_of
from tests.session.opened import recorded

import sfumato as sf
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

SEEDS = range(12 if FULL_SIZE else 3)
MANY = 100_000 if FULL_SIZE else 10_000
BY_ILL = "SELECT ill, COUNT(*) AS n FROM visits GROUP BY ill"


def assert_neighbors_are_covered(questions, here, there):
    """Whatever is asked, mechanisms were told how far two databases are apart."""
    for asked in questions:
        plan = plan_of(asked.of(here))
        assert_told_the_truth(plan, found_of(here, plan), found_of(there, plan))


@pytest.mark.essential
@pytest.mark.parametrize("name", HEAVY)
def test_no_patient_moves_any_answer_further_than_its_mechanism_was_told(engine, name):
    """Catalogue 16, 19, 20."""
    whole, larger = clinics(name)
    with clinic(whole, engine=engine) as here, clinic(larger, engine=engine) as there:
        turn = list(HEAVY).index(name)
        assert_neighbors_are_covered(by_turns(CLINIC_QUESTIONS, engine, turn), here, there)


@pytest.mark.parametrize("name", NEWCOMERS)
def test_nobody_of_the_town_moves_any_answer_further(engine, name):
    """Catalogue 16, 19, 20."""
    whole, larger = towns(name)
    with town(whole, engine=engine) as here, town(larger, engine=engine) as there:
        turn = list(NEWCOMERS).index(name)
        assert_neighbors_are_covered(by_turns(TOWN_QUESTIONS, engine, turn, of=6), here, there)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_nobody_who_leaves_or_takes_the_place_of_another_moves_any_answer_further(engine, relation, seed):
    """Catalogue 16, 19, 20."""
    whole, lesser = random_clinics(seed)
    sessions = [clinic(rows, engine=engine, neighboring_relation=relation) for rows in (whole, *lesser)]
    pairs = [(0, i) for i in range(1, len(sessions))] if relation is ADD_OR_REMOVE_ONE else None
    for asked in by_turns(CLINIC_QUESTIONS, engine, seed, of=12):
        plan = plan_of(asked.of(sessions[0]))
        found = [found_of(session, plan) for session in sessions]
        for first, second in pairs or combinations(range(1, len(sessions)), 2):
            assert_told_the_truth(plan, found[first], found[second])
    for session in sessions:
        session.close()


@pytest.mark.parametrize("name", NEWCOMERS)
def test_nobody_of_the_town_who_takes_the_place_of_another_moves_any_answer_further(engine, name):
    """Catalogue 16."""
    whole, larger = towns(name)
    replaced = {**larger, "people": larger["people"][:-1]}  # without the last, for the first
    where = {"engine": engine, "neighboring_relation": REPLACE_ONE}
    with town(whole, **where) as here, town(replaced, **where) as there:
        turn = list(NEWCOMERS).index(name)
        assert_neighbors_are_covered(by_turns(TOWN_QUESTIONS, engine, turn, of=6), here, there)


SETTINGS = ({"sampling": "md5"}, {"buckets": 7}, {"sampling": "native", "buckets": 3, "threads": 1})


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("prepared", [False, True])
def test_no_setting_of_the_embedded_engine_and_no_prepared_table_loosens_a_limit(options, prepared):
    """Catalogue 16."""
    whole, larger = clinics("many rows in many groups")
    with (
        clinic(whole, engine="duckdb", options=options) as here,
        clinic(larger, engine="duckdb", options=options) as there,
    ):
        if prepared:
            here.prepare()
            there.prepare()
        assert_neighbors_are_covered(by_turns(CLINIC_QUESTIONS, "duckdb", len(options) + prepared, of=12), here, there)


HEAVIEST = {
    "in one group": lambda i: visit("heavy", i, cost=100.0),
    "a group each": lambda i: visit("heavy", i, ill=f"ill {i}"),
    "many in many groups": lambda i: visit("heavy", i, ill=f"ill {i % 300}", ward="ABC"[i % 3], cost=float(i)),
}


@pytest.mark.parametrize("heavy", HEAVIEST)
def test_however_many_visits_one_patient_has_they_count_as_the_policy_allows(engine, heavy):
    """Catalogue 16."""
    others = ordinary()["visits"]
    visits = [*map(HEAVIEST[heavy], range(MANY)), *others]
    with clinic_of(others, engine=engine) as here, clinic_of(visits, engine=engine) as there:
        for sql in (
            "SELECT ill, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ill",
            "SELECT ward, COUNT(DISTINCT ill) AS n, MEDIAN(cost) AS m FROM visits GROUP BY ward",
        ):
            plan = plan_of(here.query(sql))
            assert_told_the_truth(plan, found_of(here, plan), found_of(there, plan))


def test_a_limit_that_nobody_enforces_would_be_seen(engine):
    """Catalogue 16, 82."""
    whole, larger = clinics("one group")
    with clinic(whole, engine=engine) as here, clinic(larger, engine=engine) as there:
        plan = plan_of(here.query("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward"))
        (section,) = plan.sections
        loose = replace(section.statements[0], limits=sf.Limits(max_rows_per_unit=50))
        broken = replace(plan, sections=(replace(section, statements=(loose,)),))
        with pytest.raises(AssertionError):
            assert_told_the_truth(plan, found_of(here, broken), found_of(there, broken))


# 17: which groups of a unit are kept.

ILLS = 20
SPREAD = [visit("heavy", i, ill=f"ill {i}") for i in range(ILLS)]


@pytest.mark.parametrize(
    "visits",
    [
        SPREAD[::-1],
        [*ordinary()["visits"], *SPREAD],
        [visit("other", 99, ill=f"ill {i}") for i in range(ILLS)] + SPREAD,
        [row | {"cost": 99.0, "beds": None, "note": "x", "ward": "B", "id": 7 * row["id"]} for row in SPREAD],
        SPREAD * 40,
    ],
    ids=["turned", "beside others", "beside a heavier one", "other values", "more rows"],
)
def test_which_groups_of_a_patient_are_kept_depends_on_her_own_groups_and_the_salt_alone(engine, visits):
    """Catalogue 17."""
    alone = exact_of(SPREAD, BY_ILL, engine=engine)
    others = exact_of([row for row in visits if row["patient"] != "heavy"], BY_ILL, engine=engine)
    found = exact_of(visits, BY_ILL, engine=engine)
    hers = {place for place, amounts in found.items() if amounts != others.get(place)}
    assert hers == alone.keys()
    assert len(alone) == 2


@pytest.mark.statistical
def test_all_groups_of_a_patient_are_kept_as_often_as_each_other_over_fresh_salts(engine):
    """Catalogue 17. Each is kept by 1/10 of 400: by fewer than 10 or more than 80 once in a million tests."""
    kept = dict.fromkeys((f"ill {i}" for i in range(ILLS)), 0)
    visits = [row | {"patient": f"heavy {i}"} for i in range(50) for row in SPREAD]
    with clinic_of(visits, engine=engine) as session:
        plan = plan_of(session.query(BY_ILL))
        for number in range(8):
            for (ill,), (rows, _) in by_place(found_of(session, plan, salt=f"{number:032x}")[0][0]).items():
                kept[ill] += rows
    assert min(kept.values()) >= 10
    assert max(kept.values()) <= 80


SALTED = (
    "SELECT ill, COUNT(*) AS n, COUNT(DISTINCT note) AS d, MEDIAN(cost) AS m FROM visits GROUP BY ill",
    "SELECT ward, urgent, AVG(cost) AS a, MEDIAN(cost) AS m FROM visits GROUP BY ROLLUP (ward, urgent)",
)


@pytest.mark.parametrize("sql", SALTED)
def test_all_parts_of_a_question_see_one_sample_and_each_question_another(engine, sql):
    """Catalogue 17."""
    session, recording = recorded(clinic(ordinary(), engine=engine))
    seen = []
    with session:
        for epsilon in (1, 2, 3):
            session.sql(sql, epsilon=epsilon, delta="1e-6")
            seen.append(set(recording.salts))
            recording.salts.clear()
    assert [len(salts) for salts in seen] == [1, 1, 1]
    assert len(set.union(*seen)) == 3
    assert all(len(salt) == 32 and int(salt, 16) >= 0 for salts in seen for salt in salts)


def test_the_same_question_again_is_no_second_sample(engine):
    """Catalogue 17, 45."""
    session, recording = recorded(clinic(ordinary(), engine=engine))
    with session:
        first, again = (session.sql(SALTED[0], epsilon=1, delta="1e-6") for _ in range(2))
    assert again.records() == first.records()
    assert len(set(recording.salts)) == 1


def test_no_salt_is_in_anything_that_anybody_reads(engine, tmp_path):
    """Catalogue 17."""
    ledger = tmp_path / "ledger.db"
    session, recording = recorded(clinic(ordinary(), engine=engine, ledger=ledger))
    with session:
        question = session.query(SALTED[0])
        release = question.release(epsilon=1, delta="1e-6")
        shown = [repr(session), repr(question), question.explain(delta="1e-6"), repr(release), release._repr_html_()]
        shown += [release.receipt.to_json(), repr(release.receipt)]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    (salt,) = set(recording.salts)
    assert salt not in "".join(shown)
    assert salt.encode() not in written
    assert bytes.fromhex(salt) not in written


def test_the_salt_by_which_a_partition_keeps_people_is_in_nothing_that_anybody_reads(engine, tmp_path):
    """Catalogue 17."""
    session = clinic(ordinary(), engine=engine, ledger=tmp_path / "ledger.db")
    with session, session.partition("visits", by="ward") as wards:
        question = wards["A"].query(COUNTED)
        salt = question.relation.child.child.child.salt
        release = question.release(epsilon=1)
        shown = [repr(wards), repr(wards["A"]), repr(question), question.explain(), repr(release)]
        shown += [release.receipt.to_json(), repr(wards["A"].table("visits"))]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [text for text in shown if salt in text] == []
    assert salt.encode() not in written


# 18: filter, then bound, then clamp, then add up.


@pytest.mark.parametrize("salt", SALTS)
def test_rows_are_filtered_before_they_are_bounded(engine, salt):
    """Catalogue 18."""
    visits = [visit("heavy", i) for i in range(100)] + [visit("heavy", 100, note="x")]
    assert exact_of(visits, f"{COUNTED} WHERE note = 'x'", engine=engine, salt=salt) == {(): (1,)}


def test_values_are_clamped_before_rows_above_a_limit_are_scaled(engine):
    """Catalogue 18. Eight visits of which four count: half of one clamped cost."""
    visits = [visit("heavy", 0, cost=1e150)] + [visit("heavy", i, cost=0.0) for i in range(1, 8)]
    assert exact_of(visits, "SELECT SUM(cost) AS s FROM visits", engine=engine) == {(): (5_000,)}


def test_rows_are_bounded_after_a_public_join_and_before_a_private_one(engine):
    """Catalogue 18, 19. Two of six rows of ward A match; her four visits then make eight rows, of which four count."""
    visits = [visit("heavy", i) for i in range(4)]
    public = f"{COUNTED} JOIN wards ON ward = code"
    private = f"{COUNTED} JOIN (SELECT patient, note AS other FROM visits) AS w USING (patient)"
    assert exact_of(visits[:1], public, engine=engine) == {(): (2,)}
    assert exact_of(visits * 9, public, engine=engine) == {(): (8,)}
    assert exact_of(visits[:3], private, engine=engine) == {(): (9,)}
    assert exact_of(visits * 9, private, engine=engine) == {(): (16,)}
