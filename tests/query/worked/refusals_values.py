"""Refused because of values: sums without bounds, keys that are not public, kinds that do not mix."""

from tests.query.worked.cases import private, unbounded, wrong

KEYS = (
    private("SELECT balance, COUNT(*) FROM customers GROUP BY balance", "balance", "floats", "FLOOR"),
    private("SELECT COUNT(*) FROM lineitem GROUP BY price * 2", "price * 2", "floats"),
    private("SELECT city, COUNT(*) FROM customers GROUP BY city", "GROUP BY", "δ"),
    private("SELECT DISTINCT note FROM orders", "GROUP BY", "δ"),
    private("SELECT ordered_on, COUNT(*) FROM orders GROUP BY ordered_on", "GROUP BY", "δ"),
    private("SELECT MODE(city) FROM customers", "mode", "public values"),
    private("SELECT COUNT(*) FROM customers GROUP BY COUNT(*)", "COUNT(*)", "cannot be a key"),
    wrong("SELECT COUNT(*) FROM customers GROUP BY 'x'", "'x'", "a column"),
    wrong("SELECT segment, COUNT(*) FROM customers GROUP BY 3", "3", "1 to 2"),
    wrong("SELECT COUNT(*) FROM census GROUP BY age, hours_per_week, education_num, capital_gain / 200",
          "GROUP BY", "1,000,000", on="census"),
)  # fmt: skip

BOUNDS = (
    unbounded("SELECT SUM(order_id) AS s FROM orders", "s", "Declare bounds"),
    unbounded("SELECT AVG(LENGTH(note)) AS a FROM orders", "a", "upper"),
    unbounded("SELECT SUM(LN(discount)) AS s FROM lineitem", "s", "Declare bounds"),
    unbounded("SELECT MAX(GREATEST(customer_id, 0)) AS m FROM customers", "m", "upper"),
    unbounded("SELECT STDDEV(received_on - shipped_on) AS d FROM lineitem", "d", "LEAST(GREATEST"),
    unbounded("SELECT SUM(price / discount) AS s FROM lineitem", "s", "bound"),
)

KINDS = (
    wrong("SELECT COUNT(*) FROM customers WHERE segment = 5", "segment = 5", "one kind"),
    wrong("SELECT SUM(kids + phone) FROM customers", "kids + phone", "text"),
    wrong("SELECT SUM(phone) FROM customers", "number", "text"),
    wrong("SELECT AVG(vip) FROM customers", "boolean"),
    wrong("SELECT COUNT(*) FROM customers WHERE kids", "kids", "true or false"),
    wrong("SELECT COUNT(COALESCE(kids, 'none')) FROM customers", "COALESCE", "one kind"),
    wrong("SELECT COUNT(CASE WHEN vip THEN 1 ELSE 'no' END) FROM customers", "CASE", "one kind"),
    wrong("SELECT COUNT(*) FROM customers WHERE kids IN (1, 'two')", "IN"),
    private("SELECT COUNT(joined + joined) FROM customers", "joined + joined", "cannot be added"),
    wrong("SELECT COUNT(*) FROM customers WHERE joined > 2025", "joined > 2025", "one kind"),
    wrong("SELECT COUNT(*) FROM orders WHERE ordered_on = '2025-02-30'", "2025-02-30", "date"),
    private("SELECT COUNT(*) FROM customers WHERE nation = NULL", "NULL", "IS NULL"),
    private("SELECT COUNT(*) FROM customers WHERE city LIKE nation", "nation", "constant"),
    private("SELECT SUM(ROUND(balance, kids)) FROM customers", "kids", "constant"),
    private("SELECT COUNT(CAST(note AS json)) FROM orders", "CAST(note AS JSON)", "type"),
    private("SELECT COUNT(EXTRACT(EPOCH FROM placed)) FROM orders", "EPOCH", "YEAR"),
    private("SELECT COUNT(DATE_TRUNC('decade', placed)) FROM orders", "DATE_TRUNC", "month"),
    wrong("SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY total) FROM orders", "1.5", "0 to 1"),
    wrong("SELECT COUNT(EXTRACT(HOUR FROM ordered_on)) FROM orders", "HOUR", "timestamp"),
    wrong("SELECT COUNT(*) FROM lineitem JOIN parts ON quantity = part.part", "part"),
    wrong("SELECT COUNT(*) FROM customers JOIN nations ON kids = code", "kids = code", "one kind"),
)  # fmt: skip

REFUSALS = (*KEYS, *BOUNDS, *KINDS)
