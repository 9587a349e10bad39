"""Relations: joins, EXISTS and IN, sub-queries that group per customer, CTEs, DISTINCT, set operations, views."""

from tests.query.worked.cases import Case

TINY = "1e-13"

JOINS = (
    Case("SELECT region, COUNT(*) AS n FROM customers JOIN nations ON nation = code GROUP BY region"),
    Case("SELECT n.region, AVG(c.balance) AS balance FROM customers c, nations n WHERE c.nation = n.code "
         "GROUP BY n.region ORDER BY n.region"),
    Case("SELECT brand, SUM(quantity) AS pieces, COUNT(*) AS n FROM lineitem JOIN parts USING (part) GROUP BY brand"),
    Case("SELECT COUNT(*) AS lines, COUNT(p.part) AS known FROM lineitem l LEFT JOIN parts p ON l.part = p.part"),
    Case("SELECT COUNT(*) AS n FROM lineitem l LEFT JOIN parts p ON l.part = p.part AND p.size > 10 "
         "WHERE p.size IS NULL"),
    Case("SELECT COUNT(*) AS n FROM parts JOIN lineitem ON lineitem.part = parts.part WHERE size < quantity"),
    Case("SELECT priority, AVG(price) AS price FROM lineitem JOIN orders USING (order_id) GROUP BY priority"),
    Case("SELECT segment, SUM(total) AS total FROM customers c JOIN orders o ON c.customer_id = o.customer_id "
         "GROUP BY segment"),
    Case("SELECT segment, SUM(l.quantity) AS q FROM customers JOIN orders USING (customer_id) "
         "JOIN lineitem l USING (order_id) GROUP BY segment"),
    Case("SELECT COUNT(*) AS n FROM customers c, orders o, lineitem l WHERE c.customer_id = o.customer_id "
         "AND o.order_id = l.order_id AND l.price > 30 AND c.vip"),
    Case("SELECT COUNT(*) AS pairs FROM orders a JOIN orders b ON a.customer_id = b.customer_id "
         "WHERE a.ordered_on < b.ordered_on"),
    Case("SELECT COUNT(*) AS pairs FROM orders a JOIN orders b ON a.customer_id = b.customer_id "
         "AND a.status = b.status AND a.order_id <> b.order_id"),
    Case("SELECT COUNT(*) AS n, COUNT(o.order_id) AS orders FROM customers c LEFT JOIN orders o "
         "ON c.customer_id = o.customer_id AND o.status = 'open'"),
    Case("SELECT COUNT(*) AS n FROM customers c LEFT JOIN orders o USING (customer_id) WHERE o.order_id IS NULL"),
    Case("SELECT COUNT(*) AS n FROM orders o JOIN customers c ON o.customer_id = c.customer_id JOIN nations n "
         "ON c.nation = n.code WHERE n.country LIKE '%a%' AND o.total > 100"),
    Case("SELECT a.region, COUNT(*) AS n FROM nations a JOIN nations b ON a.code = b.code GROUP BY a.region"),
    Case("SELECT region, COUNT(*) AS n FROM nations WHERE country <> 'Peru' GROUP BY region ORDER BY n DESC, region",
         "SELECT region, COUNT(*) FILTER (WHERE country <> 'Peru') AS n FROM nations GROUP BY region "
         "ORDER BY n DESC, region"),
)  # fmt: skip

SEMI_JOINS = (
    Case("SELECT COUNT(*) AS n FROM customers c WHERE EXISTS "
         "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.total > 400)"),
    Case("SELECT segment, COUNT(*) AS n FROM customers c WHERE NOT EXISTS "
         "(SELECT * FROM orders o WHERE o.customer_id = c.customer_id) GROUP BY segment"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE order_id IN (SELECT order_id FROM lineitem WHERE mode = 'air')"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE customer_id NOT IN "
         "(SELECT customer_id FROM orders WHERE status = 'open')"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE part IN (SELECT part FROM parts WHERE size > 10)"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE nation IS NOT NULL AND nation NOT IN "
         "(SELECT code FROM nations WHERE region = 'europe' AND code IS NOT NULL)"),
    Case("SELECT COUNT(*) AS n FROM customers c WHERE EXISTS (SELECT 1 FROM nations n WHERE n.code = c.nation "
         "AND n.region = 'asia')"),
    Case("SELECT COUNT(*) AS n FROM orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id "
         "AND l.received_on > l.due_on) AND NOT EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id "
         "AND l.flag = 'R')"),
    Case("SELECT COUNT(*) AS n FROM orders o WHERE o.customer_id IN (SELECT customer_id FROM customers WHERE vip)"),
    Case("SELECT COUNT(*) AS n FROM orders WHERE (customer_id, status) IN "
         "(SELECT customer_id, status FROM orders WHERE priority = 'urgent')"),
    Case("SELECT COUNT(*) AS n FROM customers WHERE customer_id IN "
         "(SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) > 2)"),
)  # fmt: skip

