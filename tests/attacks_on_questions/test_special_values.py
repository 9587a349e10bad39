"""NaN, infinities, NULL, far dates, broken text and equal-looking keys, in values, keys and units, however stored."""

import csv
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.attacks_on_questions.clinic import (
    PUBLIC_WARDS,
    VISITS,
    clinic,
    drug,
    ordinary,
    patient,
    town,
    townsfolk,
    visit,
)
from tests.attacks_on_questions.observing import assert_told_the_truth, by_place, found_of, plan_of
from tests.attacks_on_questions.questions import CLINIC_QUESTIONS, by_turns
from tests.strategies import POISON

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.model.kinds import NUMBERS, Kind

BROKEN_TEXT = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0\6\0\0\0"), pa.py_buffer(b"\xff\xfe\x00a\xc3(")]
)
"""Two texts that are no UTF-8."""

FAR_COUNTS = [0, 1, -1, 2**31 - 1, -(2**31), 2**62, -(2**63), 2**63 - 1, None]


def counts(kind):
    """The stored counts of days or times, most of which are none that Python or a database knows."""
    width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    fitting = [n for n in FAR_COUNTS if n is None or width != pa.int32() or -(2**31) <= n < 2**31]
    return pa.array(fitting, width).view(kind)


NAN, INFINITY = float("nan"), float("inf")
STORED = {
    "doubles": pa.array([NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, -0.0, 2.0**63, -(2.0**63), 1e19, 0.5, None]),
    "floats": pa.array([NAN, INFINITY, -INFINITY, 3e38, -0.0, 1e-45, None], pa.float32()),
    "integers": pa.array([2**63 - 1, -(2**63), 2**53 + 1, -1, 0, None]),
    "unsigned": pa.array([2**64 - 1, 2**63, 0, None], pa.uint64()),
    "bytes": pa.array([-128, 127, None], pa.int8()),
    "decimals": pa.array([Decimal(9 * 10**36), Decimal("-0"), None], pa.decimal128(38, 0)),
    "fractions": pa.array([Decimal("9999999999999999999999999999.9999999999"), None], pa.decimal128(38, 10)),
    "texts": pa.array([*POISON, "x" * 100_000, "e\u0301", "\ufffe", "\U0010ffff", None]),
    "large texts": pa.array([*POISON, None], pa.large_string()),
    "categories": pa.array(["a", "", None, "NaN", "1e400"]).dictionary_encode(),
    "broken texts": BROKEN_TEXT,
    "truths": pa.array([True, False, None]),
    "nothing": pa.nulls(3),
    "days": counts(pa.date32()),
    "milliseconds as days": counts(pa.date64()),
    "seconds": counts(pa.timestamp("s")),
    "milliseconds": counts(pa.timestamp("ms")),
    "microseconds": counts(pa.timestamp("us")),
    "nanoseconds": counts(pa.timestamp("ns")),
    "times with a zone": counts(pa.timestamp("us", "America/New_York")),
}
"""What a column may hold, by how it is stored."""

COLUMNS = {
    Kind.INTEGER: sf.integer(-5, 10), Kind.FLOAT: sf.real(-5, 10), Kind.TEXT: sf.text(), Kind.BOOLEAN: sf.boolean(),
    Kind.DATE: sf.date(), Kind.TIMESTAMP: sf.timestamp(),
}  # fmt: skip


def values_of(kind):
    """Questions about values of a kind, in `x`."""
    yield "SELECT COUNT(*) AS n, COUNT(x) AS m, COUNT(DISTINCT x) AS d FROM t"
    yield "SELECT COUNT(*) AS n FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS b WHERE b.u = a.u AND b.x = a.x)"
    if kind in NUMBERS:
        yield "SELECT SUM(x) AS s, AVG(x) AS a, VARIANCE(x) AS v, MEDIAN(x) AS m FROM t"
        yield "SELECT SUM(s) AS s FROM (SELECT u, SUM(x) AS s, MIN(x) AS l, AVG(x) AS a FROM t GROUP BY u) AS each"
    if kind is not Kind.FLOAT:
        yield "SELECT x, COUNT(*) AS n FROM t GROUP BY x"
        yield "SELECT COUNT(*) AS n FROM (SELECT DISTINCT u, x FROM t) AS d"


