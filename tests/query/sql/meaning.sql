-- Each of these has the rows that a database gives it, see test_meaning.py
SELECT age FROM people WHERE NOT (age < 30 AND smoker) OR pay BETWEEN 2 AND 3;
SELECT age FROM people WHERE age NOT IN (1, 2, 33) AND smoker IS NOT TRUE;
SELECT age FROM people WHERE smoker IS FALSE OR smoker IS UNKNOWN;
SELECT age FROM people WHERE age IS DISTINCT FROM pay AND Sex IS NOT DISTINCT FROM 'm';
SELECT CASE WHEN age < 20 THEN 'a' WHEN age < 60 THEN 'b' END AS x, CASE Sex WHEN 'm' THEN 1 ELSE 0 END AS y FROM
    people;
SELECT COALESCE(age, 0) AS a, NULLIF(age, 33) AS b, LEAST(age, 50) AS c, GREATEST(age, pay) AS d FROM people;
SELECT ABS(age - 50) AS a, SIGN(pay - 5) AS b, FLOOR(pay) AS c, CEIL(pay) AS d, TRUNC(pay) AS e FROM people;
SELECT age % 7 AS a, -age * 3 AS b, pay / 4 AS c, age / 2.0 AS d, pay ^ 2 AS e, SQRT(pay) AS f FROM people;
SELECT LOWER(note) AS a, UPPER(note) AS b, LENGTH(note) AS c, SUBSTRING(note, 2, 3) AS d, LEFT(note, 2) AS e FROM
    orders;
SELECT TRIM(note) AS a, LTRIM(note) AS b, RTRIM(note) AS c, note || '!' AS d, CONCAT(note, '-', status) AS e FROM
    orders;
SELECT note FROM orders WHERE note LIKE '%y%' OR note LIKE '%''%' OR note NOT LIKE '_y';
SELECT note FROM orders WHERE note ILIKE 'xY%';
SELECT CAST(age AS text) AS a, CAST(smoker AS integer) AS b, age::double precision AS c, smoker::text AS d FROM
    people;
SELECT EXTRACT(MONTH FROM placed) AS a, EXTRACT(DOW FROM placed) AS b, EXTRACT(ISODOW FROM placed) AS c, EXTRACT(DOY
    FROM placed) AS d, EXTRACT(WEEK FROM placed) AS e, EXTRACT(QUARTER FROM placed) AS f FROM orders;
SELECT DATE_TRUNC('month', placed) AS a, DATE_TRUNC('week', placed) AS b, DATE_TRUNC('hour', placed) AS c FROM
    orders;
SELECT placed + INTERVAL '1 month' AS a, placed - INTERVAL '3 hours' AS b, placed + INTERVAL '2 weeks' AS c FROM
    orders;
SELECT day + 7 AS a, day - DATE '2026-01-15' AS b FROM visits WHERE day >= '2026-01-09';
SELECT v.patient, w.region FROM visits v JOIN wards w ON v.ward = w.code;
SELECT v.patient, w.region FROM visits v LEFT JOIN wards w ON v.ward = w.code AND w.beds > 20;
SELECT v.patient, w.region FROM wards w JOIN visits v ON v.ward = w.code AND w.beds > v.hours;
SELECT v.patient, w.region FROM visits v, wards w WHERE v.ward = w.code AND hours > 3;
SELECT c.customer_id, order_id, part FROM customers c JOIN orders USING (customer_id) JOIN lineitem USING (order_id);
SELECT c.customer_id, o.order_id FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id AND o.status =
    'paid';
SELECT o.order_id, p.order_id AS p FROM orders o JOIN orders p ON o.customer_id = p.customer_id AND o.total <
    p.total;
SELECT l.part, m.part AS q FROM lineitem l JOIN lineitem m USING (order_id);
SELECT * FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND total > 99);
SELECT * FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id);
SELECT * FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders WHERE total > 50);
SELECT order_id FROM orders WHERE order_id IN (SELECT order_id FROM lineitem GROUP BY order_id HAVING SUM(quantity)
    > 30);
