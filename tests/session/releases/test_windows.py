"""Windows over the rows of an answer: as DuckDB computes them, and with the intervals that follow from their rows."""

import random
from fractions import Fraction
from itertools import pairwise

import duckdb
import pytest
from tests.query.planned import PEOPLE, N, ref, relation_of
from tests.session.desk import SURE, asked, desk, rows

from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.expressions import Call, Compare, Comparison, IsNull, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.questions import presented
from sfumato.query.planning.windows import OrderKey, RowsFrame, Window, WindowFunction, window_sql
from sfumato.query.printing.expression_sql import expression_sql
from sfumato.query.statistics.means import Sum
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import Released
from sfumato.session.releases.windows import rounded_up, windowed

CONFIDENCE = Fraction(95, 100)
A, B, PLACE = ref("a"), ref("b"), ref("place")
BY_PLACE, BY_VALUE = (OrderKey(PLACE),), (OrderKey(B, descending=True), OrderKey(PLACE))


def of(function, **more):
    return Window(function=function, **more)


WINDOWS = [
    of(WindowFunction.SUM, value=B),
    of(WindowFunction.SUM, value=B, order=BY_PLACE),
    of(WindowFunction.SUM, value=B, partition=(A,), order=BY_VALUE),
    of(WindowFunction.SUM, value=B, order=(OrderKey(A),)),
    of(WindowFunction.AVG, value=B, order=BY_PLACE, frame=RowsFrame(before=2, after=1)),
    of(WindowFunction.SUM, value=B, order=BY_PLACE, frame=RowsFrame(before=0, after=None)),
    of(WindowFunction.COUNT, partition=(A,)),
    of(WindowFunction.COUNT, value=B, order=(OrderKey(A),)),
    of(WindowFunction.MIN, value=B, order=BY_PLACE),
    of(WindowFunction.MAX, value=B, order=BY_PLACE, frame=RowsFrame(before=0, after=None)),
    of(WindowFunction.MAX, value=B, order=BY_PLACE, frame=RowsFrame(before=1, after=1)),
    of(WindowFunction.ROW_NUMBER, order=BY_VALUE),
    of(WindowFunction.RANK, order=(OrderKey(B),)),
    of(WindowFunction.RANK, order=(OrderKey(IsNull(B), descending=True), OrderKey(B))),
    of(WindowFunction.DENSE_RANK, partition=(A,), order=(OrderKey(B, descending=True),)),
    of(WindowFunction.PERCENT_RANK, order=(OrderKey(B),)),
    of(WindowFunction.CUME_DIST, order=(OrderKey(B),)),
    of(WindowFunction.NTILE, number=4, order=BY_PLACE),
    of(WindowFunction.NTILE, number=50, order=BY_PLACE),
    of(WindowFunction.LAG, value=B, number=2, default=Literal(Fraction(-1)), order=BY_PLACE),
    of(WindowFunction.LEAD, value=B, partition=(A,), order=BY_PLACE),
    of(WindowFunction.FIRST_VALUE, value=B, partition=(A,), order=BY_PLACE),
    of(WindowFunction.LAST_VALUE, value=B, order=(OrderKey(A),)),
]


def drawn(seed):
    draw = random.Random(seed)  # noqa: S311 # rows of a test
    return [(draw.choice("xyz"), draw.choice([None, 1, 2, 3, 5]), place) for place in range(draw.randrange(12))]


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: window_sql(window, expression_sql))
def test_a_window_is_what_a_database_makes_of_it(window):
    for seed in range(8):
        data = drawn(seed)
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t (a VARCHAR, b BIGINT, place BIGINT)")
        if data:
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", data)
        sql = f"SELECT {_in_duckdb(window)} FROM t ORDER BY place"
        columns = {"a": [row[0] for row in data], "b": [row[1] for row in data], "place": [row[2] for row in data]}
        found = windowed(
            window, len(data), lambda expression, columns=columns, data=data: _read(expression, columns, data)
        )
        assert [one.value for one in found] == [row[0] for row in connection.execute(sql).fetchall()]


