"""Refused because people would be told apart: single rows, rows of two people that meet, sub-queries over others."""

from tests.query.worked.cases import private, unbounded, wrong

SINGLE_ROWS = (
    private("SELECT * FROM customers", "*", "single rows"),
    private("SELECT c.*, COUNT(*) FROM customers c GROUP BY segment", "*"),
    private("SELECT phone FROM customers", "phone", "single rows"),
    private("SELECT segment, balance FROM customers GROUP BY segment", "balance", "GROUP BY"),
    private("SELECT COUNT(*), kids + 1 FROM customers", "kids"),
    private("SELECT COUNT(*) FROM customers HAVING balance > 0", "balance"),
    private("SELECT segment, COUNT(*) FROM customers GROUP BY segment ORDER BY phone", "phone"),
    private("SELECT customer_id, COUNT(*) FROM orders GROUP BY customer_id", "GROUP BY", "delta"),
    private("SELECT STRING_AGG(phone, ',') FROM customers", "STRING_AGG"),
    private("SELECT ARRAY_AGG(balance) FROM customers", "ARRAY_AGG"),
    private("SELECT COUNT(*) OVER (PARTITION BY segment) FROM customers", "OVER"),
    private("SELECT ROW_NUMBER() OVER (ORDER BY balance) AS r, COUNT(*) FROM customers", "balance", "single rows"),
    private("SELECT FIRST_VALUE(phone) FROM customers", "FIRST_VALUE"),
    private("SELECT COUNT(*) FROM customers QUALIFY COUNT(*) OVER () > 1", "QUALIFY"),
    private("SELECT SUM(DISTINCT kids) FROM customers", "DISTINCT"),
    private("SELECT DISTINCT ON (segment) segment FROM customers", "ON"),
)

MEETINGS = (
    private("SELECT COUNT(*) FROM customers c JOIN orders o ON c.segment = o.status", "JOIN", "privacy unit"),
    private("SELECT COUNT(*) FROM customers, orders", "orders", "two people"),
    private("SELECT COUNT(*) FROM customers CROSS JOIN orders", "CROSS JOIN"),
    private("SELECT COUNT(*) FROM orders a JOIN orders b ON a.order_id < b.order_id", "two people"),
    private("SELECT COUNT(*) FROM orders a, orders b WHERE a.clerk = b.clerk", "a.customer_id = b.customer_id"),
    private("SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id AND c.kids < o.total",
             "c.kids < o.total", "LEFT or RIGHT JOIN"),
    private("SELECT COUNT(*) FROM customers c FULL JOIN orders o ON c.customer_id = o.customer_id", "FULL"),
    private("SELECT COUNT(*) FROM customers RIGHT JOIN nations ON nation = code", "RIGHT JOIN", "right side"),
    private("SELECT COUNT(*) FROM customers NATURAL JOIN orders", "NATURAL", "USING"),
    private("SELECT COUNT(*) FROM census a JOIN census b ON a.age = b.age", "JOIN", "each row", on="census"),
    private("SELECT COUNT(*) FROM census a, census b", "census", on="census"),
    private("SELECT COUNT(*) FROM census WHERE age IN (SELECT age FROM census)", "IN", on="census"),
    private("SELECT COUNT(*) FROM nations LEFT JOIN customers ON nation = code", "LEFT JOIN", "left side"),
    unbounded("SELECT COUNT(*) FROM lineitem, parts WHERE quantity > size", "parts"),
    unbounded("SELECT COUNT(*) FROM lineitem l JOIN parts p ON l.quantity = p.size", "parts", "size"),
    unbounded("SELECT SUM(l.price) FROM lineitem l, parts p WHERE (p.part = l.part AND p.size < 5) "
               "OR (p.size = 7 AND l.quantity > 30)", "parts"),
    private("SELECT COUNT(*) FROM customers, LATERAL (SELECT * FROM orders) o", "LATERAL"),
)  # fmt: skip

SUB_QUERIES = (
    private("SELECT COUNT(*) FROM customers WHERE balance > (SELECT AVG(balance) FROM customers)", "sub-query"),
    private("SELECT COUNT(*), (SELECT COUNT(*) FROM orders) FROM customers", "sub-query"),
    private("SELECT COUNT(*) FROM customers WHERE EXISTS (SELECT 1 FROM orders)", "EXISTS", "privacy unit"),
    private("SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.total > c.balance)",
             "o.total > c.balance"),
    private("SELECT COUNT(*) FROM customers WHERE city IN (SELECT note FROM orders)", "IN", "two people"),
    private("SELECT COUNT(*) FROM customers c WHERE vip OR EXISTS "
             "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id)", "EXISTS"),
    private("SELECT COUNT(*) FROM customers WHERE balance > ALL (SELECT total FROM orders)", "ALL"),
    private("SELECT COUNT(*) FROM (SELECT * FROM orders LIMIT 10) AS o", "LIMIT", "sub-query"),
    private("SELECT COUNT(*) FROM (SELECT * FROM orders ORDER BY total) AS o", "ORDER BY"),
    private("SELECT AVG(n) FROM (SELECT status, COUNT(*) AS n FROM orders GROUP BY status) AS o",
            "GROUP BY", "two people"),
    private("SELECT COUNT(*) FROM (SELECT DISTINCT status FROM orders) AS o", "equal rows", "customer_id"),
    private("SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM census) AS c", "COUNT", on="census"),
    private("SELECT COUNT(*) FROM (SELECT status FROM orders UNION SELECT priority FROM orders) AS o", "UNION"),
    private("SELECT COUNT(*) FROM (SELECT order_id FROM orders INTERSECT SELECT line FROM lineitem) AS o", "INTERSECT"),
    private("SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM customers", "UNION", "single SELECT"),
    private("SELECT COUNT(*) FROM (SELECT segment FROM customers UNION ALL SELECT region FROM nations) AS u",
             "UNION ALL", "units"),
    wrong("SELECT COUNT(*) FROM (SELECT customer_id FROM orders UNION ALL SELECT customer_id, total FROM orders) AS u",
           "UNION", "columns"),
    private("WITH RECURSIVE r AS (SELECT customer_id FROM orders UNION ALL SELECT customer_id FROM r) "
             "SELECT COUNT(*) FROM r", "RECURSIVE"),
    unbounded("SELECT AVG(s) FROM (SELECT customer_id, SUM(order_id) AS s FROM orders GROUP BY customer_id) AS o",
               "sub-query", "Declare bounds"),
)  # fmt: skip

REFUSALS = (*SINGLE_ROWS, *MEETINGS, *SUB_QUERIES)
