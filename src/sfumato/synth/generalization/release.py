"""`generalized_table`: from a query to cells of generalized values with noisy counts of classes, for one cost."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, of_kind, whole
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.kinds import TIMES
from sfumato.query.python.frame import Frame
from sfumato.session.asking.question import Question
from sfumato.session.asking.training_set import MarginalSet
from sfumato.session.asking.view import View
from sfumato.session.training.attributes import Attribute, Binning
from sfumato.synth.generalization.hierarchies import Declared, hierarchy_of
from sfumato.synth.generalization.plan import GeneralizationPlan
from sfumato.synth.generalization.table import GeneralizedTable

MOST_CELLS: Final = 1 << 20
"""How many cells there are, at most."""

MOST_STEPS: Final = 1_000
"""How many groups are specialized, at most."""

MOST_SUMS: Final = 1 << 25
"""How many sums scores are made of, at most: half a GiB of them while one specialization is chosen."""


def generalized_table(
    session: View,
    query: str | Frame[Question],
    *,
    target: str,
    epsilon: Number,
    hierarchies: Mapping[str, Declared] | None = None,
    bins: Mapping[str, Binning] | None = None,
    steps: int = 10,
    most_cells: int = 1_000,
    idempotency_key: str | None = None,
) -> GeneralizedTable:
    """A table for classification: cells of generalized values, each with noisy counts of the classes [MCFY11].

    1. At first each attribute has one group, of all of its values.
    2. One group after the other is specialized, along its hierarchy, or between two bins of a number. Each is chosen
       by the exponential mechanism. Its score is how many rows then have the most frequent class of their cell.
    3. All cells are counted with discrete Laplace noise: each combination of groups and each class, empty or not.

    Half of ε is for all choices together, and half for the counts. Where no group is left to specialize, or each would
    make too many cells, fewer are chosen, at the same cost. The same call again returns what is stored.

    **Guarantee**: ε-differential privacy for the units and the relation of the session, for all that is returned and
    all that is made of it. It is charged before a row is read. Proof: proofs/synth/generalization/plan.md.

    ============================================  ====================================================
    Edge case                                     Behavior
    ============================================  ====================================================
    a missing value, or one that is not listed    missing: a group of its own, or where None is declared
    a number or a date beyond its bounds          it lies in the first or the last bin
    a class that is missing or not listed         the row is not counted
    an empty table                                random choices, and noise alone
    a column without bounds or listed values      UnboundedSensitivityError; nothing is charged
    ============================================  ====================================================

    Args:
        session: A session, or an account or part of it.
        query: A SELECT of rows, or a frame: the attributes and the class.
        target: The column of the class; it has at least two listed values.
        epsilon: ε of the whole.
        hierarchies: For categories the groups of their values: names of groups, each with its own groups or a list of
            values, such as ``{"pet": {"mammal": ["cat", "dog"], "bird": ["owl"]}}``. They must not follow from the data
            that is protected. A category that is left out has each value as a group.
        bins: How numbers and dates are cut; see `session.marginals`. They are split between two bins alone.
        steps: How many groups are specialized, from 1 to 1,000.
        most_cells: How many cells there are at most, from 1 to 2^20. Each has noise: more cells need more rows.
        idempotency_key: As for `Question.release`.

    Raises:
        ParameterError: An argument cannot be used; nothing was charged.
        BudgetExceededError: Too little budget remains; nothing was spent.

    Example:
        >>> import sfumato as sf
        >>> people = sf.open(
        ...     sf.datasets.people(5_000), name="people", budget=sf.PureDP(1),
        ...     columns={"age": sf.integer(17, 90), "education": sf.text(values=["HS-grad", "Bachelors", "Masters"]),
        ...              "income": sf.text(values=["<=50K", ">50K"])},
        ... )
        >>> table = generalized_table(
        ...     people, "SELECT age, education, income FROM people", target="income", epsilon=1, bins={"age": 10},
        ...     hierarchies={"education": {"school": ["HS-grad"], "college": ["Bachelors", "Masters"]}}, steps=3,
        ... )
        >>> table.to_arrow().column_names, table.rows(3, seed=1).num_rows, str(people.spent)
        (['age', 'education', 'income', 'count'], 3, 'ε 1')

    References:
        [MCFY11]; [MT07] for the choices; [GRS09] for the noise.
    """
    view = of_kind(session, "session", View, "a session: sf.open(…) or sf.Session(…)")
    charge = PureDP(positive(epsilon, "epsilon"))
    marginals = view.marginals(query, bins=bins)
    columns, classes = _columns(marginals, target)
    given = {} if hierarchies is None else of_kind(hierarchies, "hierarchies", Mapping, "groups by column")
    unknown = [name for name in given if not is_one_of(name, [one.name for one in columns])]
    if unknown:
        raise ParameterError("hierarchies", unknown[0], "must be of columns of the query other than the class")
    cells = whole(most_cells, "most_cells", least=1, most=MOST_CELLS)
    if sum(one.size for one in columns) * cells * len(classes.values or ()) > MOST_SUMS:
        requirement = f"makes more than {MOST_SUMS:,} sums of cells, values and classes; state less, or fewer bins"
        raise ParameterError("most_cells", cells, requirement)
    plan = GeneralizationPlan(
        query=marginals.query, relation=marginals.neighboring_relation, charge=charge, target=classes.name,
        columns=tuple(one.name for one in columns), most_cells=cells,
        hierarchies=tuple(hierarchy_of(one, given.get(one.name)) for one in columns),
        steps=whole(steps, "steps", least=1, most=MOST_STEPS),
    )  # fmt: skip
    found = marginals.fit(plan, idempotency_key=idempotency_key)
    grid = plan.start.replayed(found.model["choices"], most_cells=cells)
    groups = {
        one.name: tuple(group.label for group in own) for one, own in zip(columns, grid.groups, strict=True)
    }  # fmt: skip
    return GeneralizedTable(
        target=classes.name, classes=classes.values or (), groups=MappingProxyType(groups), grid=grid,
        noisy=np.reshape(np.array(found.model["counts"], dtype=np.int64), (grid.cells, -1)), attributes=columns,
        scale=float(plan.noise.scale), charge=charge, receipt=found.receipt, reused=found.reused,
    )  # fmt: skip


def _columns(marginals: MarginalSet, target: object) -> tuple[tuple[Attribute, ...], Attribute]:
    """The attributes, and the class."""
    own = {one.name: one for one in marginals.attributes}
    if not is_one_of(target, own):
        raise ParameterError("target", target, f"must be one of: {', '.join(own)}")
    classes = own.pop(str(target))
    if classes.values is None or classes.kind in TIMES or len(classes.values) < 2:  # noqa: PLR2004 # to tell apart
        raise ParameterError("target", target, "must have at least two listed values, or be true and false")
    if not own:
        raise ParameterError("query", "one column", "must have at least one column beside the class")
    return tuple(own.values()), classes
