"""Questions like those of TPC-H, with the customer as the privacy unit; each is named by the number of its model."""

from tests.query.worked.cases import Case

Q1 = Case("""
    SELECT flag, l.late, SUM(quantity) AS pieces, SUM(price) AS price,
           SUM(price * (1 - discount)) AS discounted, SUM(FLOOR(price * (1 - discount) * (1 + tax))) AS charged,
           AVG(quantity) AS mean_quantity, AVG(price) AS mean_price, AVG(discount) AS mean_discount, COUNT(*) AS n
    FROM (SELECT flag, quantity, price, discount, tax, shipped_on, due_on < shipped_on AS late FROM lineitem) AS l
    WHERE shipped_on <= DATE '2026-12-01' - INTERVAL '90 days'
    GROUP BY flag, l.late ORDER BY flag, late""")

Q3 = Case("""
    SELECT o.priority, SUM(l.price * (1 - l.discount)) AS revenue
    FROM customers c, orders o, lineitem l
    WHERE c.segment = 'building' AND c.customer_id = o.customer_id AND l.order_id = o.order_id
      AND o.ordered_on < DATE '2026-03-15' AND l.shipped_on > DATE '2025-03-15'
    GROUP BY o.priority ORDER BY revenue DESC, o.priority LIMIT 2""")

Q4 = Case("""
    SELECT priority, COUNT(*) AS orders FROM orders o
    WHERE ordered_on >= DATE '2025-07-01' AND ordered_on < DATE '2025-07-01' + INTERVAL '9 months' AND EXISTS
      (SELECT * FROM lineitem l WHERE l.order_id = o.order_id AND l.due_on < l.received_on)
    GROUP BY priority ORDER BY priority""")

Q5 = Case("""
    SELECT n.country, SUM(l.price * (1 - l.discount)) AS revenue
    FROM customers c, orders o, lineitem l, nations n
    WHERE c.customer_id = o.customer_id AND l.order_id = o.order_id AND c.nation = n.code AND n.region = 'europe'
      AND o.ordered_on >= DATE '2025-01-01' AND o.ordered_on < DATE '2025-01-01' + INTERVAL '2 years'
    GROUP BY n.country ORDER BY n.country""", delta="1e-13")  # fmt: skip

Q6 = Case("""
    SELECT SUM(price * discount) AS revenue FROM lineitem
    WHERE shipped_on >= DATE '2025-01-01' AND shipped_on < DATE '2025-01-01' + INTERVAL '1 year'
      AND discount BETWEEN 0.04 AND 0.06 AND quantity < 24""")

Q7 = Case("""
    SELECT nation, EXTRACT(QUARTER FROM l.shipped_on) AS quarter, SUM(l.price * (1 - l.discount)) AS revenue
    FROM customers JOIN orders USING (customer_id) JOIN lineitem l USING (order_id)
    WHERE nation IN ('be', 'fr') AND l.shipped_on BETWEEN DATE '2025-01-01' AND DATE '2026-12-31'
    GROUP BY nation, quarter HAVING COUNT(*) > 0 ORDER BY nation, quarter""")

Q10 = Case("""
    SELECT c.nation, SUM(l.price * (1 - l.discount)) AS lost, COUNT(DISTINCT c.customer_id) AS customers
    FROM customers c JOIN orders o ON c.customer_id = o.customer_id JOIN lineitem l ON l.order_id = o.order_id
    WHERE l.flag = 'R' AND o.ordered_on >= DATE '2025-01-01' AND c.nation IS NOT NULL
    GROUP BY c.nation HAVING COUNT(*) > 0 ORDER BY lost DESC""")

Q12 = Case("""
    SELECT l.mode, SUM(CASE WHEN o.priority = 'urgent' OR o.priority = 'high' THEN 1 ELSE 0 END) AS high,
           SUM(CASE WHEN o.priority <> 'urgent' AND o.priority <> 'high' THEN 1 ELSE 0 END) AS low
    FROM orders o JOIN lineitem l ON o.order_id = l.order_id
    WHERE l.mode IN ('mail', 'ship') AND l.due_on < l.received_on AND l.shipped_on < l.due_on
    GROUP BY l.mode HAVING COUNT(*) > 0 ORDER BY l.mode""")

