"""How an answer is shown: its columns, HAVING, ORDER BY, LIMIT. All of it reads released values, so it is free."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import repeat
from typing import Any, TypeAlias

from sfumato.privacy.formats import uncollected
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import ColumnRef, Expression, columns_of
from sfumato.query.model.facts import Facts
from sfumato.query.model.intervals import ANYTHING, Interval, place_of, point
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.schema import Key
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Presented, shown_facts
from sfumato.query.planning.windows import OrderKey
from sfumato.query.statistics.estimates import NOTHING, AnswerValue, Estimator, estimated, shared
from sfumato.query.statistics.measurements import FittedOutput, SumOutput, estimators
from sfumato.query.values.cells import Cell
from sfumato.query.values.evaluation import evaluate
from sfumato.session.releases.consistency import consistent_figures
from sfumato.session.releases.formulas import Part, formula_facts, intervals_of, linear_of, parts_of, reach_of_sum
from sfumato.session.releases.releasing import Released
from sfumato.session.releases.windows import Windowed, in_order, rounded_up, windowed

Values: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRows:
    """The rows of an answer: names and values of keys, names and estimates of statistics, and their kinds in order."""

    keys: tuple[str, ...]
    statistics: tuple[str, ...]
    kinds: tuple[Kind, ...]
    groups: tuple[Values, ...]
    estimates: tuple[tuple[AnswerValue, ...], ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """One row before it is shown: its keys by label, its place among the groups of a section, figures that add up."""

    keys: Mapping[str, Key | None]
    section: int
    group: int
    adding_up: Mapping[str, float]


@uncollected()
def present(
    question: Presented,
    plan: PrivatePlan,
    released: Sequence[Released],
    confidence: Fraction,
    *,
    size: int | None = None,
) -> AnswerRows:
    """The rows of an answer.

    Args:
        question: How it is to be shown.
        plan: What was released, section by section.
        released: The released numbers of each section.
        confidence: Of every interval.
        size: From how many values of a group others are presumed to be chosen, where no count of them was released.
    """
    table = _Table(question, plan, released, confidence, size)
    labels = question.child.child.labels or question.child.child.keys
    own = [output.name for output in plan.sections[0].outputs]
    columns = question.columns or tuple([(name, ColumnRef(name)) for name in (*labels, *own)])
    plain = [column for _, column in columns if isinstance(column, ColumnRef)]
    keys, statistics = list[tuple[str, Expression]](), list[tuple[str, Expression]]()
    for name, column in columns:
        whole = column if isinstance(column, ColumnRef) else table.over(column)
        (keys if columns_of(whole) <= set(labels) else statistics).append((name, whole))
    if _is_plain(question, plain, columns):
        groups, estimates = _as_released(question, plan, table, labels, plain)
    else:
        groups, estimates = _line_by_line(question, plan, table, [e for _, e in keys], [e for _, e in statistics])
    return AnswerRows(
        keys=tuple([name for name, _ in keys]), statistics=tuple([name for name, _ in statistics]),
        kinds=tuple([table.kind(e) for _, e in (*keys, *statistics)]), groups=groups, estimates=estimates,
    )  # fmt: skip


Rows: TypeAlias = tuple[tuple[Values, ...], tuple[tuple[AnswerValue, ...], ...]]
"""The groups of an answer and their estimates."""


def _is_plain(
    question: Presented, plain: Sequence[ColumnRef], columns: Sequence[tuple[str, Expression]]
) -> bool:  # fmt: skip
    """Whether an answer shows what was released, in its order, and makes nothing of it."""
    has_rules = question.having is not None or question.windows or question.order or question.consistent
    return not has_rules and len(plain) == len(columns)


def _as_released(
    question: Presented, plan: PrivatePlan, table: "_Table", labels: Sequence[str], columns: Sequence[ColumnRef]
) -> Rows:  # fmt: skip
    """What `_line_by_line` makes of a query that shows what was released, in its order, and makes nothing of it.

    It does so column by column, which is much faster for many groups.
    """
    label = dict(zip(question.child.child.keys, labels, strict=True))
    own = slice(question.offset, None if question.limit is None else question.offset + question.limit)
    groups: list[Values] = []
    estimates: list[tuple[AnswerValue, ...]] = []
    for place, section in enumerate(plan.sections):
        released = table.released[place].groups
        names, values = [label[key.name] for key in section.keys], zip(*released, strict=True)
        of_keys = dict(zip(names, values, strict=bool(released)))
        nothing = (None,) * len(released)
        groups += _rows([of_keys.get(one.name, nothing) for one in columns if one.name in labels], len(released))
        measured = [table.column(place, one.name) for one in columns if one.name not in labels]
        estimates += _rows(measured, len(released))
    return tuple(groups[own]), tuple(estimates[own])


def _rows(columns: Sequence[Sequence[Any]], count: int) -> Iterable[tuple[Any, ...]]:
    """Columns as so many rows, also if there is no column."""
    return zip(*columns, strict=True) if columns else repeat((), count)


def _line_by_line(
    question: Presented,
    plan: PrivatePlan,
    table: "_Table",
    keys: Sequence[Expression],
    statistics: Sequence[Expression],
) -> Rows:
    """The rows that a query asks for, in its order."""
    rows = _lines(question, plan, table.released)
    if question.having is not None:
        having = table.over(question.having)
        rows = [line for line in rows if evaluate(having, table.values(line, columns_of(having))) is True]
    table.look_through_windows(rows)
    for key in reversed(question.order):
        rows = _sorted(rows, table, key)
    rows = rows[question.offset :]
    rows = rows if question.limit is None else rows[: question.limit]
    groups = tuple(tuple(evaluate(e, line.keys) for e in keys) for line in rows)
    return groups, tuple(tuple(table.estimate(line, e) for e in statistics) for line in rows)


def _lines(question: Presented, plan: PrivatePlan, released: Sequence[Released]) -> list[_Line]:
    """The rows of all sections; keys that one does not group by are NULL."""
    of = question.child.child
    label = dict(zip(of.keys, of.labels or of.keys, strict=True))
    figures = consistent_figures(plan, released) if question.consistent else ({},) * len(released)
    lines = []
    for place, (section, own) in enumerate(zip(plan.sections, released, strict=True)):
        names = [label[key.name] for key in section.keys]
        for index, group in enumerate(own.groups):
            keys = {**dict.fromkeys(label.values()), **dict(zip(names, group, strict=True))}
            adding_up = {name: float(table[index]) for name, table in figures[place].items()}
            lines.append(_Line(keys, place, index, adding_up))
    return lines


class _Table:
    """Estimates of lines, at the confidence that the expression over them needs."""

    def __init__(
        self,
        question: Presented,
        plan: PrivatePlan,
        released: Sequence[Released],
        confidence: Fraction,
        size: int | None,
    ) -> None:
        self._plan, self.released, self._confidence, self._size = plan, released, confidence, size
        is_fitted = any(output.is_estimate for section in plan.sections for output in section.outputs)
        self._facts = shown_facts(question, is_fitted=is_fitted)
        self._windows = dict(question.windows)
        self._windowed: dict[str, Sequence[Windowed]] = {}
        self._lines: Sequence[_Line] = ()
        self._places: dict[tuple[int, int], int] = {}
        self._running: dict[tuple[str, int], Sequence[float]] = {}
        self._reaches: dict[tuple[str, int, int], Fraction | None] = {}
        self._estimators: dict[tuple[int, int], dict[str, Estimator]] = {}
        self._columns: dict[tuple[int, int, str], Sequence[AnswerValue]] = {}
        self._formulas: dict[tuple[int, Expression], tuple[Expression, dict[str, tuple[Expression, Part]]]] = {}
        self._found: dict[tuple[int, Part, int], Sequence[Interval]] = {}

    def look_through_windows(self, lines: Sequence[_Line]) -> None:
        """Compute all windows over the lines that are left, once they are known."""
        if not self._windows:
            return
        self._lines = lines
        self._places = {(line.section, line.group): place for place, line in enumerate(lines)}

        def read(expression: Expression) -> list[Cell]:
            whole = self.over(expression)
            names = columns_of(whole)
            return [evaluate(whole, self.values(line, names)) for line in lines]

        for name, window in self._windows.items():
            self._windowed[name] = windowed(window, len(lines), read)

    def over(self, expression: Expression) -> Expression:
        """An expression over answers as it is evaluated: one kind for all alternatives."""
        return unmixed(expression, self._facts)

    def kind(self, expression: Expression) -> Kind:
        """The kind of an expression over answers, whatever was released."""
        return facts_of(expression, self._facts).kind

    def values(self, line: _Line, names: frozenset[str]) -> dict[str, Cell]:
        """The keys of a line, and the point values of some of its columns."""
        return {**line.keys, **{name: self._one(line, name, 1).value for name in names - line.keys.keys()}}

    def estimate(self, line: _Line, expression: Expression, parts: int = 1) -> AnswerValue:
        """An expression over released values, with an interval that holds all that it is made of at once.

        Args:
            line: The row.
            expression: What is computed of it.
            parts: How many such intervals are to hold at once.
        """
        if isinstance(expression, ColumnRef):
            return self._one(line, expression.name, parts)
        names = columns_of(expression) - line.keys.keys()
        shown = {name: self._one(line, name, 1) for name in names}
        if NOTHING in shown.values():
            return NOTHING
        value = evaluate(expression, {**line.keys, **{name: one.value for name, one in shown.items()}})
        formula, cut = self._cut(line, expression)
        others = columns_of(formula) - line.keys.keys() - cut.keys()
        count = (len(others) + len(cut)) * parts
        known = {name: _of_key(self._facts[name], key) for name, key in line.keys.items()}
        known |= {name: _of_part(self._facts[name], _interval(self._one(line, name, count))) for name in others}
        for name, (inner, part) in cut.items():
            around = self._intervals(line.section, part, count)[line.group]
            known[name] = _of_part(facts_of(inner, self._facts), around)
        found = formula_facts(formula, known)
        around = found.interval if found.kind in NUMBERS else ANYTHING
        misranks = [one.misrank for one in shown.values() if one.misrank is not None]
        worst = max(misranks, key=lambda one: one.error, default=None)
        return estimated(value, around, is_whole=found.kind is Kind.INTEGER, misrank=worst)

    def _cut(self, line: _Line, expression: Expression) -> tuple[Expression, Mapping[str, tuple[Expression, Part]]]:
        """A formula and the parts of it that have intervals of their own; none where sums were made to add up."""
        place = line.section, expression
        if place not in self._formulas:
            outputs = self._plan.sections[line.section].outputs
            sums = {one.name: one for one in outputs if isinstance(one, SumOutput) and not line.adding_up}
            self._formulas[place] = parts_of(expression, sums, self._facts)
        return self._formulas[place]

    def _intervals(self, place: int, part: Part, count: int) -> Sequence[Interval]:
        """Where the true values of a part lie in all groups of a section, once they are asked for."""
        if (place, part, count) not in self._found:
            section, measured = self._plan.sections[place], self.released[place].measured
            rows = zip(*measured, strict=True)
            numbers = [{(m, c): n for m, row in enumerate(one) for c, n in enumerate(row)} for one in rows]
            failure = 1 - shared(self._confidence, count)
            found = intervals_of(part, numbers, section.noise, failure)
            self._found[place, part, count] = found
        return self._found[place, part, count]

    def _one(self, line: _Line, name: str, parts: int) -> AnswerValue:
        """One released column or window; made to add up, it may leave the interval of its noise, which then grows."""
        if name in self._windows:
            return self._of_window(line, name, parts)
        if name in line.keys:
            value = line.keys[name]
            return estimated(value, _of_key(self._facts[name], value).interval)
        found = self.column(line.section, name, parts)[line.group]
        if name not in line.adding_up or found == NOTHING:
            return found
        return estimated(line.adding_up[name], _interval(found))

    def _of_window(self, line: _Line, name: str, parts: int) -> AnswerValue:
        """A window, with the interval that follows from those of its rows where keys alone say which these are."""
        window, found = self._windows[name], self._windowed[name][self._places[line.section, line.group]]
        value = found.value
        if isinstance(value, int) and self._facts[name].kind is Kind.FLOAT and not isinstance(value, bool):
            value = float(value)
        names = frozenset().union(*map(columns_of, window.places))
        if value is None or not names <= line.keys.keys():
            return AnswerValue(value=value, low=None, high=None)
        if found.source is not None and window.value is not None:
            other = self.estimate(self._lines[found.source], self.over(window.value), parts)
            return estimated(value, _interval(other), is_whole=isinstance(value, int), misrank=other.misrank)
        running = self._of_running_sum(line, name, parts)
        if running is not None and isinstance(value, int | float):
            return estimated(value, Interval(Fraction(value) - running, Fraction(value) + running))
        if not found.summed:
            around = point(Fraction(value)) if window.value is None and isinstance(value, int | float) else ANYTHING
            return estimated(value, around, is_whole=isinstance(value, int))
        reach = self._reach(name, rounded_up(found.summed), parts)
        if reach is None or not isinstance(value, int | float):
            return AnswerValue(value=value, low=None, high=None)
        middle, reach = Fraction(value), reach / found.divisor
        return estimated(value, Interval(middle - reach, middle + reach))

    def _of_running_sum(self, line: _Line, window: str, parts: int) -> Fraction | None:
        """How far the noise may move a running sum that a workload answers; None if it is none of these."""
        section = self._plan.sections[line.section]
        for output in section.outputs:
            if isinstance(output, FittedOutput) and window in dict(output.running):
                if (window, parts) not in self._running:
                    apart = shared(self._confidence, parts)
                    self._running[window, parts] = output.reaches(section, apart, window)
                return Fraction(self._running[window, parts][line.group])
        return None

    def _reach(self, name: str, count: int, parts: int) -> Fraction | None:
        """How far the noise of so many rows may move the sum that a window is; None where that is unknown."""
        place = name, count, parts
        if place not in self._reaches:
            sections = {line.section for line in self._lines}
            value = self._windows[name].value
            self._reaches[place] = None
            if len(sections) == 1 and value is not None and not any(line.adding_up for line in self._lines):
                section = self._plan.sections[sections.pop()]
                outputs = {one.name: one for one in section.outputs if isinstance(one, SumOutput)}
                part = linear_of(value, outputs, self._facts)
                if part is not None:
                    failure = 1 - shared(self._confidence, parts)
                    self._reaches[place] = reach_of_sum(part, count, section.noise, failure)
        return self._reaches[place]

    def column(self, section: int, name: str, parts: int = 1) -> Sequence[AnswerValue]:
        """The estimates of all groups of a section, once they are asked for."""
        if (section, parts, name) not in self._columns:
            if (section, parts) not in self._estimators:
                own = self._plan.sections[section]
                made = estimators(own, shared(self._confidence, parts), size=self._size)
                names = [output.name for output in own.outputs]
                self._estimators[section, parts] = dict(zip(names, made, strict=True))
            estimate = self._estimators[section, parts][name]
            self._columns[section, parts, name] = estimate(self.released[section].measured)
        return self._columns[section, parts, name]


def _sorted(rows: list[_Line], table: _Table, key: OrderKey) -> list[_Line]:
    expression = table.over(key.value)
    names = columns_of(expression)
    values = [evaluate(expression, table.values(line, names)) for line in rows]
    return [rows[place] for place in in_order(range(len(rows)), key, values)]


def _interval(estimate: AnswerValue) -> Interval:
    ends = (end if isinstance(end, date | None) else Fraction(end) for end in (estimate.low, estimate.high))
    return Interval(*map(place_of, ends))


def _of_part(facts: Facts, interval: Interval) -> Facts:
    """What is known of the exact value of a part."""
    return replace(facts, interval=interval, values=None, nullable=False)


def _of_key(facts: Facts, key: Key | None) -> Facts:
    place = place_of(key)
    interval = ANYTHING if place is None else point(place)
    return replace(facts, interval=interval, values=None, nullable=key is None)
