"""Many runs for one query: copies are independent, and so are their outputs."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.audit import DatabaseCopies, NeighborPair, audit
from sfumato.errors import ParameterError

VISITS = ({"person": "a", "ill": "flu"}, {"person": "a", "ill": "cold"}, {"person": "b", "ill": "flu"})


class Asked:
    """Keeps the rows that it was asked about, and says nothing, or what it was told to say."""

    def __init__(self, *said):
        self.rows, self.said = [], said

    def __call__(self, rows):
        self.rows.append(rows)
        return self.said


def rows_of(database, count, **options):
    asked = Asked()
    assert DatabaseCopies(ask=asked, **options)(database, count) == ((),) * count
    return asked.rows


def test_each_copy_has_every_row_and_its_number():
    (rows,) = rows_of(({"age": 3}, {"age": 3}, {"age": 5}), 2)
    assert rows == [{"age": age, "copy": world} for world in (0, 1) for age in (3, 3, 5)]


def test_units_of_different_copies_are_different():
    (rows,) = rows_of((*VISITS, {"person": None, "ill": "flu"}), 2, unit="person")
    assert [row["person"] for row in rows] == ["0:a", "0:a", "0:b", None, "1:a", "1:a", "1:b", None]
    (rows,) = rows_of(tuple({"person": number} for number in (0, 1, -1)), 3, unit="person")
    assert len({row["person"] for row in rows}) == 9


@pytest.mark.parametrize("names", [("a", "b", "c"), (7, 8, 9)])
def test_the_name_of_a_unit_depends_on_nobody_else(names):
    def named(chosen, count):
        (rows,) = rows_of(tuple({"person": name} for name in chosen), count, unit="person")
        return {(row["copy"], row["person"]) for row in rows}

    assert named(names[1:2], 2) < named(names, 2) < named(names, 5)


def test_the_answer_about_a_copy_is_one_output_in_an_order_of_its_own():
    said = [(1, "flu", 3), (0, "flu", 5), (0, "cold", 2), (1, "cold", -1)]
    asked = Asked(*({"copy": world, "ill": ill, "n": n} for world, ill, n in said))
    assert DatabaseCopies(ask=asked)(VISITS, 3) == ((("cold", 2), ("flu", 5)), (("cold", -1), ("flu", 3)), ())


def test_batches_ask_about_as_many_copies_as_they_may_and_all_keys_are_known():
    asked = Asked(*({"copy": world, "n": 7} for world in range(2)))
    assert DatabaseCopies(ask=asked, at_once=2)(({"x": 1},), 5) == (((7,),),) * 5
    assert [len(rows) for rows in asked.rows] == [2, 2, 1]
    assert DatabaseCopies(ask=asked)((), 0) == ()


@pytest.mark.parametrize(
    ("database", "options"),
    [
        ((5,), {}),
        (({"copy": 5},), {}),
        (({"age": 5},), {"unit": "person"}),
        (({"age": 5},), {"at_once": 0}),
        ({"age": 5}, {}),
        (None, {}),
    ],
)
def test_rows_that_cannot_be_copied_are_refused(database, options):
    with pytest.raises(ParameterError):
        DatabaseCopies(ask=Asked(), **options)(database, 2)


@pytest.mark.parametrize("copy", [2, -1, "0", 0.5, None])
def test_a_record_of_no_copy_that_was_asked_about_is_refused(copy):
    with pytest.raises(ParameterError, match="0 to 1"):
        DatabaseCopies(ask=Asked({"copy": copy, "n": 3}))(VISITS, 2)


AT_ONCE = 1000


def asking(rows):
    """A real curator, who is asked one question."""
    types = {"person": pa.string(), "copy": pa.int64()}
    table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})
    columns = {"copy": sf.integer(values=range(AT_ONCE))}
    limits = sf.Limits(max_rows_per_unit=2)
    with sf.open(table, name="t", unit="person", columns=columns, limits=limits, budget=sf.PureDP(2)) as session:
        answer = session.sql("SELECT copy, COUNT(*) AS n FROM t GROUP BY copy", epsilon=2)
        return [{"copy": row["copy"], "n": row["n"]} for row in answer.records()]


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "is_refuted"), [(2, False), (1, True)])
def test_a_session_that_is_asked_about_copies_is_refuted_where_it_charges_too_little(epsilon, is_refuted):
    """A true claim is refuted once in a million tests; the bound on ε is some 15 standard deviations above half."""
    three = tuple({"person": "a"} for _ in range(3))
    pair = NeighborPair((), three, "a person of three rows, of which two count")
    mechanism = DatabaseCopies(ask=asking, unit="person", at_once=AT_ONCE)
    report = audit(mechanism, [pair], epsilon=epsilon, samples=4000)
    assert report.is_refuted == is_refuted, str(report)


@pytest.mark.parametrize("said", [None, 3, "abc", [3], {"copy": 0}], ids=str)
def test_what_is_no_list_of_records_is_refused_by_the_name_of_who_gave_it(said):
    with pytest.raises(ParameterError, match=r"^ask(\(rows\))? = "):
        DatabaseCopies(ask=lambda _: said)(VISITS, 2)


@pytest.mark.parametrize(("name", "value"), [("ask", 3), ("copy", None), ("unit", 3), ("at_once", 1.5)])
def test_copies_are_made_of_a_function_and_names(name, value):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        DatabaseCopies(**{"ask": print, name: value})
