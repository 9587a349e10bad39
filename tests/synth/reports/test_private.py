"""The private report: sensitivities by brute force, one charge, intervals that hold, and an audit of the whole."""

from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from tests.synth.methods.small import ROWS, session_of, table_of

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.marginals import marginal_query
from sfumato.synth.reports import private
from sfumato.synth.reports.exact.distances import groups_of, total_variation
from sfumato.synth.reports.private import MEASURES, DistanceFit, private_report
from sfumato.synth.reports.rows import coded, counted

QUERY = "SELECT age, ill, sex FROM people"
MADE = [(0, True, "f")] * 3 + [(2, False, "m")] * 2 + [(None, None, None), (1, True, "m")]


class Silent:
    """Noise that adds nothing, and keeps what it saw."""

    event = sf.mechanisms.Laplace(l1_sensitivity=1, epsilon=1).event

    def release(self, exact):
        return exact.open_for_noise()


class Table:
    """Exact marginals of rows, counted once each; that a session counts the same is tested with rows."""

    def __init__(self, fit, rows):
        self.sizes = {one.name: one.size for one in fit.query.attributes}
        self.rows, self.found = coded(table_of(rows), fit.query.attributes, "rows"), {}

    def counts(self, names):
        if names not in self.found:
            self.found[names] = counted(self.rows, self.sizes, names)
        return Secret(self.found[names])

    def each(self, groups):
        return ((names, self.counts(names)) for names in groups)


def fit_of(*, relation=ADD_OR_REMOVE_ONE, made=MADE, total=None, epsilon=1, names="age, ill, sex"):
    query = marginal_query(parse_view(f"SELECT {names} FROM people", session_of()._tables))
    rows = coded(table_of(made), query.attributes, "synthetic")
    return DistanceFit(query=query, relation=relation, rows=rows, charge=sf.PureDP(epsilon), total=total)


def exact(fit, rows, *, total):
    """The whole numbers to which noise is added, for a number of rows that is known."""
    known = copy(fit)
    object.__setattr__(known, "total", total)
    object.__setattr__(known, "noises", (Silent(),) * len(known.measures))
    return known.release(Table(fit, rows))["distances"]


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE], ids=str)
def test_no_row_moves_a_measure_further_than_its_noise_is_made_for(relation):
    """Over neighbors that differ in any row, for numbers of rows around the true one; bounds are reached."""
    fit = fit_of(relation=relation)
    limits = [int(noise.l1_sensitivity) for noise in fit.noises]
    every = list(product((0, 1, 2, None), (True, False, None), ("f", "m", None)))
    furthest = [0] * len(MEASURES)
    for rest in ([], ROWS[38:43]):
        for total in (1, len(rest) + 1):
            others = [exact(fit, [*rest, row], total=total) for row in every]
            base = exact(fit, rest, total=total)
            for here, there in combinations(others, 2) if relation is REPLACE_ONE else product([base], others):
                moved = [abs(one - two) for one, two in zip(here, there, strict=True)]
                assert all(one <= limit for one, limit in zip(moved, limits[1:], strict=True))
                furthest = [max(one, two) for one, two in zip(furthest, moved, strict=True)]
    assert furthest == limits[1:]


def test_no_unit_of_several_rows_moves_a_measure_further_than_its_noise_is_made_for():
    """A session keeps two rows of each unit; without any one of them measures are as near as noise is made for."""
    rows = [("ann", 0, "f"), ("ann", 1, "f"), ("ann", 2, "m"), ("bob", 0, "m"), ("eve", 2, "f"), ("eve", 2, "f")]
    columns = {"who": sf.text(), "age": sf.integer(0, 2), "sex": sf.text(values=["f", "m"])}

    def measures(kept, total):
        table = pa.table([list(one) for one in zip(*kept, strict=True)], names=list(columns))
        session = sf.open(
            table, name="people", columns=columns, unit="who", limits=sf.Limits(max_rows_per_unit=2),
            budget=sf.PureDP(1), engine="reference",
        )  # fmt: skip
        query = session.marginals("SELECT age, sex FROM people").query
        made = coded(pa.table({"age": [0, 1], "sex": ["m", None]}), query.attributes, "made")
        fit = DistanceFit(
            query=query, relation=ADD_OR_REMOVE_ONE, rows=made, charge=sf.PureDP(1), total=total
        )  # fmt: skip
        limits = [int(noise.l1_sensitivity) for noise in fit.noises]
        object.__setattr__(fit, "noises", (Silent(),) * len(fit.measures))
        run = query.read(lambda statement: session.desk.engine.run(statement, salt="00" * 16))
        return fit.release(run)["distances"], limits

    furthest = [0, 0, 0]
    for total in (1, 5):
        every, limits = measures(rows, total)
        assert limits == [8, 4, 4]
        for unit in ("ann", "bob", "eve"):
            without, _ = measures([row for row in rows if row[0] != unit], total)
            moved = [abs(one - two) for one, two in zip(every, without, strict=True)]
            furthest = [max(one, two) for one, two in zip(furthest, moved, strict=True)]
    assert all(0 < one <= limit for one, limit in zip(furthest, limits, strict=True))


