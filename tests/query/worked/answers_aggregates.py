"""Aggregates: each of them, of columns with NULLs and of expressions, with FILTER, several at once, and combined."""

from fractions import Fraction

from tests.query.worked.cases import Case, Ranked

HALF = Fraction(1, 2)

COUNTS = (
    Case("SELECT COUNT(*) AS n FROM orders"),
    Case("SELECT COUNT(1) AS n FROM customers WHERE vip"),
    Case("SELECT COUNT(balance) AS n, COUNT(nation) AS with_nation, COUNT(*) AS customers FROM customers"),
    Case("SELECT COUNT(DISTINCT customer_id) AS customers FROM orders WHERE status = 'open'"),
    Case("SELECT COUNT(DISTINCT clerk) AS clerks, COUNT(DISTINCT note) AS notes FROM orders"),
    Case("SELECT COUNT(DISTINCT EXTRACT(MONTH FROM shipped_on)) AS months FROM lineitem WHERE quantity > 25"),
    Case("SELECT COUNT(*) AS n FROM lineitem WHERE price < 0", "SELECT 0 AS n"),
    Case("SELECT COUNT(DISTINCT native_country) AS countries, COUNT(*) AS people FROM census", on="census"),
    Case("SELECT count(*), Sum(kids) FROM Customers", 'SELECT COUNT(*) AS "count", SUM(kids) AS "sum" FROM customers'),
    Case("SELECT COUNT(*) FILTER (WHERE vip) AS vips, COUNT(*) FILTER (WHERE NOT vip) AS others FROM customers"),
    Case(
        "SELECT COUNT(DISTINCT customer_id) FILTER (WHERE total > 300) AS large, COUNT(DISTINCT customer_id) AS n "
        "FROM orders"
    ),
)

SUMS = (
    Case("SELECT SUM(quantity) AS pieces FROM lineitem"),
    Case("SELECT SUM(balance) AS owed FROM customers WHERE balance < 0"),
    Case("SELECT SUM(price * (1 - discount)) AS revenue FROM lineitem"),
    Case("SELECT SUM(price * (1 - discount) * (1 + tax)) AS charged FROM lineitem WHERE flag <> 'R'"),
    Case("SELECT SUM(kids) AS kids, SUM(kids * kids) AS squares, SUM(-kids) AS less FROM customers"),
    Case("SELECT SUM(quantity) FILTER (WHERE mode = 'air') AS flown, SUM(quantity) AS pieces FROM lineitem"),
    Case("SELECT SUM(CASE WHEN vip THEN balance ELSE 0 END) AS vips FROM customers"),
    Case("SELECT SUM(capital_gain) AS gains FROM census WHERE age >= 40", on="census"),
    Case("SELECT SUM(total) AS total FROM orders WHERE total > 10000", "SELECT 0.0 AS total"),
    Case("SELECT SUM(LEAST(GREATEST(received_on - shipped_on, 0), 31)) AS days FROM lineitem"),
)

MEANS = (
    Case("SELECT AVG(price) AS price FROM lineitem"),
    Case("SELECT AVG(kids) AS kids, AVG(balance) AS balance FROM customers"),
    Case("SELECT AVG(quantity) FILTER (WHERE flag = 'A') AS pieces FROM lineitem"),
    Case("SELECT AVG(price * quantity) AS value, COUNT(*) AS n FROM lineitem WHERE quantity < 10"),
    Case("SELECT AVG(hours_per_week) AS hours FROM census WHERE sex = 'Female'", on="census"),
    Case("SELECT AVG(CASE WHEN income = '>50K' THEN 1 ELSE 0 END) AS rich FROM census", on="census"),
)

SPREADS = (
    Case("SELECT VARIANCE(quantity) AS v, VAR_POP(quantity) AS p FROM lineitem"),
    Case("SELECT VAR_SAMP(discount) AS v FROM lineitem WHERE mode = 'mail'"),
    Case("SELECT STDDEV(kids) AS d, STDDEV_SAMP(kids) AS e, STDDEV_POP(kids) AS p FROM customers"),
    Case("SELECT STDDEV(age) AS d, COUNT(*) AS n FROM census", on="census"),
    Case("SELECT COVAR_POP(quantity, line) AS c, COVAR_SAMP(quantity, line) AS s FROM lineitem"),
    Case("SELECT CORR(age, hours_per_week) AS r FROM census", on="census"),
    Case("SELECT COVAR_SAMP(kids, balance) AS c FROM customers", tolerance=1e-3),
    Case("SELECT VAR_POP(quantity) FILTER (WHERE line = 1) AS v FROM lineitem"),
)

RANKS = (
    Case("SELECT MIN(quantity) AS least, MAX(quantity) AS most FROM lineitem WHERE line = 2"),
    Case("SELECT MAX(price) AS most, COUNT(*) AS n FROM lineitem"),
    Case("SELECT MIN(age) AS youngest, MAX(age) AS oldest FROM census", on="census"),
    Case("SELECT MIN(total) FILTER (WHERE status = 'open') AS least FROM orders"),
    Case(
        "SELECT MEDIAN(quantity) AS m FROM lineitem",
        ranked={"m": Ranked(share=HALF, values="SELECT quantity FROM lineitem")},
    ),
    Case(
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY total) AS p FROM orders",
        ranked={"p": Ranked(share=Fraction(9, 10), values="SELECT total FROM orders")},
    ),
    Case(
        "SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY age DESC) AS p FROM census",
        on="census",
        ranked={"p": Ranked(share=Fraction(3, 4), values="SELECT age FROM census")},
    ),
    Case(
        "SELECT mode, QUANTILE(quantity, 0.1) AS q, COUNT(*) AS n FROM lineitem GROUP BY mode",
        "SELECT mode, COUNT(*) AS n FROM lineitem GROUP BY mode",
        ranked={"q": Ranked(share=Fraction(1, 10), values="SELECT mode, quantity FROM lineitem")},
    ),
    Case("SELECT MODE() WITHIN GROUP (ORDER BY mode) AS usual FROM lineitem"),
    Case("SELECT sex, MODE(workclass) AS usual FROM census GROUP BY sex", on="census"),
)

COMBINED = (
    Case("SELECT SUM(quantity) / COUNT(*) AS whole, SUM(price) / COUNT(*) AS mean FROM lineitem"),
    Case("SELECT 100.0 * COUNT(*) FILTER (WHERE flag = 'R') / COUNT(*) AS returned FROM lineitem"),
    Case("SELECT ROUND(AVG(price), 1) AS price, COUNT(*) > 100 AS many FROM lineitem"),
    Case("SELECT GREATEST(COUNT(*) - 100, 0) AS above, COALESCE(AVG(kids), 0) AS kids FROM customers"),
    Case("SELECT MAX(quantity) - MIN(quantity) AS width, CAST(COUNT(*) AS float) AS n FROM lineitem"),
    Case("SELECT CASE WHEN SUM(balance) > 0 THEN 'rich' ELSE 'poor' END AS verdict FROM customers"),
    Case(
        "SELECT COUNT(*) AS n, SUM(price) AS s, AVG(price) AS a, STDDEV_POP(quantity) AS d, MAX(price) AS m, "
        "COUNT(DISTINCT mode) AS modes FROM lineitem"
    ),
)

ANSWERS = (*COUNTS, *SUMS, *MEANS, *SPREADS, *RANKS, *COMBINED)
