"""Raw updates give examples away; those of the same network after clipping, lattice and noise do not."""

from fractions import Fraction

import pytest
import torch
from scipy.stats import binom, norm
from tests.laws import ALPHA
from torch import nn

import sfumato as sf
from sfumato.accounting import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.attacks.leakage import gradient_leakage, gradient_of, leaked_input
from sfumato.learn.torch.noise.sampling import Poisson
from sfumato.learn.torch.noise.steps import IndependentNoise

STEPS = 1 << 20
CLIP = 1.0
SIGMA = 1
LOSS = nn.CrossEntropyLoss()


def images(count, seed=5):
    made = sf.datasets.shapes(count, side=8, seed=seed)
    return torch.tensor(made.images / 255, dtype=torch.float32)[:, None], torch.tensor(made.labels)


MEAN = images(200, seed=6)[0].mean(0)
"""The best guess without an update: the mean of other images."""


def layers():
    torch.manual_seed(1)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, 10))


def convolutions(active=nn.ReLU):
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), active(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(128, 10)
    )


def clipped(gradient):
    return gradient * min(1.0, CLIP / float(gradient.norm()))


def private(model, *, sigma=SIGMA):
    """As training releases a batch of one: clipped, in whole numbers, with exact noise."""
    width = sum(part.numel() for part in model.parameters())
    noise = IndependentNoise(sigma, l2_sensitivity=STEPS, steps=10**6, participation=Poisson(1)).start(width)

    def update(example, label):
        whole = (clipped(gradient_of(model, LOSS, example, label)).double() * (STEPS / CLIP)).trunc().long()
        return (whole + torch.as_tensor(noise.draw())).double() * (CLIP / STEPS)

    return update


def raw(model):
    return lambda example, label: gradient_of(model, LOSS, example, label)


@pytest.mark.parametrize(
    "changed", [lambda one: one, clipped, lambda one: -0.01 * one], ids=["raw", "clipped", "turned"]
)
def test_a_linear_first_layer_gives_the_input_away_whatever_the_update_was_multiplied_with(changed):
    model, (inputs, labels) = layers(), images(6)
    found = gradient_leakage(
        lambda *one: changed(raw(model)(*one)), model=model, loss=LOSS, inputs=inputs, labels=labels
    )
    assert max(found.distances) < 1e-4
    assert found.nearer == found.outcome.success == 1


def test_the_input_of_a_linear_layer_is_read_off_behind_frozen_layers_that_change_nothing():
    torch.manual_seed(2)
    model = nn.Sequential(nn.Identity(), nn.Flatten(), nn.Linear(64, 5))
    inputs, labels = images(2)
    found = leaked_input(
        gradient_of(model, LOSS, inputs[0], int(labels[0] % 5)), model=model, loss=LOSS, shape=inputs[0].shape
    )
    assert found.method == "first layer"
    assert float((found.input - inputs[0]).abs().max()) < 1e-4


@pytest.mark.parametrize(
    ("method", "active", "changed", "times"),
    [("distance", nn.Tanh, lambda one: one, 10), ("cosine", nn.ReLU, clipped, 2)],
    ids=["distance", "cosine"],
)
def test_a_convolution_gives_the_input_away_too(method, active, changed, times):
    model, (inputs, labels) = convolutions(active), images(2)
    update = changed(raw(model)(inputs[0], int(labels[0])))
    found = leaked_input(update, model=model, loss=LOSS, shape=inputs[0].shape, method=method)
    far = float((MEAN - inputs[0]).square().mean().sqrt())
    assert float((found.input - inputs[0]).square().mean().sqrt()) < far / times
    assert found.label == int(labels[0])
    assert found.mismatch < 0.02


def test_the_label_is_found_from_every_raw_update():
    model, (inputs, labels) = convolutions(), images(40)
    for row, label in zip(inputs, labels.tolist(), strict=True):
        found = leaked_input(raw(model)(row, label), model=model, loss=LOSS, shape=row.shape, method="cosine", steps=1)
        assert found.label == label


def most_right(trials):
    """Of two examples that replace each other, whose updates differ by at most 2C in L2, Φ(C/σ) are told [DRS22]."""
    return binom.ppf(1 - ALPHA, trials, norm.cdf(1 / SIGMA))