Q13 = Case("""
    SELECT LEAST(n, 30) AS orders, COUNT(*) AS customers FROM
      (SELECT c.customer_id, COUNT(o.order_id) AS n FROM customers c LEFT JOIN orders o
       ON c.customer_id = o.customer_id AND o.note NOT LIKE '%special%requests%' GROUP BY c.customer_id) AS per
    GROUP BY orders HAVING COUNT(*) > 0 ORDER BY customers DESC, orders DESC""")

Q14 = Case("""
    SELECT 100.00 * SUM(CASE WHEN p.kind LIKE 'promo%' THEN l.price * (1 - l.discount) ELSE 0 END)
             / SUM(l.price * (1 - l.discount)) AS promotion
    FROM lineitem l, parts p WHERE l.part = p.part AND l.shipped_on >= DATE '2025-09-01'""")

Q16 = Case("""
    SELECT p.brand, p.kind, COUNT(DISTINCT o.customer_id) AS customers
    FROM lineitem l JOIN parts p ON p.part = l.part JOIN orders o ON o.order_id = l.order_id
    WHERE p.brand <> 'b1' AND p.kind NOT LIKE 'promo%' GROUP BY p.brand, p.kind""")

Q17 = Case("""
    SELECT SUM(l.price) / 7.0 AS yearly FROM lineitem l JOIN parts p ON p.part = l.part
    JOIN (SELECT order_id, AVG(quantity) AS usual FROM lineitem GROUP BY order_id) AS o ON o.order_id = l.order_id
    WHERE p.brand = 'b2' AND l.quantity < o.usual""")

Q18 = Case("""
    SELECT c.segment, COUNT(DISTINCT o.order_id) AS orders, SUM(l.quantity) AS pieces
    FROM customers c, orders o, lineitem l
    WHERE o.order_id IN (SELECT order_id FROM lineitem GROUP BY order_id HAVING SUM(quantity) > 100)
      AND c.customer_id = o.customer_id AND o.order_id = l.order_id
    GROUP BY c.segment""")

Q19 = Case("""
    SELECT SUM(l.price * (1 - l.discount)) AS revenue FROM lineitem l, parts p
    WHERE p.part = l.part AND ((p.brand = 'b1' AND l.quantity BETWEEN 1 AND 21 AND p.size BETWEEN 1 AND 15)
       OR (p.brand = 'b2' AND l.quantity >= 10 AND l.quantity <= 10 + 20 AND l.mode IN ('air', 'rail')))""")

Q21 = Case("""
    SELECT COUNT(DISTINCT o.customer_id) AS waiting FROM orders o JOIN lineitem a ON a.order_id = o.order_id
    WHERE o.status <> 'open' AND a.received_on > a.due_on
      AND EXISTS (SELECT 1 FROM lineitem b WHERE b.order_id = o.order_id AND b.mode = 'air')
      AND NOT EXISTS (SELECT 1 FROM lineitem b WHERE b.order_id = o.order_id AND b.mode = 'ship')""")

Q22 = Case("""
    SELECT code, COUNT(*) AS customers, SUM(balance) AS balance FROM
      (SELECT CASE SUBSTRING(phone FROM 1 FOR 2) WHEN '10' THEN '10' WHEN '11' THEN '11' ELSE 'other' END AS code,
              balance FROM customers c
       WHERE balance > 0 AND NOT EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.customer_id)) AS idle
    GROUP BY code HAVING COUNT(*) > 0 ORDER BY code""")

ANSWERS = (Q1, Q3, Q4, Q5, Q6, Q7, Q10, Q12, Q13, Q14, Q16, Q17, Q18, Q19, Q21, Q22)
