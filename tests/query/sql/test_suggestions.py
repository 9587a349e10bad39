"""What refusals suggest is not itself refused: each suggestion, followed, asks a question that is answered."""

import ast
from pathlib import Path

import pytest
from tests.query.asking import parsed

import sfumato.query.sql
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.sql import refusals
from sfumato.query.sql.parsing import FUNCTIONS

PACKAGE = Path(sfumato.query.sql.__file__).parent
VISITS = "SELECT COUNT(*) FROM visits WHERE {}"
ORDERS = "SELECT COUNT(*) FROM orders o WHERE {}"
OWN = "FROM orders p WHERE p.customer_id = o.customer_id"
WARD = "SELECT ward, {} FROM visits GROUP BY ward"

FOLLOWED = [
    # what is refused, the beginning of the suggestion, and what it suggests
    (VISITS.format("hours IN (day - day)"), "Write it out as a number or text.", VISITS.format("hours IN (0)")),
    (VISITS.format("3 < hours < 9"), "Connect two with AND", VISITS.format("3 < hours AND hours < 9")),
    (VISITS.format("3 < hours = TRUE"), "Connect two with AND", VISITS.format("(3 < hours) = TRUE")),
    (
        VISITS.format("hours BETWEEN SYMMETRIC 9 AND 3"), "Write the lower bound first.",
        VISITS.format("hours BETWEEN 3 AND 9"),
    ),
    (VISITS.format("LOG(2, hours) > 1"), "Write LN(x) / LN(b).", VISITS.format("LN(hours) / LN(2) > 1")),
    (VISITS.format("CAST(hours AS money) > 1"), "Cast to integer, float", VISITS.format("CAST(hours AS float) > 1")),
    (VISITS.format("ward LIKE 3"), "Write it out: ", VISITS.format("ward LIKE 'A%'")),
    (VISITS.format("TRIM(BOTH 'x' FROM ward) = 'A'"), "Leave out the characters.", VISITS.format("TRIM(ward) = 'A'")),
    (
        VISITS.format("SUBSTRING(ward, LENGTH(ward), 2) = 'A'"), "Leave out the length, or write LEFT.",
        VISITS.format("LEFT(SUBSTRING(ward, LENGTH(ward)), 2) = 'A'"),
    ),
    (
        VISITS.format("day + INTERVAL '1 month 2 days' > day"), "Write INTERVAL '3 months'; add several",
        VISITS.format("day + INTERVAL '1 month' + INTERVAL '2 days' > day"),
    ),
    (VISITS.format("EXTRACT(EPOCH FROM day) > 1"), "Ask for one of: ", VISITS.format("EXTRACT(YEAR FROM day) > 1")),
    (VISITS.format("DATE_TRUNC('century', day) = day"), "Truncate to one of: ",
     VISITS.format("DATE_TRUNC('year', day) = day")),
    (VISITS.format("TO_CHAR(hours, '9') = '1'"), "Ask for a date or a timestamp, or CAST a whole",
     VISITS.format("CAST(CAST(hours AS integer) AS text) = '1'")),
    (VISITS.format("TO_CHAR(day, 'Month') = 'May'"), "Put it together of ",
     VISITS.format("TO_CHAR(day, 'FMMonth') = 'May'")),
    ("SELECT COUNT(*) FROM orders WHERE placed - placed > 1", "Add whole days to a date, an INTERVAL",
     "SELECT COUNT(*) FROM orders WHERE CAST(placed AS date) - CAST(placed AS date) > 1"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ALL ward", "Leave ALL or DISTINCT out.", WARD.format("COUNT(*)")),
    ("SELECT COUNT(*) AS n FROM visits GROUP BY n", "Group by columns.", WARD.format("COUNT(*) AS n")),
    (WARD.format("hours"), "Add it to GROUP BY, or write AVG(", WARD.format("AVG(hours)")),
    (WARD.format("COUNT(*)") + " HAVING SUM(COUNT(*)) OVER () > 3", "Compare the aggregate itself",
     WARD.format("COUNT(*)") + " HAVING COUNT(*) > 100"),
    ("SELECT COUNT(*) FROM visits RIGHT JOIN wards ON ward = code", "Put the private table on the right side",
     "SELECT COUNT(*) FROM wards RIGHT JOIN visits ON ward = code"),
    ("SELECT COUNT(*) FROM orders NATURAL JOIN lineitem", "Write JOIN … USING (column).",
     "SELECT COUNT(*) FROM orders JOIN lineitem USING (order_id)"),
    ("SELECT COUNT(*) FROM visits FULL JOIN wards ON ward = code", "Write LEFT JOIN, and select",
     "SELECT COUNT(*) FROM visits LEFT JOIN wards ON ward = code"),
    ("SELECT COUNT(*) FROM visits FULL JOIN wards ON ward = code", "Write LEFT JOIN, and select",
     VISITS.format("NOT EXISTS (SELECT 1 FROM wards WHERE code = ward)")),
    ("SELECT COUNT(*) FROM visits SEMI JOIN wards ON ward = code", "Write JOIN … ON, or EXISTS in WHERE.",
     VISITS.format("EXISTS (SELECT 1 FROM wards WHERE code = ward)")),
    ("SELECT COUNT(*) FROM visits LEFT JOIN wards ON ward = code AND hours > 3", "Move the condition to WHERE",
     "SELECT COUNT(*) FROM visits LEFT JOIN wards ON ward = code WHERE hours > 3"),
    ("SELECT COUNT(*) FROM orders o JOIN customers c ON o.note = c.segment", "Add the equality of their privacy units",
     "SELECT COUNT(*) FROM orders o JOIN customers c ON o.note = c.segment AND o.customer_id = c.customer_id"),
    ("DELETE FROM visits", "Write SELECT … FROM a table.", VISITS.format("TRUE")),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE SYSTEM (10)", "Leave it out.", VISITS.format("TRUE")),
    ("SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits", "Send each query alone", VISITS.format("TRUE")),
    ("SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward", "Group by the columns instead.",
     WARD.format("COUNT(*)")),
    ("SELECT DISTINCT ON (ward) ward FROM visits", "Group by the columns instead.", WARD.format("COUNT(*)")),
    ("SELECT 1 FROM visits", "Use COUNT(*), SUM or AVG.", "SELECT COUNT(*), SUM(hours), AVG(hours) FROM visits"),
    ("SELECT * FROM visits", "Use COUNT(*), SUM or AVG.", VISITS.format("TRUE")),
    ("SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v WHERE n > 2 GROUP BY ward",
     "Add visits.patient to GROUP BY.",
     "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY ward, patient) v WHERE n > 2"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits) v", "Add visits.patient to SELECT.",
     "SELECT COUNT(*) FROM (SELECT DISTINCT ward, patient FROM visits) v"),
    ("SELECT COUNT(*) FROM pg_catalog.pg_user", "Name a table after FROM.", VISITS.format("TRUE")),
    ("SELECT COUNT(*)", "Name a table after FROM.", VISITS.format("TRUE")),
    ("SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY ROLLUP (patient)) v",
     "Group by columns there.", "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) v"),
    ("SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM people) p", "Send it as its own query.",
     "SELECT COUNT(*) AS n FROM people"),
    ("WITH RECURSIVE v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v", "Write it without RECURSIVE.",
     "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v"),
    ("SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.total + o.total > 3)",
     "Write inner.column = outer.column, connected by AND.",
     "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.customer_id = o.customer_id)"),
    ("SELECT COUNT(*) FROM visits v, wards w RIGHT JOIN visits x ON x.ward = w.code",
     "Write JOIN … ON in place of the comma.",
     "SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.code RIGHT JOIN visits x ON x.patient = v.patient"),
    (WARD.format("STRING_AGG(patient, ',')"), "Known functions: ", WARD.format("COUNT(*)")),
    (WARD.format("PERCENTILE_CONT(0.5)"), "Use COUNT, SUM, AVG, VARIANCE",
     WARD.format("COUNT(*), SUM(hours), AVG(hours), VARIANCE(hours), STDDEV(hours), MIN(hours), MAX(hours), "
                 "MEDIAN(hours), MODE(ward), CORR(hours, hours), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY hours)")),
    ("SELECT AVG(n) FROM (SELECT patient, MEDIAN(hours) AS n FROM visits GROUP BY patient) v",
     "Use COUNT, SUM, AVG, MIN or MAX there.",
     "SELECT AVG(n) FROM (SELECT patient, MAX(hours) AS n FROM visits GROUP BY patient) v"),
    (WARD.format("MODE() WITHIN GROUP (ORDER BY ward, day)"), "Write WITHIN GROUP (ORDER BY column).",
     WARD.format("MODE() WITHIN GROUP (ORDER BY ward)")),
    (VISITS.format("(ward, day) NOT IN (SELECT code, NULL FROM wards)"), "", VISITS.format("TRUE")),
    (ORDERS.format(f"(status, note) NOT IN (SELECT status, note {OWN})"), "Write NOT EXISTS, or add",
     ORDERS.format(f"NOT EXISTS (SELECT 1 {OWN} AND p.status = o.status AND p.note = o.note)")),
    (ORDERS.format(f"EXISTS (SELECT 1 {OWN} AND p.total > o.total AND p.placed > o.placed)"),
     "Write EXISTS or NOT EXISTS with inner.column = outer.column",
     ORDERS.format(f"NOT EXISTS (SELECT 1 {OWN} AND p.total > o.total)")),
    ("SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)", "Send it as its own query, and write",
     "SELECT AVG(age) FROM people"),
    (VISITS.format("hours > (SELECT AVG(hours) FROM visits)"), "Name both tables, and compare their privacy units",
     "SELECT COUNT(*) FROM visits v WHERE hours > (SELECT AVG(w.hours) FROM visits w WHERE w.patient = v.patient)"),
    ("SELECT COUNT(*) FROM visits v WHERE hours > (SELECT w.hours FROM visits w WHERE w.patient = v.patient)",
     "Let it select one aggregate, such as MAX(column)",
     "SELECT COUNT(*) FROM visits v WHERE hours > (SELECT MAX(w.hours) FROM visits w WHERE w.patient = v.patient)"),
    (WARD.format("SUM(SUM(COUNT(*)) OVER ()) OVER ()"), "Use keys and aggregates in OVER",
     WARD.format("SUM(COUNT(*)) OVER ()")),
    ("SELECT ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v WHERE SUM(n) > 3",
     "Compute it with OVER",
     "SELECT ward, SUM(n) OVER () FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v"),
    (WARD.format("RANK() OVER (ORDER BY ward ROWS 1 PRECEDING)"), "Leave ROWS out.",
     WARD.format("RANK() OVER (ORDER BY ward)")),
    (WARD.format("MEDIAN(COUNT(*)) OVER ()"), "Use SUM, AVG, COUNT, MIN, MAX, RANK",
     WARD.format("AVG(COUNT(*)) OVER (), LAST_VALUE(ward) OVER (ORDER BY ward), NTILE(2) OVER (ORDER BY ward)")),
    (WARD.format("SUM(COUNT(*)) OVER (ORDER BY ward RANGE 1 PRECEDING)"), "Write ROWS BETWEEN …",
     WARD.format("SUM(COUNT(*)) OVER (ORDER BY ward ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)")),
    (WARD.format("SUM(COUNT(*)) OVER (ORDER BY ward ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)"),
     "Let it begin at PRECEDING and end at FOLLOWING.",
     WARD.format("SUM(COUNT(*)) OVER (ORDER BY ward ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)")),
    ("SELECT SUM(s) FROM (SELECT SUM(hours) OVER (PARTITION BY patient) AS s FROM visits) v",
     "Use ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD or FIRST_VALUE",
     "SELECT SUM(s) FROM (SELECT patient, SUM(hours) AS s FROM visits GROUP BY patient) v"),
    ("SELECT SUM(s) FROM (SELECT RANK() OVER (ORDER BY day) AS s FROM visits) v", "Add visits.patient to PARTITION BY.",
     "SELECT SUM(s) FROM (SELECT RANK() OVER (PARTITION BY visits.patient ORDER BY day) AS s FROM visits) v"),
    ("SELECT MIN(ward) FROM visits", "Use COUNT(DISTINCT column), or MODE()",
     "SELECT COUNT(DISTINCT ward), MODE() WITHIN GROUP (ORDER BY ward) FROM visits"),
    (VISITS.format("ward LIKE 'a' ESCAPE 'b'"), "Escape % and _ in the pattern with a backslash.",
     VISITS.format("ward LIKE 'a\\_'")),
    (VISITS.format("GROUPING(ward) = 1"), "Use it in SELECT, HAVING or ORDER BY.",
     WARD.format("GROUPING(ward)") + " HAVING GROUPING(ward) = 0 ORDER BY GROUPING(ward)"),
    (VISITS.format("IF(hours > 3, TRUE, FALSE)"), "Write CASE WHEN … THEN … ELSE … END.",
     VISITS.format("CASE WHEN hours > 3 THEN TRUE ELSE FALSE END")),
    ("SELECT COUNT(*) FROM visits WHERE ward = NULL", "Write ", VISITS.format("ward IS NULL")),
    (WARD.format("MAX(NULL)"), "Write CAST(NULL AS integer), or IS NULL.",
     VISITS.format("CAST(NULL AS integer) IS NULL")),
    (WARD.format("COUNT(*)") + " QUALIFY RANK() OVER (ORDER BY ward) = 1", "Filter with HAVING, or sort by the window",
     WARD.format("COUNT(*)") + " ORDER BY RANK() OVER (ORDER BY ward) LIMIT 1"),
    (WARD.format("COUNT(*)") + " HAVING COUNT(*) > (SELECT COUNT(*) FROM visits)", "Write EXISTS or IN in WHERE",
     VISITS.format("EXISTS (SELECT 1 FROM wards) AND ward IN (SELECT code FROM wards)")),
    ("SELECT COUNT(*) FROM (SELECT patient FROM visits WINDOW w AS (ORDER BY day)) v",
     "Define it in the outermost SELECT.", WARD.format("SUM(COUNT(*)) OVER w") + " WINDOW w AS (ORDER BY ward)"),
    ("SELECT RANK() OVER (ORDER BY hours) FROM visits", "Use it over the groups of GROUP BY",
     WARD.format("RANK() OVER (ORDER BY COUNT(*) DESC)")),
    (VISITS.format("day > INTERVAL '1 month'"), "Write day + INTERVAL '1 month'.",
     VISITS.format("day + INTERVAL '1 month' > day")),
    ("SELECT COUNT(*) INTO t FROM visits", "Leave INTO out.", VISITS.format("TRUE")),
    (VISITS.format("TRUE") + " FOR UPDATE", "Leave out the lock.", VISITS.format("TRUE")),
    (VISITS.format("ARRAY[hours] = ARRAY[1]"), "Declare what you need as its own column.", VISITS.format("hours = 1")),
    (VISITS.format("RANDOM() < 0.5"), "Leave it out; every answer has its own noise.", VISITS.format("TRUE")),
    (VISITS.format("ward ~ 'A'"), "Use LIKE, LOWER, SUBSTRING or TRIM.",
     VISITS.format("LOWER(SUBSTRING(TRIM(ward), 1, 1)) LIKE 'a%'")),
    (VISITS.format('ward COLLATE "C" < \'K\''), "Leave COLLATE out.", VISITS.format("ward < 'K'")),
    (VISITS.format("day < NOW()"), "Write the date out: DATE '2026-01-31'.", VISITS.format("day < DATE '2026-01-31'")),
    (VISITS.format("TO_NUMBER(ward) > 1"), "Write CAST, which returns NULL",
     VISITS.format("CAST(ward AS integer) > 1")),
    (WARD.format("RANK()"), "Write RANK() OVER (ORDER BY COUNT(*) DESC).",
     WARD.format("RANK() OVER (ORDER BY COUNT(*) DESC)")),
    (VISITS.format("DATEDIFF(day, day) > 1"), "Subtract one date from the other: d - e.",
     VISITS.format("day - day > 1")),
    (VISITS.format("DATE_ADD(day, 3) > day"), "Write d + INTERVAL '3 days', or another",
     VISITS.format("day + INTERVAL '3 days' > day")),
    ("SELECT COUNT(*) FROM orders WHERE placed AT TIME ZONE 'UTC' > placed", "Leave AT TIME ZONE out",
     "SELECT COUNT(*) FROM orders WHERE placed > placed"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 5) v", "Sort and limit the answer itself; that is free.",
     WARD.format("COUNT(*)") + " ORDER BY 2 LIMIT 5"),
    (VISITS.format("AVG(hours) > 3"), "", WARD.format("COUNT(*)") + " HAVING AVG(hours) > 3"),
    (VISITS.format("ward & 1 = 1"), "Use columns, constants", VISITS.format("ward = 'A' AND NOT hours IN (1, 2)")),
]  # fmt: skip