def test_private_updates_of_the_same_network_lead_no_nearer_than_no_update():
    model, (inputs, labels) = layers(), images(200)
    replaced = IndependentNoise(Fraction(SIGMA, 2), l2_sensitivity=2 * STEPS, steps=1, participation=Poisson(1))
    epsilon = PLDAccountant().compose(replaced.event).epsilon("1e-5")
    shared = {"model": model, "loss": LOSS, "inputs": inputs, "labels": labels, "guess": MEAN}
    found = gradient_leakage(private(model), **shared, epsilon=float(epsilon), delta="1e-5")
    assert norm.cdf(1 / SIGMA) < found.outcome.allowed < 1
    assert found.outcome.successes <= most_right(len(inputs)), f"type-I error {ALPHA}"
    assert found.nearer < 0.15  # 0.5% are: that many of 200 have a probability far below ALPHA
    assert sum(found.distances) > 1.5 * sum(found.guess_distances)
    told = gradient_leakage(raw(model), **shared)
    assert told.outcome.successes > most_right(len(inputs))
    assert told.nearer == 1
    assert told.right_labels == len(inputs) > 2 * found.right_labels
    assert "mean distance to the example 0.000; of the best guess without the update 0.14" in str(told)


def test_a_private_update_of_a_convolution_leads_no_nearer_either():
    model, (inputs, labels) = convolutions(), images(2)
    found = gradient_leakage(
        private(model), model=model, loss=LOSS, inputs=inputs, labels=labels, guess=MEAN, method="cosine", steps=40
    )
    assert found.nearer == 0
    assert min(found.distances) > max(found.guess_distances)


def test_a_guess_that_does_not_look_at_the_update_is_right_in_one_half():
    model, (inputs, labels) = layers(), images(40)
    same = raw(model)(inputs[7], 3)
    found = gradient_leakage(lambda *_: same, model=model, loss=LOSS, inputs=inputs, labels=labels)
    assert found.outcome.success == 0.5


def test_an_update_of_zero_is_no_error():
    model = convolutions()
    nothing = torch.zeros(sum(part.numel() for part in model.parameters()))
    for method in ("distance", "cosine"):
        found = leaked_input(nothing, model=model, loss=LOSS, shape=(1, 8, 8), method=method, steps=2)
        assert bool(found.input.isfinite().all())
    read = leaked_input(torch.zeros(910), model=layers(), loss=LOSS, shape=(1, 8, 8))
    assert float(read.input.abs().max()) == 0


def test_frozen_parameters_are_no_part_of_an_update():
    model, (inputs, labels) = layers(), images(2)
    model[3].requires_grad_(requires_grad=False)
    update = gradient_of(model, LOSS, inputs[0], int(labels[0]))
    assert len(update) == 65 * 12
    found = leaked_input(update, model=model, loss=LOSS, shape=(1, 8, 8), label=int(labels[0]))
    assert torch.allclose(found.input, inputs[0], atol=1e-4)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("update", {"update": torch.zeros(3)}), ("update", {"update": [0.0]}), ("shape", {"shape": "abc"}),
        ("shape", {"shape": ()}), ("method", {"method": "magic"}), ("bounds", {"bounds": (1, 0)}),
        ("bounds", {"bounds": 1}), ("label", {"label": -1}), ("model", {"model": 3}), ("loss", {"loss": 3}),
        ("steps", {"steps": 0, "method": "cosine"}), ("start", {"start": torch.zeros(3), "method": "cosine"}),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(name, changed):
    asked = {"update": torch.zeros(910), "model": layers(), "loss": LOSS, "shape": (1, 8, 8)} | changed
    with pytest.raises(ParameterError, match=name):
        leaked_input(asked.pop("update"), **asked)


def test_only_a_linear_first_layer_of_the_whole_input_is_read_off():
    half = nn.Sequential(nn.Flatten(), nn.Hardtanh(), nn.Linear(64, 12), nn.Linear(12, 10))
    for model in (convolutions(), half, nn.Sequential(nn.Flatten(), nn.Linear(64, 10, bias=False))):
        update = torch.zeros(sum(part.numel() for part in model.parameters()))
        with pytest.raises(ParameterError, match="method"):
            leaked_input(update, model=model, loss=LOSS, shape=(1, 8, 8), method="first layer")


def test_examples_come_in_pairs_with_a_label_each():
    inputs, labels = images(3)
    with pytest.raises(ParameterError, match="inputs"):
        gradient_leakage(raw(layers()), model=layers(), loss=LOSS, inputs=inputs, labels=labels)
