"""The networks and the measures that both sides of `bench_networks.py` share; it needs torch alone.

A task is a dict, written as JSON: `data` (a file of NumPy with rows, labels, test_rows and test_labels), `network`
("convolutions" or "layers"), `mode`, `epsilon`, `delta`, `epochs`, `batch`, `rate`, `momentum`, `clip`, `seeds`,
`device` and `threads`. What is measured is a dict too.
"""

import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

PROCESS = Path("/proc/self")


def network(kind, side, seed):
    """A network for images of so many rows and columns and ten classes, from a seed."""
    torch.manual_seed(seed)
    if kind == "layers":
        return nn.Sequential(nn.Flatten(), nn.Linear(side * side, 128), nn.ReLU(), nn.Linear(128, 10))
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(), nn.AvgPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.GroupNorm(8, 32), nn.ReLU(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(32 * (side // 4) ** 2, 10),
    )  # fmt: skip


def arrays(task):
    """Rows, labels, test rows and test labels on the task's device."""
    kept = np.load(task["data"])
    names = ("rows", "labels", "test_rows", "test_labels")
    return [torch.as_tensor(kept[name], device=task["device"]) for name in names]


def accuracy(model, rows, labels):
    model.eval()
    with torch.no_grad():
        right = [
            (model(part).argmax(1) == truth).float()
            for part, truth in zip(rows.split(512), labels.split(512), strict=True)
        ]
    return float(torch.cat(right).mean())


def measured(task, train):
    """`train(task, seed, arrays)` gives a model, the seconds and megabytes of its training, and other facts."""
    torch.set_num_threads(task["threads"])
    rows, labels, test_rows, test_labels = arrays(task)
    found = {"accuracy": [], "seconds": [], "megabytes": []}
    for seed in task["seeds"]:
        model, facts = train(task, seed, (rows, labels))
        found["accuracy"].append(accuracy(model, test_rows, test_labels))
        found["seconds"].append(facts.pop("seconds") / facts["steps"])
        found["megabytes"].append(facts.pop("megabytes"))
        found |= facts
    return found


class Watch:
    """Seconds from its start, with what the device was asked to do done, and how far memory went above what was held.

    On a processor it is the process's memory, where the system is Linux; elsewhere it is not known.
    """

    def __init__(self, device):
        self._is_cuda = device.startswith("cuda")
        if self._is_cuda:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        elif PROCESS.exists():
            (PROCESS / "clear_refs").write_text("5")  # the peak starts anew
        self._held = self._megabytes(peak=False)
        self._start = time.perf_counter()

    def facts(self):
        """Both, as `seconds` and `megabytes`."""
        if self._is_cuda:
            torch.cuda.synchronize()
        seconds = time.perf_counter() - self._start
        return {"seconds": seconds, "megabytes": self._megabytes(peak=True) - self._held}

    def _megabytes(self, *, peak):
        if self._is_cuda:
            return (torch.cuda.max_memory_allocated() if peak else torch.cuda.memory_allocated()) / 2**20
        if not PROCESS.exists():
            return float("nan")
        name = "VmHWM:" if peak else "VmRSS:"
        (line,) = [one for one in (PROCESS / "status").read_text().splitlines() if one.startswith(name)]
        return int(line.split()[1]) / 2**10