SELECT order_id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM lineitem l WHERE l.order_id = o.order_id AND l.part =
    o.status);
SELECT patient FROM visits WHERE ward IS NOT NULL AND ward NOT IN (SELECT code FROM wards WHERE code IS NOT NULL);
SELECT patient FROM visits v WHERE NOT EXISTS (SELECT 1 FROM wards w WHERE w.code = v.ward);
SELECT patient FROM visits WHERE EXISTS (SELECT 1 FROM wards);
SELECT customer_id, COUNT(*) AS n, COUNT(note) AS m, COUNT(DISTINCT status) AS d, SUM(total) AS s, AVG(total) AS a,
    MIN(total) AS i, MAX(placed) AS j FROM orders GROUP BY customer_id;
SELECT customer_id, status, SUM(total) FILTER (WHERE total > 50) AS s, COUNT(*) FILTER (WHERE status = 'paid') AS c
    FROM orders GROUP BY customer_id, status HAVING COUNT(*) > 1;
SELECT SUM(total) / COUNT(*) AS m FROM orders GROUP BY customer_id HAVING MAX(total) > 100 AND customer_id > 2;
SELECT EXTRACT(MONTH FROM placed) AS m, customer_id, COUNT(*) AS n FROM orders GROUP BY 1, customer_id;
SELECT Sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY Sex;
SELECT x.n, c.segment FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) x JOIN customers c
    ON c.customer_id = x.customer_id;
WITH a AS (SELECT patient, SUM(hours) AS h FROM visits GROUP BY patient), b AS (SELECT * FROM a WHERE h > 20) SELECT
    a.patient, b.h FROM a LEFT JOIN b ON a.patient = b.patient;
SELECT DISTINCT Sex, smoker FROM people;
SELECT DISTINCT patient, ward FROM visits;
SELECT patient, ward FROM visits UNION SELECT patient, ward FROM visits WHERE hours > 5;
SELECT patient, ward FROM visits UNION ALL SELECT patient, 'X' FROM visits WHERE hours > 5;
SELECT patient, ward FROM visits INTERSECT SELECT patient, ward FROM visits WHERE hours > 5;
SELECT patient, ward FROM visits INTERSECT ALL SELECT patient, ward FROM visits WHERE hours > 5;
SELECT patient, ward FROM visits EXCEPT SELECT patient, ward FROM visits WHERE hours > 5;
SELECT patient, ward FROM visits EXCEPT ALL SELECT patient, ward FROM visits WHERE hours > 5;
SELECT patient FROM visits UNION SELECT patient FROM visits INTERSECT ALL SELECT patient FROM visits WHERE hours > 9;
SELECT age FROM people UNION ALL SELECT pay FROM people;
SELECT YEAR(day) AS a, MONTH(day) AS b, DAY(day) AS c, QUARTER(day) AS d, WEEK(day) AS e, DAYOFYEAR(day) AS f,
    DAYOFWEEK(day) AS g, ISODOW(day) AS h, WEEKOFYEAR(day) AS i, DAYOFMONTH(day) AS j FROM visits;
SELECT HOUR(placed) AS a, MINUTE(placed) AS b, SECOND(placed) AS c FROM orders;
SELECT STRPOS(note, 'y') AS a, REPLACE(note, 'y', 'zz') AS b, STARTS_WITH(note, 'xy') AS c, CONTAINS(note, '%') AS d,
    POSITION('b' IN note) AS e, ENDS_WITH(note, 'y') AS f FROM orders;
