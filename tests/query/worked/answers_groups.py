"""Groups: by columns, expressions, places and aliases, by several at once, by private keys; HAVING, ORDER BY, LIMIT."""

from fractions import Fraction

from tests.query.worked.cases import Case, Ranked

TINY = "1e-13"
"""A δ with which a group of one person is never seen."""

PUBLIC_KEYS = (
    Case("SELECT segment, COUNT(*) AS n FROM customers GROUP BY segment"),
    Case("SELECT c.segment, c.vip, COUNT(*) AS n, SUM(balance) AS owed FROM customers AS c GROUP BY c.segment, c.vip"),
    Case("SELECT COUNT(*) AS n, mode AS how FROM lineitem GROUP BY how"),
    Case("SELECT mode, flag, AVG(price) AS price FROM lineitem GROUP BY 1, 2"),
    Case("SELECT kids, COUNT(*) AS n FROM customers GROUP BY kids"),
    Case("SELECT nation, COUNT(*) AS n, AVG(balance) AS balance FROM customers GROUP BY nation"),
    Case("SELECT education_num AS years, AVG(age) AS age FROM census WHERE education_num BETWEEN 9 AND 10 "
         "GROUP BY education_num HAVING COUNT(*) > 0", on="census"),
    Case("SELECT sex, income, COUNT(*) AS n FROM census GROUP BY (sex, income)", on="census"),
    Case("SELECT AVG(age) AS age FROM census GROUP BY sex", on="census",
         plain="SELECT AVG(age) AS age FROM census GROUP BY sex ORDER BY sex"),
    Case("SELECT segment, MEDIAN(kids) AS m FROM customers GROUP BY segment",
         plain="SELECT segment FROM customers GROUP BY segment",
         ranked={"m": Ranked(share=Fraction(1, 2), values="SELECT segment, kids FROM customers")}),
    Case("SELECT priority, MIN(total) AS least, MAX(total) AS most FROM orders GROUP BY priority"),
)  # fmt: skip

COMPUTED_KEYS = (
    Case("SELECT quantity / 10 AS tens, COUNT(*) AS n FROM lineitem GROUP BY quantity / 10"),
    Case("SELECT quantity > 25 AS many, SUM(price) AS price FROM lineitem GROUP BY many"),
    Case("SELECT EXTRACT(MONTH FROM ordered_on) AS month, COUNT(*) AS n FROM orders GROUP BY 1"),
    Case("SELECT GREATEST(LEAST(EXTRACT(YEAR FROM joined), 2030), 2000) AS year, COUNT(*) AS n FROM customers "
         "GROUP BY year HAVING COUNT(*) > 0 ORDER BY year"),
    Case("SELECT LEAST(GREATEST(EXTRACT(YEAR FROM shipped_on), 2025), 2026) AS year, SUM(quantity) AS pieces "
         "FROM lineitem GROUP BY year"),
    Case("SELECT EXTRACT(HOUR FROM placed) < 12 AS early, COUNT(*) AS n FROM orders GROUP BY early ORDER BY early"),
    Case("SELECT CASE WHEN balance < 0 THEN 'debt' WHEN balance < 300 THEN 'some' ELSE 'much' END AS level, "
         "COUNT(*) AS n FROM customers GROUP BY level"),
    Case("SELECT CASE segment WHEN 'building' THEN 1 WHEN 'furniture' THEN 1 ELSE 2 END AS kind, COUNT(*) AS n "
         "FROM customers GROUP BY 1 ORDER BY 1"),
    Case("SELECT EXTRACT(ISODOW FROM ordered_on) AS day, status, COUNT(*) AS n FROM orders GROUP BY 1, 2"),
    Case("SELECT age / 20 * 20 AS decade, AVG(hours_per_week) AS hours FROM census GROUP BY age / 20 * 20 "
         "HAVING COUNT(*) > 1 ORDER BY decade", on="census"),
    Case("SELECT vip IS NULL AS unknown, COUNT(*) AS n FROM customers GROUP BY vip IS NULL"),
    Case("SELECT status = 'open' AND total > 100 AS due, COUNT(*) AS n FROM orders GROUP BY 1"),
)  # fmt: skip