def of_one_column(stored, kind, *, engine, first=0):
    """A session on a column that is stored in one way and declared in another, from a row on; a unit has three rows."""
    units = pa.array([f"u{place // 3}" for place in range(len(stored))], pa.string())
    return sf.open(
        pa.table({"x": stored, "u": units})[first:], name="t", columns={"x": COLUMNS[kind], "u": sf.text()}, unit="u",
        limits=sf.Limits(max_rows_per_unit=2, max_groups_per_unit=1), budget=sf.NO_GUARANTEE, engine=engine,
    )  # fmt: skip


@pytest.mark.essential
@pytest.mark.parametrize("stored", STORED)
def test_whatever_is_stored_no_value_is_an_error_and_no_row_counts_for_more_than_is_said(engine, stored):
    """Catalogue 13, 51. A declaration is refused by the type of the column, whatever is in it."""
    data = STORED[stored]
    for kind in by_turns(list(Kind), engine, list(STORED).index(stored), of=2):
        try:
            whole = of_one_column(data, kind, engine=engine)
        except ParameterError:
            with pytest.raises(ParameterError, match="columns"):
                of_one_column(data[:0], kind, engine=engine)
            continue
        nobody, without_the_first = (of_one_column(data, kind, engine=engine, first=n) for n in (len(data), 3))
        with whole, nobody, without_the_first:
            for sql in values_of(kind):
                plan = plan_of(whole.query(sql))
                assert by_place(found_of(nobody, plan)[0][0]) == {}
                assert_told_the_truth(plan, found_of(without_the_first, plan), found_of(whole, plan))


@pytest.mark.parametrize(
    "stored", ["integers", "unsigned", "bytes", "texts", "large texts", "categories", "broken texts"]
)
@pytest.mark.parametrize("kind", ["text", "integer"])
def test_whatever_names_a_unit_rows_without_one_are_left_out_and_all_others_are_bounded(engine, stored, kind):
    """Catalogue 13, 14."""
    unit = STORED[stored]
    data = pa.table({"x": pa.array([1] * len(unit)), "u": unit})
    columns = {"x": COLUMNS[Kind.INTEGER], "u": sf.text() if kind == "text" else sf.integer()}
    if (stored, kind) == ("unsigned", "integer"):  # of which some would be NULL, so that people would vanish
        with pytest.raises(ParameterError, match="beyond 64 bits"):
            sf.open(
                data[:0], name="t", columns=columns, unit="u", limits=sf.Limits(max_rows_per_unit=2),
                budget=sf.NO_GUARANTEE, engine=engine,
            )  # fmt: skip
        return
    with sf.open(
        pa.concat_tables([data] * 5), name="t", columns=columns, unit="u", limits=sf.Limits(max_rows_per_unit=2),
        budget=sf.NO_GUARANTEE, engine=engine,
    ) as session:  # fmt: skip
        plan = plan_of(session.query("SELECT COUNT(*) AS n, COUNT(DISTINCT u) AS d FROM t"))
        found = by_place(found_of(session, plan)[0][0])
    for rows, units in found.values():
        assert rows == 2 * units
        assert units <= len(unit) - unit.null_count


FRAMES = {
    "pandas objects": pd.DataFrame(
        {"x": pd.Series([1, "x", None, {"a": 1}, "\ud800", NAN, Decimal("NaN"), b"\xff", 10**5000], dtype=object)}
    ),
    "pandas times": pd.DataFrame({"x": pd.to_datetime(["2026-01-31", None, "1677-09-22"])}),
    "pandas times of objects": pd.DataFrame(
        {"x": pd.Series([datetime.max.replace(tzinfo=UTC), date.min, pd.NaT, None], dtype=object)}
    ),
    "pandas categories": pd.DataFrame({"x": pd.Categorical(["a", None, "b"])}),
    "pandas nullable": pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64")}),
    "Polars texts": pl.DataFrame({"x": ["", None, "\x00", "NaN"]}),
    "Polars doubles": pl.DataFrame({"x": [NAN, None, INFINITY, -0.0]}),
    "Polars days": pl.DataFrame({"x": [date.min, date.max, None]}),
    "Polars categories": pl.DataFrame({"x": ["a", None, "b"]}, {"x": pl.Categorical}),
}
LAZY = {f"{name}, lazy": frame.lazy() for name, frame in FRAMES.items() if isinstance(frame, pl.DataFrame)}


