"""`synthesize`: from a query to made-up rows, for one cost."""

from collections.abc import Mapping
from itertools import combinations
from typing import Final, Literal

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, open_probability, positive, positive_integer
from sfumato.privacy.guarantees import ApproxDP
from sfumato.query.python.frame import Frame
from sfumato.session.asking.question import Question
from sfumato.session.asking.training_set import MarginalSet
from sfumato.session.asking.view import View
from sfumato.session.training.attributes import Binning
from sfumato.session.training.marginals import MOST_CELLS, MarginalQuery
from sfumato.synth.methods.choosing import taken_method
from sfumato.synth.methods.measuring import Progress, tell, unheard
from sfumato.synth.methods.plan import Method, SynthesisModel, SynthesisPlan
from sfumato.synth.methods.stated import Impossible, Stated, Workload
from sfumato.synth.models.rows import MOST_ROWS
from sfumato.synth.models.shape import TableShape
from sfumato.synth.synthetic import Synthetic

MOST_ATTRIBUTES: Final = 100
"""So many columns have 4,950 pairs, of which each is counted."""

GRID: Final = 256
"""Bins of a number that is cut at quantiles, if nothing is said: an end of a part is the edge of one."""


def synthesize(
    session: View,
    query: str | Frame[Question],
    *,
    epsilon: Number,
    delta: Number,
    method: Method | Literal["auto"] = "auto",
    bins: Mapping[str, Binning] | None = None,
    workload: Workload | None = None,
    impossible: Impossible | None = None,
    quantiles: Mapping[str, int] | None = None,
    total: int | None = None,
    tree_limit: int | None = None,
    progress: Progress = unheard,
    idempotency_key: str | None = None,
) -> Synthetic:
    """Made-up rows with about the marginals of a query: what is measured is chosen, measured and fitted.

    1. Every column is measured, as counts of its values with noise.
    2. ``"mst"`` chooses privately the pairs of columns that depend on each other most, as a tree, and measures them.
       ``"aim"`` measures one group of up to three columns after the other, each where the model is worst by then.
       ``"mwem"`` does so with pairs, in rounds that cost the same. ``"privbayes"`` chooses for each column up to two
       earlier ones on which it depends, and measures them together.
    3. A graphical model is fitted to the noisy counts, and rows are drawn from it. That costs nothing more.

    Counts are made where the data is, and no row leaves it. The same call again returns what is stored.

    **Guarantee**: (ε, δ)-differential privacy for the units and the relation of the session, for all that is returned
    and all rows ever drawn from it. It is charged before a row is read. Proof: proofs/synth/methods/measuring.md.

    ============================================  ====================================================
    Edge case                                     Behavior
    ============================================  ====================================================
    a missing value, or one that is not listed    missing: it is a value, and made-up rows have it too
    a number or a date beyond its bounds          it lies in the first or the last bin
    an empty table                                noise alone; made-up rows are few and mean nothing
    a column without bounds or listed values      UnboundedSensitivityError; nothing is charged
    pairs with more than 2^27 combinations        ParameterError; nothing is charged
    a workload beyond memory, or of no method     ParameterError; nothing is charged
    all rows stated to be impossible              ParameterError; nothing is charged
    ============================================  ====================================================

    Args:
        session: A session, or an account or part of it.
        query: A SELECT of rows, or a frame, of at most 100 columns; of 30 for other methods than ``"mst"`` and
            ``"independent"``.
        epsilon: ε of the whole.
        delta: δ, above 0 and far below one over the number of units.
        method: ``"aim"``, ``"mst"``, ``"mwem"``, ``"privbayes"``, or ``"independent"`` for single columns alone.
            ``"auto"`` takes ``"aim"`` for up to 16 columns or where a workload is given, else ``"mst"``; what it goes
            by is public, and `Synthetic.reason` says it.
        bins: How columns are cut; see `session.marginals`.
        workload: Which groups of columns matter, such as ``[("age", "sex")]``, or a mapping of them to weights; for
            ``"aim"`` and ``"mwem"``.
        impossible: For groups of columns the combinations that no row has, such as
            ``{("age", "married"): [((0, 15), True)]}``; made-up rows never have them. A range of a number has whole
            bins. Only public knowledge belongs here: what follows from the data is not protected.
        quantiles: For numbers into how many parts they are cut at private quantiles, such as ``{"pay": 8}``. Of 256
            bins, or those of `bins`, neighboring ones are joined by the noisy counts that are measured first: that is
            a part of the same cost. A bin with many rows is a part of its own.
        total: How many rows there are, if that is public; else it is estimated.
        tree_limit: The most cells of the junction tree of a model, up to 524,288. Beyond it a mixture is fitted, so
            that ``"aim"``, ``"mwem"`` and ``"privbayes"`` may choose any groups. None: they choose what fits into a
            tree. See `fit_model`.
        progress: Hears what is done next: ``"choose"``, ``"measure age, sex"``, ``"fit"``. What it raises is ignored.
        idempotency_key: As for `Question.release`.

    Raises:
        ParameterError: An argument cannot be used; nothing was charged.
        BudgetExceededError: Too little budget remains; nothing was spent.

    Example:
        >>> import sfumato as sf
        >>> people = sf.open(
        ...     sf.datasets.people(5_000), name="people", budget=sf.ApproxDP(1, "1e-6"),
        ...     columns={"age": sf.integer(0, 100), "sex": sf.text(values=["female", "male"])},
        ... )
        >>> made = synthesize(people, "SELECT age, sex FROM people", epsilon=1, delta="1e-6", bins={"age": 10})
        >>> made.rows(2, seed=1).num_rows, made.method, str(people.spent)
        (2, 'aim', 'ε 1, δ 1e-06')

    References:
        [MMS21] for MST; [MMSM22] for AIM; [ZCPSX17] for PrivBayes; [MSM19] for MWEM with a model, and the model.
    """
    charge = ApproxDP(positive(epsilon, "epsilon"), open_probability(delta, "delta"))
    rows = None if total is None else float(positive_integer(total, "total", most=MOST_ROWS))
    marginals, plan, reason = planned(
        session, query, charge=charge, method=method, bins=bins, workload=workload, impossible=impossible,
        quantiles=quantiles, tree_limit=tree_limit, progress=progress,
    )  # fmt: skip
    found = marginals.fit(plan, idempotency_key=idempotency_key)
    tell(progress, "fit")
    return Synthetic(
        method=plan.method, reason=reason, guarantee=charge, receipt=found.receipt, reused=found.reused,
        query=marginals.query, steps=found.model["steps"],
        measured=tuple(tuple(columns) for columns, _, stddev, _ in found.model["steps"] if stddev is not None),
        made=SynthesisModel.of(marginals.query, found.model, total=rows, stated=plan.stated),
    )  # fmt: skip


