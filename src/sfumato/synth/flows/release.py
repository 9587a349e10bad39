"""Synthetic flows of a session: how many go from each origin to each destination, drawn from counts and a prior.

Proof: proofs/synth/flows/release.md.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.numeric.arguments import is_one_of, of_kind, whole
from sfumato.numeric.rationals import Number, nonnegative, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.model.schema import Key
from sfumato.session.asking.training_set import MarginalSet
from sfumato.synth.flows.drawing import Added, FlowFit, destinations_of
from sfumato.synth.flows.priors import MOST_DRAWS, MOST_WITH_DELTA
from sfumato.synth.flows.result import Flows
from sfumato.synth.flows.shrinking import ShrunkFlowFit

LARGEST_ADDED: Final = 1_000_000_000
"""The largest number of the public flows that are added to a count."""


def synthetic_flows(
    marginals: MarginalSet,
    *,
    origin: str,
    destination: str,
    draws: int | Mapping[Any, int],
    epsilon: Number,
    delta: Number = 0,
    prior: Mapping[Any, Mapping[Any, int]] | None = None,
    shrinking: ApproxDP | None = None,
) -> Flows:
    """Synthetic flows between places: for each destination, draws of where those who go there come from.

    **Guarantee**: (ε, δ)-differential privacy for the unit and the relation of the policy, charged before data is read.
    Each unit must be one row. Totals of destinations are not used: `draws` is public, or was released before.

    Only declared places have flows. A row of which a place is missing or not declared is in none.

    Args:
        marginals: What is counted: `session.marginals("SELECT home, work FROM commuters")`. Values of both are listed.
        origin: The column of where somebody comes from.
        destination: The column of where somebody goes.
        draws: How many are drawn for each destination, from 0 to 100,000, with a δ to 10,000; one number for all, or
            one for each destination. Public, such as last year's totals, or released by another question.
        epsilon: ε of all flows together.
        delta: δ of all flows together.
        prior: Public flows for the destinations that are named, such as last year's: of each origin a whole number,
            which is added to its count on top of the smallest prior. Origins that are not named have no flow there,
            which leaves fewer cells and so less prior. It must not follow from the data that is protected.
        shrinking: The part of (ε, δ) for choosing, by the data and with noise, which origins each destination keeps.
            Workers of others are in no flow, and a destination without any origin has no flows at all. None: all
            origins are kept that public flows name.

    Raises:
        ParameterError: A column is not one of the query, has no listed values, or a number is out of range; or
            `shrinking` leaves no ε, has no δ or has more of it than there is.
        NotPrivateError: A unit may have several rows.
        BudgetExceededError: Too little budget remains; nothing was spent and no data was read.

    Example:
        >>> import pyarrow as pa, sfumato as sf
        >>> places = sf.text(values=["north", "south"])
        >>> table = pa.table({"home": ["north"] * 30 + ["south"] * 10, "work": ["south"] * 40})
        >>> people = sf.open(
        ...     table, name="commuters", columns={"home": places, "work": places}, budget=sf.PureDP(4)
        ... )
        >>> flows = sf.synth.synthetic_flows(
        ...     people.marginals("SELECT home, work FROM commuters"), origin="home", destination="work",
        ...     draws={"north": 0, "south": 40}, epsilon=4,
        ... )
        >>> flows.counts.shape, flows.counts.sum(axis=1).tolist()
        ((2, 2), [0, 40])

    References:
        [MKAGV08].
    """
    query = of_kind(marginals, "marginals", MarginalSet, "the marginals of a session: session.marginals(query)")
    if query.rows_per_unit != 1:
        raise NotPrivateError(
            query.text, "a unit may have several rows, and flows are priced for one",
            "Declare max_rows_per_unit = 1, or give the frame that limit.",
        )  # fmt: skip
    origins, places = _values(query, origin, "origin"), _values(query, destination, "destination")
    if origin == destination:
        raise ParameterError("destination", destination, "must be another column than the origin")
    added, charge = _added(prior, origins, places), _charge(epsilon, delta)
    rest = charge if shrinking is None else _rest(charge, shrinking)
    numbers = _draws(draws, places, most=MOST_WITH_DELTA if rest.delta else MOST_DRAWS)
    columns, width, relation = (destination, origin), query.query.size([origin]), query.neighboring_relation
    fit: FlowFit | ShrunkFlowFit
    if shrinking is None:
        own = destinations_of(numbers, added, charge=charge, neighboring_relation=relation)
        fit = FlowFit(columns=columns, width=width, destinations=own, charge=charge)
    else:
        selection = TruncatedGeometricSelection(
            epsilon=shrinking.epsilon, delta=shrinking.delta, max_groups_per_unit=1, neighboring_relation=relation
        )
        fit = ShrunkFlowFit(columns=columns, width=width, draws=numbers, added=added, selection=selection, rest=rest)
    found = query.fit(fit)
    counts = np.zeros((len(places), len(origins)), dtype=np.int64)
    for to, start, number in found.model["flows"]:
        counts[to, start] = number
    drawn_from = fit.drawn_from(found.model)
    return Flows(
        origins=origins, destinations=places, counts=counts, charge=charge, receipt=found.receipt,
        kept=np.array([[one is not None for one in public.added] for public in drawn_from]),
        priors=tuple(public.prior for public in drawn_from),
    )  # fmt: skip


def _values(query: MarginalSet, name: object, argument: str) -> tuple[Key, ...]:
    """The listed values of a column."""
    own = {one.name: one for one in query.attributes}
    if not is_one_of(name, own):
        raise ParameterError(argument, name, f"must be a column of the query: {', '.join(own)}")
    values = own[str(name)].values
    if values is None:
        raise ParameterError(argument, name, "must be a column with listed values, such as sf.text(values=[...])")
    return values


def _charge(epsilon: Number, delta: Number) -> PureDP | ApproxDP:
    asked, chance = positive(epsilon, "epsilon"), nonnegative(delta, "delta")
    return ApproxDP(asked, chance) if chance else PureDP(asked)


def _rest(charge: PureDP | ApproxDP, shrinking: ApproxDP) -> PureDP | ApproxDP:
    """What is left for flows once origins are chosen."""
    part = of_kind(shrinking, "shrinking", ApproxDP, "a part of the cost, such as sf.ApproxDP('0.5', '1e-6')")
    if part.epsilon >= charge.epsilon or not 0 < part.delta <= charge.delta:
        raise ParameterError(
            "shrinking", str(part), f"must be a part of {charge}: a smaller ε, and a δ above 0 and not above that"
        )
    return _charge(charge.epsilon - part.epsilon, charge.delta - part.delta)


def _draws(draws: object, places: tuple[Key, ...], *, most: int) -> tuple[int, ...]:
    """How many are drawn for each destination."""
    if not isinstance(draws, Mapping):
        return (whole(draws, "draws", most=most),) * len(places)
    if set(draws) != set(places):
        raise ParameterError("draws", "a mapping", "must have a number for each destination that is declared")
    return tuple(whole(draws[place], "draws", most=most) for place in places)


def _added(prior: object, origins: tuple[Key, ...], places: tuple[Key, ...]) -> tuple[Added, ...]:
    """The public flows that are added, for each destination; None for origins without a flow."""
    named = of_kind({} if prior is None else prior, "prior", Mapping, "flows by destination, of each by origin")
    if not set(named) <= set(places):
        raise ParameterError("prior", "a mapping", "must be of destinations that are declared")
    found: list[Added] = []
    for place in places:
        row = named.get(place, dict.fromkeys(origins, 0))
        if not isinstance(row, Mapping) or not row or not set(row) <= set(origins):
            raise ParameterError("prior", place, "must have whole numbers for some of the origins that are declared")
        found.append(tuple(whole(row[one], "prior", most=LARGEST_ADDED) if one in row else None for one in origins))
    return tuple(found)
