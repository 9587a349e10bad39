"""`private`: what a training of a network is to cost, turned into a plan.

Proof: proofs/learn/torch/training/plan.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any, Final, Literal, TypeAlias

import torch
from torch import nn

from sfumato.accounting.calibration import smallest_noise
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.gradients.ghost import ghost_for
from sfumato.learn.torch.gradients.per_example import Loss, gradients_for
from sfumato.learn.torch.gradients.sums import ClippedSums, ExactSums
from sfumato.learn.torch.gradients.supported import check_model
from sfumato.learn.torch.noise.correlated import CorrelatedNoise
from sfumato.learn.torch.noise.sampling import CyclicPoisson, Phases, Poisson, TruncatedPoisson
from sfumato.learn.torch.noise.steps import IndependentNoise, StepNoise
from sfumato.learn.torch.training.checkpoints import digest_of
from sfumato.learn.torch.training.clipping import AdaptiveClip, CountedNoise
from sfumato.learn.torch.training.examples import Examples, features_of
from sfumato.learn.torch.training.plan import TrainingPlan
from sfumato.numeric.arguments import called, of_kind, one_of
from sfumato.numeric.rationals import Number, open_probability, positive, positive_integer
from sfumato.privacy.events import Event, GroupEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.session.asking.training_set import TrainingSet

Mode: TypeAlias = Literal["per example", "ghost"]
"""How gradients are clipped: each one formed, or by norms and weighted sums alone."""

Correlation: TypeAlias = Literal["independent", "banded", "buffered"]
"""Of the noise of updates: none; over a few updates, with sampling; or over all of them, in passes without sampling."""

LARGEST_BLOCK: Final = 256
"""How many rows are computed at once at most, if nothing is said."""

LARGEST_GRADIENTS: Final = 1 << 24
"""How many numbers the gradients of a block have at most, if nothing is said: 64 MB."""

BANDS: Final = 8
"""Over how many updates noise is correlated, if nothing is said."""

_BUFFERS: Final = 4
_MOST: Final = 1 << 16  # rows of a block
_LARGEST_CLIP: Final = 2**20
_SMALLEST_CLIP: Final = Fraction(1, 2**20)
_TOLERANCE: Final = "1e-4"
_SPARE: Final = 1 - Fraction(1, 1 << 20)
"""Of ε, so that a ledger on another machine, whose floats differ in their last digits, finds the price covered."""


def private(  # noqa: PLR0913 # a plan states all on which its guarantee depends
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    data: Examples | TrainingSet | tuple[Any, Any],
    *,
    epsilon: Number,
    delta: Number,
    epochs: Number,
    batch_size: int,
    rows: int,
    clip: Number = 1,
    mode: Mode = "per example",
    adaptive_clip: AdaptiveClip | None = None,
    noise: Correlation = "independent",
    bands: int = BANDS,
    largest_batch: int | None = None,
    block: int | None = None,
    autocast: torch.dtype | None = None,
    schedule: Any = None,
) -> TrainingPlan:
    """A plan to train a network by noisy gradients (DP-SGD), whose noise is calibrated to a cost.

    In each of ⌈epochs·rows/batch_size⌉ updates, each unit takes part with probability batch_size/rows, by a coin of its
    own. Its gradient is clipped to the norm `clip` and written in whole steps of a lattice. The sum over those that
    take part gets discrete Gaussian noise, is divided by `batch_size`, and the optimizer takes a step along it. A batch
    may be empty; its update is noise alone.

    **Guarantee**: (ε, δ)-differential privacy of all updates together, certified by `PLDAccountant`, for neighbors that
    differ in one unit. Nothing is read off the data: a wrong `rows` costs accuracy, never privacy. The weights with
    which the model starts must not depend on the data. Proof: proofs/learn/torch/training/plan.md.

    ============================================  ====================================================
    Edge case                                     Behavior
    ============================================  ====================================================
    no row, or a batch of none                    an update by noise alone
    a gradient with a NaN or an infinite number   counts as zeros
    a label, or an index, out of range            its unit counts as if it were not there
    a unit with more rows than `rows_per_unit`    so many of them, drawn once
    a layer that mixes rows, such as BatchNorm    ParameterError that names it, and what to take instead
    a parameter that no update moves              ParameterError when the first pass is over
    ============================================  ====================================================

    Args:
        model: The network, on the device and in the mode in which it is to be trained. Its parameters with
            `requires_grad` are trained.
        optimizer: Any optimizer of exactly those parameters.
        loss: From outputs and targets of a batch to one number, such as ``nn.CrossEntropyLoss()``.
        data: `Examples`, or inputs and targets as a pair, where each row is a unit; or a training set of a session.
        epsilon: ε of the whole training.
        delta: δ, far below one over the number of units.
        epochs: How often a unit takes part, on average.
        batch_size: How many units take part in an update, on average.
        rows: How many units there are, as is publicly known; of a training set, how many rows.
        clip: The largest norm of a unit's gradient.
        mode: ``"per example"`` forms each gradient; ``"ghost"`` needs less time and memory for large layers.
        adaptive_clip: Has the clip follow a quantile of norms; with independent noise alone.
        noise: ``"independent"`` for each update. ``"banded"`` correlates it over `bands` updates, with units that take
            turns in as many groups and are sampled within. ``"buffered"`` correlates it over all updates (DP-FTRL):
            each unit takes part once a pass, at a place of its own, and nothing is amplified by sampling.
        bands: Over how many updates noise is correlated; at most rows/batch_size.
        largest_batch: How many units an update has at most, all choices among those drawn being equally likely. It
            needs units that replace one another, as only then their number, exactly `rows`, is no secret.
        block: How many rows are computed at once; memory grows with it. None: about a batch, at most 256 rows, and
            no more than 64 MB of gradients where each is formed.
        autocast: A type such as ``torch.bfloat16`` for forward and backward passes; clipping is in single precision.
        schedule: A schedule of the optimizer's learning rate, which steps after each update.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> model = nn.Linear(2, 2)
        >>> inputs, targets = torch.rand(200, 2), torch.arange(200) % 2
        >>> plan = private(
        ...     model, torch.optim.SGD(model.parameters(), lr=0.5), nn.CrossEntropyLoss(), (inputs, targets),
        ...     epsilon=3, delta="1e-5", epochs=2, batch_size=20, rows=200,
        ... )
        >>> plan.steps, round(plan.noise_multiplier, 2)
        (20, 1.1)
        >>> trained = plan.train(progress=False)
        >>> trained.updates, str(trained.guarantee)
        (20, 'ε 3, δ 1e-05')

    References:
        [ACGMMTZ16]; [CKS20] for the noise.
    """
    charge = ApproxDP(positive(epsilon, "epsilon"), open_probability(delta, "delta"))
    source = data if isinstance(data, TrainingSet | Examples) else _pair(data)
    of_kind(model, "model", nn.Module, "a network of PyTorch")
    of_kind(optimizer, "optimizer", torch.optim.Optimizer, "an optimizer of PyTorch")
    called(loss, "loss", "a function of outputs and targets, such as nn.CrossEntropyLoss()")
    one_of(mode, "mode", ("per example", "ghost"))
    one_of(noise, "noise", ("independent", "banded", "buffered"))
    if schedule is not None and not all(hasattr(schedule, own) for own in ("step", "state_dict")):
        raise ParameterError("schedule", schedule, "must be one of torch.optim.lr_scheduler, or None")
    if adaptive_clip is not None:
        of_kind(adaptive_clip, "adaptive_clip", AdaptiveClip, "AdaptiveClip(…), or None")
    if adaptive_clip is not None and noise != "independent":
        requirement = 'must be left out, or noise "independent": correlated noise is in steps of one clip'
        raise ParameterError("adaptive_clip", adaptive_clip, requirement)
    norm = positive(clip, "clip")
    if not _SMALLEST_CLIP <= norm <= _LARGEST_CLIP:
        raise ParameterError("clip", clip, "must lie between 2^-20 and 2^20; scale the loss")
    size, count = positive_integer(batch_size, "batch_size"), positive_integer(rows, "rows")
    if size > count:
        raise ParameterError("batch_size", batch_size, f"must be at most the number of rows, {count:,}")
    like = _like(source, model)
    known = source.rows_per_unit if isinstance(source, Examples) else 1  # of a query, units of rows are not known
    check_model(model, optimizer, loss, *like)
    places = _block(size * known, model, mode) if block is None else positive_integer(block, "block", most=_MOST)
    sums = _sums(model, loss, like, mode=mode, block=places, autocast=autocast, rows_per_unit=known)
    steps = ceil(positive(epochs, "epochs") * count / size)
    terms = _Terms(
        sensitivity=sums.sensitivity, steps=steps, share=Fraction(size, count), rule=adaptive_clip,
        relation=source.neighboring_relation, rows_per_unit=source.rows_per_unit // known, correlation=noise,
        bands=_bands(bands, noise, Fraction(count, size), rows_per_unit=source.rows_per_unit // known),
        largest=_largest(largest_batch, noise, source, batch_size=size, rows=count), units=count,
    )  # fmt: skip
    drawn, event = _calibrated(charge, terms)
    return TrainingPlan(
        charge=charge, steps=steps, batch_size=size, clip=norm, noise=drawn, sums=sums, rule=adaptive_clip, event=event,
        model=model, optimizer=optimizer, schedule=schedule, loss=loss, data=source, weights=digest_of(model),
    )  # fmt: skip


def _pair(data: Any) -> Examples:
    if not isinstance(data, tuple) or len(data) != 2:  # noqa: PLR2004 # inputs and targets
        requirement = "must be Examples, inputs and targets as a pair, or a training set of a session"
        raise ParameterError("data", f"a {type(data).__name__}", requirement)
    return Examples(*data)


def _like(data: Examples | TrainingSet, model: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    """A row of zeros of the shape and type of inputs and targets, where the model is."""
    device = next(model.parameters()).device
    if isinstance(data, Examples):
        return data.input_like[None].to(device), data.target_like[None].to(device)
    if data.target is None:
        raise ParameterError("data", "a training set", "must have a target: session.training_set(…, target=…)")
    target = torch.zeros(1, 1) if data.target.is_number else torch.zeros(1, dtype=torch.int64)
    return torch.zeros(1, features_of(data.columns).width).to(device), target.to(device)


def _block(rows: int, model: nn.Module, mode: Mode) -> int:
    """About as many rows as a batch has, a power of two."""
    places = min(1 << (rows - 1).bit_length(), LARGEST_BLOCK)
    width = sum(own.numel() for own in model.parameters() if own.requires_grad)
    while mode == "per example" and places > 1 and places * width > LARGEST_GRADIENTS:
        places //= 2
    return places


def _sums(
    model: nn.Module,
    loss: Loss,
    like: tuple[torch.Tensor, torch.Tensor],
    *,
    mode: Mode,
    block: int,
    autocast: torch.dtype | None,
    rows_per_unit: int,
) -> ClippedSums:
    places = -(-block // rows_per_unit) * rows_per_unit
    if mode == "ghost":
        if rows_per_unit > 1:
            raise ParameterError("mode", mode, 'must be "per example" where a unit has several rows')
        return ghost_for(model, loss, places, *like, autocast)
    return ExactSums(gradients_for(model, loss, places, *like, autocast), block=places, rows_per_unit=rows_per_unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """All that the price of a training depends on, but for its noise."""

    sensitivity: Fraction
    steps: int
    share: Fraction
    rule: AdaptiveClip | None
    relation: NeighboringRelation
    rows_per_unit: int
    correlation: Correlation
    bands: int
    largest: int | None
    units: int

    def noise(self, multiplier: Fraction) -> StepNoise:
        """The noise of all updates, and who takes part in them."""
        named: Any = {"l2_sensitivity": self.sensitivity, "steps": self.steps, "neighboring_relation": self.relation}
        if self.correlation == "banded":
            turns = CyclicPoisson(period=self.bands, probability=self.share * self.bands)
            return CorrelatedNoise(multiplier, participation=turns, bands=self.bands, **named)
        if self.correlation == "buffered":
            return CorrelatedNoise(multiplier, participation=Phases(ceil(1 / self.share)), buffers=_BUFFERS, **named)
        drawn = Poisson(self.share)
        if self.largest is not None:
            drawn = TruncatedPoisson(self.share, units=self.units, largest=self.largest)
        sums = IndependentNoise(multiplier, participation=drawn, **named)
        return sums if self.rule is None else CountedNoise(sums=sums, rule=self.rule)

    def event(self, multiplier: Fraction) -> Event:
        """Of the whole training, for a unit with all of its rows."""
        event = self.noise(multiplier).event
        return event if self.rows_per_unit == 1 else GroupEvent(event, self.rows_per_unit)


def _bands(bands: int, noise: Correlation, most: Fraction, *, rows_per_unit: int) -> int:
    """Over how many updates noise is correlated: units take turns in as many groups, each as large as a batch."""
    wide = positive_integer(bands, "bands")
    if noise == "banded" and rows_per_unit > 1:
        requirement = "must be another: rows of one unit would take turns in several groups, which no event covers"
        raise ParameterError("noise", noise, requirement)
    if noise == "banded" and wide > most:
        raise ParameterError("bands", bands, f"must be at most rows/batch_size, here {float(most):.4g}")
    return wide


def _largest(
    largest: int | None, noise: Correlation, data: Examples | TrainingSet, *, batch_size: int, rows: int
) -> int | None:  # fmt: skip
    """How many units a batch has at most, where their number is no secret and stated as it is."""
    if largest is None:
        return None
    most = positive_integer(largest, "largest_batch")
    known = data.public_units if isinstance(data, Examples) else None
    if known is None:
        requirement = 'must be left out, or data Examples(…, neighboring_relation="replace_one")'
        reason = "the cost depends on the number of units, which is a secret otherwise"
        raise ParameterError("largest_batch", largest, f"{requirement}: {reason}")
    if rows != known:
        raise ParameterError("rows", rows, "must be how many units there are, exactly, for a largest batch")
    if noise != "independent":
        raise ParameterError("largest_batch", largest, 'must be left out, or noise "independent"')
    if not batch_size <= most < rows:
        raise ParameterError("largest_batch", largest, f"must be from batch_size, {batch_size:,}, to below {rows:,}")
    return most


@lru_cache(maxsize=64)
def _calibrated(charge: ApproxDP, terms: _Terms) -> tuple[StepNoise, Event]:
    """The least noise for which the whole training costs no more than its charge, and its event."""
    accountant = PLDAccountant(neighboring_relation=terms.relation)
    try:
        target = ApproxDP(charge.epsilon * _SPARE, charge.delta)
        least = smallest_noise(terms.event, target=target, accountant=accountant, tolerance=_TOLERANCE)
    except ParameterError as error:
        if terms.rule is not None:
            requirement = "leaves too little for gradients: give it a larger stddev, or the plan a larger epsilon"
            raise ParameterError("adaptive_clip", terms.rule, requirement) from error
        requirement = "must be larger for so many updates: there is no noise for it that can be drawn"
        raise ParameterError("epsilon", str(charge.epsilon), requirement) from error
    return terms.noise(least), terms.event(least)