@pytest.mark.parametrize("frame", FRAMES | LAZY)
def test_no_cell_of_a_frame_is_an_error(engine, frame):
    """Catalogue 13, 51."""
    for kind in Kind:
        try:
            session = sf.open(
                (FRAMES | LAZY)[frame], name="t", columns={"x": COLUMNS[kind]}, budget=sf.NO_GUARANTEE, engine=engine
            )
        except ParameterError as error:
            assert "stored as" in str(error)  # noqa: PT017 # by its type
            continue
        with session:
            plan = plan_of(session.query("SELECT COUNT(*) AS n, COUNT(x) AS m FROM t"))
            assert by_place(found_of(session, plan)[0][0])[()][0] == len(FRAMES[frame.removesuffix(", lazy")])


def as_csv(rows, folder):
    """Visits as programs leave them: with words where numbers should be, bytes that are no text, lines cut short."""
    path = folder / "visits.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, VISITS.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with path.open("ab") as file:
        file.write(b"\xff\xfe,\xc3(,\x00,,\n\nonly one field\nmany,fields" + b",1" * 40 + b"\n,,,,,,,,,,\n")
    return path


def as_parquet(rows, folder):
    """Visits as text, some of which is no UTF-8."""
    path = folder / "visits.parquet"
    texts = {name: [None if row[name] is None else str(row[name]) for row in rows] for name in VISITS.columns}
    notes = pa.chunked_array([pa.array(texts["note"][2:]), BROKEN_TEXT])
    pq.write_table(pa.table({name: pa.array(cells) for name, cells in texts.items()} | {"note": notes}), path)
    return path


@pytest.mark.parametrize("as_file", [as_csv, as_parquet])
def test_no_cell_of_a_file_is_an_error_or_counts_for_more_than_is_said(engine, as_file, tmp_path):
    """Catalogue 13, 51."""
    poisoned = [dict.fromkeys(VISITS.columns, word) | {"patient": "heavy"} for word in POISON]
    rows = ordinary()["visits"]
    whole = {**ordinary(), "visits": as_file([*rows, *poisoned], tmp_path)}
    (tmp_path / "without").mkdir()
    without = {**ordinary(), "visits": as_file(rows, tmp_path / "without")}
    with clinic(whole, engine=engine) as here, clinic(without, engine=engine) as there:
        for asked in by_turns(CLINIC_QUESTIONS, engine, 5):
            plan = plan_of(asked.of(here))
            assert_told_the_truth(plan, found_of(here, plan), found_of(there, plan))


# 14: rows without an owner.


def nobodys():
    """Rows of nobody for every table of the clinic: without a patient, or behind a visit that nobody made."""
    visits = [visit(None, 5000 + i, ill="nobody's", cost=100.0) for i in range(50)]
    return {
        "patients": [patient(None, town="nobody's")] * 9, "visits": visits,
        "drugs": [drug(number, "nobody's", 50) for number in (None, 5000, 999_999) for _ in range(9)],
        "wards": [],
    }  # fmt: skip


def test_rows_without_a_patient_are_not_there_whatever_is_asked(engine):
    """Catalogue 14."""
    whole, more = ordinary(), nobodys()
    with (
        clinic(whole, engine=engine) as here,
        clinic({name: more[name] + rows for name, rows in whole.items()}, engine=engine) as there,
    ):
        for asked in by_turns(CLINIC_QUESTIONS, engine, 3, of=4):
            plan = plan_of(asked.of(here))
            first, second = (
                [[by_place(one) for one in section] for section in found_of(s, plan)] for s in (here, there)
            )
            assert first == second, asked.name


def test_a_clinic_of_rows_without_patients_is_answered_as_an_empty_one(engine):
    """Catalogue 14, 25."""
    with clinic(nobodys() | {"wards": PUBLIC_WARDS}, engine=engine) as session:
        for asked in by_turns(CLINIC_QUESTIONS, engine, 0):
            release = asked.of(session).release(epsilon=1, delta="1e-6")
            assert release.receipt.guarantee.epsilon == 1
            assert "nobody" not in repr(release)


# 15: keys that look alike.

ALIKE = [
    "A",
    "a",
    "A ",
    " A",
    "A\x00",
    "Ａ",
    "é",
    "e\u0301",
    "É",
    "ss",
    "ß",
    "1",
    "1.0",
    "01",
    "",
    " ",
    "\u200b",
    "i",
    "ı",
]


