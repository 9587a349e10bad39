"""Who owns a row: claims that data breaks, visitors with several visits, limits that a question asks for."""

from fractions import Fraction

from tests.query.worked.cases import Case, Ranked

OWNED = (
    "(SELECT l.*, o.customer_id FROM lineitem l JOIN (SELECT DISTINCT order_id, customer_id FROM orders "
    "WHERE customer_id IS NOT NULL) o USING (order_id))"
)
"""Plain SQL of the lines that somebody owns, once for each owner."""

CLAIMS = (
    Case("SELECT COUNT(*) AS n FROM customers WHERE kids IS NOT NULL", on="messy shop",
         plain="SELECT COUNT(DISTINCT customer_id) AS n FROM customers WHERE kids IS NOT NULL"),
    Case("SELECT segment, COUNT(*) AS n FROM customers WHERE customer_id <> 3 GROUP BY segment", on="messy shop",
         plain="SELECT segment, COUNT(*) AS n FROM customers WHERE customer_id <> 3 AND segment <> 'gardens' "
         "GROUP BY segment"),
    Case("SELECT COUNT(*) AS n, SUM(total) AS total FROM orders", on="messy shop",
         plain="SELECT COUNT(*) AS n, SUM(total) AS total FROM (SELECT DISTINCT order_id, customer_id, total "
         "FROM orders WHERE customer_id IS NOT NULL)"),
    Case("SELECT COUNT(*) AS n FROM lineitem", on="messy shop",
         plain=f"SELECT SUM(LEAST(n, 7))::int AS n FROM "
         f"(SELECT COUNT(*) AS n FROM {OWNED} GROUP BY customer_id, order_id)"),
    Case("SELECT mode, SUM(quantity) AS pieces, COUNT(quantity) AS n FROM lineitem WHERE order_id <> 9100 "
         "GROUP BY mode", on="messy shop",
         plain=f"SELECT mode, SUM(LEAST(GREATEST(quantity, 1), 50)) FILTER (WHERE quantity IS NOT NULL) AS pieces, "
        f"COUNT(quantity) AS n FROM {OWNED} "
         f"WHERE order_id <> 9100 GROUP BY mode"),
    Case("SELECT COUNT(DISTINCT customer_id) AS n FROM orders JOIN lineitem USING (order_id) WHERE quantity > 40",
         on="messy shop", plain=f"SELECT COUNT(DISTINCT customer_id) AS n FROM {OWNED} WHERE quantity > 40"),
    Case("SELECT COUNT(*) AS n FROM orders o WHERE NOT EXISTS "
         "(SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id AND l.mode = 'air')", on="messy shop",
         plain="SELECT COUNT(*) AS n FROM (SELECT DISTINCT order_id, customer_id FROM orders "
         "WHERE customer_id IS NOT NULL) o WHERE NOT EXISTS "
         "(SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id AND l.mode = 'air')"),
)  # fmt: skip

PER_CUSTOMER = "SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id"
LINES_PER_CUSTOMER = (
    "SELECT customer_id, COUNT(*) AS n, SUM(quantity) AS s FROM orders JOIN lineitem USING (order_id) GROUP BY 1"
)