@pytest.mark.parametrize(("refused", "suggestion", "followed"), FOLLOWED, ids=[one[0] for one in FOLLOWED])
def test_what_is_suggested_is_answered(refused, suggestion, followed):
    with pytest.raises((NotPrivateError, ParameterError)) as caught:
        parsed(refused)
    assert suggestion in str(caught.value)
    assert parsed(followed).child.statistics


def _suggestions():
    """The beginnings of all suggestions, as far as the code writes them out."""
    tables = (refusals._FUNCTIONS, refusals._REASONS, refusals._CLAUSES)
    found = {suggestion for table in tables for _, suggestion in table.values()}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NotPrivateError" and len(node.args) == 3:
                found.add(_beginning(node.args[2]))
    return found - {None}


def _beginning(node):
    match node:
        case ast.Constant(str() as text):
            return text
        case ast.JoinedStr([ast.Constant(str() as text), *_]):
            return text
        case _:
            return None


NOT_IN_A_STATEMENT = {
    "The options are: ": "of BigQuery's header, which parse_options reads",
    "Leave it out, or write ": "of that header too",
}


def test_every_suggestion_is_followed_once():
    followed = [suggestion for _, suggestion, _ in FOLLOWED if suggestion]
    missing = [
        one
        for one in _suggestions() - set(NOT_IN_A_STATEMENT)
        if not any(one.startswith(other) or other.startswith(one) for other in followed)
    ]
    assert missing == []