def test_texts_that_look_alike_are_different_keys_and_no_row_is_left_out_or_counted_twice(engine):
    """Catalogue 15."""
    assert unicodedata.normalize("NFC", "e\u0301") == "é"
    people = [dict(townsfolk()["people"][0], town=name) for place, name in enumerate(ALIKE) for _ in range(place + 1)]
    expected = {(name,): (place + 1,) for place, name in enumerate(ALIKE)}
    with town({"people": people, "wards": []}, engine=engine) as session:
        private = found_of(session, plan_of(session.query("SELECT town, COUNT(*) AS n FROM people GROUP BY town")))
        listed = session.table("people")
        public = found_of(session, plan_of(listed.agg(n=sf.count_distinct("town"))))
    assert {place: amounts[:1] for place, amounts in by_place(private[0][0]).items()} == expected
    assert by_place(public[0][0]) == {(): (len(ALIKE),)}


def test_people_whose_names_look_alike_are_different_people_and_meet_in_no_join(engine):
    """Catalogue 15. Each visit meets the one patient who is called exactly so."""
    data = {
        **ordinary(), "patients": [patient(name) for name in ALIKE],
        "visits": [visit(name, place) for place, name in enumerate(ALIKE)],
    }  # fmt: skip
    joined = "SELECT COUNT(*) AS n FROM patients JOIN visits USING (patient)"
    with clinic(data, engine=engine) as session:
        for sql in ("SELECT COUNT(DISTINCT patient) AS n FROM visits", joined):
            assert by_place(found_of(session, plan_of(session.query(sql)))[0][0]) == {(): (len(ALIKE),)}


def test_listed_texts_that_look_alike_hold_their_own_rows_alone(engine):
    """Catalogue 15."""
    data = pa.table({"k": [name for place, name in enumerate(ALIKE) for _ in range(place + 1)] + [None, "?"]})
    with sf.open(
        data, name="t", columns={"k": sf.text(values=ALIKE)}, budget=sf.NO_GUARANTEE, engine=engine
    ) as session:
        question = session.query("SELECT k, COUNT(*) AS n FROM t GROUP BY k")
        found = by_place(found_of(session, plan_of(question))[0][0])
        release = question.release(epsilon=1000)
    assert found == {(name,): (place + 1,) for place, name in enumerate(ALIKE)}
    assert [group for (group,) in release.groups] == ALIKE


@pytest.mark.parametrize(
    ("stored", "places"),
    [
        (pa.array([1.0, 0.9999999999999999, 1.4, 0.0, -0.0, -0.4, NAN, None, INFINITY]), {(1,): (3,), (0,): (3,)}),
        (pa.array(["1", " 1", "1.0", "01", "1e0", "+1", "0", "-0", "-0.0", "", "NaN"]), {(1,): (6,), (0,): (3,)}),
        (pa.array([True, True, False, None]), {(1,): (2,), (0,): (1,)}),
    ],
    ids=["doubles", "texts", "truths"],
)
def test_numbers_that_are_equal_are_one_key_however_they_are_written(engine, stored, places):
    """Catalogue 15."""
    for column in (sf.integer(), sf.integer(0, 1)):
        with sf.open(
            pa.table({"k": stored}), name="t", columns={"k": column}, budget=sf.NO_GUARANTEE, engine=engine
        ) as session:
            plan = plan_of(session.query("SELECT k, COUNT(*) AS n FROM t GROUP BY k"))
            found = by_place(found_of(session, plan)[0][0])
        assert {place: amounts[:1] for place, amounts in found.items()} == places


def test_zero_and_minus_zero_are_one_value_in_sub_queries_joins_and_distinct_counts(engine):
    """Catalogue 15."""
    visits = [visit("p", None, cost=cost) for cost in (0.0, -0.0, 5.0)]
    turned = "SELECT patient, -cost AS c FROM visits"
    questions = {
        "SELECT COUNT(DISTINCT cost * -1) AS n FROM visits": 2,
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, cost * -1 AS c FROM visits) AS d": 2,
        "SELECT COUNT(*) AS n FROM (SELECT patient, -cost, COUNT(*) AS k FROM visits GROUP BY patient, -cost) AS g": 2,
        f"SELECT COUNT(*) AS n FROM ({turned}) AS v JOIN ({turned}) AS w ON v.patient = w.patient AND v.c = w.c": 5,
        f"SELECT COUNT(*) AS n FROM ({turned} INTERSECT SELECT patient, cost FROM visits) AS i": 1,
    }
    with clinic({**ordinary(), "visits": visits}, engine=engine) as session:
        found = {sql: by_place(found_of(session, plan_of(session.query(sql)))[0][0]) for sql in questions}
    assert found == {sql: {(): (count,)} for sql, count in questions.items()}
