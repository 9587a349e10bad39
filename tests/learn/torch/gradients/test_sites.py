"""Each kind of layer: its norm and sum by what goes through it equal those of a loop of autograd."""

import pytest
import torch
from tests.learn.torch.gradients.networks import TARGETS, looped, networks, rows_for
from torch import nn
from torch.nn import functional

from sfumato.learn.torch.gradients.capture import Network
from sfumato.learn.torch.gradients.sites import LAYERS, pieces_of, windows

torch.manual_seed(5)
NETWORKS = networks()


@pytest.mark.parametrize("kind", NETWORKS)
def test_norms_and_sums_equal_a_loop_of_autograd(kind):
    model, shape = NETWORKS[kind]
    inputs, loss = rows_for(shape), nn.CrossEntropyLoss()
    wanted = looped(model, loss, inputs, TARGETS).double()
    network = Network(model, loss)
    with torch.no_grad():
        pieces = [piece for passage in network.passages(inputs, TARGETS) for piece in pieces_of(passage)]
        norms = sum(piece.squares() for piece in pieces).sqrt()
        assert torch.allclose(norms, wanted.norm(dim=1), rtol=1e-5)
        factors = torch.tensor([1.0, 0.5, 0.0, 2.0, 0.25, 3.0])
        total = torch.zeros(network.width, dtype=torch.float64)
        for piece in pieces:
            piece.add_to(total, factors)
    assert network.width == wanted.shape[1]
    assert torch.allclose(total, factors.double() @ wanted, rtol=1e-5, atol=1e-5)


def test_every_kind_of_layer_is_tried():
    tried = {type(module) for model, _ in NETWORKS.values() for module in model.modules()}
    assert tried >= LAYERS


def test_windows_are_those_of_torch():
    rows = torch.randn(2, 3, 7, 6)
    layer = nn.Conv2d(3, 1, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2))
    wanted = functional.unfold(rows, (3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1))
    assert torch.equal(windows(layer, rows), wanted)
