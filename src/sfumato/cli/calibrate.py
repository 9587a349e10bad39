"""`sfumato calibrate`: one parameter of a release, from a guarantee."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final, TypeVar

import typer

from sfumato.accounting.calibration import Calibration, Parameter, calibrate
from sfumato.accounting.comparison import ACCOUNTANTS, BestAccountant
from sfumato.accounting.core.accountant import Accountant
from sfumato.accounting.core.printed import text_exactly, text_up
from sfumato.cli.account import json_number
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive, probability
from sfumato.privacy.codec import encode_event
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    SelfComposedEvent,
)
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import as_relation

_MECHANISMS: Final[Mapping[str, tuple[Callable[[Fraction], Event], str]]] = MappingProxyType(
    {
        "gaussian": (GaussianEvent, "standard deviation over L2 sensitivity"),
        "laplace": (LaplaceEvent, "scale over L1 sensitivity"),
        "discrete-gaussian": (
            lambda noise: DiscreteGaussianEvent(noise, Fraction(1)),
            "standard deviation for a sensitivity of 1",
        ),
        "discrete-laplace": (lambda noise: DiscreteLaplaceEvent(noise, Fraction(1)), "scale for a sensitivity of 1"),
    }
)
Choice = TypeVar("Choice")
_WANTED: Final = MappingProxyType(
    {"noise": Parameter.NOISE, "count": Parameter.COUNT, "probability": Parameter.SAMPLING_PROBABILITY}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What the options say about the releases; what is looked for is left out."""

    mechanism: str
    noise: Number | None
    count: Number | None
    sampling_probability: Number | None

    def having(self, parameter: Parameter, value: Fraction) -> "Release":
        """The same with a value for what is looked for."""
        match parameter:
            case Parameter.NOISE:
                return replace(self, noise=value)
            case Parameter.COUNT:
                return replace(self, count=value)
            case Parameter.SAMPLING_PROBABILITY:
                return replace(self, sampling_probability=value)

    def event(self) -> Event:
        """All releases together."""
        make, _ = _known("mechanism", self.mechanism, _MECHANISMS)
        if self.noise is None:
            raise ParameterError("noise", None, "must be stated where it is not looked for; add --noise")
        single = make(positive(self.noise, "noise"))
        if self.sampling_probability is not None:
            share = probability(self.sampling_probability, "sampling_probability")
            single = PoissonSampledEvent(share, single)
        return SelfComposedEvent(single, 1 if self.count is None else int(self.count))


def search(
    release: Release,
    *,
    find: str,
    epsilon: str,
    delta: str,
    relation: str,
    accountant: str,
    tolerance: str,
    as_json: bool,
) -> None:
    """Find the value and print it with what it costs."""
    parameter = _known("find", find, _WANTED)
    stated = getattr(release, parameter)
    if stated is not None:
        raise ParameterError(find, stated, "is what is looked for; leave it out, or change --find")
    found = calibrate(
        lambda value: release.having(parameter, value).event(),
        target=guarantee(epsilon, delta),
        accountant=_empty(accountant, relation),
        parameter=parameter,
        tolerance=tolerance,
    )
    if as_json:
        typer.echo(json.dumps(_document(found), ensure_ascii=False, indent=2))
        return
    what = f"noise, {_MECHANISMS[release.mechanism][1]}" if parameter is Parameter.NOISE else find
    typer.echo(f"{what}: {text_exactly(found.value)}")
    typer.echo(
        f"all releases together cost ε {text_up(found.epsilon)} at δ {text_exactly(found.target.delta)}, "
        f"by the accountant {accountant}, under {relation}"
    )


def _empty(accountant: str, relation: str) -> Accountant:
    kinds: Mapping[str, Callable[..., Accountant]] = {"best": BestAccountant, **ACCOUNTANTS}
    return _known("accountant", accountant, kinds)(neighboring_relation=as_relation(relation))


def _known(name: str, word: str, choices: Mapping[str, Choice]) -> Choice:
    if word not in choices:
        raise ParameterError(name, word, f"must be one of {', '.join(choices)}")
    return choices[word]


def _document(found: Calibration) -> dict[str, object]:
    return {
        "parameter": str(found.parameter),
        "value": text_exactly(found.value),
        "epsilon": json_number(found.epsilon),
        "delta": json_number(found.target.delta),
        "event": encode_event(found.event),
    }