PRIVATE_KEYS = (
    Case("SELECT city, COUNT(*) AS n FROM customers GROUP BY city", delta=TINY,
         plain="SELECT city, COUNT(*) AS n FROM customers GROUP BY city HAVING COUNT(DISTINCT customer_id) > 1"),
    Case("SELECT clerk, COUNT(*) AS n, SUM(total) AS total FROM orders GROUP BY clerk ORDER BY clerk", delta=TINY),
    Case("SELECT DATE_TRUNC('month', ordered_on) AS month, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1",
         delta=TINY, plain="SELECT DATE_TRUNC('month', ordered_on) AS month, COUNT(*) AS n FROM orders "
         "WHERE ordered_on IS NOT NULL GROUP BY 1 HAVING COUNT(DISTINCT customer_id) > 1 ORDER BY 1"),
    Case("SELECT SUBSTRING(phone, 1, 2) AS country, COUNT(*) AS n, AVG(balance) AS balance FROM customers "
         "GROUP BY SUBSTRING(phone, 1, 2)", delta=TINY),
    Case("SELECT note, status, COUNT(*) AS n FROM orders GROUP BY note, status", delta=TINY,
         plain="SELECT note, status, COUNT(*) AS n FROM orders GROUP BY note, status "
         "HAVING COUNT(DISTINCT customer_id) > 1"),
    Case("SELECT DISTINCT clerk FROM orders", delta=TINY),
    Case("SELECT DISTINCT segment, vip FROM customers ORDER BY segment, vip",
         plain="SELECT segment, vip FROM (SELECT DISTINCT segment FROM customers) s, (VALUES (false), (true)) v(vip) "
         "ORDER BY 1, 2"),
    Case("SELECT native_country AS country, COUNT(*) AS n FROM census GROUP BY native_country "
         "HAVING COUNT(*) > 4 ORDER BY n DESC, country", on="census", delta=TINY),
    Case("SELECT EXTRACT(YEAR FROM placed) AS year, clerk, COUNT(*) AS n FROM orders WHERE total > 50 GROUP BY 1, 2 "
         "HAVING COUNT(*) > 0", delta=TINY,
         plain="SELECT EXTRACT(YEAR FROM placed) AS year, clerk, COUNT(*) AS n FROM orders WHERE total > 50 "
         "GROUP BY 1, 2 HAVING COUNT(DISTINCT customer_id) > 1"),
)  # fmt: skip

SETS = (
    Case("SELECT status, priority, COUNT(*) AS n FROM orders GROUP BY ROLLUP (status, priority)"),
    Case("SELECT status, priority, SUM(total) AS total FROM orders GROUP BY CUBE (status, priority)"),
    Case("SELECT mode, flag, COUNT(*) AS n FROM lineitem GROUP BY GROUPING SETS ((mode), (flag), ())"),
    Case("SELECT flag, mode, AVG(quantity) AS pieces FROM lineitem GROUP BY flag, ROLLUP (mode) ORDER BY flag, mode"),
    Case("SELECT sex, income, COUNT(*) AS n FROM census GROUP BY GROUPING SETS (ROLLUP (sex), (sex, income))",
         on="census"),
    Case("SELECT status, COUNT(*) AS n FROM orders GROUP BY ROLLUP (status) HAVING status IS NULL OR COUNT(*) > 40"),
)  # fmt: skip

SHOWN = (
    Case("SELECT nation FROM customers GROUP BY nation HAVING COUNT(*) > 5"),
    Case("SELECT nation, COUNT(*) AS n FROM customers WHERE nation IS NOT NULL GROUP BY nation "
         "ORDER BY n DESC, 1 LIMIT 3"),
    Case("SELECT mode, SUM(quantity) AS q FROM lineitem GROUP BY mode HAVING SUM(price) > 100 AND COUNT(*) < 1000"),
    Case("SELECT mode, COUNT(*) AS n FROM lineitem GROUP BY mode ORDER BY SUM(quantity) DESC"),
    Case("SELECT status, AVG(total) AS a FROM orders GROUP BY status ORDER BY AVG(total) LIMIT 1 OFFSET 1"),
    Case("SELECT mode, COUNT(*) AS n FROM lineitem GROUP BY mode ORDER BY mode DESC FETCH FIRST 2 ROWS ONLY"),
    Case("SELECT priority, COUNT(*) AS n, 2 * COUNT(*) AS twice FROM orders GROUP BY priority HAVING twice > n "
         "ORDER BY twice DESC, priority",
         plain="SELECT priority, COUNT(*) AS n, 2 * COUNT(*) AS twice FROM orders GROUP BY priority "
         "ORDER BY twice DESC, priority"),
    Case("SELECT UPPER(status) AS shouted, COUNT(*) AS n FROM orders GROUP BY status ORDER BY status"),
    Case("SELECT segment || '!' AS s, SUM(kids) + 1 AS k FROM customers GROUP BY segment"),
)  # fmt: skip

ANSWERS = (*PUBLIC_KEYS, *COMPUTED_KEYS, *PRIVATE_KEYS, *SETS, *SHOWN)
