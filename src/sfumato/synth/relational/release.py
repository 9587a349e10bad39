"""`synthesize_tables`: from two tables of the same units to made-up ones, for one cost."""

from collections.abc import Mapping, Sequence
from typing import Literal

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, listed, of_kind
from sfumato.numeric.rationals import Number, open_probability, positive
from sfumato.privacy.guarantees import ApproxDP
from sfumato.query.model.schema import Table
from sfumato.session.account import AccountView
from sfumato.session.asking.training_set import Fittable, MarginalSet
from sfumato.session.training.attributes import Binning
from sfumato.synth.methods.choosing import taken_method
from sfumato.synth.methods.plan import Method, SynthesisModel
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.shape import TableShape
from sfumato.synth.relational.plan import TablesPlan, TablesQuery
from sfumato.synth.relational.reading import TwoTables, unit_of
from sfumato.synth.relational.tables import SyntheticTables
from sfumato.synth.synthetic import Synthetic


def synthesize_tables(
    session: AccountView,
    parents: str,
    children: str,
    *,
    epsilon: Number,
    delta: Number,
    columns: Mapping[str, Sequence[str]] | None = None,
    method: Method | Literal["auto"] = "auto",
    bins: Mapping[str, Binning] | None = None,
    idempotency_key: str | None = None,
) -> SyntheticTables:
    """Made-up rows of two tables, such as people and their visits: who has how many, and what they depend on.

    1. Half of the cost is for parents: their columns, and how many children each has.
    2. Half is for children: their columns beside those of their parents.
    3. A model is fitted to each. A made-up parent has as many children as it says, and each of them is drawn for the
       columns of its parent. Keys are made up.

    A unit has no more children than the policy allows: others are left out at random, whatever the table has.

    **Guarantee**: (ε, δ)-differential privacy for the units and the relation of the session, where a unit is a parent
    with all of its children, for all that is returned and all rows ever drawn from it. It is charged once, before a row
    is read. Proof: proofs/synth/relational/plan.md.

    ============================================  ====================================================
    Edge case                                     Behavior
    ============================================  ====================================================
    a child without a parent                      it is not counted
    a parent without children                     it is counted, and there are made-up ones like it
    a unit with several parent rows               one of them counts
    an empty table                                noise alone; made-up rows mean nothing
    a column without bounds or listed values      UnboundedSensitivityError; nothing is charged
    ============================================  ====================================================

    Args:
        session: A session, or an account of it.
        parents: The table with one row for each unit: ``max_rows_per_unit`` of it is 1.
        children: The table with the rows of units: ``max_rows_per_unit`` of it is stated.
        epsilon: ε of the whole.
        delta: δ, above 0 and far below one over the number of units.
        columns: Which columns are made, by table; all but the unit, if a table is not named.
        method: How marginals are chosen, as for `synthesize`.
        bins: How columns are cut, such as ``{"people.age": 10}``; see `session.marginals`.
        idempotency_key: As for `Question.release`.

    Raises:
        ParameterError: An argument cannot be used; nothing was charged.
        UnboundedSensitivityError: Nothing bounds a column, or how many children a unit has.
        BudgetExceededError: Too little budget remains; nothing was spent.

    Example:
        >>> import pyarrow as pa, sfumato as sf
        >>> people = pa.table({"id": range(300), "age": [20 + number % 60 for number in range(300)]})
        >>> visits = pa.table({"id": [number % 300 for number in range(500)], "ward": ["A", "B"] * 250})
        >>> declared = {
        ...     "people": {"id": sf.integer(), "age": sf.integer(20, 79)},
        ...     "visits": {"id": sf.integer(), "ward": sf.text(values=["A", "B"])},
        ... }
        >>> policy = sf.Policy(
        ...     dataset="clinic", version="1", data_version="1", unit_name="person",
        ...     tables={
        ...         name: sf.Table(name=name, columns=declared[name], unit=sf.UnitColumn("id"),
        ...                        limits=sf.Limits(max_rows_per_unit=most))
        ...         for name, most in (("people", 1), ("visits", 3))
        ...     },
        ...     sources={"people": sf.SourceFacts(source=people), "visits": sf.SourceFacts(source=visits)},
        ... )
        >>> with sf.Session(policy, budget=sf.ApproxDP(2, "1e-6")) as clinic:
        ...     made = synthesize_tables(
        ...         clinic, "people", "visits", epsilon=2, delta="1e-6", bins={"people.age": 6}
        ...     )
        >>> rows = made.rows(100, seed=1)
        >>> rows["people"].column_names, rows["visits"].column_names
        (['id', 'age'], ['id', 'ward'])

    References:
        [MMS21], [MMSM22] for how marginals are chosen.
    """
    view = of_kind(session, "session", AccountView, "a session or an account, and no part of a partition")
    charge = ApproxDP(positive(epsilon, "epsilon"), open_probability(delta, "delta"))
    two = _two_tables(view, parents, children, columns)
    asked = _marginals(view, two, bins)
    methods = [
        taken_method(method, TableShape({one.name: one.size for one in read.attributes}), Stated()) for read in asked
    ]
    query = TablesQuery(parents=asked[0].query, children=asked[1].query)
    plan = TablesPlan(
        query=query, relation=asked[0].neighboring_relation, charge=charge,
        methods=(methods[0][0], methods[1][0]),
    )  # fmt: skip
    text = f"{two.parents.name} and their {two.children.name}"
    found = Fittable(query=query, text=text, desk=asked[0].desk, part=asked[0].part).fit(
        plan, idempotency_key=idempotency_key
    )
    made = [
        Synthetic(
            method=chosen, reason=reason, guarantee=charge, receipt=found.receipt, reused=found.reused,
            query=one.query, steps=found.model[part]["steps"],
            measured=tuple(tuple(group) for group, _, stddev, _ in found.model[part]["steps"] if stddev is not None),
            made=SynthesisModel.of(one.query, found.model[part]),
        )
        for part, one, (chosen, reason) in zip(("parents", "children"), asked, methods, strict=True)
    ]  # fmt: skip
    return SyntheticTables(
        parents=made[0], children=made[1], guarantee=charge, receipt=found.receipt, reused=found.reused, tables=two
    )