def _read(expression, columns, data):
    match expression:
        case IsNull(inner):
            return [value is None for value in columns[inner.name]]
        case Literal(value):
            return [int(value)] * len(data)
        case _:
            return columns[expression.name]


def _in_duckdb(window):
    """NULL counts as largest, as in PostgreSQL; rows that are equal by the order stay as they are."""
    return window_sql(window, expression_sql).replace(" DESC", " DESC NULLS FIRST")


def test_rows_are_rounded_up_to_few_numbers():
    counts = range(1, 5_000)
    assert all(count <= rounded_up(count) <= count * 33 / 32 for count in counts)
    assert all(rounded_up(first) <= rounded_up(second) for first, second in pairwise(counts))
    assert len({rounded_up(count) for count in counts}) < 300


DATA = rows(
    PEOPLE, *[{"sex": "f", "smokes": True, "age": 30}] * 3, *[{"sex": "m", "smokes": True, "age": 40}] * 5,
    *[{"sex": "m", "smokes": False, "age": 50}] * 2,
)  # fmt: skip
TOTAL = ("total", of(WindowFunction.SUM, value=ref("n")))
SHARE = ("share", Call(Function.DIVIDE, (Call(Function.MULTIPLY, (Literal(Fraction(100)), ref("n"))), ref("total"))))
KEYS = ("sex", "smokes")
KEY_COLUMNS = tuple((key, ref(key)) for key in KEYS)


def answer(*statistics, epsilon=SURE, **clauses):
    return asked(desk((PEOPLE, DATA)), PEOPLE, statistics=statistics, **clauses).release(epsilon=epsilon)


def shown(*statistics, **options):
    release = answer(*statistics, **options)
    return [(*group, *(e.value for e in own)) for group, own in zip(release.groups, release.estimates, strict=True)]


def test_a_percentage_of_the_total():
    found = shown(N, keys=("sex",), windows=(TOTAL,), columns=(("sex", ref("sex")), SHARE))
    assert found == [("f", 30.0), ("m", 70.0)]


def test_windows_are_of_the_rows_that_having_leaves_and_are_computed_before_limit():
    having = Compare(Comparison.GREATER, ref("n"), Literal(Fraction(1)))
    columns = (*KEY_COLUMNS, ("t", ref("total")))
    order = (OrderKey(ref("n"), descending=True),)
    found = shown(N, keys=KEYS, windows=(TOTAL,), columns=columns, having=having, order=order, limit=1)
    assert found == [("m", True, 10.0)]


def test_rows_are_sorted_by_a_window():
    rank = ("r", of(WindowFunction.RANK, order=(OrderKey(ref("n"), descending=True),)))
    columns = (*KEY_COLUMNS, ("r", ref("r")))
    found = shown(N, keys=KEYS, windows=(rank,), columns=columns, order=(OrderKey(ref("r")),))
    assert found == [("m", True, 1), ("f", True, 2), ("m", False, 3), ("f", False, 4)]


def test_each_window_has_its_kind_whatever_is_released():
    lag = ("lag", of(WindowFunction.LAG, value=ref("n"), order=(OrderKey(ref("sex")),)))
    columns = (("sex", ref("sex")), ("t", ref("total")), ("l", ref("lag")))
    release = answer(N, keys=("sex",), windows=(TOTAL, lag), columns=columns)
    assert release.kinds == (Kind.TEXT, Kind.FLOAT, Kind.INTEGER)
    assert [e.value for e in release["l"]] == [None, 3]


def with_measured(counts, *, windows, columns, keys=("sex",), epsilon="0.5", **clauses):
    """What is shown of made-up counts, one for each group."""
    made = presented(relation_of(PEOPLE), statistics=(N,), keys=keys, windows=windows, columns=columns, **clauses)
    plan = compile_plan(made.child, guarantee(epsilon), neighboring_relation=ADD_OR_REMOVE_ONE)
    groups = [("f",), ("m",)] if keys == ("sex",) else [(sex, smokes) for sex in "fm" for smokes in (False, True)]
    released = Released(groups=tuple(groups), measured=(tuple((count,) for count in counts),))
    return present(made, plan, [released], CONFIDENCE).estimates


