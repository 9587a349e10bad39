"""Trains networks by Opacus in an environment of its own: ask.py TASK, where the task is JSON; prints JSON.

Tasks are described in `benchmarks/learn/small_networks.py`. The noise multiplier is the one that Opacus finds for ε, δ
and epochs with its PRV accountant, once, unless the task states it; ε is what that accountant gives for the steps.
"""

import json
import sys
import warnings
from pathlib import Path

import torch
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.append(str(Path(__file__).parents[2] / "learn"))
from small_networks import Watch, measured, network

warnings.simplefilter("ignore")


def multiplier(task, sampling):
    if "noise_multiplier" not in task:
        task["noise_multiplier"] = get_noise_multiplier(
            target_epsilon=task["epsilon"], target_delta=task["delta"], sample_rate=sampling, epochs=task["epochs"],
            accountant="prv",
        )  # fmt: skip
    return task["noise_multiplier"]


def trained(task, seed, data):
    rows, labels = data
    model = network(task["network"], rows.shape[-1], seed).to(task["device"])
    optimizer = torch.optim.SGD(model.parameters(), lr=task["rate"], momentum=task["momentum"])
    engine = PrivacyEngine(accountant="prv")
    loader = DataLoader(TensorDataset(rows, labels), batch_size=task["batch"])
    sigma = multiplier(task, 1 / len(loader))
    watch = Watch(task["device"])
    private = engine.make_private(
        module=model, optimizer=optimizer, criterion=nn.CrossEntropyLoss(), data_loader=loader,
        noise_multiplier=sigma, max_grad_norm=task["clip"], grad_sample_mode=task["mode"],
    )  # fmt: skip
    module, optimizer, *criterion, loader = private
    compared = criterion[0] if criterion else nn.CrossEntropyLoss()
    module.train()
    steps = 0
    for _ in range(task["epochs"]):
        for inputs, targets in loader:
            optimizer.zero_grad()
            compared(module(inputs), targets).backward()
            optimizer.step()
            steps += 1
    facts = watch.facts() | {"steps": steps, "sampling": 1 / len(loader), "noise_multiplier": sigma}
    return model, facts | ({"epsilon": engine.get_epsilon(task["delta"])} if seed == task["seeds"][-1] else {})


if __name__ == "__main__":
    print(json.dumps(measured(json.loads(sys.argv[1]), trained)))