def test_sensitivities_are_those_of_each_group_times_synthetic_rows():
    relations = ADD_OR_REMOVE_ONE, REPLACE_ONE
    add, swap = ([int(one.l1_sensitivity) for one in fit_of(relation=own).noises] for own in relations)
    assert add == [1, 3 * len(MADE), len(MADE), 3 * len(MADE), len(MADE)]
    assert swap == [2, 6 * len(MADE), 2 * len(MADE), 6 * len(MADE), 2 * len(MADE)]


def test_exact_measures_are_sums_and_largest_ones_of_distances():
    fit = fit_of()
    real = coded(table_of(ROWS), fit.query.attributes, "real")
    sizes = {one.name: one.size for one in fit.query.attributes}
    scale, found = 2 * len(MADE) * len(ROWS), exact(fit, ROWS, total=len(ROWS))
    for (size, is_largest), number in zip(MEASURES, found, strict=True):
        far = [total_variation(real, fit.rows, sizes, group) for group in groups_of(fit.names, size, seed=0)]
        assert number == pytest.approx(scale * (max(far) if is_largest else sum(far)))
    assert exact(replace(fit, rows=real), ROWS, total=len(ROWS)) == [0, 0, 0, 0]


def test_large_counts_are_added_up_without_overflow():
    fit = fit_of()
    counts = np.zeros(4, dtype=np.int64)
    counts[0] = 1 << 62
    wide = replace(fit, rows={name: np.repeat(column, 1 << 17) for name, column in fit.rows.items()})
    assert wide.apart(counts, ("age",), 5) >= (1 << 42) * wide.made - 5 * wide.made
    assert fit.apart(np.array([1, 0, 0, 0]), ("age",), 1 << 42) == abs(7 - 3 * (1 << 42)) + 4 * (1 << 42)


def test_shares_of_the_cost_add_up_to_what_is_charged():
    for total, answers in ((None, 5), (90, 4)):
        fit = fit_of(total=total, epsilon=2)
        assert len(fit.noises) == len(fit.event.events) == answers
        assert sum(noise.epsilon for noise in fit.noises) == 2
        assert sum(noise.l1_sensitivity / noise.scale for noise in fit.noises) <= 2


def test_a_report_is_charged_once_stored_and_covers_the_truth():
    """The noise on a mean is about 0.0004 here, so that 0.03 is missed with a probability below 1e-9."""
    session = session_of(ROWS * 30)
    marginals = session.marginals(QUERY)
    found = private_report(marginals, table_of(MADE), epsilon=4)
    assert (str(session.spent), found.charge) == ("ε 4", sf.PureDP(4))
    again = private_report(session.marginals(QUERY), table_of(MADE), epsilon=4)
    assert (again.reused, again.distances, str(session.spent)) == (True, found.distances, "ε 4")
    assert not private_report(marginals, table_of([*MADE[1:], MADE[1]]), epsilon=4).reused
    assert found.receipt.question == f"private report on synthetic data of: {QUERY}"
    real = coded(table_of(ROWS), marginals.attributes, "real")
    made = coded(table_of(MADE), marginals.attributes, "made")
    sizes = {one.name: one.size for one in marginals.attributes}
    for size in (1, 2):
        far = [total_variation(real, made, sizes, group) for group in groups_of(list(sizes), size, seed=0)]
        for one, truth in ((found.mean(size), np.mean(far)), (found.largest(size), max(far))):
            assert 0 <= one.low <= one.value <= one.high <= 1
            assert one.high - one.low < 0.05
            assert abs(one.value - truth) < 0.03
    assert abs(found.total - 30 * len(ROWS)) < 60
    assert f"mean of pairs of columns     {found.mean(2).value:.4f}, 95% interval" in repr(found)
    with pytest.raises(ParameterError):
        found.mean(3)
    with pytest.raises(BudgetExceededError):
        private_report(marginals, table_of(MADE), epsilon=9)


@pytest.mark.parametrize("total", [None, 200])
def test_intervals_have_the_distance_while_noise_is_within_its_accuracy(total):
    """Equal tables are 0 apart, and the worst noise moves an interval right up to that."""
    fit = fit_of(made=MADE[:1], total=total, epsilon=3)
    miss = Fraction(1, 20) if total else Fraction(1, 40)
    widths = [noise.accuracy(1 - miss) for noise in fit.noises]
    off = 0 if total else widths.pop(0)
    lows = []
    for rows in (200 - off, 200 + off):
        exacts = exact(fit, MADE[:1] * 200, total=rows)
        for sign in (-1, 1):
            numbers = [one + sign * width for one, width in zip(exacts, widths, strict=True)]
            found = fit.distances({"total": rows, "distances": numbers})
            assert all(one.low == 0 for one in found)
            lows += [one.value - one.high for one in found]
    assert min(lows) < 0