@pytest.mark.parametrize(("unknown", "known"), refusals._OTHER_NAMES.items())
def test_a_name_from_elsewhere_has_one_suggestion_which_is_known(unknown, known):
    with pytest.raises(NotPrivateError) as caught:
        parsed(f"SELECT AVG({unknown}(hours, 1)) FROM visits")
    assert str(caught.value).count("Did you mean") == 1
    assert f"Did you mean {known}?" in str(caught.value)
    assert known in FUNCTIONS


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - refusals._IN_WINDOWS))
def test_a_function_with_a_letter_too_many_is_meant_for_one(name):
    with pytest.raises(NotPrivateError) as caught:
        parsed(f"SELECT AVG({name}Q(hours)) FROM visits")
    assert str(caught.value).count("Did you mean") == 1
    assert str(caught.value).split("Did you mean ")[1].rstrip("?.") in FUNCTIONS


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("SELECT COUNT(*) FROM visit", "visits"),
        ("SELECT AVG(visit.hours) FROM visits", "visits"),
        ("SELECT AVG(hour) FROM visits", "hours"),
        ("SELECT wards, COUNT(*) FROM visits GROUP BY wards", "ward"),
        ("WITH longest AS (SELECT * FROM visits) SELECT COUNT(*) FROM longets", "longest"),
    ],
)
def test_an_unknown_column_or_table_is_meant_for_the_one_most_like_it(sql, meant):
    with pytest.raises(ParameterError) as caught:
        parsed(sql)
    assert str(caught.value).count("Did you mean") == 1
    assert f"Did you mean {meant}?" in str(caught.value)


def test_a_name_like_no_other_is_meant_for_none():
    with pytest.raises(ParameterError) as caught:
        parsed("SELECT AVG(quantity) FROM visits")
    assert "Did you mean" not in str(caught.value)