def test_the_interval_of_a_sum_is_that_of_the_noise_of_its_parts():
    columns = (*KEY_COLUMNS, ("n", ref("n")), ("t", ref("total")))
    found = with_measured([100, 200, 300, 400], windows=(TOTAL,), columns=columns, keys=KEYS)
    one, total = found[0]
    assert total.value == 1000.0
    assert one.half_width < total.half_width < 2.8 * one.half_width  # of four independent ones, about twice
    assert all(row[1] == total for row in found)


def test_a_running_sum_grows_less_certain():
    running = ("r", of(WindowFunction.SUM, value=ref("n"), order=(OrderKey(ref("sex")), OrderKey(ref("smokes")))))
    columns = (*KEY_COLUMNS, ("r", ref("r")))
    found = [row[0] for row in with_measured([10, 20, 30, 40], windows=(running,), columns=columns, keys=KEYS)]
    assert [one.value for one in found] == [10.0, 30.0, 60.0, 100.0]
    assert [one.half_width for one in found] == sorted({one.half_width for one in found})


def test_a_share_has_an_interval_that_holds_both_parts():
    columns = (("sex", ref("sex")), SHARE, ("total", ref("total")))
    ((share, total), _) = with_measured([1000, 3000], windows=(TOTAL,), columns=columns)
    assert share.value == 25.0
    assert share.low < 25 < share.high
    assert share.high - share.low > 2 * 25 * total.half_width / 4000


def test_a_value_from_another_row_has_the_interval_there():
    lag = ("lag", of(WindowFunction.LAG, value=ref("n"), order=(OrderKey(ref("sex")),)))
    columns = (("sex", ref("sex")), ("n", ref("n")), ("lag", ref("lag")))
    (first, _), (_, second) = with_measured([100, 200], windows=(lag,), columns=columns)
    assert second == first


def test_where_released_numbers_say_which_rows_the_interval_is_unknown():
    by_count = (OrderKey(ref("n"), descending=True),)
    windows = (
        ("rank", of(WindowFunction.RANK, order=by_count)),
        ("running", of(WindowFunction.SUM, value=ref("n"), order=by_count)),
        ("most", of(WindowFunction.MAX, value=ref("n"))),
    )
    columns = (("sex", ref("sex")), *((name, ref(name)) for name, _ in windows))
    for row in with_measured([100, 200], windows=windows, columns=columns):
        assert all(one.value is not None and one.low is None and one.high is None for one in row)


def test_a_rank_by_keys_is_certain():
    place = ("place", of(WindowFunction.ROW_NUMBER, order=(OrderKey(ref("sex")),)))
    columns = (("sex", ref("sex")), ("place", ref("place")))
    found = [one for (one,) in with_measured([5, 6], windows=(place,), columns=columns)]
    assert [(one.value, one.low, one.high) for one in found] == [(1, 1, 1), (2, 2, 2)]


def test_of_nothing_released_a_window_is_nothing():
    release = answer(N, keys=("sex",), windows=(TOTAL,), columns=(("sex", ref("sex")), ("t", ref("total"))), epsilon=0)
    assert [e.value for e in release["t"]] == [None, None]


def test_a_sum_over_grouping_sets_has_an_unknown_interval():
    sets = (("sex",), ())
    release = answer(
        N, keys=("sex",), sets=sets, windows=(TOTAL,), columns=(("sex", ref("sex")), ("t", ref("total"))), epsilon=1
    )
    assert len(release) == 3
    assert all(e.low is None and e.high is None for e in release["t"])


def test_a_sum_of_what_is_no_noisy_number_has_an_unknown_interval():
    mean = ("m", of(WindowFunction.AVG, value=Call(Function.SQRT, (ref("s"),))))
    release = answer(
        ("s", Sum(ref("age"))),
        keys=("sex",),
        windows=(mean,),
        columns=(("sex", ref("sex")), ("m", ref("m"))),
        epsilon=9,
    )
    assert all(e.low is None and e.high is None for e in release["m"])