@pytest.mark.statistical
@pytest.mark.parametrize("total", [None, len(ROWS)])
def test_intervals_have_the_distance_with_their_confidence(total):
    """400 reports: 55 misses, where there are 20 at most on average, have a probability below 1e-6."""
    fit = fit_of(total=total, epsilon=2)
    truth = [
        Fraction(one, 2 * len(MADE) * len(ROWS) * (1 if is_largest else 3))
        for one, (_, is_largest) in zip(exact(fit, ROWS, total=len(ROWS)), MEASURES, strict=True)
    ]
    given = Table(fit, ROWS)
    missed = [0] * len(truth)
    for _ in range(400):
        for place, one in enumerate(fit.distances(fit.release(given))):
            missed[place] += not one.low <= truth[place] <= one.high
    assert max(missed) < 55


@pytest.mark.statistical
def test_an_audit_refutes_a_smaller_cost_and_not_the_cost():
    """Type-I error 1e-6 each; the neighbor lacks the row that is furthest from synthetic ones."""
    fit = fit_of(made=[(0, True, "f")], total=1, epsilon=2, names="sex")
    given = {rows: Table(fit, list(rows)) for rows in (((2, False, "m"),), ())}

    def run(rows, count):
        return [fit.release(given[rows])["distances"][0] for _ in range(count)]

    pairs = [(((2, False, "m"),), ())]
    assert not audit(run, pairs, epsilon=2, samples=500).is_refuted
    assert audit(run, pairs, epsilon="0.25", samples=600).is_refuted


def test_the_number_of_rows_has_noise_too():
    """Noise of scale 5 on each: 30 equal ones have a probability below 1e-30."""
    fit = fit_of()
    given = Table(fit, ROWS)
    assert len({fit.release(given)["total"] for _ in range(30)}) > 1


def test_an_empty_table_one_column_and_made_rows_are_answered():
    session = session_of([])
    empty = private_report(session.marginals(QUERY), table_of(MADE), epsilon=1)
    assert empty.total >= 1
    assert all(0 <= one.low <= one.high <= 1 for one in empty.distances)
    alone = private_report(session.marginals("SELECT sex FROM people"), table_of(MADE), epsilon=1)
    assert [(one.columns, one.is_largest) for one in alone.distances] == [(1, False)]
    two = private_report(session.marginals("SELECT sex, age FROM people"), table_of(MADE), epsilon=1, total=7)
    assert [(one.columns, one.is_largest) for one in two.distances] == [(1, False), (1, True), (2, False)]
    assert two.total == 7
    made = sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6")
    assert private_report(session.marginals(QUERY), made, epsilon=1).mean(2).columns == 2
    with pytest.raises(ParameterError, match="columns and the bins"):
        private_report(session.marginals("SELECT age, sex FROM people"), made, epsilon=1)


@pytest.mark.parametrize(
    "changed",
    [{"marginals": "people"}, {"synthetic": 7}, {"synthetic": table_of([])}, {"synthetic": pa.table({"age": [1]})},
     {"epsilon": 0}, {"epsilon": "1e-30"}, {"total": 0}, {"total": 1 << 43}],
    ids=range(8),
)  # fmt: skip
def test_what_cannot_be_used_is_refused_before_anything_is_charged(changed):
    session = session_of()
    given = {"marginals": session.marginals(QUERY), "synthetic": table_of(MADE), "epsilon": 1} | changed
    with pytest.raises(ParameterError):
        private_report(**given)
    assert session.spent.epsilon == 0


@pytest.mark.parametrize(
    ("limit", "words"), [("MOST_ROWS", "rows"), ("MOST_ATTRIBUTES", "columns"), ("MOST_CELLS", "bins")]
)
def test_what_is_too_large_is_refused(limit, words, monkeypatch):
    monkeypatch.setattr(private, limit, 2)
    session = session_of()
    with pytest.raises(ParameterError, match=words):
        private_report(session.marginals(QUERY), table_of(MADE), epsilon=1)
    assert session.spent.epsilon == 0


def test_a_page_shows_intervals_and_what_they_cost(tmp_path):
    found = private_report(session_of().marginals(QUERY), table_of(MADE), epsilon=1)
    page = found.save(tmp_path / "report.html").read_text()
    for words in ("Private: with noise", "ε 1", "no guarantee of privacy", "<svg", f"{found.mean(2).value:.4f}"):
        assert words in page
    assert "EXACT" not in page
