import pyarrow as pa
from tests.session.opening import opened

import sfumato as sf
from sfumato.privacy.neighbors import UnitColumn

VISITS = pa.table({"u": ["a"], "k": ["x"], "v": [1]})


def visits():
    columns = {"u": sf.text(), "k": sf.text(values=["x", "y"]), "v": sf.integer(4, 9)}
    limits = sf.Limits(max_rows_per_unit=10, max_groups_per_unit=2, max_rows_per_group_per_unit=6)
    return opened(
        VISITS, name="visits", columns=columns, unit=UnitColumn("u"), limits=limits, budget=sf.ApproxDP(9, "1e-5")
    )  # fmt: skip


def test_a_plan_is_explained_from_the_price_to_the_error():
    lines = visits().query("SELECT k, COUNT(*) AS n, AVG(v) AS m FROM visits WHERE v > 3 GROUP BY k").explain(epsilon=2)
    shown = dict(line.split(maxsplit=1) for line in lines.splitlines() if not line.startswith(("rows", "noise")))
    assert shown["price"] == "ε 2, charged before data is touched"
    assert shown["protected"] == "one u (add or remove one)"
    assert shown["groups"] == "k (2 public keys)"
    assert "of each unit at most 2 groups, 6 rows a group, 10 rows, sampled from its own rows" in lines
    assert "count of rows: one u moves it by at most 10; discrete Laplace, scale 10" in lines
    assert "count of v" in lines
    assert "sum of v in steps clamped to 4…9 around 6" in lines
    assert "error       n ± " in lines


def test_the_other_laws_and_parts_are_named():
    session = visits()
    assert "nothing released, as ε is 0" in session.query("SELECT COUNT(*) FROM visits").explain(epsilon=0)
    assert "groups      one, of all rows" in session.query("SELECT COUNT(*) FROM visits").explain()
    with session.partition("visits", by="k") as parts:
        assert "the part k = 'x', of at most 1 a unit" in parts["x"].query("SELECT COUNT(*) FROM visits").explain()
    people = opened(neighboring_relation=sf.REPLACE_ONE)
    assert "no noise needed" in people.query("SELECT COUNT(*) FROM people").explain()
    assert "each row is a unit" in people.query("SELECT COUNT(*) FROM people").explain()


def test_the_gaussian_is_named_where_it_is_taken():
    columns = {"u": sf.text(), "k": sf.integer(values=range(40))}
    session = opened(
        pa.table({"u": ["a"], "k": [1]}), columns=columns, unit="u", budget=sf.ApproxDP(1, "1e-5"),
        limits=sf.Limits(max_rows_per_unit=30, max_rows_per_group_per_unit=1),
    )  # fmt: skip
    question = session.query("SELECT k, COUNT(*) FROM people GROUP BY k")
    assert "discrete Gaussian, standard deviation" in question.explain(epsilon=1, delta="1e-6")