SUB_QUERIES = (
    Case("SELECT AVG(n) AS mean, MAX(n) AS most FROM "
         "(SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS per"),
    Case("SELECT LEAST(n, 30) AS orders, COUNT(*) AS customers FROM (SELECT COUNT(*) AS n FROM orders "
         "GROUP BY customer_id) AS per GROUP BY orders"),
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id, SUM(total) AS spent FROM orders GROUP BY customer_id "
         "HAVING SUM(total) > 500 AND COUNT(*) > 1) AS big"),
    Case("SELECT SUM(kinds) AS s FROM (SELECT order_id, COUNT(DISTINCT mode) AS kinds FROM lineitem "
         "GROUP BY order_id) AS o"),
    Case("SELECT segment, AVG(LEAST(spent, 1000)) AS spent FROM customers JOIN (SELECT customer_id, "
         "LEAST(SUM(total), 1000) AS spent FROM orders GROUP BY customer_id) AS o USING (customer_id) "
         "GROUP BY segment"),
    Case("SELECT COUNT(*) AS n FROM (SELECT * FROM orders WHERE total > 100) AS o WHERE o.status = 'open'"),
    Case("SELECT late, COUNT(*) AS n FROM (SELECT received_on > due_on AS late, mode AS how FROM lineitem) AS l "
         "WHERE how <> 'air' GROUP BY late"),
    Case("SELECT COUNT(*) AS pairs FROM (SELECT DISTINCT customer_id, status FROM orders) AS o"),
    Case("SELECT mode, COUNT(*) AS n FROM (SELECT DISTINCT order_id, mode FROM lineitem) AS l GROUP BY mode"),
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id, MIN(ordered_on) AS first, MAX(ordered_on) AS last "
         "FROM orders GROUP BY customer_id) AS o WHERE last - first > 300"),
    Case("SELECT AVG(a) AS a FROM (SELECT ROUND(AVG(total), 1) AS a FROM orders GROUP BY customer_id) AS o",
         "SELECT AVG(a) AS a FROM (SELECT customer_id, FLOOR(AVG(total) * 10 + 0.5) / 10 AS a FROM orders "
         "GROUP BY customer_id) AS o"),
)  # fmt: skip

CTES = (
    Case("WITH big AS (SELECT * FROM orders WHERE total > 300) SELECT status, COUNT(*) AS n FROM big GROUP BY status"),
    Case("WITH o AS (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id), "
         "busy AS (SELECT customer_id FROM o WHERE n > 3) "
         "SELECT COUNT(*) AS n FROM customers JOIN busy USING (customer_id)"),
    Case("WITH c(id, kind) AS (SELECT customer_id, segment FROM customers) "
         "SELECT a.kind, COUNT(*) AS n FROM c AS a JOIN c AS b ON a.id = b.id GROUP BY a.kind"),
)  # fmt: skip

SET_OPERATIONS = (
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id, ordered_on FROM orders "
         "UNION ALL SELECT customer_id, joined FROM customers) AS days"),
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id, status FROM orders "
         "UNION SELECT customer_id, priority FROM orders) AS words"),
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id FROM orders WHERE status = 'open' "
         "INTERSECT SELECT customer_id FROM orders WHERE status = 'paid') AS both_of_them"),
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id FROM customers EXCEPT SELECT customer_id FROM orders) AS idle"),
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id, status FROM orders EXCEPT ALL "
         "SELECT customer_id, status FROM orders WHERE priority = 'low') AS rest"),
    Case("SELECT COUNT(*) AS n FROM (SELECT customer_id, status FROM orders WHERE total > 100 INTERSECT ALL "
         "SELECT customer_id, status FROM orders WHERE priority <> 'low') AS common"),
    Case("SELECT income, COUNT(*) AS n FROM (SELECT income, age FROM census WHERE age < 30 "
         "UNION ALL SELECT income, age FROM census WHERE sex = 'Male') AS c GROUP BY income", on="census"),
)  # fmt: skip

VIEWS = (
    Case("SELECT flag, SUM(revenue) AS revenue, COUNT(*) AS n FROM revenues GROUP BY flag"),
    Case("SELECT COUNT(DISTINCT customer_id) AS n FROM open_orders WHERE total > 50"),
    Case("SELECT AVG(orders) AS mean FROM order_counts"),
    Case("SELECT priority, SUM(revenue) AS revenue FROM revenues JOIN open_orders USING (order_id) GROUP BY priority"),
)  # fmt: skip

ANSWERS = (*JOINS, *SEMI_JOINS, *SUB_QUERIES, *CTES, *SET_OPERATIONS, *VIEWS)