CUT_DOWN = (
    Case("SELECT COUNT(*) AS n FROM orders", f"SELECT SUM(LEAST(n, 3)) AS n FROM ({PER_CUSTOMER})", on="tight shop"),
    Case("SELECT COUNT(*) AS n, SUM(quantity) AS pieces FROM lineitem",
         f"SELECT SUM(LEAST(n, 5)) AS n, SUM(CASE WHEN n > 5 THEN s * 5 // n ELSE s END) AS pieces "
         f"FROM ({LINES_PER_CUSTOMER})", on="tight shop"),
    Case("SELECT vip, COUNT(*) AS n FROM customers JOIN orders USING (customer_id) GROUP BY vip",
         f"SELECT vip, SUM(LEAST(n, 3)) AS n FROM customers JOIN ({PER_CUSTOMER}) USING (customer_id) GROUP BY vip",
         on="tight shop"),
    Case("SELECT COUNT(DISTINCT customer_id) AS n, COUNT(DISTINCT order_id) AS orders FROM orders",
         f"SELECT COUNT(*) AS n, SUM(LEAST(n, 3)) AS orders FROM ({PER_CUSTOMER})", on="tight shop"),
    Case("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e9, max_rows_contributed = 2) COUNT(*) AS n FROM orders",
         f"SELECT SUM(LEAST(n, 2)) AS n FROM ({PER_CUSTOMER})", on="tight shop"),
    Case("SELECT COUNT(*) AS n FROM visits", "SELECT SUM(LEAST(n, 3)) AS n FROM "
         '(SELECT COUNT(*) AS n FROM visits GROUP BY "VisitorId")', on="tight restaurant"),
    Case('SELECT SUM("Money spent (euros)") AS money FROM visits',
         'SELECT SUM(CASE WHEN n > 3 THEN s * 3 // n ELSE s END) AS money FROM (SELECT COUNT(*) AS n, '
         'SUM(LEAST("Money spent (euros)", 40)) AS s FROM visits GROUP BY "VisitorId")', on="tight restaurant"),
)  # fmt: skip

VISITS = (
    Case('SELECT "Day", COUNT(*) AS visits, SUM("Money spent (euros)") AS money FROM visits GROUP BY "Day" '
         'ORDER BY "Day"', on="restaurant"),
    Case('SELECT COUNT(DISTINCT "VisitorId") AS visitors, COUNT(*) AS visits FROM visits', on="restaurant"),
    Case('SELECT AVG("Time spent (minutes)") AS minutes FROM visits WHERE "Time entered" LIKE \'9:%\'',
         on="restaurant"),
    Case('SELECT LEAST(visits, 20) AS days, COUNT(*) AS visitors FROM (SELECT "VisitorId", COUNT(*) AS visits '
         'FROM visits GROUP BY "VisitorId") AS v GROUP BY days HAVING COUNT(*) > 0', on="restaurant"),
    Case('SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE '
         'w."VisitorId" = v."VisitorId" AND w."Day" = 7) AND "Day" < 6', on="restaurant"),
    Case('SELECT "Day" > 5 AS weekend, MEDIAN("Money spent (euros)") AS money FROM visits GROUP BY weekend',
         on="restaurant", plain='SELECT DISTINCT "Day" > 5 AS weekend FROM visits',
         ranked={"money": Ranked(share=Fraction(1, 2),
                                 values='SELECT "Day" > 5, "Money spent (euros)" FROM visits')}),
    Case('SELECT MAX(spent) AS most FROM (SELECT SUM("Money spent (euros)") AS spent FROM visits '
         'GROUP BY "VisitorId", "Day") AS v', on="restaurant"),
)  # fmt: skip

HEADERS = (
    Case("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1000000000, privacy_unit_column = customer_id) "
         "status, COUNT(*) AS n FROM orders GROUP BY status",
         "SELECT status, COUNT(*) AS n FROM orders GROUP BY status"),
    Case("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e9, delta = 1e-13, max_groups_contributed = 1) "
         "clerk, COUNT(*) AS n, SUM(kids) AS k FROM customers JOIN (SELECT DISTINCT customer_id, 'c' AS clerk "
         "FROM orders) AS o USING (customer_id) GROUP BY clerk",
         "SELECT 'c' AS clerk, COUNT(*) AS n, SUM(kids) AS k FROM customers WHERE customer_id IN "
         "(SELECT customer_id FROM orders)"),
    Case("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e9, max_rows_contributed = 1) COUNT(*) AS n "
         "FROM orders", "SELECT COUNT(DISTINCT customer_id) AS n FROM orders"),
)  # fmt: skip

ANSWERS = (*CLAIMS, *CUT_DOWN, *VISITS, *HEADERS)