def planned(
    session: View,
    query: str | Frame[Question],
    *,
    charge: ApproxDP,
    method: Method | Literal["auto"] = "auto",
    bins: Mapping[str, Binning] | None = None,
    workload: Workload | None = None,
    impossible: Impossible | None = None,
    quantiles: Mapping[str, int] | None = None,
    tree_limit: int | None = None,
    progress: Progress = unheard,
) -> tuple[MarginalSet, SynthesisPlan, str]:
    """What `synthesize` would read, how it would measure that, and why so; nothing is read or charged.

    Raises:
        ParameterError: An argument cannot be used.
        UnboundedSensitivityError: A column has neither bounds nor listed values.
    """
    view = of_kind(session, "session", View, "a session: sf.open(…) or sf.Session(…)")
    if not callable(progress):
        raise ParameterError("progress", progress, "must be a function of one text, which hears what is done next")
    marginals = view.marginals(query, bins=bins)
    if quantiles is not None:
        cut = of_kind(quantiles, "quantiles", Mapping, "a mapping of columns to parts, such as {'pay': 8}")
        Stated.of(marginals.attributes, quantiles=dict.fromkeys(cut, 1))  # refuses what is no number
        marginals = view.marginals(query, bins=dict.fromkeys(cut, GRID) | dict({} if bins is None else bins))
    _check_size(marginals.query)
    stated = Stated.of(
        marginals.attributes, workload=workload, impossible=impossible, quantiles=quantiles, tree_limit=tree_limit
    )
    chosen, reason = taken_method(method, TableShape({one.name: one.size for one in marginals.attributes}), stated)
    plan = SynthesisPlan(
        query=marginals.query, relation=marginals.neighboring_relation, charge=charge, method=chosen, stated=stated,
        progress=progress,
    )  # fmt: skip
    return marginals, plan, reason


def _check_size(query: MarginalQuery) -> None:
    names = [one.name for one in query.attributes]
    if len(names) > MOST_ATTRIBUTES:
        raise ParameterError("query", f"{len(names)} columns", f"must have at most {MOST_ATTRIBUTES} columns")
    for pair in combinations(names, 2):
        if query.size(pair) > MOST_CELLS:
            requirement = f"have more than {MOST_CELLS:,} combinations; state fewer bins"
            raise ParameterError("bins", " and ".join(pair), requirement)
