"""Networks trained privately: accuracy, seconds a step, memory and ε beside Opacus and jax_privacy.

    python benchmarks/learn/bench_networks.py [--device cuda] [--seeds 5] [--tasks digits,shapes] [--choose]

Both sides have ε = 3, δ = 1e-5, the same epochs, batches and starts of the same networks, and one thread; each kind of
training runs in a process of its own. The peers come from `make peers PEERS="benchmarks/peers/opacus/
benchmarks/peers/jax_privacy/"`; without them ours is measured alone. Rates and clips are the same for both
sides. `--choose` tries others, on a part of the training images that is held out, and on images of another seed: never
on those that count here.
"""

import argparse
import json
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median, stdev
from tempfile import TemporaryDirectory

import numpy as np
import torch
from small_networks import Watch, measured, network
from torch import nn

import sfumato as sf
from sfumato.privacy.events import GaussianEvent, PoissonSampledEvent

PEERS = Path(__file__).parents[1] / "peers"
EPSILON, DELTA = 3, 1e-5
SIZES = {"digits": {"epochs": 30, "batch": 240}, "shapes": {"epochs": 10, "batch": 250}}
"""Opacus samples with one over the number of batches: with these, nearly as we do, and in as many steps."""
NETWORKS = ("layers", "convolutions")
CHOSEN = {
    ("digits", "layers"): {"rate": 0.3, "clip": 1.0},
    ("digits", "convolutions"): {"rate": 0.3, "clip": 1.0},
    ("shapes", "layers"): {"rate": 0.3, "clip": 1.0},
    ("shapes", "convolutions"): {"rate": 0.3, "clip": 1.0},
}
"""The same for both sides: `--choose` prints the accuracy of each on what is held out."""
GRID = [{"rate": rate, "clip": clip} for rate, clip in ((0.1, 1.0), (0.3, 1.0), (1.0, 0.3), (1.0, 1.0))]
MODES = {"per example": "hooks", "ghost": "ghost"}
"""Ours, and those of Opacus."""


def images(kind, *, is_held_out):
    """Rows, labels, test rows and test labels; held out for choices, or those that count."""
    if kind == "shapes":
        made = sf.datasets.shapes(6_000, seed=1 if is_held_out else 2027)
        rows, labels, split = made.images[:, None] / 255, made.labels, 4_000
        return rows[:split], labels[:split], rows[split:], labels[split:]
    from sklearn.datasets import load_digits

    flat, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(1797).permutation(len(flat))
    rows, labels = (flat[order] / 16).reshape(-1, 1, 8, 8), labels[order]
    train, end = (1_150, 1_437) if is_held_out else (1_437, len(flat))
    return rows[:train], labels[:train], rows[train:end], labels[train:end]


def written(folder, kind, *, is_held_out):
    path = Path(folder) / f"{kind}-{is_held_out}.npz"
    rows, labels, test_rows, test_labels = images(kind, is_held_out=is_held_out)
    rows, test_rows = (part.astype(np.float32) for part in (rows, test_rows))
    np.savez(path, rows=rows, labels=labels.astype(np.int64), test_rows=test_rows, test_labels=test_labels)
    return str(path)


def ours(task, seed, data):
    """One private training by this package."""
    from sfumato.learn.torch import private

    rows, labels = data
    model = network(task["network"], rows.shape[-1], seed).to(task["device"])
    optimizer = torch.optim.SGD(model.parameters(), lr=task["rate"], momentum=task["momentum"])
    plan = private(
        model, optimizer, nn.CrossEntropyLoss(), (rows, labels), epsilon=task["epsilon"], delta=str(task["delta"]),
        epochs=task["epochs"], batch_size=task["batch"], rows=len(rows), clip=str(task["clip"]), mode=task["mode"],
        block=task["block"],
    )  # fmt: skip
    watch = Watch(task["device"])
    trained = plan.train(progress=False)
    facts = watch.facts() | {"steps": trained.updates, "sampling": task["batch"] / len(rows)}
    return trained.model, facts | {
        "noise_multiplier": float(plan.noise_multiplier), "epsilon": pld_of(trained.event, task["delta"]),
        "is_exact": bool(plan.sums.is_exact),
    }  # fmt: skip


