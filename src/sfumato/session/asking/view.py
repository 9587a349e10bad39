"""Who is asked: a `View` of some tables about the same people, which may be a part of a `Partition`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from sfumato.errors import ParameterError, PolicyError, SfumatoError
from sfumato.ledger.core.entry import PartitionPart
from sfumato.noise.entropy import random_bytes
from sfumato.numeric.arguments import is_one_of, listed, of_kind
from sfumato.numeric.rationals import Number, exact, flag, positive_integer
from sfumato.privacy.neighbors import EachRow
from sfumato.query.model.relations import PeoplePart, Relation, Source
from sfumato.query.model.schema import Key, Limits, Table
from sfumato.query.planning.questions import Presented, with_intervals
from sfumato.query.policy.policy import Policy
from sfumato.query.printing.describe import described
from sfumato.query.python.frame import Frame
from sfumato.query.sql.options import Options, parse_options
from sfumato.query.sql.parsing import statements_of
from sfumato.query.sql.questions import parse_question, parse_view
from sfumato.session.asking.batch import Batch
from sfumato.session.asking.execution import Answering
from sfumato.session.asking.planning import charged_part
from sfumato.session.asking.question import Question
from sfumato.session.asking.training_set import BasketSet, MarginalSet, TrainingSet
from sfumato.session.releases.release import Release
from sfumato.session.training.attributes import Binning
from sfumato.session.training.baskets import basket_query
from sfumato.session.training.marginals import marginal_query
from sfumato.session.training.plan import training_query

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
"""The values of `$1`, `$2`, … in order, or of `:name` by name."""


class View:
    """Some tables about the same people, and the ways to query them.

    Args:
        desk: The session that answers.
        tables: The relation behind each name, of a table or of a view of the policy.
        part: The part of a partition that is read; None: all people.
    """

    def __init__(self, desk: Answering, tables: Mapping[str, Relation], part: PartitionPart | None = None) -> None:
        self._desk = desk
        self._tables = MappingProxyType(dict(tables))
        self._part = part

    def table(self, name: str | None = None) -> Frame[Question]:
        """A table or view to filter, join, group and aggregate in Python.

        Raises:
            ParameterError: An unknown table, or no name where there are several tables.
        """
        if name is None and len(self._tables) == 1:
            name = next(iter(self._tables))
        if name is None or not is_one_of(name, self._tables):
            raise ParameterError("table", name, f"must be one of: {', '.join(self._tables)}")
        return Frame(self._tables[name], self.question)

    def query(self, sql: str, *, parameters: Parameters = (), intervals: bool = False) -> Question:
        """A query from a SELECT statement, which is not answered yet; see its cost and error first.

        Args:
            sql: One statement; it may contain parameters, `$1` or `:name`.
            parameters: The values of parameters: a sequence, or a mapping by name.
            intervals: Whether quantiles get a 95% interval, for two thirds of the ε of each.

        Raises:
            ParameterError: The text does not parse, names something unknown, or states a cost, which belongs to `sql`
                and `release`; or `intervals` is set and it has no quantile.
            NotPrivateError: The statement cannot be answered privately.
        """
        options, body = parse_options(sql)
        for name, stated in (("epsilon", options.epsilon), ("delta", options.delta)):
            if stated is not None:
                raise ParameterError(name, str(stated), "belongs to `sql`; leave it out of the text of a query")
        return self._question(body, options, text=sql, parameters=parameters, intervals=intervals)

    def question(self, relation: Presented) -> Question:
        """A query that was built elsewhere, which is not answered yet."""
        return Question(relation=relation, text=described(relation), desk=self._desk, part=self._part)

    def sql(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        parameters: Parameters = (),
        intervals: bool = False,
    ) -> Release:
        """Answer a SELECT statement: `query(sql).release(...)`.

        Args:
            sql: One statement. It may also state the cost:
                ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) …``.
            epsilon: The total ε of the whole query; there is no default.
            delta: The total δ; default: 0.
            parameters: The values of `$1` or `:name`.
            intervals: Whether quantiles get a 95% interval, for two thirds of the ε of each.

        Raises:
            ParameterError: As for `query`; or the cost is missing, or stated twice with different values.
        """
        options, body = parse_options(sql)
        asked = self._question(body, options, text=sql, parameters=parameters, intervals=intervals)
        stated = _once("delta", delta, options.delta)
        return asked.release(epsilon=_once("epsilon", epsilon, options.epsilon), delta=0 if stated is None else stated)

    def queries(self, questions: str | Iterable[str | Question]) -> Batch:
        """Several queries to answer together, for one cost, which are not answered yet; see `Batch`.

        Args:
            questions: SELECT statements, or queries of this session, at least one; or a text with several statements,
                which semicolons separate.

        Raises:
            ParameterError: One does not parse or is of another session, or there is none.
            NotPrivateError: One cannot be answered privately.
        """
        asked = statements_of(questions) if isinstance(questions, str) else listed(questions, "questions", of="queries")
        return Batch([self.query(one) if isinstance(one, str) else one for one in asked])

    def batch(
        self, questions: str | Iterable[str | Question], *, epsilon: Number, delta: Number = 0
    ) -> tuple[Release, ...]:  # fmt: skip
        """Answer several queries together, for one cost: `queries(questions).release(...)`.

        Args:
            questions: As for `queries`.
            epsilon: The total ε of all queries together; there is no default.
            delta: The total δ.

        Raises:
            ParameterError: As for `queries`.
        """
        return self.queries(questions).release(epsilon=epsilon, delta=delta)

    def training_set(
        self, query: str | Frame[Question], *, target: str | None = None, classes: Sequence[Key] | None = None
    ) -> TrainingSet:
        """The rows of a query, for a model to be fitted to; no data is read and nothing is spent. See `TrainingSet`.

        Args:
            query: A SELECT of rows, or a frame. Numbers need bounds, other columns listed values.
            target: The column that is to be predicted; None if there is none.
            classes: The values of the target, if it is a category; None: those that the query lists.

        Raises:
            ParameterError: The text does not parse, or there is no such target.
            UnboundedSensitivityError: A column has neither bounds nor listed values.
        """
        relation, limits, text = self._rows(query)
        found = training_query(relation, target=target, classes=classes, limits=limits)
        return TrainingSet(query=found, text=text, desk=self._desk, part=self._part)

    def marginals(
        self, query: str | Frame[Question], *, bins: Mapping[str, Binning] | None = None
    ) -> MarginalSet:  # fmt: skip
        """The marginals of a query, for synthetic data; no data is read and nothing is spent. See `MarginalSet`.

        Args:
            query: A SELECT of rows, or a frame. Numbers and dates need bounds, other columns listed values.
            bins: How columns are cut: by name a number of bins, the edges of bins, or a calendar such as ``"week"``.
                Without it whole numbers with at most 128 values are not cut, others lie in 32 bins, dates in months.

        Raises:
            ParameterError: The text does not parse, or a column cannot be cut so.
            UnboundedSensitivityError: A column has neither bounds nor listed values.
        """
        relation, limits, text = self._rows(query)
        found = marginal_query(relation, bins=bins, limits=limits)
        return MarginalSet(query=found, text=text, desk=self._desk, part=self._part)

    def baskets(self, query: str | Frame[Question], *, item: str) -> BasketSet:
        """The baskets of a query, one for each unit, for set-valued data; no data is read, nothing is spent.

        Args:
            query: A SELECT of rows, or a frame: each row has one item of its unit. See `BasketSet`.
            item: The column of items, which has listed values.

        Raises:
            ParameterError: The text does not parse, or there is no such column.
            UnboundedSensitivityError: The column has no listed values.
            NotPrivateError: Each row is a unit, so that there are no baskets.
        """
        relation, _, text = self._rows(query)
        return BasketSet(query=basket_query(relation, item=item), text=text, desk=self._desk, part=self._part)

    def _rows(self, query: str | Frame[Question]) -> tuple[Relation, Limits | None, str]:
        """The rows of a query, narrower limits of a unit, and how people read it."""
        if isinstance(query, str):
            return parse_view(query, self._tables), None, query
        frame = of_kind(query, "query", Frame, "a SELECT of rows, or a frame")
        return frame.relation, frame.limits, f"rows of {', '.join(frame.shape.columns)}"

    def _question(
        self, body: str, options: Options, *, text: str, parameters: Parameters, intervals: bool = False
    ) -> Question:  # fmt: skip
        relation = parse_question(body, self._tables, parameters=parameters, options=options)
        if flag(intervals, "intervals"):
            relation = with_intervals(relation)
        # so that a receipt says what stood for `$1`, and what was bought
        shown = described(relation) if parameters or intervals else text
        return Question(relation=relation, text=shown, desk=self._desk, part=self._part)


def _once(name: str, argument: Number | None, option: Number | None) -> Number | None:
    """A number that is stated as an argument, or in the text, or in both and the same."""
    if argument is None or option is None:
        return option if argument is None else argument
    if exact(argument, name) != exact(option, name):
        raise ParameterError(name, argument, f"differs from the {option} in the text; state it once")
    return argument


class Partition(Mapping[Key, View]):
    """A table partitioned by public values of a column: each part is queried like a session, with the public tables.

    **Guarantee**: a unit is in at most k = `max_parts_per_unit` parts, because further ones are left out by a salted
    choice that all parts share. All answers together cost what the k most expensive parts cost
    (the 2k most expensive where a unit is replaced by another): parallel composition over people, not over rows.

    Args:
        desk: The session that answers.
        table: The table that is partitioned.
        by: The column whose values name the parts.
        values: The public values; rows with other values are in no part.
        max_parts_per_unit: The most parts in which one unit may have rows.

    Raises:
        ParameterError: An unknown column, values of another type, a public table, or more than one part where each
            row is a unit.

    References:
        [McS09] Theorem 4.
    """

    def __init__(
        self, desk: Answering, table: Table, *, by: str, values: tuple[Key, ...], max_parts_per_unit: int
    ) -> None:
        self._check(table, by, values, max_parts_per_unit)
        public: dict[str, Relation] = {
            other.name: Source(other) for other in desk.policy.tables.values() if other.is_public
        }
        first = PeoplePart(
            child=Source(table), by=by, values=values, value=values[0], max_parts_per_unit=max_parts_per_unit,
            salt=random_bytes(16).hex(),
        )  # fmt: skip
        self._views = MappingProxyType(
            {
                value: View(
                    desk,
                    public | {table.name: replace(first, value=value)},
                    charged_part(replace(first, value=value)),
                )
                for value in values
            }
        )

    def __getitem__(self, value: Key) -> View:
        if value not in self._views:
            raise ParameterError("part", value, f"must be one of: {', '.join(map(repr, self._views))}")
        return self._views[value]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    @staticmethod
    def _check(table: Table, by: str, values: tuple[Key, ...], max_parts_per_unit: int) -> None:
        positive_integer(max_parts_per_unit, "max_parts_per_unit")
        replace(table.column(by), values=values)  # the column's own checks: type, at least one, each once
        if table.is_public:
            raise ParameterError("table", table.name, "is public: it has no people to partition; filter it")
        if isinstance(table.unit, EachRow) and max_parts_per_unit != 1:
            raise ParameterError("max_parts_per_unit", max_parts_per_unit, "must be 1 where each row is a unit")


def relations_of(policy: Policy) -> Mapping[str, Relation]:
    """What each table and each view of a policy is called in queries.

    Raises:
        PolicyError: A view does not parse, or means nothing.
    """
    relations: dict[str, Relation] = {name: Source(table) for name, table in policy.tables.items()}
    for name, sql in policy.views.items():
        try:
            relations[name] = parse_view(sql, relations)
        except SfumatoError as error:
            raise PolicyError(f"views.{name}", str(error)) from None
    return relations
