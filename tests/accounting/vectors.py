"""Reference values of ε and of noise, as other libraries and closed forms give them, read as our events.

`vectors.csv` holds 1,248 rows made with dp-accounting 0.6.0 and its repository head, Opacus, OpenDP 0.16.0, mpmath and
closed forms (its columns `source` and `note`). `role` says what a row is worth: `exact` is the true value, `tight` an
upper bound within a grid, `upper` a valid bound.
"""

import csv
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.accounting.core.matrix_events import tree_aggregation_event
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation


def exact(value: float | str) -> Fraction:
    """A float of the file as the decimal that was meant."""
    return Fraction(str(value))


@dataclass(frozen=True)
class Row:
    """One row, read."""

    id: int
    mechanism: str
    params: dict[str, Any]
    count: int
    sampling_probability: Fraction
    delta: Fraction
    accountant: str
    value: float
    noise_multiplier: float | None
    neighboring: str
    role: str

    @property
    def relation(self) -> NeighboringRelation:
        return REPLACE_ONE if self.neighboring == "REPLACE_ONE" else ADD_OR_REMOVE_ONE

    @property
    def cell(self) -> tuple[Event, NeighboringRelation, Fraction]:
        """What the row is about: rows of one cell state bounds of the same number."""
        return event_of(self), self.relation, self.delta


@cache
def rows() -> tuple[Row, ...]:
    with (Path(__file__).parent / "vectors.csv").open(encoding="utf-8") as file:
        return tuple(map(_row, csv.DictReader(file)))


def _row(fields: dict[str, str]) -> Row:
    return Row(
        id=int(fields["id"]),
        mechanism=fields["mechanism"],
        params=json.loads(fields["params"]),
        count=int(fields["composition_count"]),
        sampling_probability=exact(fields["sampling_prob"] or 1),
        delta=exact(fields["delta"]),
        accountant=fields["accountant"],
        value=float(fields["epsilon"]),
        noise_multiplier=float(fields["noise_multiplier"]) if fields["noise_multiplier"] else None,
        neighboring=fields["neighboring"],
        role=fields["role"],
    )


def forward_rows() -> list[Row]:
    """Rows that state ε of given events."""
    return [row for row in rows() if row.noise_multiplier is None]


def inverse_rows() -> list[Row]:
    """Rows that state the noise for a given ε."""
    return [row for row in rows() if row.noise_multiplier is not None]


@cache
def best_known() -> dict[tuple[Event, NeighboringRelation, Fraction], dict[str, list[float]]]:
    """For each cell, its values by role."""
    known: dict[tuple[Event, NeighboringRelation, Fraction], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in forward_rows():
        known[row.cell][row.role].append(row.value)
    return known


def event_of(row: Row) -> Event:
    """The row's events, all of them."""
    single = _SINGLE[row.mechanism.split("(")[0]](row)
    if row.sampling_probability < 1 and not isinstance(single, TruncatedPoissonSampledEvent):
        single = PoissonSampledEvent(row.sampling_probability, single)
    return single if row.count == 1 or isinstance(single, ComposedEvent) else SelfComposedEvent(single, row.count)


def _response(row: Row) -> Event:
    lie, categories = exact(row.params["noise_parameter"]), row.params["num_buckets"]
    if row.neighboring == "REPLACE_ONE":
        return RandomizedResponseEvent(1 - lie, categories)
    others = (lie / categories,) * (categories - 1)  # the special value answers uniformly
    return FiniteEvent((1 - sum(others), *others), (Fraction(1, categories),) * categories)


def _approx(row: Row) -> Event:
    return _point(exact(row.params["eps0"]), exact(row.params.get("delta0", 0)))


def _point(epsilon: Fraction, delta: Fraction) -> Event:
    return ApproxEvent(epsilon, delta) if delta else PureEvent(epsilon)


def _heterogeneous(row: Row) -> Event:
    return ComposedEvent(tuple(PureEvent(exact(round(epsilon, 12))) for epsilon in row.params["eps_list"]))


def _truncated(row: Row) -> Event:
    gaussian = GaussianEvent(exact(row.params["sigma"]))
    size, limit = row.params["dataset"], row.params["truncated_batch"]
    return TruncatedPoissonSampledEvent(row.sampling_probability, size, limit, gaussian)


def _mixture(row: Row) -> Event:
    sensitivities, probabilities = row.params["sensitivities"], row.params["probs"]
    return MixtureOfGaussiansEvent(
        exact(row.params["sigma"]), tuple(map(exact, sensitivities)), tuple(map(exact, probabilities))
    )


def _selection(row: Row) -> Event:
    shape = None if row.params["shape"] == "inf" else exact(row.params["shape"])
    return RepeatAndSelectEvent(GaussianEvent(10), exact(row.params["mean"]), shape)


def _mixed(row: Row) -> Event:
    described = row.params["events"]
    if isinstance(described, str):
        kind = GaussianEvent if described.startswith("Gaussian") else LaplaceEvent
        return ComposedEvent(tuple(kind(Fraction(noise)) for noise in range(5, 55)))
    return ComposedEvent(tuple(SelfComposedEvent(_described(text), count) for text, count in described))


def _described(text: str) -> Event:
    kind = GaussianEvent if "Gaussian" in text else LaplaceEvent
    noise = re.search(r"noise_multiplier=([0-9.]+)", text)
    sampled = re.search(r"sampling_probability=([0-9.]+)", text)
    assert noise is not None
    event = kind(exact(noise[1]))
    return PoissonSampledEvent(exact(sampled[1]), event) if sampled else event


def _group(row: Row) -> Event:
    return GroupEvent(_point(exact(row.params["eps"]), exact(row.params["delta_in"])), row.params["group"])


_SINGLE = {
    "gaussian": lambda row: GaussianEvent(exact(row.params["sigma"])),
    "gdp": lambda row: GaussianEvent(1 / exact(row.params["mu"])),
    "laplace": lambda row: LaplaceEvent(exact(row.params["scale"])),
    "discrete_laplace": lambda row: DiscreteLaplaceEvent(1 / exact(row.params["noise_parameter"]), 1),
    "discrete_gaussian": lambda row: DiscreteGaussianEvent(exact(row.params["sigma"]), 1),
    "randomized_response": _response,
    "exponential_mechanism": lambda row: ExponentialEvent(exact(row.params["eps"])),
    "permute_and_flip": lambda row: LaplaceEvent(1 / exact(row.params["eps"])),
    "poisson_subsampled_gaussian": lambda row: GaussianEvent(exact(row.params["sigma"])),
    "poisson_subsampled_laplace": lambda row: LaplaceEvent(exact(row.params["scale"])),
    "truncated_subsampled_gaussian": _truncated,
    "mixture_of_gaussians": _mixture,
    "single_epoch_tree_aggregation": lambda row: tree_aggregation_event(
        exact(row.params["noise_multiplier"]), row.params["step_counts"]
    ),
    "repeat_and_select": _selection,
    "mixed": _mixed,
    "eps_delta_dp": _approx,
    "eps_delta_event": _approx,
    "eps_dp_heterogeneous": _heterogeneous,
    "eps_delta_dp_group": _group,
    "gaussian_group": lambda row: GroupEvent(GaussianEvent(exact(row.params["sigma"])), row.params["group"]),
    "zcdp": lambda row: ZCDPEvent(exact(row.params["rho"])),
}