@cache
def pld_of(event, delta):
    return float(sf.accounting.PLDAccountant().compose(event).epsilon(str(delta)))


def same_noise(found, delta):
    """Our ε of what a peer did."""
    sampled = PoissonSampledEvent(found["sampling"], GaussianEvent(found["noise_multiplier"]))
    return float(sf.accounting.PLDAccountant().compose(sampled, count=found["steps"]).epsilon(str(delta)))


def asked(who, task):
    """What one side measures, in a process of its own; None if it is not installed."""
    script = Path(__file__) if who == "sfumato" else PEERS / who / "ask.py"
    python = Path(sys.executable) if who == "sfumato" else PEERS / who / ".venv" / "bin" / "python"
    if not python.exists():
        return None
    words = [str(python), str(script), *(["--ours"] if who == "sfumato" else []), json.dumps(task)]
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise SystemExit(f"{who}: {answer.stderr[-2000:]}")
    return json.loads(answer.stdout.splitlines()[-1])


def line(who, mode, found, beside=None):
    scores = [100 * score for score in found["accuracy"]]
    seconds, spread = median(found["seconds"]), stdev(scores) if len(scores) > 1 else 0.0
    megabytes = f"{max(found['megabytes']):7.1f} MB" if "megabytes" in found else " " * 10
    ratio = f" ({seconds / beside:.2f} × hooks)" if beside else ""
    exact = " not exact" if found.get("is_exact") is False else ""
    print(
        f"  {who:12} {mode:12} {mean(scores):5.1f}% (sd {spread:.1f}, of {len(scores)})  {1e3 * seconds:7.2f} ms a step"
        f"{ratio}  {megabytes}  noise {found['noise_multiplier']:.4f}, {found['steps']} steps, ε {found['epsilon']:.4f}"
        f"{exact}",
        flush=True,
    )


def compared(name, task):
    print(f"{name}, {task['network']}: batches of {task['batch']}, {task['epochs']} epochs", flush=True)
    hooks = None
    for mode in MODES.values():
        found = asked("opacus", task | {"mode": mode})
        if found is None:
            print("  opacus is not installed")
            break
        hooks = hooks or median(found["seconds"])
        line("opacus", mode, found, hooks)
        print(f"    of the same noise, q and steps: ε {same_noise(found, DELTA):.4f} by our PLD, certified")
    for mode in MODES:
        line("sfumato", mode, asked("sfumato", task | {"mode": mode}), hooks)
    if task["device"] == "cpu" and (found := asked("jax_privacy", task)):
        line("jax_privacy", "compiled", found, hooks)


def choose(name, task):
    """The accuracy of each side on what is held out, for each rate and clip."""
    for who, mode in (("opacus", "hooks"), ("sfumato", "per example")):
        for setting in GRID:
            found = asked(who, task | setting | {"mode": mode, "seeds": [101, 102]})
            if found:
                print(f"{name} {task['network']:12} {who:8} {setting}: {mean(found['accuracy']):.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tasks", default="digits,shapes")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--block", type=int)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--ours")
    arguments = parser.parse_args()
    if arguments.ours:
        print(json.dumps(measured(json.loads(arguments.ours), ours)))
        return
    with TemporaryDirectory() as folder:
        for name in arguments.tasks.split(","):
            if name == "digits" and find_spec("sklearn") is None:
                print("scikit-learn is not installed: no digits")
                continue
            path = written(folder, name, is_held_out=arguments.choose)
            for kind in arguments.networks.split(","):
                task = SIZES[name] | CHOSEN[name, kind] | {
                    "data": path, "network": kind, "epsilon": EPSILON, "delta": DELTA, "momentum": 0.9,
                    "seeds": list(range(arguments.seeds)), "device": arguments.device, "threads": 1,
                    "block": arguments.block,
                }  # fmt: skip
                (choose if arguments.choose else compared)(name, task)


if __name__ == "__main__":
    main()
