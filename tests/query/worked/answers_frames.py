"""Questions of the DataFrame face that SQL has no words for: automatic bounds, histograms, top k, vectors."""

from dataclasses import dataclass

import sfumato as sf


def _delay(view):
    lines = view.table("lineitem")
    return lines.received_on - lines.due_on


@dataclass(frozen=True)
class Asked:
    """A question built in Python, and the plain SQL of its answer."""

    name: str
    build: object
    plain: str
    on: str = "shop"


FRAMES = (
    Asked(
        "a sum within automatic bounds",
        lambda view: view.table("lineitem").agg(s=sf.sum("price", bounds="auto"), n=sf.count()),
        "SELECT SUM(price) AS s, COUNT(*) AS n FROM lineitem",
    ),
    Asked(
        "a sum of what nobody bounded, by groups",
        lambda view: view.table("lineitem").group_by("flag").agg(days=sf.sum(_delay(view), bounds="auto")),
        "SELECT flag, SUM(received_on - due_on) AS days FROM lineitem GROUP BY flag",
    ),
    Asked(
        "a mean within automatic bounds",
        lambda view: view.table("orders").agg(a=sf.mean("total", bounds="auto")),
        "SELECT AVG(total) AS a FROM orders",
    ),
    Asked(
        "a sum within stated bounds",
        lambda view: view.table("customers").agg(s=sf.sum("balance", bounds=(0, 500))),
        "SELECT SUM(LEAST(GREATEST(balance, 0), 500)) AS s FROM customers",
    ),
    Asked(
        "a histogram",
        lambda view: view.table("census").agg(ages=sf.histogram("age", edges=[17, 30, 50, 90])),
        "SELECT COUNT(*) FILTER (WHERE age < 30) AS ages_1, COUNT(*) FILTER (WHERE age BETWEEN 30 AND 49) AS ages_2, "
        "COUNT(*) FILTER (WHERE age >= 50) AS ages_3 FROM census",
        on="census",
    ),
    Asked(
        "the two most frequent",
        lambda view: view.table("lineitem").agg(mode=sf.top_k("mode", 2)),
        "SELECT MAX(mode) FILTER (WHERE rank = 1) AS mode_1, MAX(mode) FILTER (WHERE rank = 2) AS mode_2 FROM "
        "(SELECT mode, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS rank FROM lineitem GROUP BY mode)",
    ),
    Asked(
        "a vector of sums",
        lambda view: view.table("lineitem").agg(v=sf.vector_sum("quantity", "line")),
        "SELECT SUM(quantity) AS v_1, SUM(line) AS v_2 FROM lineitem",
    ),
    Asked(
        "sums that add up",
        lambda view: view.table("orders").group_by("status", "priority").rollup(consistent=True).agg(n=sf.count()),
        "SELECT status, priority, COUNT(*)::double AS n FROM orders GROUP BY ROLLUP (status, priority)",
    ),
)
