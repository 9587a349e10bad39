"""Synthetic flows of a session: how many go from each origin to each destination, drawn from counts and a prior.

Proof: proofs/synth/flows/release.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.arguments import is_one_of, of_kind, whole
from sfumato.numeric.rationals import Number, nonnegative, positive
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.model.schema import Key
from sfumato.session.asking.training_set import MarginalSet
from sfumato.session.training.marginals import Marginals
from sfumato.synth.flows.priors import MOST_DRAWS, flow_prior
from sfumato.synth.flows.result import Flows
from sfumato.synth.flows.urn import dirichlet_multinomial

LARGEST_ADDED: Final = 1_000_000_000
"""The largest number of the public flows that are added to a count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """What is public about the flows to one destination.

    Attributes:
        draws: How many are drawn.
        prior: What is added to each count.
        added: What is added on top of it, a whole number for each origin; None for an origin that has no flow there.
    """

    draws: int
    prior: Fraction
    added: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFit:
    """Draws for each destination: Dirichlet-multinomial(counts + prior + added), over the origins that it has.

    **Guarantee**: what `event` says, for counts that one unit moves as one row that enters, leaves or does both.
    Proof: proofs/synth/flows/release.md.

    Attributes:
        columns: The columns of destination and origin.
        width: How many values the column of the origin has, with what is missing.
        destinations: All that is public of each destination, in the order of their values.
        charge: What all of it costs.
    """

    columns: tuple[str, str]
    width: int
    destinations: tuple[Destination, ...]
    charge: PureDP | ApproxDP

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "synthetic flows"

    @property
    def event(self) -> PureEvent | ApproxEvent:
        """All that is released."""
        if isinstance(self.charge, PureDP):
            return PureEvent(self.charge.epsilon)
        return ApproxEvent(self.charge.epsilon, self.charge.delta)

    def document(self) -> dict[str, Json]:
        """All parameters on which the flows depend."""
        return {
            "columns": list(self.columns), "epsilon": str(self.charge.epsilon), "delta": str(self.charge.delta),
            "destinations": [[one.draws, str(one.prior), list(one.added)] for one in self.destinations],
        }  # fmt: skip

    def release(self, marginals: Marginals, /) -> dict[str, Json]:
        """The synthetic flows that are not 0: destination and origin by number, and how many go there."""
        exact = marginals.counts(self.columns).open_for_noise()
        rows = exact.reshape(-1, self.width)  # the last row and column may be of what is missing
        found: list[Json] = []
        for place, public in enumerate(self.destinations):
            found += _drawn(place, public, rows[place])
        return {"flows": found}


def synthetic_flows(
    marginals: MarginalSet,
    *,
    origin: str,
    destination: str,
    draws: int | Mapping[Any, int],
    epsilon: Number,
    delta: Number = 0,
    prior: Mapping[Any, Mapping[Any, int]] | None = None,
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

    Raises:
        ParameterError: A column is not one of the query, has no listed values, or a number is out of range.
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
    added = _added(prior, origins, places)
    numbers = _draws(draws, places)
    charge = _charge(epsilon, delta)
    fit = FlowFit(
        columns=(destination, origin), width=query.query.size([origin]), charge=charge,
        destinations=_destinations(numbers, added, charge, query.neighboring_relation),
    )  # fmt: skip
    found = query.fit(fit)
    counts = np.zeros((len(places), len(origins)), dtype=np.int64)
    for to, start, number in found.model["flows"]:
        counts[to, start] = number
    return Flows(
        origins=origins, destinations=places, counts=counts, charge=charge, receipt=found.receipt,
        priors=tuple(one.prior for one in fit.destinations),
    )  # fmt: skip


def _destinations(
    numbers: tuple[int, ...],
    added: tuple[tuple[int | None, ...], ...],
    charge: PureDP | ApproxDP,
    relation: NeighboringRelation,
) -> tuple[Destination, ...]:
    """The smallest prior of each destination; where nothing is drawn it does not matter."""
    sizes = [sum(one is not None for one in row) for row in added]
    fewest = min(size for size, draws in zip(sizes, numbers, strict=True) if draws or size == min(sizes))
    found = []
    for draws, row, size in zip(numbers, added, sizes, strict=True):
        origins = size if charge.delta else fewest
        least = flow_prior(
            epsilon=charge.epsilon, delta=charge.delta, draws=max(1, draws), origins=origins,
            neighboring_relation=relation,
        )  # fmt: skip
        found.append(Destination(draws=draws, prior=least, added=row))
    return tuple(found)


def _drawn(place: int, public: Destination, counts: Any) -> list[Json]:
    """The flows to one destination that are not 0."""
    has_flow = np.array([at for at, one in enumerate(public.added) if one is not None], dtype=np.int64)
    start = counts[has_flow] + np.array([public.added[at] for at in has_flow], dtype=np.int64)
    drawn = dirichlet_multinomial(start, prior=public.prior, draws=public.draws)
    return [[place, int(has_flow[at]), int(drawn[at])] for at in np.flatnonzero(drawn)]


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


def _draws(draws: object, places: tuple[Key, ...]) -> tuple[int, ...]:
    """How many are drawn for each destination."""
    if not isinstance(draws, Mapping):
        return (whole(draws, "draws", most=MOST_DRAWS),) * len(places)
    if set(draws) != set(places):
        raise ParameterError("draws", "a mapping", "must have a number for each destination that is declared")
    return tuple(whole(draws[place], "draws", most=MOST_DRAWS) for place in places)


def _added(prior: object, origins: tuple[Key, ...], places: tuple[Key, ...]) -> tuple[tuple[int | None, ...], ...]:
    """The public flows that are added, for each destination; None for origins without a flow."""
    named = of_kind({} if prior is None else prior, "prior", Mapping, "flows by destination, of each by origin")
    if not set(named) <= set(places):
        raise ParameterError("prior", "a mapping", "must be of destinations that are declared")
    found: list[tuple[int | None, ...]] = []
    for place in places:
        row = named.get(place, dict.fromkeys(origins, 0))
        if not isinstance(row, Mapping) or not row or not set(row) <= set(origins):
            raise ParameterError("prior", place, "must have whole numbers for some of the origins that are declared")
        found.append(tuple(whole(row[one], "prior", most=LARGEST_ADDED) if one in row else None for one in origins))
    return tuple(found)
