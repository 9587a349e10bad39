"""Expressions: conditions with NULL, numbers, text, dates and times, conversions, parameters, names as written."""

import datetime as dt

from tests.query.worked.cases import Case

CONDITIONS = (
    Case("SELECT COUNT(*) AS n FROM customers WHERE kids > 0 AND NOT vip OR balance IS NULL"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE vip IS NOT TRUE"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE vip IS DISTINCT FROM (kids > 1)"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE nation NOT IN ('be', 'fr') AND kids IN (0, 2)"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE price BETWEEN 10 AND 20.5 AND quantity NOT BETWEEN 5 AND 45"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE discount = 0.05 OR discount >= 0.09"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE CASE WHEN vip THEN kids > 0 ELSE kids = 0 END"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE COALESCE(kids, 0) = 0 AND NULLIF(nation, 'be') IS NOT NULL"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE true AND 1 = 1 AND NOT false"),
)  # fmt: skip

NUMBERS = (
    Case("SELECT SUM(quantity % 7) AS rest, SUM(MOD(quantity, 7)) AS same, SUM(quantity / 7) AS whole FROM lineitem"),
    Case("SELECT SUM(FLOOR(balance)) AS f, SUM(CEILING(balance)) AS c, SUM(TRUNC(balance)) AS t FROM customers"),
    Case("SELECT SUM(ABS(balance)) AS a, SUM(SIGN(balance)) AS s, SUM(-balance) AS m FROM customers"),
    Case("SELECT SUM(LEAST(quantity, 10)) AS low, SUM(GREATEST(quantity, line, 3)) AS high FROM lineitem"),
    Case("SELECT AVG(LEAST(ROUND(SQRT(price), 3), 8)) AS root FROM lineitem"),
    Case("SELECT AVG(LEAST(GREATEST(ROUND(LN(price), 3), 0), 5)) AS l, "
         "SUM(LEAST(GREATEST(ROUND(LOG(line), 2), 0), 1)) AS g FROM lineitem WHERE line > 1"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE POWER(quantity, 2) > 900 AND EXP(discount) > 1.02"),
    Case("SELECT SUM(ROUND(price / quantity, 2)) AS each FROM lineitem",
         "SELECT SUM(FLOOR(price / quantity * 100 + 0.5) / 100) AS each FROM lineitem"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE 100 / (quantity - 5) > 10",
         "SELECT COUNT(*) AS n FROM lineitem WHERE 100 / NULLIF(quantity - 5, 0) > 10"),
    Case("SELECT AVG(2.5 * quantity - 1e1) AS a, SUM(+quantity) AS s FROM lineitem"),
)  # fmt: skip

TEXTS = (
    Case("SELECT COUNT(*) AS n FROM orders WHERE note LIKE '%special%' AND note NOT LIKE '%requests'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE note ILIKE 'special%'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE LOWER(note) = 'call first'"),
    Case("SELECT SUM(LEAST(LENGTH(note), 20)) AS letters, COUNT(*) FILTER (WHERE LENGTH(TRIM(note)) = 9) AS gifts "
         "FROM orders"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE SUBSTRING(phone FROM 1 FOR 2) IN ('10', '12')"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE LEFT(phone, 2) || '/' || city = '11/Ghent'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE UPPER(status) || CONCAT(note, '.') LIKE 'OPEN%.'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE CHAR_LENGTH(LTRIM(note)) > LENGTH(RTRIM(note))"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE city < 'M' AND phone LIKE '1_-___-%'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE SUBSTR(note, 2) LIKE 'ift%' OR BTRIM(note) = 'gift wrap'",
         "SELECT COUNT(*) AS n FROM orders WHERE SUBSTR(note, 2) LIKE 'ift%' OR TRIM(note) = 'gift wrap'"),
)  # fmt: skip

TIMES = (
    Case("SELECT COUNT(*) AS n FROM orders WHERE ordered_on >= DATE '2025-06-01' AND ordered_on < '2026-02-28'"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE shipped_on BETWEEN DATE '2025-01-31' AND "
         "DATE '2025-01-31' + INTERVAL '1 month'"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE received_on > due_on + 3"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE received_on - shipped_on > 14"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE placed >= TIMESTAMP '2025-03-01 12:00:00' AND "
         "placed < TIMESTAMP '2025-03-01 12:00:00' + INTERVAL '90 days'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE DATE_TRUNC('quarter', ordered_on) = DATE '2025-04-01'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE EXTRACT(DOW FROM placed) = 0 OR EXTRACT(WEEK FROM placed) = 1"),
    Case("SELECT SUM(EXTRACT(DOY FROM ordered_on)) AS days, MAX(EXTRACT(QUARTER FROM ordered_on)) AS last FROM orders"),
    Case("SELECT AVG(EXTRACT(HOUR FROM placed) * 60 + EXTRACT(MINUTE FROM placed)) AS minute FROM orders"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE placed - INTERVAL '12 hours' < ordered_on"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE joined + INTERVAL '3 months' > DATE '2025-01-01' - 30"),
)  # fmt: skip

CONVERSIONS = (
    Case("SELECT SUM(CAST(vip AS integer)) AS vips FROM customers"),
    Case("SELECT AVG(quantity::float * 0.25) AS a, SUM(CAST(price AS bigint)) AS s FROM lineitem",
         "SELECT AVG(quantity::float * 0.25) AS a, SUM(FLOOR(price + 0.5)::bigint) AS s FROM lineitem"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE CAST(order_id AS text) LIKE '%7'"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE CAST(placed AS date) = ordered_on"),
    Case("SELECT COUNT(CAST(SUBSTRING(phone, 4, 3) AS integer)) AS n FROM customers WHERE "
         "CAST(SUBSTRING(phone, 4, 3) AS integer) > 500"),
    Case("SELECT COUNT(CAST(note AS integer)) AS n FROM orders", "SELECT 0 AS n"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE '2025-07-01'::date < ordered_on AND CAST(NULL AS text) IS NULL"),
)  # fmt: skip

PARAMETERS = (
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE mode = $1 AND quantity > $2", parameters=("air", 10)),
    Case("SELECT AVG(total) AS a FROM orders WHERE ordered_on >= $1", parameters=(dt.date(2025, 9, 1),)),
    Case("SELECT SUM(quantity * :rate) AS s FROM lineitem WHERE flag IN (:flag, 'A')",
         "SELECT SUM(quantity * 0.5) AS s FROM lineitem WHERE flag IN ('R', 'A')",
         parameters={"rate": 0.5, "flag": "R"}),
    Case("SELECT COUNT(*) FILTER (WHERE vip = $1) AS n FROM customers WHERE kids < $2 + 1", parameters=(True, 3)),
)  # fmt: skip

NAMES = (
    Case('SELECT COUNT(*) AS "Number of them" FROM "orders" AS "O" WHERE "O"."status" = \'open\''),
    Case("SELECT L.QUANTITY > 10 AS q, count(*) AS N FROM LineItem AS L GROUP BY l.quantity > 10"),
    Case("/* all of them */ SELECT COUNT(*) AS n -- with a comment\nFROM orders;"),
    Case("(SELECT COUNT(*) AS n FROM orders WHERE total > 20)"),
    Case("SELECT AVG(a) AS a FROM census AS c(a) WHERE a > 30", "SELECT AVG(age) AS a FROM census WHERE age > 30",
         on="census"),
)  # fmt: skip

ANSWERS = (*CONDITIONS, *NUMBERS, *TEXTS, *TIMES, *CONVERSIONS, *PARAMETERS, *NAMES)
