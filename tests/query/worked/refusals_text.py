"""Refused because of the text: names, statements that are no question, functions, clauses, size."""

from tests.query.worked.cases import private, wrong

NAMES = (
    wrong("SELECT COUNT(*) FROM clients", "clients", "customers"),
    wrong("SELECT COUNT(*) FROM customers WHERE height > 2", "height", "balance"),
    wrong("SELECT COUNT(*) FROM customers c WHERE o.total > 2", "o", "c"),
    wrong("SELECT COUNT(*) FROM customers JOIN orders USING (order_id)", "USING", "order_id"),
    wrong("SELECT COUNT(*) FROM customers c JOIN orders o ON c.customer_id = o.customer_id WHERE customer_id > 3",
          "customer_id", "c.customer_id, o.customer_id"),
    wrong("SELECT COUNT(*) FROM orders, orders", "orders", "AS"),
    wrong('SELECT COUNT(*) FROM "Customers"', "Customers"),
    wrong("SELECT COUNT(*) AS n, SUM(kids) AS n FROM customers", "n", "differ"),
    private("SELECT COUNT(*) FROM pg_catalog.pg_tables", "pg_catalog.pg_tables"),
    private("SELECT COUNT(*) FROM information_schema.columns", "information_schema"),
    private("SELECT COUNT(*) FROM main.customers", "main.customers"),
)  # fmt: skip

STATEMENTS = (
    private("INSERT INTO customers (customer_id) VALUES (1)", "INSERT", "SELECT"),
    private("UPDATE customers SET kids = 0", "UPDATE"),
    private("DELETE FROM customers", "DELETE"),
    private("DROP TABLE customers", "DROP"),
    private("CREATE TABLE copies AS SELECT COUNT(*) FROM customers", "CREATE"),
    private("ALTER TABLE customers DROP COLUMN kids", "ALTER"),
    private("TRUNCATE customers", "TRUNCATE"),
    private("COPY customers TO 'out.csv'", "COPY"),
    private("ATTACH 'other.db' AS other", "ATTACH"),
    private("PRAGMA database_list", "PRAGMA"),
    private("SET threads = 1", "SET"),
    private("EXPLAIN ANALYZE SELECT COUNT(*) FROM customers", "EXPLAIN"),
    private("CALL pragma_version()", "CALL"),
    private("VALUES (1), (2)", "VALUES"),
    wrong("SELECT COUNT(*) FROM customers; DROP TABLE customers", "2 statements", "one SELECT"),
    wrong("", "SELECT"),
    wrong(";", "0 statements"),
    wrong("SELECT COUNT(* FROM customers", "line 1"),
    wrong("SELECT COUNT(*) FROM customers WHERE city = 'Ghent", "well-formed"),
    private("SELECT 1", "SELECT 1", "FROM"),
    private("SELECT COUNT(*) INTO copies FROM customers", "INTO"),
    private("SELECT COUNT(*) FROM customers FOR UPDATE", "FOR UPDATE"),
)

FUNCTIONS = (
    private("SELECT COUNT(*) FROM customers WHERE RANDOM() < 0.5", "RANDOM()", "noise"),
    private("SELECT COUNT(*) FROM orders WHERE placed > NOW()", "NOW()", "tomorrow"),
    private("SELECT COUNT(*) FROM orders WHERE ordered_on < CURRENT_DATE", "CURRENT_DATE", "DATE '2026-01-31'"),
    private("SELECT COUNT(*) FROM customers WHERE phone ~ '^1[0-9]'", "phone", "LIKE"),
    private("SELECT COUNT(REGEXP_REPLACE(phone, '1', '2')) FROM customers", "REGEXP_REPLACE", "LIKE"),
    private("SELECT COUNT(*) FROM customers WHERE city SIMILAR TO 'G%'", "SIMILAR TO", "LIKE"),
    private("SELECT COUNT(PG_SLEEP(10)) FROM customers", "PG_SLEEP"),
    private("SELECT COUNT(HASH(phone)) FROM customers", "HASH(phone)", "unknown"),
    private("SELECT COUNT(REPEAT(phone, 1000000)) FROM customers", "REPEAT"),
    private("SELECT COUNT(*) FROM read_csv('people.csv')", "people.csv"),
    wrong("SELECT COUNT(*) FROM 'people.parquet'", "people.parquet", "customers"),
    private("SELECT COUNT(*) FROM GENERATE_SERIES(1, 10)", "GENERATE_SERIES"),
    private("SELECT COUNT(*) FROM UNNEST(ARRAY[1, 2]) AS u(x)", "UNNEST"),
    private("SELECT COUNT(*) FROM customers TABLESAMPLE BERNOULLI (10)", "TABLESAMPLE"),
    private("SELECT COUNT(phone -> 'a') FROM customers", "phone -> 'a'", "not supported"),
    private("SELECT COUNT(ARRAY[kids]) FROM customers", "ARRAY"),
    private('SELECT COUNT(city COLLATE "de") FROM customers', "COLLATE"),
    private("SELECT COUNT(placed AT TIME ZONE 'UTC') FROM orders", "AT TIME ZONE"),
    private("SELECT COUNT(*) FROM customers WHERE SUM(kids) > 3", "SUM(kids)", "HAVING"),
    private("SELECT SUM(COUNT(*)) FROM customers", "COUNT(*)", "inside another one"),
    wrong("SELECT SUM(ABS(kids, 2)) FROM customers", "ABS", "2 arguments"),
    private("SELECT COUNT(segment, city) FROM customers", "COUNT(segment, city)"),
    private("SELECT COUNT(DISTINCT segment, city) FROM customers", "COUNT(DISTINCT", "one column"),
    private("SELECT COUNT(*) FROM customers LIMIT kids", "kids"),
    wrong("SELECT COUNT(*) FROM customers LIMIT -1", "LIMIT", "whole number"),
)

SIZE = (
    wrong("SELECT COUNT(*) FROM customers WHERE " + "NOT " * 200 + "vip", "nested"),
    wrong("SELECT SUM(" + "(" * 5000 + "kids" + ")" * 5000 + ") FROM customers", "nested"),
    wrong("SELECT COUNT(*) FROM customers WHERE city = '" + "x" * 400_000 + "'", "400046 characters"),
    wrong("SELECT " + ", ".join(f"COUNT(*) AS n{i}" for i in range(1001)) + " FROM customers", "at most 1000"),
    wrong("SELECT COUNT(*) FROM orders a" + "".join(f" JOIN orders o{i} USING (customer_id)" for i in range(300)),
          "at most"),
    wrong("WITH c0 AS (SELECT * FROM orders)" + "".join(
        f", c{i} AS (SELECT * FROM c{i - 1} UNION ALL SELECT * FROM c{i - 1})" for i in range(1, 30))
        + " SELECT COUNT(*) FROM c29", "at most"),
)  # fmt: skip

REFUSALS = (*NAMES, *STATEMENTS, *FUNCTIONS, *SIZE)