def _two_tables(
    view: AccountView, parents: str, children: str, columns: Mapping[str, Sequence[str]] | None
) -> TwoTables:  # fmt: skip
    """The tables that are named, with the columns that are made."""
    known = view.policy.tables
    for argument, name in (("parents", parents), ("children", children)):
        if not is_one_of(name, tuple(known)):
            raise ParameterError(argument, name, f"must be a table of the policy: {', '.join(known)}")
    if parents == children:
        raise ParameterError("children", children, "must be another table than that of parents")
    stated = {} if columns is None else of_kind(columns, "columns", Mapping, "names of columns, by table")
    other = [name for name in stated if not is_one_of(name, (parents, children))]
    if other:
        raise ParameterError("columns", other[0], f"must be of tables {parents} and {children}")
    return TwoTables(
        parents=known[parents], children=known[children],
        columns={name: _columns(known[name], stated.get(name)) for name in (parents, children)},
    )  # fmt: skip


def _columns(table: Table, stated: Sequence[str] | None) -> tuple[str, ...]:
    """Those that are stated, or all but the unit."""
    allowed = tuple(name for name in table.columns if name != unit_of(table))
    found = allowed if stated is None else tuple(listed(stated, "columns", of="names of columns"))
    for name in found:
        if not is_one_of(name, allowed):
            raise ParameterError(
                "columns", name, f"must be of table {table.name}, and not its unit: {', '.join(allowed)}"
            )
    if not found:
        raise ParameterError("columns", table.name, "must have at least one column that is made")
    return found


def _marginals(
    view: AccountView, two: TwoTables, bins: Mapping[str, Binning] | None
) -> tuple[MarginalSet, MarginalSet]:
    """The marginals of parents, and those of children, both with the columns of parents cut in the same way."""
    given = {} if bins is None else dict(of_kind(bins, "bins", Mapping, "columns, such as {'people.age': 10}"))
    own, other = ([*two.named(table).values()] for table in (two.parents, two.children))
    unknown = [name for name in given if not is_one_of(name, (*own, *other))]
    if unknown:
        raise ParameterError("bins", unknown[0], f"must be of columns: {', '.join([*own, *other])}")
    of_parents = {name: cut for name, cut in given.items() if name in own}
    return view.marginals(two.parents_sql(), bins=of_parents), view.marginals(two.children_sql(), bins=given)