SELECT CAST(hours AS numeric(4, 1)) AS a, CAST(ward AS varchar(3)) AS b FROM visits;
SELECT customer_id, COUNT_IF(total IS NOT NULL AND total > 50) AS n, MEAN(total) AS m FROM orders GROUP BY ALL;
SELECT c.segment, o.total FROM orders o RIGHT JOIN customers c ON o.customer_id = c.customer_id;
SELECT customer_id, segment, total FROM orders RIGHT JOIN customers USING (customer_id);
SELECT w.region, v.patient FROM wards w RIGHT JOIN visits v ON v.ward = w.code AND w.beds > 20;
SELECT o.order_id FROM lineitem l JOIN orders p USING (order_id) RIGHT JOIN orders o ON
    o.customer_id = p.customer_id;
SELECT patient, hours FROM visits v WHERE hours > (SELECT AVG(w.hours) FROM visits w WHERE w.patient = v.patient);
SELECT customer_id, (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.customer_id) AS n, (SELECT COUNT(*) + 1 FROM
    orders o WHERE o.customer_id = c.customer_id AND total > 100) AS m FROM customers c;
SELECT customer_id, (SELECT MAX(total) - MIN(total) FROM orders o WHERE o.customer_id = c.customer_id AND o.status =
    'paid') AS n FROM customers c WHERE (SELECT SUM(total) FROM orders o WHERE o.customer_id = c.customer_id) > 90;
SELECT patient FROM visits WHERE hours > (SELECT MAX(beds) FROM wards) OR hours < (SELECT MIN(beds) FROM wards WHERE
    code = ward);
SELECT order_id FROM orders o WHERE total > (SELECT AVG(p.total) FROM orders p WHERE p.customer_id = o.customer_id AND
    p.status = o.status) AND total < (SELECT SUM(p.total) FROM orders p WHERE p.customer_id = o.customer_id);
SELECT patient, ward, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day NULLS LAST, hours NULLS LAST, ward NULLS
    LAST) AS k, LAG(day) OVER (PARTITION BY patient ORDER BY day NULLS LAST, hours NULLS LAST, ward NULLS LAST) AS p
    FROM visits;
SELECT customer_id, RANK() OVER (PARTITION BY customer_id, status ORDER BY total DESC NULLS FIRST) AS r, DENSE_RANK()
    OVER (PARTITION BY customer_id ORDER BY EXTRACT(MONTH FROM placed) NULLS LAST) AS d FROM orders WHERE total > 20;
SELECT order_id, total - LEAD(total, 2) OVER (PARTITION BY customer_id ORDER BY order_id) AS x, FIRST_VALUE(status)
    OVER (PARTITION BY customer_id ORDER BY order_id DESC) AS f FROM orders;
SELECT code, ROW_NUMBER() OVER (ORDER BY beds DESC NULLS FIRST, code NULLS LAST, region NULLS LAST) AS k FROM wards;
SELECT order_id FROM orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.customer_id = o.customer_id AND p.total >
    o.total);
SELECT order_id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM orders p WHERE p.customer_id = o.customer_id AND p.status
    <> o.status AND p.total > 50);
SELECT patient FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.beds <= v.hours) AND NOT EXISTS (SELECT 1 FROM
    wards w WHERE w.code = v.ward AND v.hours > w.beds);
SELECT patient, ward FROM visits WHERE ward NOT IN (SELECT code FROM wards);
SELECT patient, ward FROM visits WHERE ward NOT IN (SELECT code FROM wards WHERE code IS NOT NULL);
SELECT patient, ward FROM visits WHERE ward NOT IN (SELECT code FROM wards WHERE beds > 90);
SELECT order_id FROM orders o WHERE status NOT IN (SELECT p.status FROM orders p WHERE p.customer_id = o.customer_id AND
    p.total > 100);
SELECT v.patient FROM visits v, wards w WHERE (v.ward = w.code AND w.beds > 20) OR (hours < 9 AND v.ward = w.code);
SELECT SUBSTRING(note FROM STRPOS(note, 'y') + 1) AS a, RIGHT(note, 2) AS b, RIGHT(note, 0) AS c FROM orders;
