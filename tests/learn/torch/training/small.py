"""A small network and made-up rows, for tests of trainings."""

import torch
from torch import nn

from sfumato.learn.torch.training.private import private


def network(seed=0, width=6, hidden=8, classes=2):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, classes))


def rows(count=60, width=6, seed=1):
    made = torch.Generator().manual_seed(seed)
    inputs = torch.rand(count, width, generator=made)
    return inputs, (inputs[:, 0] > inputs[:, 1]).to(torch.int64)


def planned(data=None, *, model=None, loss=None, rate=0.5, schedule=None, **changed):
    model = network() if model is None else model
    given = {"epsilon": 3, "delta": "1e-5", "epochs": 3, "batch_size": 10, "rows": 60, "block": 8} | changed
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    made = None if schedule is None else schedule(optimizer)
    loss = nn.CrossEntropyLoss() if loss is None else loss
    return private(model, optimizer, loss, rows() if data is None else data, schedule=made, **given)
